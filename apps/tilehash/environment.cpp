// SPDX-License-Identifier: Apache-2.0
#include "environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string_view>

#include "build_facts.hpp"
#include "cuda_presence.hpp"
#include "parallel.hpp"

namespace tilehash::app {
namespace {

std::string& command() {
  static std::string words = "tilehash";
  return words;
}

// The text after the mark and blanks in the first line of a file that has it.
std::string find_after(const char* path, std::string_view mark) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(mark);
    if (at == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t:", at + mark.size());
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

// The word that reads like a version: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Sat ..",
// in which the words before it differ from driver to driver.
std::string driver_version() {
  std::istringstream line(find_after("/proc/driver/nvidia/version", "NVRM version"));
  for (std::string word; line >> word;) {
    const bool numeric = word.find_first_not_of("0123456789.") == std::string::npos;
    if (numeric && word.find('.') != std::string::npos) return word;
  }
  return "unknown";
}

std::string machine() {
  const std::string name = find_after("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

constexpr const char* compiler =
#if defined(__clang__)
    "clang " __clang_version__;
#else
    "g++ " __VERSION__;
#endif

template <class Number>
nlohmann::ordered_json or_null(const std::optional<Number>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

}  // namespace

void remember_command(int argc, char** argv) {
  command() = "tilehash";
  for (int i = 1; i < argc; ++i) command() += std::string(" ") + argv[i];
}

std::string version_line() {
  return fmt::format("tilehash {} ({}; {}, {})", built::version, built::commit, compiler, built::type);
}

std::string built_commit() { return built::commit; }

nlohmann::ordered_json environment(const circumstances& of) {
  nlohmann::ordered_json all{
      {"program", "tilehash"},
      {"version", built::version},
      {"commit", built::commit},
      {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(
                                            std::chrono::system_clock::now())))},
      {"command", command()},
      {"experiment", nullptr},
      {"machine", machine()},
      {"cores", cores()},
      {"threads", threads_that_run(of.threads)},
      {"gpu", nullptr},
      {"driver", ""},
      {"compiler", compiler},
      {"build", built::type},
      {"seed", or_null(of.seed)},
      {"repeat", of.repeat},
      {"hit_rate", or_null(of.hit_rate)}};
  if (of.space != "cuda") return all;
  const gpu_facts gpu = describe_gpu();
  all["gpu"] = gpu.name;
  all["driver"] = driver_version() + " (CUDA " + gpu.cuda_driver + ")";
  all["compiler"] = gpu.compiler + ", " + compiler;
  return all;
}

}  // namespace tilehash::app
