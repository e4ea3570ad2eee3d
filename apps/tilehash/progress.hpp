// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tilehash::app {

// "[####----] 3 of 15, 12 s left: what", cut to `width` columns. `done` is a share; `left` in seconds,
// negative where nothing is known.
std::string progress_line(std::size_t step, std::size_t steps, double done, double left,
                          const std::string& what, unsigned width);

// A bar on standard error where that is a terminal that can move its cursor, nothing anywhere else. It moves
// by itself twice a second: a step may take long.
class progress {
 public:
  // The seconds that each step is guessed to take. Completed steps show how wrong the guess is.
  explicit progress(std::vector<double> guesses);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void begin(std::size_t step, std::string what);  // counted from 0; those before it are done
  void say(std::string what);                      // of the step that is under way
  void guess(std::size_t first, double seconds);   // of each step from `first` on
  void clear();                                    // takes the bar away, so that other output can follow

 private:
  void draw();
  double now() const;

  bool visible_;
  std::vector<double> guesses_;
  double start_, step_start_;
  std::size_t step_ = 0;
  std::string what_;
  bool drawn_ = false, shown_ = false, ended_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread ticker_;
};

}  // namespace tilehash::app
