#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

namespace tilehash::app {

// A bar on standard error where that is a terminal, nothing anywhere else.
class progress {
 public:
  explicit progress(std::size_t steps);
  ~progress() { clear(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void show(std::size_t step, std::string_view what);  // step of steps is under way
  void clear();                                        // takes the bar away, so that other output can follow

 private:
  std::size_t steps_;
  bool visible_;
  bool drawn_ = false;
};

bool is_terminal(std::FILE* stream);

}  // namespace tilehash::app
