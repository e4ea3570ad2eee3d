// SPDX-License-Identifier: Apache-2.0
#include "results_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "dataset.hpp"

namespace tilehash::app {
namespace {

std::string dump(const nlohmann::ordered_json& json) {
  // (A file's name may be no UTF-8.)
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

nlohmann::ordered_json as_json(const spread& seconds) {
  return {{"min", seconds.min}, {"median", seconds.median}, {"max", seconds.max}, {"runs", seconds.runs}};
}

std::string results_text(const nlohmann::ordered_json& header, const nlohmann::ordered_json& rows) {
  std::vector<std::string> lines;
  lines.reserve(rows.size());
  for (const auto& row : rows) lines.push_back(dump(row));
  return fmt::format("{{\"header\": {},\n\"rows\": [\n{}\n]}}\n", dump(header), fmt::join(lines, ",\n"));
}

results_file::results_file(std::string path) : path_(std::move(path)) {
  if (!wanted() || to_stdout()) return;
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path real = fs::weakly_canonical(path_, ignored);  // a link's end, not the link, is replaced
  target_ = real.empty() ? path_ : real.string();
  if (fs::is_directory(target_, ignored)) {
    errno = EISDIR;
    fail();
  }
  const bool is_file = !fs::exists(target_, ignored) || fs::is_regular_file(target_, ignored);
  if (is_file) temporary_ = fmt::format("{}.{}.part", target_, getpid());
  if (is_file && fs::exists(target_, ignored) && access(target_.c_str(), W_OK) != 0) fail();
  if (!std::ofstream(is_file ? temporary_ : target_, is_file ? std::ios::out : std::ios::app)) fail();
}

results_file::~results_file() {
  if (!temporary_.empty()) std::remove(temporary_.c_str());  // it is gone if the file was written
}

void results_file::write(const std::string& text) {
  if (!wanted()) return;
  if (to_stdout()) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) fail();
    return;
  }
  if (std::ofstream file(temporary_.empty() ? target_ : temporary_); !(file << text << std::flush)) fail();
  if (!temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0) fail();
}

void results_file::fail() const {
  throw input_error(fmt::format("--json {}: cannot write it: {}", path_, std::strerror(errno)));
}

}  // namespace tilehash::app
