#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace tilehash::app {

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

progress::progress(std::size_t steps)
    : steps_(std::max<std::size_t>(steps, 1)), visible_(is_terminal(stderr)) {}

void progress::show(std::size_t step, std::string_view what) {
  if (!visible_) return;
  constexpr std::size_t width = 30;
  const std::size_t done = width * std::min(step, steps_) / steps_;
  fmt::print(stderr, "\r\x1b[K[{:#<{}}{:-<{}}] {}", "", done, "", width - done, what);
  std::fflush(stderr);
  drawn_ = true;
}

void progress::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace tilehash::app
