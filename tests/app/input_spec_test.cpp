// SPDX-License-Identifier: Apache-2.0
#include "input_spec.hpp"

#include <gtest/gtest.h>

#include "dataset.hpp"
#include "support.hpp"

namespace tilehash::app {
namespace {

using testing::message_of;

TEST(InputSpec, ReadsRandom) {
  const auto spec = std::get<random_spec>(parse_spec("random:n=1000003"));
  EXPECT_EQ(spec.n, 1000003U);
  EXPECT_FALSE(spec.unique);
  EXPECT_EQ(spec.shape, distribution::uniform);

  const auto zipf = std::get<random_spec>(parse_spec("random:dist=zipf:0.99,n=2^20"));
  EXPECT_EQ(zipf.n, 1U << 20);
  EXPECT_EQ(zipf.shape, distribution::zipf);
  EXPECT_DOUBLE_EQ(zipf.skew, 0.99);

  EXPECT_TRUE(std::get<random_spec>(parse_spec("random:n=0,unique=1,dist=sequential")).unique);
  EXPECT_EQ(std::get<random_spec>(parse_spec("random:n=1e6")).n, 1'000'000U);
  EXPECT_EQ(std::get<random_spec>(parse_spec("random:n=1M")).n, 1U << 20);
  EXPECT_EQ(std::get<random_spec>(parse_spec("random:n=4294967296")).n, std::uint64_t{1} << 32);
}

TEST(InputSpec, ReadsFiles) {
  const auto fasta = std::get<fasta_spec>(parse_spec("fasta:a,b.fna.gz,k=31"));
  EXPECT_EQ(fasta.path, "a,b.fna.gz");
  EXPECT_EQ(fasta.k, 31U);
  EXPECT_EQ(std::get<fasta_spec>(parse_spec("fasta:x.fa")).k, 21U);
  EXPECT_EQ(std::get<lines_spec>(parse_spec("lines:/a/b,c=d:e")).path, "/a/b,c=d:e");
  const auto binary = std::get<binary_spec>(parse_spec("binary:keys.bin,key=u64"));
  EXPECT_EQ(binary.path, "keys.bin");
  EXPECT_EQ(binary.order, key_order::shuffled);
  const auto ordered = std::get<fasta_spec>(parse_spec("fasta:-,order=file,k=5"));
  EXPECT_EQ(ordered.path, "-");
  EXPECT_EQ(ordered.k, 5U);
  EXPECT_EQ(ordered.order, key_order::file);
  EXPECT_EQ(binary.key_bits, 64U);
}

TEST(InputSpec, ReadsDataSets) {
  const auto scaled = std::get<data_set_spec>(parse_spec("com:n=2^20"));
  EXPECT_EQ(scaled.which, data_set::com);
  EXPECT_EQ(scaled.n, 1U << 20);
  EXPECT_EQ(std::get<data_set_spec>(parse_spec("tw")).n, 50'876'784U);
  EXPECT_EQ(std::get<data_set_spec>(parse_spec("rand:")).n, 100'000'000U);
}

TEST(InputSpec, IsNamedInOneLineWhateverItHolds) {
  const std::string message = message_of<input_error>([] { parse_spec("no\nkind\x1b[31m of\tinput"); });
  EXPECT_NE(message.find("'no?kind?[31m of?input'"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

struct bad_spec {
  const char* text;
  const char* hint;  // what the message must name
};

class BadInputSpec : public ::testing::TestWithParam<bad_spec> {};

TEST_P(BadInputSpec, IsRefusedInOneLineWithAHint) {
  const std::string message = message_of<input_error>([] { parse_spec(GetParam().text); });
  EXPECT_NE(message.find(GetParam().hint), std::string::npos) << "message: " << message;
  EXPECT_NE(message.find(GetParam().text), std::string::npos) << "the spec is not named: " << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInputSpec,
    ::testing::Values(
        bad_spec{"", "random:n=N"}, bad_spec{"rnd:n=1", "'rnd'"}, bad_spec{"tw:m=1", "'m=1'"},
        bad_spec{"line:n=2^33", "2^32"}, bad_spec{"re:n=1,n=2", "'n=1,n=2'"}, bad_spec{"random", "random:n="},
        bad_spec{"random:", "random:n="}, bad_spec{"random:n=", "2^32"}, bad_spec{"random:n=-1", "n=-1"},
        bad_spec{"random:n=1.5", "n=1.5"}, bad_spec{"random:n=4294967297", "2^32"},
        bad_spec{"random:n=2^64", "2^32"}, bad_spec{"random:n=99999999999999999999", "2^32"},
        bad_spec{"random:n=5,unique=yes", "0 or 1"}, bad_spec{"random:n=5,size=3", "size=3"},
        bad_spec{"random:n=5,dist=poisson", "poisson"}, bad_spec{"random:n=5,dist=zipf", "zipf:1.1"},
        bad_spec{"random:n=5,dist=zipf:0", "above 0"}, bad_spec{"random:n=5,dist=zipf:nan", "above 0"},
        bad_spec{"random:n=5,dist=zipf:1,unique=1", "unique=1"},
        bad_spec{"random:n=5,unique=1,dist=normal", "unique=1"}, bad_spec{"fasta:", "file name"},
        bad_spec{"fasta:x.fa,k=0", "1 to 32"}, bad_spec{"fasta:x.fa,k=33", "1 to 32"},
        bad_spec{"fasta:x.fa,k=", "1 to 32"}, bad_spec{"lines:", "file name"},
        bad_spec{"binary:x.bin", "key=u32"}, bad_spec{"binary:x.bin,key=u16", "key=u32"},
        bad_spec{"binary:,key=u32", "file name"}, bad_spec{"fasta:x,k=21,k=22", "'k' is given twice"},
        bad_spec{"random:n=1,n=2", "'n' is given twice"},
        bad_spec{"binary:x,key=u32,key=u64", "'key' is given twice"},
        bad_spec{"lines:x,order=file,order=file", "'order' is given twice"}));

}  // namespace
}  // namespace tilehash::app
