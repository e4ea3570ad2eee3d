// SPDX-License-Identifier: Apache-2.0
// The use of the program's time, by the clock on the wall and by that of the processor (all threads).
#pragma once

#include <chrono>
#include <ctime>

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
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
            static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9};
  }

  spent start_ = now();
};

}  // namespace tilehash::app
