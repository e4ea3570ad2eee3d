// SPDX-License-Identifier: Apache-2.0
// Numbers as people type them.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace tilehash::app {

// All of the text as a number, or nothing.
template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// 1000003, 2^20, 1e6, 1M (k, M, G, T with 1024 to the step, as everywhere in the program); nothing for
// anything else.
std::optional<std::uint64_t> to_size(std::string_view text);

// 0.8, 1e-3, 1/1.05.
std::optional<double> to_ratio(std::string_view text);

// For options: the words become the number, or an error that says what may be typed.
inline constexpr const char* size_words = "a number such as 1000003, 2^20, 1e6 or 1M (= 2^20)";
std::string read_size(std::string& text);   // as CLI11's validators: empty, or what is wrong
std::string read_ratio(std::string& text);  // likewise, for load factors

}  // namespace tilehash::app
