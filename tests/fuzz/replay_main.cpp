// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on files, folders of files, and inputs made of random numbers:
//   fuzz_calls [FILE|FOLDER]... [--random N] [--seed S] [--save FILE]
// The i-th random input of a seed is the same in every run. It is kept in FILE (default: fuzz_input in the
// working folder) while it runs, so that what ends the program can be given to it again, and be added to the
// corpus.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <fuzz/target.hpp>

namespace {

using input = std::vector<std::uint8_t>;

// Gives whether the target was content.
bool run(const input& bytes, const std::string& name) {
  try {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    return true;
  } catch (const std::exception& e) {
    std::printf("%s: %s\n", name.c_str(), e.what());
    return false;
  }
}

// Random bytes would end soon; calls are more often made of small numbers, and of those that came before.
input random_input(std::mt19937_64& random) {
  input bytes(1 + random() % tilehash::fuzz::longest_input);
  for (auto& b : bytes) {
    const auto x = random();
    b = static_cast<std::uint8_t>(x % 4 == 0 ? x >> 8 & 15 : x >> 8);
  }
  bytes[0] = static_cast<std::uint8_t>(random() % tilehash::fuzz::first_bytes);
  return bytes;
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned long long number = 0, seed = 1, failures = 0, runs = 0;
  std::string save = "fuzz_input";
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--", 0) != 0) {
      const auto more = files_of(argument);
      files.insert(files.end(), more.begin(), more.end());
      continue;
    }
    if (i + 1 == argc) return std::fprintf(stderr, "error: %s needs a value\n", argv[i]), 2;
    const char* value = argv[++i];
    if (argument == "--random")
      number = std::strtoull(value, nullptr, 0);
    else if (argument == "--seed")
      seed = std::strtoull(value, nullptr, 0);
    else if (argument == "--save")
      save = value;
    else
      return std::fprintf(stderr, "error: unknown option %s\n", argument.c_str()), 2;
  }
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::fprintf(stderr, "error: cannot read %s\n", file.c_str()), 2;
    const input bytes(std::istreambuf_iterator<char>(in), {});
    std::printf("%s\n", file.c_str());  // before it runs, as it may end the program
    std::fflush(stdout);
    failures += !run(bytes, file.string());
    ++runs;
  }
  for (unsigned long long i = 0; i < number; ++i) {
    std::mt19937_64 random(seed * 1'000'003 + i);
    const input bytes = random_input(random);
    std::ofstream(save, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!run(bytes, "input " + std::to_string(i) + " of seed " + std::to_string(seed))) {
      std::filesystem::copy_file(save, save + "." + std::to_string(i),
                                 std::filesystem::copy_options::overwrite_existing);
      std::printf("kept as %s.%llu\n", save.c_str(), i);
      ++failures;
    }
    ++runs;
  }
  std::printf("%llu inputs, %llu failures\n", runs, failures);
  return failures == 0 && runs != 0 ? 0 : 1;
}
