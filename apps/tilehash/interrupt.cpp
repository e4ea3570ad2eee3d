// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace tilehash::app {
namespace {

volatile std::sig_atomic_t stop_asked = 0, measuring = 0;

void tell(std::string_view text) {  // as a signal's handler may
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void on_signal(int /*number*/) {
  stop_asked = 1;
  if (measuring == 0) {
    tell("\ntilehash: stopped\n");
    _exit(interrupted_code);
  }
  tell("\ntilehash: stopping after this measurement; once more ends it at once\n");
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;  // the next one does what it always did
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void keep_results() { measuring = 1; }

bool asked_to_stop() { return stop_asked != 0; }

void stop_if_asked() {
  if (asked_to_stop()) throw interrupted();
}

}  // namespace tilehash::app
