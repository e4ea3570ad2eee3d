// SPDX-License-Identifier: Apache-2.0
// Tables and figures of the documents: names, cells of result rows, verdicts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "paper_cells.hpp"
#include "paper_results.hpp"
#include "papers.hpp"
#include "support.hpp"

namespace tilehash::app {
namespace {

using json = nlohmann::ordered_json;
using testing::contains;
using testing::message_of;

paper_entry entry_named(const std::string& name) { return find_paper_entries(name).front(); }

// Rows of Li's Table 7 in which each of our cells is the document's times `factor`.
paper_results rows_of_table_7(double factor) {
  const std::vector<double> loads{0.75, 0.8, 0.85, 0.9, 0.95}, percent{0.42, 0.79, 1.4, 2.4, 3.9};
  paper_results results;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    results.rows.push_back({{"design", "published_mega_kv"},
                            {"input", "rand:n=100000"},
                            {"load_asked", loads[i]},
                            {"refused_percent", factor * percent[i]}});
    results.rows.push_back({{"design", "published_mega_kv"},
                            {"input", "tw"},
                            {"load_asked", loads[i]},
                            {"refused_percent", 77}});
  }
  return results;
}

TEST(Papers, AreFoundByNameDocumentAndAll) {
  EXPECT_EQ(entry_named("li:table7").data["title"], "Failed inserts of RAND");
  EXPECT_EQ(entry_named("li:table7").file_name(), "li_table7.json");
  const auto of_li = find_paper_entries("li"), all = find_paper_entries("all");
  EXPECT_GT(of_li.size(), 20U);
  EXPECT_GT(all.size(), 80U);
  for (const paper_entry& entry : of_li) EXPECT_TRUE(entry.name.starts_with("li:")) << entry.name;
  for (const paper_entry& entry : all) EXPECT_TRUE(entry.has_command()) << entry.name;
}

TEST(Papers, NameTheNearestOfAnUnknownName) {
  const std::string message = message_of<input_error>([] { find_paper_entries("li:tabel7"); });
  EXPECT_TRUE(contains(message, "'li:tabel7' is no table or figure")) << message;
  EXPECT_TRUE(contains(message, "li:table7")) << message;
  EXPECT_FALSE(contains(message, "\n"));
}

TEST(Papers, TakeCellsFromTheRowsThatMeetTheirConditions) {
  const paper_entry entry = entry_named("li:table7");
  const paper_cells cells = paper_cells_of(entry, {rows_of_table_7(1)});
  ASSERT_EQ(cells.columns(), 5U);
  ASSERT_EQ(cells.theirs.size(), 20U);
  for (std::size_t i = 10; i < 15; ++i) EXPECT_EQ(cells.ours[0][i], cells.theirs[i]) << i;  // MegaKV
  EXPECT_TRUE(cells.ours[0][0].is_null());  // Linear has no row
  EXPECT_EQ(line_label(entry, cells, 10), "MegaKV");
}

TEST(Papers, JudgeNumbersByTheirTolerance) {
  const paper_entry entry = entry_named("li:table7");
  const auto verdict_at = [&](double factor) {
    return judge(entry, paper_cells_of(entry, {rows_of_table_7(factor)}), true).is;
  };
  EXPECT_EQ(verdict_at(1), verdict::agrees);
  EXPECT_EQ(verdict_at(1.2), verdict::agrees);  // within 25 %
  EXPECT_EQ(verdict_at(1.3), verdict::differs);
  EXPECT_EQ(judge(entry, paper_cells_of(entry, {}), false).is, verdict::not_measured);
  EXPECT_TRUE(contains(judge(entry, paper_cells_of(entry, {rows_of_table_7(0)}), true).why, "0 of 5 cells"));
}

TEST(Papers, JudgeRatesByTheOrderOfTheSeries) {
  const paper_entry entry = entry_named("alcantara:abstract");
  const auto verdict_of = [&](double quadratic, double chained) {
    paper_results results;
    for (const auto& [design, rate] :
         {std::pair{"quadratic_probing", quadratic}, std::pair{"chained", chained}})
      results.rows.push_back({{"design", design}, {"size", 2.0}, {"op", "build"}, {"mitems_per_s", rate}});
    return judge(entry, paper_cells_of(entry, {results}), true).is;
  };
  EXPECT_EQ(verdict_of(9, 8), verdict::agrees);  // 369 and 344 in the thesis
  EXPECT_EQ(verdict_of(8, 9), verdict::differs);
}

// Counters of a profiler: an entry has them, and no command of the program.
TEST(Papers, JudgeRecordedNumbersWithoutACommand) {
  const paper_entry entry = entry_named("garcia:figure9");
  ASSERT_FALSE(entry.has_command());
  const auto verdict_of = [&](double random, double coherent) {
    paper_results results;
    for (const auto& [design, sectors] :
         {std::pair{"robin_hood_random_one_slot", random}, std::pair{"robin_hood_one_slot", coherent}})
      results.rows.push_back({{"design", design}, {"load", 0.85}, {"l2_million", sectors}});
    return judge(entry, paper_cells_of(entry, {results}), true).is;
  };
  EXPECT_EQ(verdict_of(9, 8), verdict::agrees);  // 458.6 and 44.2 in the paper
  EXPECT_EQ(verdict_of(8, 9), verdict::differs);
  EXPECT_EQ(judge(entry, paper_cells_of(entry, {}), false).is, verdict::not_measured);
}

TEST(Papers, DivideRowsOfOneSpaceByThoseOfAnother) {
  const paper_entry entry = entry_named("kolushev:table4.9");
  paper_results results;
  for (const auto& [space, threads, seconds] : {std::tuple{"cpu", 1, 6.0}, std::tuple{"cuda", 0, 1.5}}) {
    results.rows.push_back({{"design", "hash_graph_v1"},
                            {"space", space},
                            {"threads", threads},
                            {"cells", 5000000},
                            {"seconds", {{"build", {{"median", seconds}}}}}});
  }
  const paper_cells cells = paper_cells_of(entry, {results});
  ASSERT_EQ(cells.columns(), 8U);
  EXPECT_EQ(cells.ours[0][16], 4.0);  // the third series' first column
}

// scripts/check_results.py packs: "same" in all rows, lists of the other fields, rows of a list's number, how many values are those
// of its last row, and the others.
TEST(Papers, ReadRowsOfPackedFiles) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / (std::to_string(getpid()) + "_packed");
  fs::create_directories(folder);
  const auto rows_in = [&](const std::string& name, const std::string& columns) {
    paper_entry entry = entry_named("li:table7");
    entry.data["recorded"] = {"bench/results/" + name};
    std::ofstream(folder / name)
        << R"({"header": {"machine": "m"}, "same": {"space": "cpu", "seconds.runs": 3},
"columns": )"
        << columns << R"(, "rows": [[0, 0, "tiled", 1.5], [1, 0, 7], [0, 1, 2.5]]})";
    return read_paper_results(entry, folder.string()).at(0).rows;
  };
  const auto rows = rows_in("fits.json", R"([["design", "seconds.min,seconds.median"], ["n"]])");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0],
            json::parse(
                R"({"space": "cpu", "seconds": {"runs": 3, "min": 1.5, "median": 1.5}, "design": "tiled"})"));
  EXPECT_EQ(rows[1], json::parse(R"({"space": "cpu", "seconds": {"runs": 3}, "n": 7})"));
  EXPECT_EQ(rows[2],
            json::parse(
                R"({"space": "cpu", "seconds": {"runs": 3, "min": 2.5, "median": 2.5}, "design": "tiled"})"));
  EXPECT_TRUE(contains(
      message_of<input_error>([&] { rows_in("differs.json", R"([["design", "n", "more"], ["n"]])"); }),
      "pack"));
  fs::remove_all(folder);
}

