// SPDX-License-Identifier: Apache-2.0
#include "file_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include <contract/random.hpp>

#include "support.hpp"

namespace tilehash::app {
namespace {

using testing::message_of;
using tally = std::map<std::uint64_t, std::uint32_t>;

tally as_map(const dataset& data) {
  tally counts;
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
tally kmers_by_definition(std::string_view sequence, unsigned k) {
  tally counts;
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
  const tally expected{{encode("ACG"), 2}, {encode("GTA"), 2}};
  EXPECT_EQ(as_map(sequence_keys(">x\nACGTAC\n", "x.fa", 3)), expected);
  EXPECT_EQ(as_map(sequence_keys(">x\r\nACG\r\nTAC\r\n", "x.fa", 3)), expected) << "a record over two lines";
  EXPECT_EQ(as_map(sequence_keys(">x some words\nacgtac", "x.fa", 3)), expected)
      << "lower case, no last newline";
  EXPECT_EQ(as_map(sequence_keys(">x\nACGT\n>y\nGTAC\n", "x.fa", 3)), expected) << "two records";
}

TEST(Fasta, WindowsDoNotReachAcrossRecordsOrOtherLetters) {
  EXPECT_EQ(as_map(sequence_keys(">x\nAAAC\n>y\nCAAA\n", "x.fa", 4)),
            (tally{{encode("AAAC"), 1}, {encode("CAAA"), 1}}));
  EXPECT_EQ(as_map(sequence_keys(">x\nAANAAA-AARAA*\n", "x.fa", 3)), (tally{{encode("AAA"), 1}}));
}

TEST(Fasta, AgreesWithTheDefinitionForEveryK) {
  std::mt19937_64 random(contract::run_seed());
  std::string sequence;
  for (int i = 0; i < 3000; ++i) sequence += "ACGTacgtNACGTACGT"[random() % 17];
  std::string text = ">random\n";
  for (std::size_t i = 0; i < sequence.size(); i += 61) text += sequence.substr(i, 61) + "\n";
  for (unsigned k = 1; k <= 32; ++k) {
    const dataset data = sequence_keys(text, "random.fa", k);
    EXPECT_EQ(as_map(data), kmers_by_definition(sequence, k)) << k;
    EXPECT_EQ(data.key_bits, k <= 16 ? 32U : 64U);
  }
}

TEST(Fasta, ReadsFastqRnaAndCarriageReturns) {
  const tally expected{{encode("ACGT"), 1}, {encode("AACG"), 1}};  // AACGT: CGTT's complement is AACG
  EXPECT_EQ(as_map(sequence_keys(">x\nAACGT\n", "x", 4)), expected);
  EXPECT_EQ(as_map(sequence_keys("@x\nAACGT\n+\n@@II>\n", "x", 4)), expected)
      << "qualities that look like headers";
  EXPECT_EQ(as_map(sequence_keys(">x\r\nAAC\r\nGT\r\n", "x", 4)), expected);
  EXPECT_EQ(as_map(sequence_keys(">x\nAACGU\n", "x", 4)), expected);
}

TEST(Fasta, ReadsWhatOtherSystemsWrite) {
  const tally expected = as_map(sequence_keys(">x\nAACGT\n>y\nTTGCA\n", "x", 4));
  for (const std::string_view text : {"\xef\xbb\xbf>x\nAACGT\n>y\nTTGCA\n",  // a byte order mark
                                      ">x\r\n\r\nAACGT\r\n>y\r\nTTGCA",      // an empty line after a header
                                      ">x\nAA CGT\n>y\n TT\tGCA \n",         // blanks
                                      ">x one\rAAC\rGT\r>y two\rTTGCA\r"})   // lines end with returns
    EXPECT_EQ(as_map(sequence_keys(text, "x", 4)), expected) << text;
  const tally of_reads =
      as_map(sequence_keys("@x\nAACGT\n+\n@@I+>\n@e\n\n+\n\n@y\nTTGCA\n+\nIIIII\n", "x", 4));
  EXPECT_EQ(of_reads, expected) << "an empty read";
  EXPECT_EQ(as_map(sequence_keys(
                "@x\r\nAACGT\r\n+x y\r\n@@I+>\r\n@e\r\n\r\n+\r\n\r\n@y\r\nTTGCA\r\n+\r\nIIIII\r\n", "x", 4)),
            expected);
  EXPECT_EQ(as_map(sequence_keys("@e\n\n+\n\n@x\nAACGT\n+\nIIIII\n@y\nTTGCA\n+\nIIIII\n@e\n\n+\n\n", "x", 4)),
            expected)
      << "empty reads at both ends";
}

TEST(Fasta, RefusesRecordsThatAreCutOff) {
  const std::string whole = "@first read\nAACGT\n+\nIIIII\n@second\nTTGCA\n+\nIIIII\n";
  ASSERT_EQ(read_kmers(whole, "x", 4).letters, 10U);
  EXPECT_EQ(read_kmers(whole.substr(0, whole.size() - 1), "x", 4).letters, 10U) << "no last newline";
  const std::size_t second = whole.find("@second");
  for (std::size_t end = second + 1; end + 1 < whole.size(); ++end) {
    const std::string message =
        message_of<input_error>([&] { read_kmers(std::string_view(whole).substr(0, end), "x", 4); });
    EXPECT_TRUE(testing::contains(message, "is the file cut off?")) << end << ": " << message;
    EXPECT_TRUE(testing::contains(message, end <= second + 1 ? "'first'" : "'s")) << end << ": " << message;
    // The same at the end of a file that begins with FASTA.
    EXPECT_FALSE(message_of<input_error>([&] {
                   read_kmers(">f\nACGTA\n" + whole.substr(second, end - second), "x", 4);
                 }).empty())
        << end;
  }
}

TEST(Fasta, TakesUnknownBasesForNoSignAgainstDna) {
  const std::string mostly_unknown = ">x\n" + std::string(900, 'N') + "ACGTT" + std::string(90, 'x') + "\n";
  EXPECT_EQ(as_map(sequence_keys(mostly_unknown, "x", 4)).size(), 2U);
  EXPECT_TRUE(testing::contains(message_of<input_error>([] { sequence_keys(">x\nNNN-NNN\n", "x", 2); }),
                                "all its 7 letters are unknown"));
  EXPECT_TRUE(testing::contains(sequence_keys(mostly_unknown, "x", 4).note, "990 of 995 letters skipped"));
  EXPECT_TRUE(
      testing::contains(message_of<input_error>([] { sequence_keys(">p\nMKVLWNNNNNNNNNNNACQAE\n", "x", 1); }),
                        "more than half"));
}

TEST(Fasta, KeepsAllThatItCounts) {
  const dataset data = sequence_keys(">x\nAAAAC\n", "x", 3, {key_order::file, 1});
  EXPECT_EQ(data.raw, (std::vector<std::uint64_t>{encode("AAA"), encode("AAA"), encode("AAC")}));
  EXPECT_EQ(data.keys, (std::vector<std::uint64_t>{encode("AAA"), encode("AAC")}));
  EXPECT_EQ(data.counts, (std::vector<std::uint32_t>{2, 1}));
}

TEST(Fasta, SaysHowMuchItSkips) {
  EXPECT_EQ(sequence_keys(">x\nACGT\n", "x", 3).note, "");
  const std::string note = sequence_keys(">x\nACGTNNACG\n", "x", 3).note;
  EXPECT_NE(note.find("2 of 9 letters skipped"), std::string::npos) << note;
  const std::string protein =
      message_of<input_error>([] { sequence_keys(">p\nMKVLWAALLVTFLAGCQA\n", "p.fa", 1); });
  EXPECT_NE(protein.find("more than half"), std::string::npos) << protein;
}

TEST(Fasta, NamesThePlaceOfWhatItCannotRead) {
  const auto message = [](std::string_view text, unsigned k = 3) {
    return message_of<input_error>([=] { sequence_keys(text, "x.fa", k); });
  };
  EXPECT_NE(message("\nACGT\n").find("x.fa:2: no '>' or '@'"), std::string::npos) << message("\nACGT\n");
  EXPECT_NE(message("@read\nACGT\n+\nII\n").find("record 'read'"), std::string::npos)
      << message("@read\nACGT\n+\nII\n");
  EXPECT_NE(message(">x\nACGT\nAC7T\n").find("x.fa: record 'x', letter 7: byte 0x37"), std::string::npos);
  EXPECT_NE(message(">x\nAC\n>y\nGT\n").find("x.fa: no 3 letters"), std::string::npos);
  EXPECT_NE(message(">only a header\n").find("x.fa: no 3 letters"), std::string::npos);
  EXPECT_NE(message(">x\nACGT\n", 5).find("smaller k"), std::string::npos);
  EXPECT_NE(message(std::string_view("BAM\1 ....")).find("BAM"), std::string::npos);
  EXPECT_NE(message(std::string_view("\0\1\2", 3)).find("binary data (byte 0x00 at 0)"), std::string::npos);
}

TEST(Lines, CountsDistinctLinesInOrder) {
  const line_hash hash = seeded_line_hash(1);
  const dataset data = line_keys("b\na\nb\r\n\na\nb", "words", hash, {key_order::file, 1});
  EXPECT_EQ(data.keys, (std::vector<std::uint64_t>{hash("b"), hash("a"), hash("")}));
  EXPECT_EQ(data.counts, (std::vector<std::uint32_t>{3, 2, 1}));
  EXPECT_EQ(data.key_bits, 64U);
}

TEST(Lines, AreTheSameFromEverySystem) {
  const line_hash hash = seeded_line_hash(1);
  const std::vector<std::uint64_t> expected{hash("b"), hash("a")};
  for (const std::string_view text : {"\xef\xbb\xbf"
                                      "b\na\n",
                                      "b\r\na\r\n", "b\ra\r", "b\ra"})
    EXPECT_EQ(line_keys(text, "words", hash, {key_order::file, 1}).keys, expected) << text;
}

TEST(Lines, AreShuffledUnlessTold) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\n";
  const auto lines = [&](arrangement how) {
    return line_keys(text, "numbers", seeded_line_hash(1), how).keys;
  };
  const auto in_file = lines({key_order::file, 1}), mixed = lines({key_order::shuffled, 1});
  EXPECT_EQ(in_file[3], seeded_line_hash(1)("3"));
  EXPECT_NE(mixed, in_file);
  EXPECT_NE(mixed, lines({key_order::shuffled, 2}));
  EXPECT_TRUE(std::ranges::is_permutation(mixed, in_file));
}

TEST(Lines, AreText) {
  const std::string message =
      message_of<input_error>([] { line_keys("\x89PNG...", "x", seeded_line_hash(1)); });
  EXPECT_NE(message.find("a PNG picture"), std::string::npos) << message;
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
  EXPECT_EQ(binary_keys(bytes, "x.bin", 32, {key_order::file, 1}).keys,
            (std::vector<std::uint64_t>{0x84030201, 0xff}));
  EXPECT_EQ(binary_keys(bytes, "x.bin", 64).keys, (std::vector<std::uint64_t>{0xff84030201}));
}

TEST(Binary, RefusesByItsSizeWhatIsTooLarge) {
  EXPECT_NO_THROW(check_binary_size(std::uint64_t{1} << 34, "x.bin", 32));
  const std::string message =
      message_of<input_error>([] { check_binary_size((std::uint64_t{1} << 34) + 4, "x.bin", 32); });
  EXPECT_TRUE(testing::contains(message, "2^32")) << message;
}

TEST(Binary, SaysWhatTheFileIs) {
  const auto message = [](std::size_t bytes, unsigned bits) {
    return message_of<input_error>([=] { binary_keys(std::string(bytes, 'x'), "x.bin", bits); });
  };
  EXPECT_NE(message(4001, 32).find("4001 bytes are no whole number of keys of 4 bytes; nor of 8 bytes"),
            std::string::npos)
      << message(4001, 32);
  EXPECT_NE(message(4004, 64).find("of 4 bytes they are; is it key=u32?"), std::string::npos)
      << message(4004, 64);
}

}  // namespace
}  // namespace tilehash::app
