#include "environment.hpp"

#include <tilehash/space/cpu.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "gpu.hpp"

namespace tilehash::bench {
namespace {

// What follows the mark and blanks in the first line of a file that has it.
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

// The commit these sources stand at, "-dirty" behind it when they do not quite.
std::string commit() {
  if (const char* given = std::getenv("TILEHASH_COMMIT")) return given;
  constexpr auto command =
      "git -C '" TILEHASH_SOURCE_DIR "' describe --always --dirty --abbrev=12 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> git(popen(command, "r"), pclose);
  char text[64] = "";
  if (git == nullptr || std::fgets(text, sizeof text, git.get()) == nullptr) return "unknown";
  return std::string(text, std::string_view(text).find('\n'));
}

constexpr const char* compiler =
#if defined(__clang__)
    "clang " __clang_version__;
#else
    "g++ " __VERSION__;
#endif

}  // namespace

nlohmann::ordered_json environment(const std::string& space, int threads) {
  nlohmann::ordered_json all{{"machine", find_after("/proc/cpuinfo", "model name")},
                             {"threads", cpu(threads).threads()},
                             {"gpu", nullptr},
                             {"driver", ""},
                             {"compiler", compiler},
                             {"commit", commit()}};
  if (space != "cuda") return all;
  const gpu_facts gpu = describe_gpu();
  all["gpu"] = gpu.name;
  all["driver"] = driver_version() + " (CUDA " + gpu.cuda_driver + ")";
  all["compiler"] = gpu.compiler + ", " + compiler;
  return all;
}

}  // namespace tilehash::bench
