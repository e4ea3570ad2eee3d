#include "file_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <vector>

#include "scramble.hpp"

namespace tilehash::app {
namespace {

// Calls use(line, number) for every line, counted from 1, without its newline.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

enum : std::uint8_t { other_letter = 4, gap = 5, illegal = 6 };  // after the codes 0..3 of A, C, G, T

constexpr auto base_codes = [] {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(illegal);
  for (char c = 'A'; c <= 'Z'; ++c) codes[static_cast<unsigned char>(c)] = other_letter;
  for (const char c : {'-', '*'}) codes[static_cast<unsigned char>(c)] = other_letter;
  for (const char c : {' ', '\t', '\r'}) codes[static_cast<unsigned char>(c)] = gap;
  codes['A'] = 0, codes['C'] = 1, codes['G'] = 2, codes['T'] = 3;
  for (char c = 'a'; c <= 'z'; ++c)
    codes[static_cast<unsigned char>(c)] = codes[static_cast<unsigned char>(c - 32)];
  return codes;
}();

// The last k bases and their reverse complement, moved on by one base at a time.
class kmer_window {
 public:
  explicit kmer_window(unsigned k) : k_(k), mask_(~std::uint64_t{0} >> (64 - 2 * k)) {}

  void restart() { length_ = 0; }

  void push(std::uint64_t base) {
    forward_ = ((forward_ << 2) | base) & mask_;
    reverse_ = (reverse_ >> 2) | ((3 - base) << (2 * (k_ - 1)));
    ++length_;
  }

  bool full() const { return length_ >= k_; }
  std::uint64_t canonical() const { return std::min(forward_, reverse_); }

 private:
  unsigned k_;
  std::uint64_t mask_;
  std::uint64_t forward_ = 0, reverse_ = 0;
  std::uint64_t length_ = 0;
};

std::uint32_t one_more(std::uint32_t count) {
  return count == std::numeric_limits<std::uint32_t>::max() ? count : count + 1;
}

void sort_and_count(std::vector<std::uint64_t> occurrences, dataset& data) {
  std::sort(occurrences.begin(), occurrences.end());
  for (const std::uint64_t key : occurrences) {
    if (data.keys.empty() || data.keys.back() != key) {
      data.keys.push_back(key);
      data.counts.push_back(1);
    } else {
      data.counts.back() = one_more(data.counts.back());
    }
  }
}

}  // namespace

dataset fasta_keys(std::string_view text, const std::string& name, unsigned k) {
  std::vector<std::uint64_t> kmers;
  kmer_window window(k);
  bool in_record = false;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    if (line.starts_with('>')) {
      in_record = true;
      window.restart();
      return;
    }
    for (std::size_t column = 0; column < line.size(); ++column) {
      const std::uint8_t code = base_codes[static_cast<unsigned char>(line[column])];
      if (code == gap) continue;
      if (!in_record) {
        throw input_error(
            fmt::format("{}:{}: sequence before the first '>' header; give a FASTA file", name, number));
      }
      if (code == illegal) {
        throw input_error(fmt::format("{}:{}:{}: byte 0x{:02x} is no letter of a sequence; give a FASTA file",
                                      name, number, column + 1, static_cast<unsigned char>(line[column])));
      }
      if (code == other_letter) {
        window.restart();
        continue;
      }
      window.push(code);
      if (window.full()) kmers.push_back(window.canonical());
    }
  });
  if (kmers.empty()) {
    throw input_error(fmt::format("{}: no {} letters of A, C, G, T in a row; use a smaller k", name, k));
  }
  dataset data;
  data.key_bits = k <= 16 ? 32 : 64;
  sort_and_count(std::move(kmers), data);
  return data;
}

line_hash seeded_line_hash(std::uint64_t seed) {
  // FNV-1a, which spreads its last bytes badly, and a scramble that does not.
  return [scrambled = scramble(64, seed)](std::string_view line) {
    std::uint64_t hash = 0xcbf29ce484222325 ^ scrambled(0);
    for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return scrambled(hash);
  };
}

dataset line_keys(std::string_view text, const std::string& name, const line_hash& hash) {
  struct first_use {
    std::string_view line;
    std::size_t number;
    std::size_t item;
  };
  dataset data;
  std::unordered_map<std::uint64_t, first_use> uses;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    const std::uint64_t key = hash(line);
    const auto [use, is_new] = uses.try_emplace(key, first_use{line, number, data.size()});
    if (is_new) {
      data.keys.push_back(key);
      data.counts.push_back(0);
    } else if (use->second.line != line) {
      throw input_error(
          fmt::format("{}:{}: hashes to the same 64 bits as the different line {}; use another --seed", name,
                      number, use->second.number));
    }
    std::uint32_t& count = data.counts[use->second.item];
    count = one_more(count);
  });
  return data;
}

dataset binary_keys(std::string_view bytes, const std::string& name, unsigned bits_in_file) {
  const std::size_t width = bits_in_file / 8;
  if (const std::size_t rest = bytes.size() % width; rest != 0) {
    throw input_error(fmt::format("{}: byte {}: the last key has only {} of its {} bytes; is it key=u{}?",
                                  name, bytes.size() - rest, rest, width, 96 - bits_in_file));
  }
  dataset data;
  data.key_bits = bits_in_file;
  data.keys.resize(bytes.size() / width);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    data.keys[i / width] |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * (i % width));
  }
  return data;
}

}  // namespace tilehash::app
