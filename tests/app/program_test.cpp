// The program as a user calls it: exit codes, pure JSON, one-line messages, and right answers from every
// design.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "offered_pairs.hpp"
#include "support.hpp"

namespace tilehash::app {
namespace {

struct outcome {
  int code;
  std::string text;
};

// Runs the program with `arguments`, a shell's words, and gives what it wrote to standard output.
outcome call(const std::string& arguments) {
  std::FILE* pipe = popen((std::string(TILEHASH_PROGRAM) + " " + arguments).c_str(), "r");
  outcome result{};
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) result.text += static_cast<char>(c);
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

outcome call_for_errors(const std::string& arguments) { return call(arguments + " 2>&1 >/dev/null"); }

nlohmann::json rows_of(const std::string& arguments) {
  const outcome result = call("run --space cpu --repeat 1 --json - " + arguments + " 2>/dev/null");
  EXPECT_EQ(result.code, 0) << arguments;
  return nlohmann::json::parse(result.text);
}

void expect_faultless(const nlohmann::json& rows, const std::string& what) {
  EXPECT_FALSE(rows.empty()) << what;
  for (const auto& row : rows) {
    EXPECT_EQ(row["failed"], 0) << what << ": " << row;
    EXPECT_EQ(row["wrong"], 0) << what << ": " << row;
  }
}

TEST(Program, ListsAllDesigns) {
  const outcome result = call("list --json");
  EXPECT_EQ(result.code, 0);
  std::set<std::string> names;
  for (const auto& design : nlohmann::json::parse(result.text)) {
    names.insert(design["name"]);
    EXPECT_FALSE(design["paper"].get<std::string>().empty());
    EXPECT_FALSE(design["abilities"].empty());
    EXPECT_EQ(design["spaces"][0], "cpu");
  }
  for (const char* name : {"linear_probing", "bucketed_cuckoo", "hash_graph", "tiled"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

struct widths {
  std::string options;
  bool offered;
};
const std::vector<widths> all_widths{{"--key-bits 32 --value-bits 0", is_offered<u32, void>},
                                     {"--key-bits 32 --value-bits 32", is_offered<u32, u32>},
                                     {"--key-bits 32 --value-bits 64", is_offered<u32, u64>},
                                     {"--key-bits 64 --value-bits 0", is_offered<u64, void>},
                                     {"--key-bits 64 --value-bits 32", is_offered<u64, u32>},
                                     {"--key-bits 64 --value-bits 64", is_offered<u64, u64>}};

TEST(Program, IsRightForEveryDesignWidthAndSize) {
  for (const widths& its : all_widths) {
    if (!its.offered) continue;
    for (const char* input : {"random:n=0", "random:n=1", "random:n=1003", "random:n=2000,dist=zipf:1.2"}) {
      const std::string arguments = its.options + " --queries 500 --probes --input " + input;
      expect_faultless(rows_of(arguments), arguments);
    }
  }
}

TEST(Program, SaysWhichWidthsItWasBuiltWithout) {
  for (const widths& its : all_widths) {
    if (its.offered) continue;
    const outcome result =
        call_for_errors("run --space cpu --design tiled --input random:n=10 " + its.options);
    EXPECT_EQ(result.code, 2) << its.options;
    EXPECT_NE(result.text.find("TILEHASH_CLI_PAIRS"), std::string::npos) << result.text;
  }
}

TEST(Program, GivesEveryRowItMust) {
  const auto rows =
      rows_of("--design linear_probing --input random:n=1000,unique=1 --queries 400 --hit-rate 1 --probes");
  std::vector<std::string> ops;
  for (const auto& row : rows) {
    ops.push_back(row["op"]);
    EXPECT_EQ(row["n"], 1000);
    EXPECT_EQ(row["unique"], 1000);
    EXPECT_EQ(row["space"], "cpu");
    EXPECT_EQ(row["key_bytes"], 4);
    EXPECT_EQ(row["value_bytes"], 4);
    EXPECT_GE(row["bytes_per_pair"], 8);
    EXPECT_NEAR(row["load_factor"], 0.8, 0.05);
    EXPECT_EQ(row.contains("probes_avg"), row["op"] == "find_hit" || row["op"] == "find_miss");
  }
  EXPECT_EQ(ops, (std::vector<std::string>{"build", "insert", "find_hit", "find_miss", "find_mix", "erase"}));
  EXPECT_EQ(rows[0]["items"], 1000);
  EXPECT_EQ(rows[2]["items"], 400);
}

TEST(Program, FillsTablesAsMuchAsTheyTake) {
  const auto rows =
      rows_of("--design linear_probing,tiled --load-factor max --input random:n=20000,unique=1");
  expect_faultless(rows, "as full as they get");
  EXPECT_NEAR(rows.front()["load_factor"], 0.952, 0.001);
  EXPECT_NEAR(rows.back()["load_factor"], 0.98, 0.001);
}

TEST(Program, FillsTablesWithSkewedKeysToo) {
  const auto rows = rows_of("--design tiled --load-factor max --input random:n=20000,dist=zipf:1.1");
  expect_faultless(rows, "keys that come often, in a full table");
  for (const auto& row : rows) {
    if (row["op"] == "build") continue;  // makes room for all items
    EXPECT_NEAR(row["load_factor"], 0.98, 0.01) << row["op"];
  }
}

TEST(Program, CountsRealKmers) {
  const testing::temporary_file file("x.fa", ">x\nACGTACGTTTGCANNACGT\n");
  expect_faultless(rows_of("--input fasta:" + file.path() + ",k=3"), "3-mers");
  expect_faultless(rows_of("--key-bits 64 --value-bits 64 --input fasta:" + file.path() + ",k=5"), "5-mers");
}

TEST(Program, MeasuresAndFindsNothingWrong) {
  if (!TILEHASH_PROGRAM_BENCHES) GTEST_SKIP() << "a build without the benchmarks";
  for (const char* command :
       {"bench calls --designs all --n 1,1000 --slots 4096 --batches 100", "bench tail --n 1024",
        "bench coherent/layouts --side 64 --load 0.8 --layouts hilbert",
        "bench coherent/voxels --side 16 --slices 2 --load 0.8 --layouts morton",
        "bench hashgraph/join --left 3000 --right 40000 --found 0.7 --kinds inner,left,semi,anti --skew "
        "none,left",
        "bench hashgraph/cells --n 1,20011", "bench hashgraph/probes --n 9000 --queries 1,100,3000,9000"}) {
    const outcome result = call(std::string(command) + " --space cpu --repeat 1 --json - 2>/dev/null");
    ASSERT_EQ(result.code, 0) << command;
    const auto rows = nlohmann::json::parse(result.text)["rows"];
    EXPECT_GE(rows.size(), 11) << command;
    for (const auto& row : rows) EXPECT_EQ(row["wrong"], 0) << command << ": " << row;
  }
}

TEST(Program, ReadsMeshesAndFindsTheirCells) {
  if (!TILEHASH_PROGRAM_BENCHES) GTEST_SKIP() << "a build without the benchmarks";
  const std::string bench = "bench hashgraph/meshes --space cpu --repeat 1 ";
  const testing::temporary_file of_tetgen("a.ele", "# 2 cells\n\n2 4 1\n0  0 1 2 3  7\n1  4 2 1 3  7\n"),
      plain("b.txt", "0 1 2 3\r\n  4,2,1,3 # the second\n5\t6 7 2147483647");
  const outcome result = call(bench + of_tetgen.path() + " " + plain.path() + " --json - 2>/dev/null");
  ASSERT_EQ(result.code, 0);
  std::map<std::string, std::set<int>> cells_of;
  const auto rows = nlohmann::json::parse(result.text)["rows"];
  for (const auto& row : rows) {
    EXPECT_EQ(int(row["lost"]) + int(row["wrong"]), 0) << row;
    cells_of[row["design"]].insert(int(row["cells"]));
  }
  for (const char* design : {"hash_graph", "hash_graph_segments", "indexed_cuckoo", "std::unordered_set"})
    EXPECT_EQ(cells_of[design], (std::set{2, 3})) << design;

  EXPECT_EQ(call_for_errors(bench + "--clock processor --threads 2 " + plain.path()).code, 2);
  for (const auto& [head, complaint] :
       {std::pair("2 10 0", ":1: its cells have 10 corners"), std::pair("0 4 0", " no cells"),
        std::pair("2 4 0\n0 1 2 3 4", "is it whole")}) {
    const testing::temporary_file bad("bad.ele", head);
    const outcome refused = call_for_errors(bench + bad.path());
    EXPECT_EQ(refused.code, 2) << head;
    EXPECT_TRUE(testing::contains(refused.text, complaint)) << refused.text;
  }
  for (const auto& [text, complaint] :
       {std::pair("1 2 3\n", ":1: the line ends"), std::pair("1 2 3 4\n1 2 3 4 5\n", ":2: a cell has more"),
        std::pair("1 2 -3 4\n", ":1: corner -3"), std::pair("1 2 x 4\n", ":1: 'x' is no"),
        std::pair("1 2 3 4294967296\n", ":1: '4294967296' is no"), std::pair("# none\n", " no cells"),
        std::pair("", "the file is empty")}) {
    const testing::temporary_file bad("bad.txt", text);
    const outcome refused = call_for_errors(bench + bad.path());
    EXPECT_EQ(refused.code, 2) << text;
    EXPECT_TRUE(testing::contains(refused.text, bad.path()) && testing::contains(refused.text, complaint))
        << refused.text;
    EXPECT_EQ(std::count(refused.text.begin(), refused.text.end(), '\n'), 1) << refused.text;
  }
}

TEST(Program, FailsWithTwoAndOneLine) {
  const testing::temporary_file odd("odd.bin", "12345");
  for (const std::string& arguments :
       {std::string("run --design nope"), std::string("run --input lines:/nonexistent"),
        std::string("run --input x:n=1"), "run --input binary:" + odd.path() + ",key=u32",
        std::string("run --json /nonexistent/x.json"),
        std::string("run --design linear_probing --load-factor 0.99")}) {
    const outcome result = call_for_errors(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_TRUE(result.text.starts_with("tilehash: ")) << arguments << ": " << result.text;
    EXPECT_EQ(std::count(result.text.begin(), result.text.end(), '\n'), 1)
        << arguments << ": " << result.text;
  }
}

TEST(Program, ReturnsTwoForBadUsage) {
  for (const char* arguments :
       {"", "walk", "run --bogus", "run --load-factor 0", "run --load-factor 10.5", "run --load-factor nan",
        "run --load-factor inf", "run --hit-rate -0.1", "run --hit-rate 1.1", "run --key-bits 33",
        "run --value-bits 8", "run --repeat 0", "run --threads 0", "run --queries -4", "run --queries 0",
        "run --space moon"}) {
    const outcome result = call_for_errors(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_NE(result.text, "") << arguments;
  }
  EXPECT_EQ(call("--help").code, 0);
  EXPECT_EQ(call("run --help").code, 0);
}

}  // namespace
}  // namespace tilehash::app
