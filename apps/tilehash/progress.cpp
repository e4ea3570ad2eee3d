// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "terminal.hpp"

namespace tilehash::app {
namespace {

std::string time_left(double seconds) {
  if (seconds < 0) return "time left unknown";
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 100) return fmt::format("{} s left", whole);
  return fmt::format("{} min left", (whole + 59) / 60);
}

}  // namespace

std::string progress_line(std::size_t step, std::size_t steps, double done, double left,
                          const std::string& what, unsigned width) {
  const std::size_t bar = width >= 80 ? 20 : 10;
  const auto full =
      static_cast<std::size_t>(std::lround(std::clamp(done, 0.0, 1.0) * static_cast<double>(bar)));
  std::string line = fmt::format("[{:#<{}}{:-<{}}] {} of {}, {}: {}", "", full, "", bar - full, step, steps,
                                 time_left(left), what);
  if (line.size() >= width) line.resize(width - 1);  // the last column would break the line
  return line;
}

progress::progress(std::vector<double> guesses)
    : visible_(can_paint(stderr)), guesses_(std::move(guesses)), start_(now()), step_start_(start_) {
  if (guesses_.empty()) guesses_.push_back(0);
  if (!visible_) return;
  ticker_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      wake_.wait_for(lock, std::chrono::milliseconds(500));
      if (!ended_ && shown_) draw();
    }
  });
}

progress::~progress() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  clear();
}

double progress::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void progress::begin(std::size_t step, std::string what) {
  if (!visible_) return;
  const std::lock_guard lock(mutex_);
  step_ = std::min(step, guesses_.size() - 1);
  step_start_ = now();
  what_ = std::move(what);
  shown_ = true;
  draw();
}

void progress::say(std::string what) {
  if (!visible_) return;
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
}

void progress::guess(std::size_t first, double seconds) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = first; i < guesses_.size(); ++i) guesses_[i] = seconds;
}

void progress::draw() {
  const auto at = guesses_.begin() + static_cast<std::ptrdiff_t>(step_);
  const double behind = std::accumulate(guesses_.begin(), at, 0.0);
  const double all = std::accumulate(at, guesses_.end(), behind);
  // Guesses are right up to a factor, which follows from the work that is done.
  const double factor = behind > 0 ? (step_start_ - start_) / behind : 1;
  const double here = std::min(now() - step_start_, 0.95 * *at * factor);
  const double left = all > 0 ? (all - behind) * factor - here : -1;
  const double done = all > 0 && factor > 0 ? (behind + here / factor) / all : 0;
  fmt::print(stderr, "\r\x1b[K{}",
             progress_line(step_ + 1, guesses_.size(), done, left, what_, style_of(stderr).width));
  std::fflush(stderr);
  drawn_ = true;
}

void progress::clear() {
  const std::lock_guard lock(mutex_);
  shown_ = false;
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace tilehash::app
