#include "report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

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
  r.op = std::move(op);
  r.items = 1234567;
  r.seconds = 0.0123;
  r.mitems_per_s = rate;
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
  EXPECT_EQ(summarise_probes({7}).p50, 7U);
  EXPECT_EQ(summarise_probes({}).p100, 0U);
}

TEST(Json, HasTheKeysOfTheContractInOrder) {
  row r = example("linear_probing", "find_hit", 100);
  const auto plain = nlohmann::ordered_json::parse(rows_as_json(std::vector{r}));
  ASSERT_EQ(plain.size(), 1U);
  std::vector<std::string> keys;
  for (const auto& [key, value] : plain[0].items()) keys.push_back(key);
  const std::vector<std::string> expected{
      "design",      "space", "input",          "n",  "unique", "key_bytes", "value_bytes",
      "load_factor", "bytes", "bytes_per_pair", "op", "items",  "seconds",   "mitems_per_s",
      "failed",      "wrong", "restarts"};
  EXPECT_EQ(keys, expected);

  r.probes = probe_statistics{1.5, 1, 2, 3, 4, 5};
  const auto probed = nlohmann::json::parse(rows_as_json(std::vector{r}))[0];
  EXPECT_EQ(probed["probes_avg"], 1.5);
  EXPECT_EQ(probed["probes_p50"], 1);
  EXPECT_EQ(probed["probes_p80"], 2);
  EXPECT_EQ(probed["probes_p90"], 3);
  EXPECT_EQ(probed["probes_p99"], 4);
  EXPECT_EQ(probed["probes_p100"], 5);
}

TEST(Json, IsAnArrayOfOneObjectALine) {
  EXPECT_EQ(nlohmann::json::parse(rows_as_json({})), nlohmann::json::array());
  const std::string two = rows_as_json(std::vector{example("a", "build", 1), example("a", "insert", 2)});
  EXPECT_EQ(nlohmann::json::parse(two).size(), 2U);
  EXPECT_EQ(std::count(two.begin(), two.end(), '\n'), 4);
}

TEST(Json, SurvivesFileNamesThatAreNoUtf8) {
  row r = example("a", "build", 1);
  r.input = "lines:\xff";
  EXPECT_TRUE(nlohmann::json::accept(rows_as_json(std::vector{r})));
}

TEST(Table, IsReadable) {
  row bad = example("linear_probing", "find_hit", 100.37);
  bad.wrong = 3;
  bad.failed = 1;
  const std::string text = design_table({"cpu (2 threads)", {bad}}, colour::off);
  for (const char* part : {"linear_probing on cpu (2 threads)", "1,234,567", "12.3 ms", "100.4", "11.8 MiB",
                           "80.0 % full", "1 refused, 3 wrong"}) {
    EXPECT_TRUE(contains(text, part)) << part << " is not in\n" << text;
  }
  EXPECT_FALSE(contains(text, "\x1b")) << "colours where they were not asked for";
  EXPECT_TRUE(contains(design_table({"cpu", {bad}}, colour::on), "\x1b[31m"));
}

TEST(Table, TellsHowFullTheTableIsAndWhetherInsertsFillItMore) {
  row built = example("tiled", "build", 1), inserted = example("tiled", "insert", 1);
  EXPECT_TRUE(contains(design_table({"cpu", {built, inserted}}, colour::off), "80.0 % full\n"));
  built.load_factor = 0.1;
  EXPECT_TRUE(contains(design_table({"cpu", {built, inserted}}, colour::off),
                       "10.0 % full as built; 11.8 MiB, 10.0 bytes a pair, 80.0 % full by inserts\n"))
      << design_table({"cpu", {built, inserted}}, colour::off);
}

TEST(Table, LinesUpWithAndWithoutProbes) {
  row probed = example("a", "find_hit", 1);
  probed.probes = probe_statistics{1.5, 1, 2, 3, 4, 5};
  const std::string text = design_table({"cpu", {probed, example("a", "erase", 2)}}, colour::off);
  std::vector<std::size_t> columns;
  for (std::size_t at = text.find("  ok"); at != std::string::npos; at = text.find("  ok", at + 1)) {
    columns.push_back(at - text.rfind('\n', at));
  }
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0], columns[1]) << text;
}

TEST(Summary, MarksTheBestOfEachColumn) {
  const std::vector<row> rows{example("slow", "build", 1), example("slow", "erase", 4),
                              example("fast", "build", 2)};
  const std::string plain = rate_summary(rows, colour::off);
  EXPECT_TRUE(contains(plain, "slow") && contains(plain, "fast") && contains(plain, "-")) << plain;
  EXPECT_FALSE(contains(plain, "\x1b"));
  const std::string painted = rate_summary(rows, colour::on);
  EXPECT_LT(painted.find("fast"), painted.find("2.0")) << painted;
  EXPECT_TRUE(contains(painted, "m        2.0")) << "the faster build is not marked:\n" << painted;
  EXPECT_FALSE(contains(painted, "m        1.0")) << painted;
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
  EXPECT_TRUE(contains(design_list(designs, colour::off), "runs on: cpu, cuda"));
}

}  // namespace
}  // namespace tilehash::app
