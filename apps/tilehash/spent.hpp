// SPDX-License-Identifier: Apache-2.0
// What the program's time went on, by the clock on the wall and by that of the processor (all threads).
#pragma once

#include <sys/resource.h>

#include <chrono>

namespace tilehash::app {

struct spent {
  double wall = 0, cpu = 0;  // seconds

  spent& operator+=(const spent& other) {
    wall += other.wall;
    cpu += other.cpu;
    return *this;
  }
};

class stopwatch {
 public:
  spent so_far() const { return {now().wall - start_.wall, now().cpu - start_.cpu}; }

 private:
  static spent now() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
            seconds(used.ru_utime) + seconds(used.ru_stime)};
  }

  spent start_ = now();
};

}  // namespace tilehash::app
