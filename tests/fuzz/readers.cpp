// SPDX-License-Identifier: Apache-2.0
// The fuzz target of the program's readers. Each either gives what a plain model gives, or refuses in one
// line.
//
//   byte 0  what is read: sequences, FASTA or FASTQ that was made up, lines, numbers, packed data, specs,
//   options then    options of it, and its text
#include <array>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <dataset.hpp>
#include <file.hpp>
#include <file_keys.hpp>
#include <fuzz/target.hpp>
#include <input.hpp>
#include <input_spec.hpp>
#include <options.hpp>
#include <sizes.hpp>

namespace tilehash::fuzz {

const std::size_t longest_input = 600;
const unsigned first_bytes = 9;

namespace {

using namespace tilehash::app;
using tally = std::map<std::uint64_t, std::uint64_t>;

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

// Bytes that decide, and then 0.
class choices {
 public:
  choices(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  unsigned below(unsigned n) {
    if (rest_.empty()) return 0;
    const auto x = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return x % n;
  }
  bool ended() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// A reader's result for a text, or the reason of its refusal.
template <class Result>
struct reading {
  Result result{};
  std::string refusal{};
  bool refused() const { return !refusal.empty(); }
};
template <class Read>
auto try_to(Read read) {
  reading<decltype(read())> its;
  try {
    its.result = read();
  } catch (const input_error& e) {
    its.refusal = e.what();
    expect(its.refused(), "a refusal without a word");
    expect(its.refusal.find('\n') == std::string::npos, "a refusal of several lines: " + its.refusal);
  }
  return its;
}

// ---- sequences ----
tally tally_of(const kmer_list& list) {
  tally counts;
  for (const std::uint64_t kmer : list.kmers) ++counts[kmer];
  return counts;
}
reading<kmer_list> sequences(std::string_view text, unsigned k) {
  return try_to([&] { return read_kmers(text, "text", k); });
}
void expect_same(const reading<kmer_list>& a, const reading<kmer_list>& b, const char* what) {
  expect(a.refused() == b.refused(),
         std::string(what) + " changes whether it is read: " + a.refusal + b.refusal);
  expect(a.result.kmers == b.result.kmers && a.result.skipped == b.result.skipped,
         std::string(what) + " changes what is read");
}

// Any text: the same with a byte order mark, and through the whole reader.
void read_sequences(choices& its) {
  const unsigned k = 1 + its.below(32);
  const std::string text(its.rest());
  if (text.empty()) return;
  const auto list = sequences(text, k);
  if (text.rfind("\xef\xbb\xbf", 0) != 0)
    expect_same(list, sequences("\xef\xbb\xbf" + text, k), "a byte order mark");
  const auto counted = try_to([&] { return sequence_keys(text, "text", k); });
  expect(counted.refused() == list.refused(), "the two readers of sequences disagree");
  tally counts;
  for (std::size_t i = 0; i < counted.result.size(); ++i)
    counts[counted.result.keys[i]] = counted.result.counts[i];
  expect(counts == tally_of(list.result), "k-mers are counted wrongly");
}

// By definition, on strings.
void count_kmers(tally& counts, std::string_view letters, unsigned k) {
  constexpr std::string_view bases = "ACGT";
  for (std::size_t i = 0; i + k <= letters.size(); ++i) {
    std::uint64_t forward = 0, reverse = 0;
    bool whole = true;
    for (unsigned j = 0; j < k; ++j) {
      char c = letters[i + j];
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
      const auto code = bases.find(c == 'U' ? 'T' : c);
      whole = whole && code != std::string_view::npos;
      if (!whole) break;
      forward = forward << 2 | code;
      reverse |= (3 - code) << 2 * j;
    }
    if (whole) ++counts[std::min(forward, reverse)];
  }
}

// Files that are right, in all the ways in which they are written; those of FASTQ cut off somewhere, too.
void read_made_up(choices& its, bool fastq) {
  const unsigned k = 1 + its.below(8), style = its.below(256), width = 1 + its.below(20);
  const char* const line_end = (style & 1) != 0 ? "\r\n" : (style & 6) == 6 ? "\r" : "\n";
  std::string text = (style & 8) != 0 ? "\xef\xbb\xbf" : "";
  tally wanted;
  std::size_t last_begin = 0, letters_end = 0;  // of the last record, and of what it cannot do without
  const unsigned records = 1 + its.below(4);
  for (unsigned r = 0; r < records; ++r) {
    const unsigned n = its.below(r == 0 ? 40 : 24) + (r == 0 ? 12 : 0);
    std::string letters, line;
    for (unsigned i = 0; i < n; ++i) letters += "ACGTacgtACGTUN"[its.below(r == 0 && i < 12 ? 4 : 14)];
    last_begin = text.size();
    text += (fastq ? "@r" : ">r") + std::to_string(r) + ((style & 16) != 0 ? " some words" : "");
    text += line_end;
    if ((style & 32) != 0 && !fastq) text += line_end;
    for (std::size_t at = 0; at < letters.size(); at += fastq ? letters.size() : width) {
      std::string part = letters.substr(at, fastq ? letters.size() : width);
      if ((style & 64) != 0 && part.size() > 2 && !fastq) part.insert(1, " ");
      text += part;
      text += line_end;
    }
    if (fastq) {
      if (letters.empty()) text += line_end;
      text += "+";
      text += line_end;
      for (unsigned i = 0; i < n; ++i) text += static_cast<char>("I@>+!~"[its.below(6)]);
      letters_end = text.size();
      text += line_end;
    }
    count_kmers(wanted, letters, k);
  }
  const auto got = sequences(text, k);
  expect(!got.refused(), "a file that is right is refused: " + got.refusal);
  expect(tally_of(got.result) == wanted, "other k-mers than the file has");
  if (!fastq) return;
  // Cut off inside its last record.
  const std::size_t cut = last_begin + 1 + its.below(256) % (letters_end - last_begin);
  if (cut < letters_end) {
    const auto part = sequences(text.substr(0, cut), k);
    expect(part.refused(), "a file that ends inside a record is read");
  }
}

// ---- lines, numbers ----
void read_lines(choices& its) {
  const std::string text(its.rest());
  std::string_view rest = text;
  if (rest.substr(0, 3) == "\xef\xbb\xbf") rest.remove_prefix(3);
  const char newline =
      text.find('\n') == std::string::npos && text.find('\r') != std::string::npos ? '\r' : '\n';
  std::map<std::string, std::uint32_t> wanted;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(newline), rest.size());
    std::string_view line = rest.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ++wanted[std::string(line)];
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  // By number, so that no two lines have one hash.
  std::map<std::string, std::uint64_t> numbers;
  std::mutex one_at_a_time;
  const auto hash = [&](std::string_view line) {
    const std::lock_guard lock(one_at_a_time);
    return numbers.try_emplace(std::string(line), numbers.size()).first->second;
  };
  const auto got = try_to([&] { return line_keys(text, "text", hash, {key_order::file, 1}); });
  if (got.refused()) return;
  expect(got.result.size() == wanted.size(), "number of different lines");
  tally counts, right;
  for (std::size_t i = 0; i < got.result.size(); ++i) counts[got.result.keys[i]] = got.result.counts[i];
  for (const auto& [line, count] : wanted) right[hash(line)] = count;
  expect(counts == right, "how often lines come");
}
void read_numbers(choices& its) {
  const unsigned bits = its.below(2) == 0 ? 32 : 64;
  const std::string text(its.rest());
  const auto got = try_to([&] { return binary_keys(text, "text", bits, {key_order::file, 1}); });
  expect(got.refused() == (text.size() % (bits / 8) != 0), "is it an array? " + got.refusal);
  if (got.refused()) return;
  tally wanted, counts;
  for (std::size_t at = 0; at < text.size(); at += bits / 8) {
    std::uint64_t x = 0;
    for (unsigned b = 0; b < bits / 8; ++b)
      x |= std::uint64_t(static_cast<unsigned char>(text[at + b])) << 8 * b;
    ++wanted[x];
  }
  for (std::size_t i = 0; i < got.result.size(); ++i)
    counts[got.result.keys[i]] += got.result.counts.empty() ? 1 : got.result.counts[i];
  expect(counts == wanted, "other numbers than the file has");
}

// ---- packed data, specs, options ----
void read_packed(choices& its) {
  constexpr std::string_view magics[] = {"", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd"};
  std::string text(magics[its.below(3)]);
  text += its.rest();
  try_to([&] { return unpack(text, "text"); });
  describe_binary(text);
}
void read_spec(choices& its) {
  const std::string text(its.rest());
  if (text.find('\0') != std::string::npos) return;  // no argument of a program
  const auto spec = try_to([&] { return parse_spec(text); });
  const auto expected =
      try_to([&] { return std::holds_alternative<random_spec>(spec.result) ? expected_items(text) : 0.0; });
  if (spec.refused()) return;
  const auto* const random = std::get_if<random_spec>(&spec.result);
  const auto* const set = std::get_if<data_set_spec>(&spec.result);
  const std::uint64_t n = random != nullptr ? random->n : set != nullptr ? set->n : ~std::uint64_t(0);
  if (n > 5'000) return;
  for (const unsigned bits : {0U, 32U, 64U}) {
    const auto made = try_to([&] { return load_input(text, bits, 1); });
    expect(made.refused() || made.result.size() == n, "number of keys made");
  }
  expect(random == nullptr || expected.refused() || expected.result == static_cast<double>(n),
         "expected_items");
}
void read_options(choices& its) {
  std::vector<std::string> words = {"tilehash", "run"};
  std::string word;
  for (const char c : its.rest()) {
    if (c == '\n' || c == '\0')
      words.push_back(std::exchange(word, {}));
    else
      word += c;
  }
  if (!word.empty()) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  CLI::App app("", "tilehash");
  run_options run;
  list_options listed;
  add_manners(app);
  add_list_command(app, listed);
  add_run_command(app, run);
  try {
    app.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const CLI::ParseError& e) {
    expect(e.get_exit_code() == 0 || *e.what() != '\0', "a refusal without a word");
  }
  for (const std::string& w : words) {
    to_ratio(w);
    const auto size = to_size(w);
    if (size && to_number<std::uint64_t>(w)) expect(*size == *to_number<std::uint64_t>(w), "a plain number");
  }
}

}  // namespace
}  // namespace tilehash::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilehash::fuzz;
  if (size == 0) return -1;
  choices its(data, size);
  switch (its.below(first_bytes)) {
    case 0:
      read_sequences(its);
      break;
    case 1:
    case 2:
      read_made_up(its, false);
      break;
    case 3:
      read_made_up(its, true);
      break;
    case 4:
      read_lines(its);
      break;
    case 5:
      read_numbers(its);
      break;
    case 6:
      read_packed(its);
      break;
    case 7:
      read_spec(its);
      break;
    default:
      read_options(its);
  }
  return 0;
}
