// FASTA and FASTQ by kseq.h, Heng Li's reader that seqtk, bwa and minimap2 read with (docs/adr/0015): what
// counts as a record, in files with blank lines, carriage returns, and qualities that begin with an @, is its
// business.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include TILEHASH_KSEQ_HEADER

#include "file.hpp"
#include "file_keys.hpp"

namespace tilehash::app {
namespace {

// What kseq takes for a file: text in memory.
struct text_in_memory {
  std::string_view rest;
};

int read_some(text_in_memory* file, void* to, int room) {
  const std::size_t n = std::min(file->rest.size(), static_cast<std::size_t>(room));
  std::memcpy(to, file->rest.data(), n);
  file->rest.remove_prefix(n);
  return static_cast<int>(n);
}

KSEQ_INIT(text_in_memory*, read_some)

enum : std::uint8_t { other_letter = 4, illegal = 5 };  // after the codes 0..3 of A, C, G, T

constexpr auto base_codes = [] {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(illegal);
  for (char c = 'A'; c <= 'Z'; ++c) codes[static_cast<unsigned char>(c)] = other_letter;
  for (const char c : {'-', '*', '.'}) codes[static_cast<unsigned char>(c)] = other_letter;
  codes['A'] = 0, codes['C'] = 1, codes['G'] = 2, codes['T'] = 3, codes['U'] = 3;
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

// kseq reads past whatever precedes the first record; here that is no sequence file.
void check_beginning(std::string_view text, const std::string& name) {
  if (const std::string what = describe_binary(text); !what.empty())
    throw input_error(fmt::format("{}: this is {}; give FASTA or FASTQ", name, what));
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '>' && text[first] != '@')) {
    const auto line = std::count(
        text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(first, text.size())), '\n');
    throw input_error(
        fmt::format("{}:{}: no '>' or '@' before the first sequence; give FASTA or FASTQ", name, line + 1));
  }
}

}  // namespace

kmer_list read_kmers(std::string_view text, const std::string& name, unsigned k) {
  check_beginning(text, name);
  text_in_memory file{text};
  const std::unique_ptr<kseq_t, decltype(&kseq_destroy)> record(kseq_init(&file), &kseq_destroy);
  kmer_list list;
  kmer_window window(k);
  std::int64_t status = 0;
  while ((status = kseq_read(record.get())) >= 0) {
    window.restart();
    const std::string_view sequence(record->seq.s == nullptr ? "" : record->seq.s, record->seq.l);
    for (std::size_t at = 0; at < sequence.size(); ++at) {
      const std::uint8_t code = base_codes[static_cast<unsigned char>(sequence[at])];
      if (code == illegal) {
        throw input_error(fmt::format(
            "{}: record '{}', letter {}: byte 0x{:02x} is no letter of a sequence; give FASTA or FASTQ", name,
            record->name.s, at + 1, static_cast<unsigned char>(sequence[at])));
      }
      if (code == other_letter) {
        window.restart();
        ++list.skipped;
        continue;
      }
      window.push(code);
      if (window.full()) list.kmers.push_back(window.canonical());
    }
    list.letters += sequence.size();
  }
  if (status < -1) {
    throw input_error(
        fmt::format("{}: record '{}' has another number of qualities than of letters; is the file cut off?",
                    name, record->name.s == nullptr ? "" : record->name.s));
  }
  if (2 * list.skipped > list.letters) {
    throw input_error(fmt::format(
        "{}: {} of {} letters are no A, C, G, T or U, more than half; are these sequences of DNA or RNA?",
        name, list.skipped, list.letters));
  }
  if (list.kmers.empty()) {
    throw input_error(fmt::format("{}: no {} letters of A, C, G, T in a row; use a smaller k", name, k));
  }
  return list;
}

dataset sequence_keys(std::string_view text, const std::string& name, unsigned k, arrangement how) {
  kmer_list list = read_kmers(text, name, k);
  dataset data = counted(std::move(list.kmers), how.order, how.seed);
  data.key_bits = k <= 16 ? 32 : 64;
  if (list.skipped != 0)
    data.note =
        fmt::format("{} of {} letters skipped, which are no A, C, G, T or U", list.skipped, list.letters);
  return data;
}

}  // namespace tilehash::app
