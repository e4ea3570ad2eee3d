// SPDX-License-Identifier: Apache-2.0
// Ctrl-C. Until the measurements begin, it ends the program at once. After that, the first one asks the
// work to stop at the next measurement, so that the rows so far are shown and written. The second one ends
// the program at once.
#pragma once

#include <exception>

namespace tilehash::app {

struct interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

inline constexpr int interrupted_code = 130;  // what a shell says of a program that Ctrl-C ended

void catch_interrupts();
void keep_results();  // called when the measurements begin
bool asked_to_stop();
void stop_if_asked();  // throws interrupted

}  // namespace tilehash::app
