// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "progress.hpp"
#include "results_file.hpp"
#include "sizes.hpp"
#include "support.hpp"

namespace tilehash::app {
namespace {

using testing::contains;

row example(std::string design, std::string op, double rate) {
  row r;
  r.design = std::move(design);
  r.space = "cpu";
  r.input = "random:n=1234567";
  r.n = 1234567;
  r.unique = 1234000;
  r.key_bytes = r.value_bytes = 4;
  r.load_factor = 0.8;
  r.bytes = 12345678;
  r.bytes_per_pair = 10;
  r.threads = 2;
  r.op = std::move(op);
  r.items = 1234567;
  const double seconds = static_cast<double>(r.items) / rate / 1e6;
  r.seconds = spread({seconds, seconds * 1.02, seconds * 0.99});
  return r;
}

TEST(Probes, ArePercentilesByNearestRank) {
  std::vector<std::uint32_t> probes(100);
  std::iota(probes.rbegin(), probes.rend(), 1U);
  const probe_statistics s = summarise_probes(probes);
  EXPECT_DOUBLE_EQ(s.average, 50.5);
  EXPECT_EQ(s.p50, 50U);
  EXPECT_EQ(s.p80, 80U);
  EXPECT_EQ(s.p90, 90U);
  EXPECT_EQ(s.p99, 99U);
  EXPECT_EQ(s.p100, 100U);
  EXPECT_EQ(summarise_probes(std::vector{7U}).p50, 7U);
  EXPECT_EQ(summarise_probes({}).p100, 0U);
}

TEST(Spread, IsOfAllRuns) {
  const spread times({3, 1, 2, 5});
  EXPECT_EQ(times.min, 1);
  EXPECT_EQ(times.median, 3);
  EXPECT_EQ(times.max, 5);
  EXPECT_EQ(times.runs, (std::vector<double>{3, 1, 2, 5})) << "in their order";
  EXPECT_DOUBLE_EQ(times.noise(), 4.0 / 3);
  EXPECT_FALSE(spread({1.0, 1.05, 1.1}).is_noisy());
  EXPECT_TRUE(spread({1.0, 1.05, 1.2}).is_noisy());
}

TEST(Json, HasTheKeysOfTheContractInOrder) {
  row r = example("linear_probing", "find_hit", 100);
  const auto plain = rows_as_json(std::vector{r});
  ASSERT_EQ(plain.size(), 1U);
  std::vector<std::string> keys;
  for (const auto& [key, value] : plain[0].items()) keys.push_back(key);
  const std::vector<std::string> expected{
      "design",       "space",       "threads", "input",          "n",       "unique", "key_bytes",
      "value_bytes",  "load_factor", "bytes",   "bytes_per_pair", "op",      "items",  "seconds",
      "mitems_per_s", "failed",      "wrong",   "verified",       "restarts"};
  EXPECT_EQ(keys, expected);
  EXPECT_EQ(plain[0]["seconds"]["runs"].size(), 3U);
  EXPECT_EQ(plain[0]["threads"], 2);

  r.probes = probe_statistics{1.5, 1, 2, 3, 4, 5};
  const auto probed = rows_as_json(std::vector{r})[0];
  EXPECT_EQ(probed["probes_avg"], 1.5);
  EXPECT_EQ(probed["probes_p50"], 1);
  EXPECT_EQ(probed["probes_p80"], 2);
  EXPECT_EQ(probed["probes_p90"], 3);
  EXPECT_EQ(probed["probes_p99"], 4);
  EXPECT_EQ(probed["probes_p100"], 5);
}

TEST(Json, SaysWhatNobodyChecked) {
  row r = example("a", "build", 1);
  EXPECT_EQ(rows_as_json(std::vector{r})[0]["verified"], true);
  r.verified = false;
  EXPECT_EQ(rows_as_json(std::vector{r})[0]["verified"], false);
  EXPECT_TRUE(rows_as_json(std::vector{r})[0]["wrong"].is_null());
  EXPECT_TRUE(contains(design_table({"cpu", {r}}, {}), "not verified"));
  r.threads = 0;  // a GPU's
  EXPECT_TRUE(rows_as_json(std::vector{r})[0]["threads"].is_null());
}

TEST(Json, IsOneObjectALine) {
  const std::string none = results_text({{"a", 1}}, rows_as_json({}));
  EXPECT_EQ(nlohmann::json::parse(none)["rows"], nlohmann::json::array());
  const std::string two = results_text(
      {{"a", 1}}, rows_as_json(std::vector{example("a", "build", 1), example("a", "insert", 2)}));
  EXPECT_EQ(nlohmann::json::parse(two)["rows"].size(), 2U);
  EXPECT_EQ(std::count(two.begin(), two.end(), '\n'), 5);
}

TEST(Json, SurvivesFileNamesThatAreNoUtf8) {
  row r = example("a", "build", 1);
  r.input = "lines:\xff";
  EXPECT_TRUE(nlohmann::json::accept(results_text({}, rows_as_json(std::vector{r}))));
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(Table, IsReadable) {
  row bad = example("linear_probing", "find_hit", 100.37);
  bad.wrong = 3;
  bad.failed = 1;
  const std::string text = design_table({"cpu (2 threads)", {bad}}, {});
  for (const char* part : {"linear_probing on cpu (2 threads)", "1,234,567", "12.3 ms", "100.4", "11.8 MiB",
                           "80.0 % full", "1 refused, 3 wrong", "3 %"}) {
    EXPECT_TRUE(contains(text, part)) << part << " is not in\n" << text;
  }
  EXPECT_FALSE(contains(text, "\x1b")) << "colours where they were not asked for";
  EXPECT_TRUE(contains(design_table({"cpu", {bad}}, {colour::on, 80}), "\x1b[31m"));
}

TEST(Table, TellsHowFullTheTableIsAndWhetherInsertsFillItMore) {
  row built = example("tiled", "build", 1), inserted = example("tiled", "insert", 1);
  EXPECT_TRUE(contains(design_table({"cpu", {built, inserted}}, {}), "80.0 % full\n"));
  built.load_factor = 0.1;
  EXPECT_TRUE(contains(design_table({"cpu", {built, inserted}}, {colour::off, 200}),
                       "10.0 % full as built; 11.8 MiB, 10.0 bytes a pair, 80.0 % full by inserts\n"))
      << design_table({"cpu", {built, inserted}}, {colour::off, 200});
}

TEST(Table, FitsNarrowTerminals) {
  row probed = example("bucketed_cuckoo_balanced", "find_hit", 12345.6);
  probed.items = probed.n = 4'000'000'000;
  probed.probes = probe_statistics{1.5, 1, 2, 3, 4, 5};
  const std::vector<row> rows{probed, example("bucketed_cuckoo_balanced", "build_raw", 2)};
  for (const unsigned width : {80U, 60U}) {
    EXPECT_LE(longest_line(design_table({"cpu (2 threads)", rows}, {colour::off, width})), width);
    EXPECT_LE(longest_line(rate_summary(rows, {colour::off, width})), width);
    std::vector<row> all;
    for (const auto op : all_ops)
      all.push_back(example("boost::unordered_flat_map", std::string(op), 1234.5));
    EXPECT_LE(longest_line(rate_summary(all, {colour::off, width})), width)
        << rate_summary(all, {colour::off, width});
    for (const auto op : all_ops)
      EXPECT_TRUE(contains(rate_summary(all, {colour::off, width}), std::string(op)));
  }
}

TEST(Table, SaysWhatWentOnOneThread) {
  row build = example("boost::unordered_flat_map", "build", 1);
  build.threads = 1;
  const std::vector<row> rows{build, example("boost::unordered_flat_map", "find_hit", 2)};
  EXPECT_TRUE(contains(design_table({"cpu (2 threads)", rows}, {}), "ok*\n"));
  EXPECT_TRUE(contains(rate_summary(rows, {}), "1.0*"));
  EXPECT_TRUE(contains(rate_summary(rows, {}), "* on one thread"));
}

TEST(Noise, IsWarnedOf) {
  row r = example("tiled", "build", 1);
  EXPECT_EQ(noise_warning(std::vector{r}, {}), "");
  r.seconds = spread({1.0, 1.2, 1.1});
  EXPECT_TRUE(contains(noise_warning(std::vector{r}, {colour::off, 300}), "build of tiled by 18 %"));
}

TEST(Summary, MarksTheBestOfEachColumn) {
  const std::vector<row> rows{example("slow", "build", 1), example("slow", "erase", 4),
                              example("fast", "build", 2)};
  const std::string plain = rate_summary(rows, {});
  EXPECT_TRUE(contains(plain, "slow") && contains(plain, "fast") && contains(plain, "-")) << plain;
  EXPECT_FALSE(contains(plain, "\x1b"));
  const std::string painted = rate_summary(rows, {colour::on, 80});
  EXPECT_LT(painted.find("fast"), painted.find("2.0")) << painted;
  EXPECT_TRUE(contains(painted, "m       2.0")) << "the faster build is not marked:\n" << painted;
  EXPECT_FALSE(contains(painted, "m       1.0")) << painted;
}

TEST(Terminal, BreaksLinesAtBlanks) {
  EXPECT_EQ(wrap("one two three\n", 9, 2), "one two\n  three\n");
  EXPECT_EQ(wrap("  one two\n", 80, 2), "  one two\n");
  EXPECT_EQ(wrap("a_word_that_is_long b\n", 8, 2), "a_word_that_is_long\n  b\n");
  EXPECT_EQ(wrap("\x1b[1mone\x1b[0m two\n", 7, 2), "\x1b[1mone\x1b[0m two\n") << "colours take no columns";
}

TEST(Progress, SaysHowFarAndHowLong) {
  const std::string line = progress_line(3, 15, 0.2, 11.2, "tiled: find_hit", 80);
  EXPECT_TRUE(contains(line, "3 of 15, 12 s left: tiled: find_hit")) << line;
  EXPECT_TRUE(contains(progress_line(1, 2, 0, -1, "x", 80), "time left unknown"));
  EXPECT_TRUE(contains(progress_line(1, 2, 0, 400, "x", 80), "7 min left"));
  EXPECT_LT(progress_line(3, 15, 0.2, 11.2, std::string(100, 'x'), 60).size(), 60U);
}

TEST(Sizes, AreTypedAsPeopleDo) {
  EXPECT_EQ(to_size("1000003"), 1000003U);
  EXPECT_EQ(to_size("2^20"), 1U << 20);
  EXPECT_EQ(to_size("1e6"), 1'000'000U);
  EXPECT_EQ(to_size("1M"), 1U << 20);
  EXPECT_EQ(to_size("1.5k"), 1536U);
  for (const char* bad : {"", "M", "1.5", "-1", "2^64", "1e30", "nan", "1MM", "0x10"})
    EXPECT_EQ(to_size(bad), std::nullopt) << bad;
  EXPECT_DOUBLE_EQ(*to_ratio("1/1.05"), 1 / 1.05);
  EXPECT_DOUBLE_EQ(*to_ratio("0.8"), 0.8);
  for (const char* bad : {"", "1/0", "1/", "/2", "a"}) EXPECT_EQ(to_ratio(bad), std::nullopt) << bad;
}

TEST(List, ShowsWhatADesignIs) {
  registry designs;
  designs.add({"toy", "a paper", "a summary", {"insert", "erase"}, {{"cpu", {}}}});
  designs.add({"toy", "a paper", "a summary", {"insert", "erase"}, {{"cuda", {}}}});
  const auto json = nlohmann::json::parse(designs_as_json(designs));
  ASSERT_EQ(json.size(), 1U) << "one design in two spaces is one design";
  EXPECT_EQ(json[0]["name"], "toy");
  EXPECT_EQ(json[0]["paper"], "a paper");
  EXPECT_EQ(json[0]["abilities"], (std::vector<std::string>{"insert", "erase"}));
  EXPECT_EQ(json[0]["spaces"], (std::vector<std::string>{"cpu", "cuda"}));
  EXPECT_TRUE(contains(design_list(designs, {}, "no GPU was found"), "runs on: cpu, cuda\n"));
  registry without;
  without.add({"toy", "a paper", "a summary", {"insert"}, {{"cpu", {}}}});
  EXPECT_TRUE(contains(design_list(without, {}, "no GPU was found"),
                       "runs on: cpu; not on cuda: no GPU was found\n"));
}

}  // namespace
}  // namespace tilehash::app
