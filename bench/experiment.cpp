// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"

#include <utility>

namespace tilehash::app {

experiment::experiment(session& session, std::string name, const std::string& above)
    : session_(session), name_(std::move(name)) {
  if (!above.empty()) session_.say(above);
  session_.keep([this] { return rows_; });
}

void experiment::add(const bench::fields& row, const std::string& more) {
  std::string text;
  if (std::string heading = bench::heading_of(row); heading != heading_) {
    text = heading;
    heading_ = std::move(heading);
  }
  keep(row);
  session_.say(text + bench::line_of(row) + more);
}

void experiment::section(const std::string& text) {
  heading_.clear();
  session_.say(text);
}

void experiment::keep(const bench::fields& row) {
  rows_.push_back(bench::object_of(row));
  faulty_ = faulty_ || bench::is_faulty(row);
}

void experiment::finish(const char* faults) {
  session_.write(rows_, name_);
  if (faults != nullptr) session::fail_if(faulty_, faults);
}

}  // namespace tilehash::app
