// SPDX-License-Identifier: Apache-2.0
// From a spec to keys through real files.
#include "input.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "file.hpp"
#include "support.hpp"

namespace tilehash::app {
namespace {

using testing::contains;
using testing::message_of;
using testing::temporary_file;

std::string refusal(const std::string& spec, unsigned key_bits = 0) {
  return message_of<input_error>([&] { load_input(spec, key_bits, 1); });
}

// ">x\nACGTACGTACGT\n" as gzip -n writes it.
const std::string packed(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xb3\xab\xe0\x72\x74\x76\x0f\x81\x61\x2e\x00\xa0\x8c\x04\x91\x10"
    "\x00\x00\x00",
    29);

bool reads_gzip() {
  return !contains(message_of<input_error>([] { unpack(packed, "x"); }), "without zlib");
}

TEST(Input, KeepsTheSpecAsName) { EXPECT_EQ(load_input("random:n=3", 0, 1).name, "random:n=3"); }

TEST(Input, ChoosesTheNarrowestKeysUnlessTold) {
  EXPECT_EQ(load_input("random:n=3", 0, 1).key_bits, 32U);
  EXPECT_EQ(load_input("random:n=3", 64, 1).key_bits, 64U);
  const temporary_file file("x.bin", "12345678");
  EXPECT_EQ(load_input("binary:" + file.path() + ",key=u32", 64, 1).key_bits, 64U);
  EXPECT_EQ(load_input("binary:" + file.path() + ",key=u64", 0, 1).key_bits, 64U);
}

TEST(Input, MakesDataSetsAndSaysHowFarItIs) {
  int calls = 0;
  const dataset com = load_input("com:n=5000", 0, 1, [&](double) { ++calls; });
  EXPECT_EQ(com.name, "com:n=5000");
  EXPECT_EQ(com.key_bits, 32U);
  EXPECT_EQ(com.keys, data_set_keys({data_set::com, 5000}, 32, 1));
  EXPECT_TRUE(com.counts.empty());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(load_input("line:n=9", 64, 1).key_bits, 64U);
}

TEST(Input, RefusesKeysThatDoNotFit) {
  const temporary_file words("words", "hello\n");
  EXPECT_TRUE(contains(refusal("lines:" + words.path(), 32), "--key-bits 64"));
  const temporary_file genome("x.fa", ">x\nTTTTTTTTTTTTTTTTTTTTCCCCC\n");
  EXPECT_TRUE(contains(refusal("fasta:" + genome.path() + ",k=25", 32), "--key-bits 64"));
  const temporary_file numbers("x.bin", std::string("\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0", 16));
  EXPECT_TRUE(contains(refusal("binary:" + numbers.path() + ",key=u64", 32), "key 0x100000000 does not fit"));
}

TEST(Input, NamesAFileThatCannotBeRead) {
  for (const char* spec :
       {"lines:/nonexistent/words", "fasta:/nonexistent/x.fa", "binary:/nonexistent/x,key=u32"}) {
    EXPECT_TRUE(contains(refusal(spec), "/nonexistent/")) << refusal(spec);
    EXPECT_TRUE(contains(refusal(spec), "No such file")) << refusal(spec);
  }
  EXPECT_TRUE(contains(refusal("lines:/"), "/: cannot")) << refusal("lines:/");
}

TEST(Input, NamesAnEmptyFile) {
  const temporary_file file("empty", "");
  EXPECT_TRUE(contains(refusal("lines:" + file.path()), file.path() + ": the file is empty"));
  EXPECT_TRUE(contains(refusal("fasta:" + file.path()), file.path() + ": the file is empty"));
  EXPECT_TRUE(contains(refusal("binary:" + file.path() + ",key=u32"), file.path() + ": the file is empty"));
}

TEST(GzipInput, IsUnpackedWhateverItIsCalled) {
  if (!reads_gzip()) GTEST_SKIP() << "skipped: built without zlib";
  const temporary_file file("x.fa", packed);
  EXPECT_EQ(read_file(file.path()), ">x\nACGTACGTACGT\n");
  const temporary_file two("x.fa.gz", packed + packed);
  EXPECT_EQ(read_file(two.path()), ">x\nACGTACGTACGT\n>x\nACGTACGTACGT\n")
      << "one behind the other, as bgzip writes";
}

TEST(GzipInput, CutAnywhereIsAnError) {
  if (!reads_gzip()) GTEST_SKIP() << "skipped: built without zlib";
  for (std::size_t length = 2; length < packed.size();
       ++length) {  // (a single byte is not known for what it was)
    const temporary_file file("x.fa.gz", packed.substr(0, length));
    const std::string message = message_of<input_error>([&] { read_file(file.path()); });
    EXPECT_TRUE(contains(message, file.path() + ": ")) << "cut after " << length << " bytes: " << message;
  }
}

TEST(GzipInput, DamagedIsAnError) {
  if (!reads_gzip()) GTEST_SKIP() << "skipped: built without zlib";
  std::string damaged = packed;
  damaged[22] ^= 1;  // in the checksum
  const temporary_file file("x.fa.gz", damaged);
  EXPECT_TRUE(contains(message_of<input_error>([&] { read_file(file.path()); }), "damaged"));
}

TEST(GzipInput, ByNameOnlyIsReadAsItIs) {
  const temporary_file file("x.fa.gz", ">x\nACGT\n");
  EXPECT_EQ(read_file(file.path()), ">x\nACGT\n");
}

// ">x\nACGTACGTACGT\n" as zstd writes it.
const std::string packed_by_zstd(
    "\x28\xb5\x2f\xfd\x04\x58\x81\x00\x00\x3e\x78\x0a\x41\x43\x47\x54\x41\x43\x47\x54\x41\x43\x47\x54\x0a\xb4"
    "\x3c\x63\x5a",
    29);

TEST(ZstdInput, IsUnpackedOrSaysWhyNot) {
  const temporary_file file("x.fa", packed_by_zstd);
  const std::string message = message_of<input_error>([&] {
    EXPECT_EQ(read_file(file.path()), ">x\nACGTACGTACGT\n");
    for (std::size_t length = 4; length < packed_by_zstd.size(); ++length) {
      const temporary_file cut("cut.fa", packed_by_zstd.substr(0, length));
      EXPECT_TRUE(contains(message_of<input_error>([&] { read_file(cut.path()); }), cut.path() + ": "))
          << length;
    }
  });
  EXPECT_TRUE(message.empty() || contains(message, "without libzstd")) << message;
}

}  // namespace
}  // namespace tilehash::app
