// SPDX-License-Identifier: Apache-2.0
#include "sizes.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tilehash::app {
namespace {

// A number of any kind that is whole in the end: 1.5M is, 1.5 is not.
std::optional<std::uint64_t> whole(std::optional<double> number, double factor) {
  if (!number) return std::nullopt;
  const double product = *number * factor;
  if (!(product >= 0 && product < 0x1p63) || product != std::floor(product)) return std::nullopt;
  return static_cast<std::uint64_t>(product);
}

}  // namespace

std::optional<std::uint64_t> to_size(std::string_view text) {
  if (const auto plain = to_number<std::uint64_t>(text)) return plain;
  if (text.starts_with("2^")) {
    const auto exponent = to_number<unsigned>(text.substr(2));
    if (!exponent || *exponent > 63) return std::nullopt;
    return std::uint64_t{1} << *exponent;
  }
  if (text.empty()) return std::nullopt;
  constexpr std::string_view steps = "kmgt";
  const char last = text.back();
  const std::size_t step = steps.find(last >= 'A' && last <= 'Z' ? static_cast<char>(last + 32) : last);
  if (step == std::string_view::npos) return whole(to_number<double>(text), 1);
  return whole(to_number<double>(text.substr(0, text.size() - 1)),
               std::exp2(10 * static_cast<double>(step + 1)));
}

std::optional<double> to_ratio(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return to_number<double>(text);
  const auto above = to_number<double>(text.substr(0, slash)),
             below = to_number<double>(text.substr(slash + 1));
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

std::string read_size(std::string& text) {
  const auto size = to_size(text);
  if (!size) return fmt::format("'{}' is not {}", text, size_words);
  text = std::to_string(*size);
  return {};
}

std::string read_ratio(std::string& text) {
  const auto ratio = to_ratio(text);
  if (!ratio) return fmt::format("'{}' is not a number such as 0.8 or 1/1.05", text);
  text = fmt::format("{:.17g}", *ratio);
  return {};
}

}  // namespace tilehash::app
