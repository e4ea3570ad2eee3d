#include "interrupt.hpp"

#include <csignal>

namespace tilehash::app {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

void on_signal(int /*number*/) { stop_asked = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;  // the next one does what it always did
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool asked_to_stop() { return stop_asked != 0; }

void stop_if_asked() {
  if (asked_to_stop()) throw interrupted();
}

}  // namespace tilehash::app