TEST(Papers, AddSizesThatOnlyWeHave) {
  const paper_entry entry = entry_named("kolushev:figure4.4");
  paper_results results;
  results.rows.push_back({{"design", "hash_graph_v1"},
                          {"space", "cuda"},
                          {"cells", 50000},
                          {"seconds", {{"build", {{"median", 0.5}}}}}});
  const paper_cells cells = paper_cells_of(entry, {results});
  ASSERT_EQ(cells.columns(), 9U);
  EXPECT_EQ(cells.axes[0].back(), 50000);
  EXPECT_EQ(cells.ours[0][3 * 9 + 8], 0.5);
}

// bench/results: MACHINE/VERSION has a release, MACHINE/ single runs that the entry names. A release's run of small sizes does not
// replace these.
TEST(Papers, ReadTheLastReleaseOfEachMachine) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / (std::to_string(getpid()) + "_releases");
  paper_entry entry = entry_named("li:table7");
  entry.data["recorded"] = {"bench/results/h100/runs.json", "bench/results/xeon/runs.json"};
  const auto write = [&](const fs::path& inside, const char* machine, const char* quick = "false") {
    fs::create_directories((folder / inside).parent_path());
    std::ofstream(folder / inside) << R"({"header": {"machine": ")" << machine << R"(", "quick": )" << quick
                                   << R"(}, "rows": [{"n": 1}]})";
  };
  write("h100/runs.json", "single run");
  write("xeon/runs.json", "single run");
  write("h100/0.9.0/li_table7.json", "older release");
  write("h100/0.10.0/li_table7.json", "newer release");
  write("h100/0.11.0/li_table8.json", "release without the entry");
  write("cpu/0.10.0/li_table7.json", "small sizes", "true");
  write("xeon/0.10.0/li_table7.json", "small sizes", "true");
  const auto results = read_paper_results(entry, folder.string());
  fs::remove_all(folder);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].machine, "small sizes, quick");
  EXPECT_EQ(results[1].machine, "newer release");
  EXPECT_EQ(results[1].rows.size(), 1U);
  EXPECT_EQ(results[2].machine, "single run");
}

}  // namespace
}  // namespace tilehash::app
