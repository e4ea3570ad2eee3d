#include "file_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "support.hpp"

namespace tilehash::app {
namespace {

using testing::message_of;
using counted = std::map<std::uint64_t, std::uint32_t>;

counted as_map(const dataset& data) {
  counted counts;
  for (std::size_t i = 0; i < data.size(); ++i) counts[data.keys[i]] = data.counts[i];
  EXPECT_EQ(counts.size(), data.size()) << "a key came twice";
  return counts;
}

std::uint64_t encode(std::string_view bases) {
  std::uint64_t code = 0;
  for (const char base : bases) code = code << 2 | std::string_view("ACGT").find(base);
  return code;
}

std::string reverse_complement(std::string_view bases) {
  std::string result;
  for (auto base = bases.rbegin(); base != bases.rend(); ++base) {
    result += "TGCA"[std::string_view("ACGT").find(*base)];
  }
  return result;
}

// The definition, on strings: strings of one length compare as their codes do.
counted kmers_by_definition(std::string_view sequence, unsigned k) {
  counted counts;
  for (std::size_t i = 0; i + k <= sequence.size(); ++i) {
    std::string window(sequence.substr(i, k));
    std::transform(window.begin(), window.end(), window.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    if (window.find_first_not_of("ACGT") != std::string::npos) continue;
    ++counts[encode(std::min(window, reverse_complement(window)))];
  }
  return counts;
}

TEST(Fasta, CountsByHand) {
  // ACGTAC in 3-mers: ACG, CGT (reverse complement ACG), GTA (TAC: GTA is smaller), TAC (GTA).
  const counted expected{{encode("ACG"), 2}, {encode("GTA"), 2}};
  EXPECT_EQ(as_map(fasta_keys(">x\nACGTAC\n", "x.fa", 3)), expected);
  EXPECT_EQ(as_map(fasta_keys(">x\r\nACG\r\nTAC\r\n", "x.fa", 3)), expected) << "a record over two lines";
  EXPECT_EQ(as_map(fasta_keys(">x some words\nacgtac", "x.fa", 3)), expected)
      << "lower case, no last newline";
  EXPECT_EQ(as_map(fasta_keys(">x\nACGT\n>y\nGTAC\n", "x.fa", 3)), expected) << "two records";
}

TEST(Fasta, WindowsDoNotReachAcrossRecordsOrOtherLetters) {
  EXPECT_EQ(as_map(fasta_keys(">x\nAAAC\n>y\nCAAA\n", "x.fa", 4)),
            (counted{{encode("AAAC"), 1}, {encode("CAAA"), 1}}));
  EXPECT_EQ(as_map(fasta_keys(">x\nAANAAA-AARAA*\n", "x.fa", 3)), (counted{{encode("AAA"), 1}}));
}

TEST(Fasta, AgreesWithTheDefinitionForEveryK) {
  std::mt19937 random(5);
  std::string sequence;
  for (int i = 0; i < 3000; ++i) sequence += "ACGTacgtNACGTACGT"[random() % 17];
  std::string text = ">random\n";
  for (std::size_t i = 0; i < sequence.size(); i += 61) text += sequence.substr(i, 61) + "\n";
  for (unsigned k = 1; k <= 32; ++k) {
    const dataset data = fasta_keys(text, "random.fa", k);
    EXPECT_EQ(as_map(data), kmers_by_definition(sequence, k)) << k;
    EXPECT_EQ(data.key_bits, k <= 16 ? 32U : 64U);
  }
}

TEST(Fasta, NamesThePlaceOfWhatItCannotRead) {
  const auto message = [](std::string_view text, unsigned k = 3) {
    return message_of<input_error>([=] { fasta_keys(text, "x.fa", k); });
  };
  EXPECT_NE(message("\nACGT\n").find("x.fa:2: sequence before"), std::string::npos) << message("\nACGT\n");
  EXPECT_NE(message("@read\nACGT\n+\nIIII\n").find("x.fa:1:"), std::string::npos);
  EXPECT_NE(message(">x\nACGT\nAC7T\n").find("x.fa:3:3: byte 0x37"), std::string::npos);
  EXPECT_NE(message(">x\nAC\n>y\nGT\n").find("x.fa: no 3 letters"), std::string::npos);
  EXPECT_NE(message(">only a header\n").find("x.fa: no 3 letters"), std::string::npos);
  EXPECT_NE(message(">x\nACGT\n", 5).find("smaller k"), std::string::npos);
}

TEST(Lines, CountsDistinctLinesInOrder) {
  const line_hash hash = seeded_line_hash(1);
  const dataset data = line_keys("b\na\nb\n\na\nb", "words", hash);
  EXPECT_EQ(data.keys, (std::vector<std::uint64_t>{hash("b"), hash("a"), hash("")}));
  EXPECT_EQ(data.counts, (std::vector<std::uint32_t>{3, 2, 1}));
  EXPECT_EQ(data.key_bits, 64U);
}

TEST(Lines, HashesAllBytesAndTheSeed) {
  const line_hash hash = seeded_line_hash(1);
  EXPECT_NE(hash("a"), hash("b"));
  EXPECT_NE(hash(""), hash(std::string_view("\0", 1)));
  EXPECT_NE(hash("ab"), hash("ba"));
  EXPECT_NE(hash("a"), seeded_line_hash(2)("a"));
}

TEST(Lines, ReportsACollisionOfDifferentLines) {
  const line_hash length = [](std::string_view line) { return line.size(); };
  EXPECT_EQ(line_keys("aa\nb\naa\n", "words", length).size(), 2U);
  const std::string message = message_of<input_error>([&] { line_keys("aa\nb\naa\nxy\n", "words", length); });
  EXPECT_NE(message.find("words:4:"), std::string::npos) << message;
  EXPECT_NE(message.find("line 1;"), std::string::npos) << message;
  EXPECT_NE(message.find("--seed"), std::string::npos) << message;
}

TEST(Binary, ReadsLittleEndian) {
  const std::string bytes("\x01\x02\x03\x84\xff\x00\x00\x00", 8);
  EXPECT_EQ(binary_keys(bytes, "x.bin", 32).keys, (std::vector<std::uint64_t>{0x84030201, 0xff}));
  EXPECT_EQ(binary_keys(bytes, "x.bin", 64).keys, (std::vector<std::uint64_t>{0xff84030201}));
}

TEST(Binary, NamesTheByteWhereTheLastKeyIsCut) {
  const std::string message = message_of<input_error>([] { binary_keys("123456789", "x.bin", 32); });
  EXPECT_NE(message.find("x.bin: byte 8"), std::string::npos) << message;
}

}  // namespace
}  // namespace tilehash::app
