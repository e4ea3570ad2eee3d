// SPDX-License-Identifier: Apache-2.0
// The command lines of the larger examples, and how they end.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tilehash_examples {

// The number that the option of this name has.
inline std::uint64_t number(std::string_view name, std::string_view text, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t n = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (problem != std::errc() || end != text.data() + text.size() || n < least || n > most)
    throw std::runtime_error(std::string(name) + " is '" + std::string(text) +
                             "'; it must be a number from " + std::to_string(least) + " to " +
                             std::to_string(most));
  return n;
}

// The same of a number with a decimal point.
inline double fraction(std::string_view name, std::string_view text, double least, double most) {
  double x = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (problem != std::errc() || end != text.data() + text.size() || !(x >= least && x <= most)) {
    char range[64];
    std::snprintf(range, sizeof range, "%g to %g", least, most);
    throw std::runtime_error(std::string(name) + " is '" + std::string(text) +
                             "'; it must be a number from " + range);
  }
  return x;
}

// Calls take(name, value) for each option; it returns whether it knows the name. Returns the other arguments.
template <class Take>
std::vector<std::string> read_options(const std::vector<std::string>& given, Take take) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].starts_with("--")) {
      paths.push_back(given[i]);
      continue;
    }
    if (i + 1 == given.size()) throw std::runtime_error(given[i] + " needs a value");
    if (!take(given[i], given[i + 1])) throw std::runtime_error("unknown option " + given[i]);
    ++i;
  }
  return paths;
}

// The exit code of run(): of what it throws one line, and 2.
template <class Run>
int guarded(Run run) {
  try {
    return run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 2;
  }
}

}  // namespace tilehash_examples
