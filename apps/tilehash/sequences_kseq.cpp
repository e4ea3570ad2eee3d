// SPDX-License-Identifier: Apache-2.0
// FASTA and FASTQ by kseq.h, Heng Li's reader that seqtk, bwa and minimap2 read with (docs/adr/0015). kseq
// decides what a record is: blank lines, sequences over several lines, qualities that begin with an @.
//
// kseq accepts damaged files that look whole, so two functions guard it:
//   plain_lines   gives it lines that end with '\n', without blanks inside sequences
//   next_record   refuses a record that the end of the file cut off, at any length
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include TILEHASH_KSEQ_HEADER

#include "file.hpp"
#include "file_keys.hpp"

namespace tilehash::app {
namespace {

// A text as kseq wants it. Carriage returns before newlines are dropped. Blanks are dropped in lines that are
// no headers: neither sequences nor qualities have any. (A quality line may look like a header. It keeps what
// it has.)
class plain_lines {
 public:
  explicit plain_lines(std::string_view text) : rest_(text) {}

  // Writes up to `capacity` bytes; 0 at the end of the text.
  int read(char* to, int capacity) {
    int n = 0;
    for (; n < capacity && !rest_.empty(); rest_.remove_prefix(1)) {
      const char c = rest_.front();
      const bool ends_line = rest_.size() == 1 || rest_[1] == '\n';
      if (c == '\r' && ends_line) continue;
      if (at_line_start_) in_header_ = c == '>' || c == '@' || c == '+';
      at_line_start_ = c == '\n';
      if ((c == ' ' || c == '\t') && !in_header_) continue;
      to[n++] = c;
    }
    return n;
  }

 private:
  std::string_view rest_;
  bool at_line_start_ = true, in_header_ = false;
};

int read_some(plain_lines* lines, void* to, int capacity) {
  return lines->read(static_cast<char*>(to), capacity);
}

KSEQ_INIT(plain_lines*, read_some)

// After the codes 0..3 of A, C, G, T. An unknown base and a gap say nothing about the alphabet; other letters
// speak against DNA and RNA.
enum : std::uint8_t { unknown_base = 4, other_letter = 5, illegal = 6 };

constexpr auto base_codes = [] {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(illegal);
  for (char c = 'A'; c <= 'Z'; ++c) codes[static_cast<unsigned char>(c)] = other_letter;
  for (const char c : {'N', 'X', '-', '*', '.'}) codes[static_cast<unsigned char>(c)] = unknown_base;
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

// kseq skips what precedes the first record; here that is an error.
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

using kseq_record = std::unique_ptr<kseq_t, decltype(&kseq_destroy)>;

[[noreturn]] void refuse_cut_record(const kseq_record& record, const std::string& name,
                                    std::string_view lacks) {
  throw input_error(fmt::format("{}: record '{}' {}; is the file cut off?", name,
                                record->name.s == nullptr ? "" : record->name.s, lacks));
}

// Reads one record; false at the end. Throws input_error where the file ends inside a record.
// kseq_read() returns the length as an int: at 2^31 letters it is negative, at 2^32 - 1 it is "the end". The
// length in the record distinguishes these, since it is zeroed here and kseq sets it only when it reads one.
// A record with qualities leaves last_char 0. Other records leave the next record's '>' or '@', or, at the
// end of the file, their own.
bool next_record(const kseq_record& record, const std::string& name, bool is_fastq) {
  record->seq.l = 0;
  const int status = kseq_read(record.get());
  const std::size_t length = record->seq.l;
  const bool wraps = length > static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
                     status == static_cast<int>(static_cast<unsigned>(length));
  if (status == -1 && !wraps) {
    if (record->last_char == '@') refuse_cut_record(record, name, "is followed by an '@' without a name");
    return false;
  }
  if (status < 0 && !wraps)
    refuse_cut_record(record, name, "has another number of qualities than of letters");
  const bool has_qualities = record->last_char == 0;
  if (has_qualities && record->qual.l != length)
    refuse_cut_record(record, name, "has another number of qualities than of letters");
  const bool at_end = ks_eof(record->f) && record->f->begin >= record->f->end;
  if (!has_qualities && (is_fastq || (at_end && record->last_char == '@')))
    refuse_cut_record(record, name, "has no qualities");
  return true;
}

// The k-mers of one sequence go to `list`, and how many of its letters are no base.
void add_kmers(kmer_list& list, std::uint64_t& foreign, kmer_window& window, const kseq_record& record,
               const std::string& name) {
  const std::string_view sequence(record->seq.s == nullptr ? "" : record->seq.s, record->seq.l);
  window.restart();
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    const std::uint8_t code = base_codes[static_cast<unsigned char>(sequence[at])];
    if (code < unknown_base) {
      window.push(code);
      if (window.full()) list.kmers.push_back(window.canonical());
      continue;
    }
    if (code == illegal) {
      throw input_error(fmt::format(
          "{}: record '{}', letter {}: byte 0x{:02x} is no letter of a sequence; give FASTA or FASTQ", name,
          record->name.s, at + 1, static_cast<unsigned char>(sequence[at])));
    }
    window.restart();
    ++list.skipped;
    foreign += code == other_letter;
  }
  list.letters += sequence.size();
}

}  // namespace

kmer_list read_kmers(std::string_view text, const std::string& name, unsigned k) {
  text = without_byte_order_mark(text);
  check_beginning(text, name);
  // Without any newline, lines end as old Macs end them. That is seldom, so those texts are copied.
  std::string unix_text;
  if (ends_lines_with_returns(text)) {
    unix_text = text;
    std::ranges::replace(unix_text, '\r', '\n');
    text = unix_text;
  }
  plain_lines lines(text);
  const kseq_record record(kseq_init(&lines), &kseq_destroy);
  const bool is_fastq = text[text.find_first_not_of(" \t\r\n")] == '@';
  kmer_list list;
  kmer_window window(k);
  std::uint64_t foreign = 0;
  while (next_record(record, name, is_fastq)) add_kmers(list, foreign, window, record, name);
  const std::uint64_t telling = list.letters - (list.skipped - foreign);
  if (2 * foreign > telling) {
    throw input_error(fmt::format(
        "{}: {} of {} letters are no A, C, G, T, U or N, more than half; are these sequences of DNA or RNA?",
        name, foreign, telling));
  }
  if (list.letters != 0 && list.letters == list.skipped)
    throw input_error(
        fmt::format("{}: all its {} letters are unknown bases, N, X or gaps", name, list.letters));
  if (list.kmers.empty()) {
    throw input_error(fmt::format("{}: no {} letters of A, C, G, T in a row; use a smaller k", name, k));
  }
  return list;
}

dataset sequence_keys(std::string_view text, const std::string& name, unsigned k, arrangement how) {
  kmer_list list = read_kmers(text, name, k);
  require_countable(list.kmers.size(), name);
  dataset data = counted(std::move(list.kmers), how.order, how.seed);
  data.key_bits = k <= 16 ? 32 : 64;
  if (list.skipped != 0)
    data.note =
        fmt::format("{} of {} letters skipped, which are no A, C, G, T or U", list.skipped, list.letters);
  return data;
}

}  // namespace tilehash::app
