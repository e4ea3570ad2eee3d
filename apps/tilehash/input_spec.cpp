// SPDX-License-Identifier: Apache-2.0
#include "input_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "dataset.hpp"
#include "sizes.hpp"

namespace tilehash::app {
namespace {

// At most 2^32 items: the program numbers them in 32 bits.
constexpr std::uint64_t most_items = std::uint64_t{1} << 32;

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
    if (kind == "fasta" || kind == "fastq") return parse_fasta(rest);
    if (kind == "lines") return parse_lines(rest);
    if (kind == "binary") return parse_binary(rest);
    if (const auto set = data_set_called(kind)) return parse_data_set(*set, rest);
    fail(
        fmt::format("'{}' is no kind of input; use random:n=N, fasta:FILE, lines:FILE, binary:FILE,key=u32, "
                    "or tw, re, com, line, rand, as in tw:n=N",
                    kind));
  }

 private:
  // An option that comes twice has two values, of which neither is meant more than the other.
  struct given_once {
    const parser& its;
    std::vector<std::string_view> names{};

    void take(std::string_view name) {
      if (std::ranges::find(names, name) != names.end()) its.fail(fmt::format("'{}' is given twice", name));
      names.push_back(name);
    }
  };

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
    given_once once{*this};
    while (!options.empty()) {
      std::string_view option;
      std::tie(option, options) = split_at(options, options.find(','));
      const auto [name, value] = split_at(option, option.find('='));
      once.take(name);
      if (name == "n") {
        n = to_size(value);
        if (!n || *n > most_items)
          fail(fmt::format("n={} is no number from 0 to 2^32, such as 1e6 or 2^20", value));
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

  // File names may hold commas: only the last options that we know end one. take("k", value) says whether it
  // is one.
  template <class Take>
  std::string path_and(std::string_view rest, Take take) const {
    given_once once{*this};
    for (;;) {
      const auto comma = rest.rfind(',');
      if (comma == std::string_view::npos) return path(rest);
      const auto [name, value] = split_at(rest.substr(comma + 1), rest.substr(comma + 1).find('='));
      if (!take(name, value)) return path(rest);
      once.take(name);
      rest = rest.substr(0, comma);
    }
  }
  bool take_order(std::string_view name, std::string_view value, key_order& order) const {
    if (name != "order") return false;
    if (value != "file" && value != "shuffled") fail(fmt::format("order={} must be file or shuffled", value));
    order = value == "file" ? key_order::file : key_order::shuffled;
    return true;
  }

  fasta_spec parse_fasta(std::string_view rest) const {
    fasta_spec spec;
    spec.path = path_and(rest, [&](std::string_view name, std::string_view value) {
      if (name != "k") return take_order(name, value, spec.order);
      const auto k = to_number<unsigned>(value);
      if (!k || *k < 1 || *k > 32) fail("k must be a number from 1 to 32, so that a k-mer fits in 64 bits");
      spec.k = *k;
      return true;
    });
    return spec;
  }

  lines_spec parse_lines(std::string_view rest) const {
    lines_spec spec;
    spec.path = path_and(rest, [&](std::string_view name, std::string_view value) {
      return take_order(name, value, spec.order);
    });
    return spec;
  }

  binary_spec parse_binary(std::string_view rest) const {
    binary_spec spec;
    std::string_view key;
    spec.path = path_and(rest, [&](std::string_view name, std::string_view value) {
      if (name != "key") return take_order(name, value, spec.order);
      key = value;
      return true;
    });
    if (key != "u32" && key != "u64") fail("say what the file holds, as in binary:FILE,key=u32 or key=u64");
    spec.key_bits = key == "u32" ? 32 : 64;
    return spec;
  }

  data_set_spec parse_data_set(data_set which, std::string_view rest) const {
    if (rest.empty()) return {which, full_size(which)};
    const auto [name, value] = split_at(rest, rest.find('='));
    const auto n = name == "n" ? to_size(value) : std::nullopt;
    if (!n || *n > most_items) fail(fmt::format("'{}' is not n=N, a number of pairs from 0 to 2^32", rest));
    return {which, *n};
  }

  std::string_view text_;
};

}  // namespace

input_spec parse_spec(std::string_view text) { return parser(text).parse(); }

}  // namespace tilehash::app
