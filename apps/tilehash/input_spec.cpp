#include "input_spec.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "dataset.hpp"

namespace tilehash::app {
namespace {

// At most 2^32 items: the program numbers them in 32 bits.
constexpr std::uint64_t most_items = std::uint64_t{1} << 32;

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "1000003" or "2^24".
std::optional<std::uint64_t> to_count(std::string_view text) {
  if (!text.starts_with("2^")) return to_number<std::uint64_t>(text);
  const auto exponent = to_number<unsigned>(text.substr(2));
  if (!exponent || *exponent > 63) return std::nullopt;
  return std::uint64_t{1} << *exponent;
}

std::pair<std::string_view, std::string_view> split_at(std::string_view text, std::size_t position) {
  if (position == std::string_view::npos) return {text, {}};
  return {text.substr(0, position), text.substr(position + 1)};
}

class parser {
 public:
  explicit parser(std::string_view text) : text_(text) {}

  input_spec parse() const {
    const auto [kind, rest] = split_at(text_, text_.find(':'));
    if (kind == "random") return parse_random(rest);
    if (kind == "fasta") return parse_fasta(rest);
    if (kind == "lines") return lines_spec{path(rest)};
    if (kind == "binary") return parse_binary(rest);
    if (const auto set = data_set_called(kind)) return parse_data_set(*set, rest);
    fail(
        fmt::format("'{}' is no kind of input; use random:n=N, fasta:FILE, lines:FILE, binary:FILE,key=u32, "
                    "or tw, re, com, line, rand, as in tw:n=N",
                    kind));
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw input_error(fmt::format("--input '{}': {}", text_, why));
  }

  std::string path(std::string_view text) const {
    if (text.empty()) fail("a file name is missing after the colon");
    return std::string(text);
  }

  random_spec parse_random(std::string_view options) const {
    random_spec spec;
    std::optional<std::uint64_t> n;
    while (!options.empty()) {
      std::string_view option;
      std::tie(option, options) = split_at(options, options.find(','));
      const auto [name, value] = split_at(option, option.find('='));
      if (name == "n") {
        n = to_count(value);
        if (!n || *n > most_items) fail(fmt::format("n={} is no number from 0 to 2^32", value));
      } else if (name == "unique") {
        if (value != "0" && value != "1") fail(fmt::format("unique={} must be 0 or 1", value));
        spec.unique = value == "1";
      } else if (name == "dist") {
        parse_distribution(value, spec);
      } else {
        fail(fmt::format("'{}' is unknown; random takes n, unique and dist", option));
      }
    }
    if (!n) fail("say how many keys, as in random:n=1000000");
    spec.n = *n;
    if (spec.unique && (spec.shape == distribution::normal || spec.shape == distribution::zipf)) {
      fail("normal and zipf draw keys more than once; leave unique=1 out");
    }
    return spec;
  }

  void parse_distribution(std::string_view text, random_spec& spec) const {
    const auto [shape, skew] = split_at(text, text.find(':'));
    if (shape == "zipf") {
      const auto s = to_number<double>(skew);
      if (!s || !(*s > 0 && *s <= 10)) fail("zipf wants a skew above 0 and up to 10, as in dist=zipf:1.1");
      spec.shape = distribution::zipf;
      spec.skew = *s;
      return;
    }
    if (text == "uniform") {
      spec.shape = distribution::uniform;
    } else if (text == "normal") {
      spec.shape = distribution::normal;
    } else if (text == "sequential") {
      spec.shape = distribution::sequential;
    } else {
      fail(fmt::format("dist={} is unknown; use uniform, normal, zipf:S or sequential", text));
    }
  }

  // File names may hold commas: only the last option that we know ends one.
  fasta_spec parse_fasta(std::string_view rest) const {
    const std::size_t option = rest.rfind(",k=");
    if (option == std::string_view::npos) return {.path = path(rest)};
    const auto k = to_number<unsigned>(rest.substr(option + 3));
    if (!k || *k < 1 || *k > 32) fail("k must be a number from 1 to 32, so that a k-mer fits in 64 bits");
    return {.path = path(rest.substr(0, option)), .k = *k};
  }

  binary_spec parse_binary(std::string_view rest) const {
    const std::size_t option = rest.rfind(",key=");
    const std::string_view key = option == std::string_view::npos ? "" : rest.substr(option + 5);
    if (key != "u32" && key != "u64") fail("say what the file holds, as in binary:FILE,key=u32 or key=u64");
    return {.path = path(rest.substr(0, option)), .key_bits = key == "u32" ? 32U : 64U};
  }

  data_set_spec parse_data_set(data_set which, std::string_view rest) const {
    if (rest.empty()) return {which, full_size(which)};
    const auto [name, value] = split_at(rest, rest.find('='));
    const auto n = name == "n" ? to_count(value) : std::nullopt;
    if (!n || *n > most_items) fail(fmt::format("'{}' is not n=N, a number of pairs from 0 to 2^32", rest));
    return {which, *n};
  }

  std::string_view text_;
};

}  // namespace

input_spec parse_spec(std::string_view text) { return parser(text).parse(); }

}  // namespace tilehash::app
