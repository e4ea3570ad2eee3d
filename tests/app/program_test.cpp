// SPDX-License-Identifier: Apache-2.0
// The program as a user calls it: exit codes, pure JSON, one-line messages, and right answers from every
// design.
// length: one fixture that runs the program; a test for each thing a user can ask or get wrong.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <contract/random.hpp>

#include "offered_pairs.hpp"
#include "support.hpp"

namespace tilehash::app {
namespace {

struct outcome {
  int code;
  std::string text;
};

// Runs the program with `arguments`, a shell's words, and gives what it wrote to standard output.
outcome call(const std::string& arguments, const std::string& before = {}) {
  std::FILE* pipe = popen((before + TILEHASH_PROGRAM + " " + arguments).c_str(), "r");
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
  return nlohmann::json::parse(result.text)["rows"];
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

const nlohmann::json schema = nlohmann::json::parse(std::ifstream(TILEHASH_RESULTS_SCHEMA));

// Compares with bench/results.schema.json, as far as its words go. Returns the first place that differs, or
// nothing.
std::string violation(const nlohmann::json& says, const nlohmann::json& value, const std::string& path) {
  if (says.contains("$ref")) {
    const std::string name = says["$ref"];
    return violation(schema.at(nlohmann::json::json_pointer(name.substr(1))), value, path);
  }
  if (says.contains("type")) {
    const auto types = says["type"].is_array() ? says["type"] : nlohmann::json::array({says["type"]});
    const bool is_one = std::any_of(types.begin(), types.end(), [&](const auto& type) {
      return type == "integer" ? value.is_number_integer() : type == std::string(value.type_name());
    });
    if (!is_one) return path + " is no " + types.dump();
  }
  if (says.contains("enum") &&
      std::find(says["enum"].begin(), says["enum"].end(), value) == says["enum"].end())
    return path + " is none of " + says["enum"].dump();
  if (says.contains("minimum") && value.is_number() && value < says["minimum"])
    return path + " is below " + says["minimum"].dump();
  if (says.contains("anyOf")) {
    std::string first;
    for (const auto& one : says["anyOf"]) {
      const std::string wrong = violation(one, value, path);
      if (wrong.empty()) return {};
      if (first.empty()) first = wrong;
    }
    return first;
  }
  for (const auto& key : says.value("required", nlohmann::json::array())) {
    if (!value.contains(key)) return path + " lacks " + key.dump();
  }
  if (value.is_object()) {
    const auto known = says.value("properties", nlohmann::json::object());
    const auto others = says.value("additionalProperties", nlohmann::json(true));
    for (const auto& [key, its] : value.items()) {
      if (!known.contains(key) && others == false) return path + " has an unknown " + key;
      const auto& rule = known.contains(key) ? known[key] : others;
      if (!rule.is_object()) continue;
      if (auto wrong = violation(rule, its, path + "." + key); !wrong.empty()) return wrong;
    }
  }
  if (value.is_array() && says.contains("items")) {
    for (const auto& item : value) {
      if (auto wrong = violation(says["items"], item, path + "[]"); !wrong.empty()) return wrong;
    }
  }
  return {};
}

TEST(Schema, IsNoFormality) {
  const auto good = nlohmann::json::parse(
      call("run --space cpu --repeat 1 --design tiled --input random:n=10 --json - 2>/dev/null").text);
  EXPECT_EQ(violation(schema, good, "results"), "");
  auto bad = good;
  bad["header"].erase("cores");
  EXPECT_EQ(violation(schema, bad, "results"), "results.header lacks \"cores\"");
  bad = good;
  bad["rows"][0]["seconds"] = 0.1;
  EXPECT_TRUE(violation(schema, bad, "results").starts_with("results.rows[].seconds is no "))
      << "a number, as once upon a time";
  bad = good;
  bad["rows"][0]["space"] = "moon";
  EXPECT_NE(violation(schema, bad, "results"), "");
  EXPECT_NE(violation(schema, good["rows"], "results"), "") << "rows alone, as once upon a time";
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
  EXPECT_EQ(ops, (std::vector<std::string>{"build", "insert", "find_hit", "find_miss", "find_mix", "erase",
                                           "reinsert"}));
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
    if (row["op"] == "build") continue;  // makes capacity for all items
    EXPECT_NEAR(row["load_factor"], 0.98, 0.01) << row["op"];
  }
}

TEST(Program, CountsRealKmers) {
  const testing::temporary_file file("x.fa", ">x\nACGTACGTTTGCANNACGT\n");
  const auto rows = rows_of("--input fasta:" + file.path() + ",k=3 --design tiled");
  expect_faultless(rows, "3-mers");
  ASSERT_EQ(rows.size(), 9U);  // six 3-mers and their complements
  EXPECT_EQ(rows[0]["n"], 6);
  EXPECT_EQ(rows[7]["op"], "build_raw");
  EXPECT_EQ(rows[7]["items"], 13) << "all 3-mers, repeated ones too";
  EXPECT_EQ(rows[8]["op"], "count");
  EXPECT_EQ(rows[8]["items"], 13);
  expect_faultless(rows_of("--input fasta:" + file.path() + ",k=3"), "3-mers in every design");
  expect_faultless(rows_of("--key-bits 64 --value-bits 64 --input fasta:" + file.path() + ",k=5"), "5-mers");
}

TEST(Program, ReadsStandardInputPackedOrNot) {
  const testing::temporary_file file("words", "b\na\nb\r\n");
  for (const char* through : {"cat", "gzip -c", "zstd -qc"}) {
    const std::string packer = std::string(through).substr(0, 4);
    if (packer == "zstd" && std::system("command -v zstd >/dev/null") != 0) continue;
    const outcome result = call(
        "run --repeat 1 --design tiled --input lines:- --key-bits 64 --value-bits 64 --json - 2>/dev/null",
        std::string(through) + " " + file.path() + " | ");
    ASSERT_EQ(result.code, 0) << through;
    const auto rows = nlohmann::json::parse(result.text)["rows"];
    EXPECT_EQ(rows[0]["n"], 2) << through;
    expect_faultless(rows, through);
  }
}

TEST(Program, MeasuresOtherLibrariesMapsToo) {
  const auto rows = rows_of("--design tiled --peers all --input random:n=3000,dist=zipf:1.1");
  expect_faultless(rows, "peers");
  std::set<std::string> designs;
  for (const auto& row : rows) {
    designs.insert(row["design"]);
    const bool changes = !std::string(row["op"]).starts_with("find");
    if (row["design"] == "std::unordered_map" && changes) {
      EXPECT_EQ(row["threads"], 1) << row;
    }
  }
  EXPECT_TRUE(designs.contains("std::unordered_map") || TILEHASH_SANITIZED) << "a build without peers";
}

TEST(Program, KnowsWhatOtherLibrariesMapsTake) {
  if (TILEHASH_SANITIZED) GTEST_SKIP() << "the sanitizer has a heap of its own";
  const outcome result = call(
      "run --space cpu --repeat 5 --design tiled --peers all --input random:n=2^14,unique=1 --json - "
      "2>/dev/null");
  ASSERT_EQ(result.code, 0);
  for (const auto& row : nlohmann::json::parse(result.text)["rows"]) {
    const std::string design = row["design"];
    if (!design.starts_with("absl") && !design.starts_with("boost::unordered")) continue;
    EXPECT_GT(row["bytes_per_pair"], 8) << row;
    EXPECT_LT(row["bytes_per_pair"], 40) << row << ": what it gave back when it was cleared counts no more";
  }
}

TEST(Program, SaysWhatItDidNotVerify) {
  for (const auto& row : rows_of("--design tiled --no-verify --input random:n=1000")) {
    EXPECT_EQ(row["verified"], false);
    EXPECT_TRUE(row["wrong"].is_null());
  }
}

TEST(Program, SaysWhatTheTimeWentOn) {
  const auto spent = nlohmann::json::parse(
      call("run --space cpu --design tiled --repeat 1 --input random:n=2^16 --json - 2>/dev/null")
          .text)["header"]["spent"];
  for (const auto* clock : {"wall_s", "cpu_s"}) {
    const double measured = spent[clock]["measured"], input = spent[clock]["input"],
                 all = spent[clock]["all"];
    EXPECT_GT(measured, 0) << clock;
    EXPECT_GT(input, 0) << clock;
    EXPECT_LE(measured + input, all) << clock;
  }
}

TEST(Program, SaysHowManyThreadsRun) {
  const outcome result = call(
      "run --space cpu --repeat 1 --design tiled --input random:n=10 --threads 4096 --json - 2>&1 "
      ">/dev/null");
  EXPECT_NE(result.text.find("--threads 4096: this machine runs "), std::string::npos) << result.text;
}

TEST(Program, TakesSizesAndLoadsAsTheyAreTyped) {
  const auto load_of = [](const std::string& option) {
    return rows_of("--design tiled --input random:n=2^14,unique=1 " + option)[0]["load_factor"].get<double>();
  };
  EXPECT_NEAR(load_of("--size 1.25"), 0.8, 0.01);
  EXPECT_NEAR(load_of("--load-factor 1/1.25"), 0.8, 0.01);
  EXPECT_NEAR(load_of("--load 0.8"), 0.8, 0.01);
}

TEST(Program, FitsTheTerminal) {
  for (const char* columns : {"60", "80"}) {
    for (const char* arguments : {"--help", "run --help", "bench --help", "list",
                                  "run --space cpu --repeat 1 --probes --peers all --input random:n=1000"}) {
      std::istringstream lines(call(arguments, std::string("COLUMNS=") + columns + " ").text);
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), std::stoul(columns)) << arguments << ": " << line;
    }
  }
}

TEST(Program, WritesWholeLinesIntoAPipe) {
  for (const char* arguments : {"run --help", "list"}) {
    const outcome result = call(arguments, "env -u COLUMNS ");
    std::istringstream lines(result.text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    EXPECT_GT(longest, 80U) << arguments;
  }
}

TEST(Program, NamesUnexpectedWordsInTheirOrder) {
  const std::string text = call_for_errors("run --desing tiled").text;
  EXPECT_TRUE(testing::contains(text, "not expected: --desing tiled;")) << text;
}

TEST(Program, RefusesAFileByItsSizeBeforeItReadsIt) {
  // (A sparse file of 64 GiB and one byte, too large to read in the time given.)
  const testing::temporary_file file("sparse.bin", "");
  std::filesystem::resize_file(file.path(), (std::uintmax_t{1} << 36) + 1);
  const outcome result =
      call("run --design tiled --space cpu --input binary:" + file.path() + ",key=u32 2>&1 >/dev/null",
           "timeout 5 ");
  EXPECT_EQ(result.code, 2) << result.text;
  EXPECT_TRUE(testing::contains(result.text, "no whole number of keys of 4 bytes")) << result.text;
}

TEST(Program, StopsAtOnceWhileItReads) {
  // A pipe that this shell holds open, without a writer.
  const testing::temporary_file pipe("pipe", "");
  std::filesystem::remove(pipe.path());
  ASSERT_EQ(mkfifo(pipe.path().c_str(), S_IRUSR | S_IWUSR), 0);
  const outcome result =
      call("run --design tiled --space cpu --input lines:- 2>&1 >/dev/null <>" + pipe.path(),
           "timeout -s INT -k 5 1 ");
  EXPECT_EQ(result.code, 124) << result.text;
  EXPECT_TRUE(testing::contains(result.text, "tilehash: stopped")) << result.text;
}

TEST(Program, ShowsHelpAndVersion) {
  EXPECT_EQ(call("").code, 0);
  EXPECT_NE(call("").text.find("Subcommands:"), std::string::npos);
  EXPECT_EQ(call("--version").code, 0);
  EXPECT_TRUE(call("--version").text.starts_with("tilehash 0.")) << call("--version").text;
}

// The results of a program that is stopped while it measures. On a busy machine it may not have begun by then,
// and leaves the file as it was: then it gets twice the time.
nlohmann::json results_of_stopped(const std::string& arguments) {
  const testing::temporary_file file("stopped.json", "old");
  for (u32 seconds = 2; seconds <= 64; seconds *= 2) {
    EXPECT_NE(call(arguments + " --json " + file.path() + " >/dev/null 2>&1",
                   "timeout -s INT " + std::to_string(seconds) + " ")
                  .code,
              0);
    std::ifstream text(file.path());
    if (text.peek() != 'o') return nlohmann::json::parse(text);
  }
  ADD_FAILURE() << "it never began to measure: " << arguments;
  return {};
}

TEST(Program, KeepsWhatIsDoneWhenItIsStopped) {
  // More work than many optimised threads do in the time it is given.
  const auto results = results_of_stopped(
      "run --space cpu --design tiled --repeat 1000 --queries 1000 --input random:n=400000");
  EXPECT_EQ(violation(schema, results, "results"), "");
  EXPECT_EQ(results["header"]["stopped"], true);
}
TEST(Program, KeepsWhatABenchHasDoneWhenItIsStopped) {
  if (!TILEHASH_PROGRAM_BENCHES) GTEST_SKIP() << "a build without the benchmarks";
  const auto of_bench = results_of_stopped("bench coherent/sizes --space cpu --n 1000,3000000 --repeat 100");
  EXPECT_EQ(violation(schema, of_bench, "results"), "");
  EXPECT_EQ(of_bench["header"]["stopped"], true);
  EXPECT_EQ(of_bench["header"]["experiment"], "coherent/sizes") << "it cannot be drawn";
}

TEST(Program, MeasuresAndFindsNothingWrong) {
  if (!TILEHASH_PROGRAM_BENCHES) GTEST_SKIP() << "a build without the benchmarks";
  u64 number = 0;
  for (const char* command :
       {"bench calls --designs all --n 1,1000 --slots 4096 --batches 100",
        "bench tail --n 1024",
        "bench thesis/cuckoo --n 500 --builds 2 --size 1.25,2.5 --stash 0,16,101",
        "bench one_key --n 1000 --key-bits 32",
        "bench yardstick --n 1k --load 0.8 --design tiled --peers all",
        "bench coherent/layouts --side 64 --load 0.8 --layouts hilbert --angles 10,90",
        "bench coherent/voxels --side 16 --slices 2 --load 0.8 --layouts morton",
        "bench hashgraph/join --left 1000 --right 8000 --found 0.7 --kinds inner,left,semi,anti --skew "
        "none,left",
        "bench hashgraph/updates --n 20000 --shares 0,0.01,0.1,1 --slacks 0,0.25,1",
        "bench dynamic/static --n 5000 --load 0.9",
        "bench dynamic/resize --n 5000",
        "bench dynamic/static --load 0.9,0.95 --input com:n=3000 --designs "
        "published_mega_kv,published_cuckoo",
        "bench dynamic/static --n 5000 --load 0.9,0.95 --designs published_mega_kv,published_linear_probing",
        "bench dynamic/static --n 5000 --load 0.9 --designs "
        "published_dyhash,published_dyhash_spin,dense_hash_map,published_probing,published_probing_arrays",
        "bench dynamic/workload --n 4000 --batch 400",
        "bench dynamic/static --input com:n=3000 tw:n=2000 --load 0.9 --designs dynamic_cuckoo,mega_kv",
        "bench dynamic/workload --input com:n=8000 --batch 800 --designs dynamic_cuckoo,tiled",
        "bench dynamic/distribution --n 4000 --batch 400",
        "bench dynamic/rehashes --n 4000 --batch 400",
        "bench dynamic/conflicts --n 4096",
        "bench thesis/two_level --n 500,3000 --builds 2",
        "bench dynamic/sweep --n 4000 --batch 400 --vary alpha --values 0.2,0.4",
        "bench hashgraph/cells --n 1,20011",
        "bench hashgraph/probes --n 9000 --queries 1,100,3000,9000"}) {
    if (!contract::is_asked(number++, 2)) continue;
    const outcome result = call(std::string(command) + " --space cpu --repeat 1 --json - 2>/dev/null");
    ASSERT_EQ(result.code, 0) << command;
    const auto results = nlohmann::json::parse(result.text);
    EXPECT_EQ(violation(schema, results, "results"), "") << command;
    const auto rows = results["rows"];
    EXPECT_GE(rows.size(), 4) << command;
    for (const auto& row : rows) EXPECT_EQ(row["wrong"], 0) << command << ": " << row;
  }
}

// Few items of some distributions, in all forms and states; no judgement of speed. Updates through a view may
// refuse items of a nearly full table, which fails the run.
TEST(Program, MeasuresShapesAndFindsNothingWrong) {
  if (!TILEHASH_PROGRAM_BENCHES) GTEST_SKIP() << "a build without the benchmarks";
  const std::string shapes =
      "bench shapes --space cpu --threads 2 --items 500 --repeat 1 --limit 1000 --least 0 ";
  const outcome result = call(shapes + "--distribution distinct,one_key,zipf --json - 2>/dev/null");
  const auto results = nlohmann::json::parse(result.text);
  EXPECT_EQ(violation(schema, results, "results"), "");
  std::set<std::string> verbs;
  bool refused = false;
  for (const auto& row : results["rows"]) {
    verbs.insert(row["op"]);
    EXPECT_EQ(row["wrong"], 0) << row;
    EXPECT_EQ(row["over_limit"], false) << row;
    if (row["verdict"] == "") continue;
    refused = true;
    EXPECT_EQ(row["verdict"], "REFUSED") << row;
    EXPECT_EQ(row["form"], "by_thread") << row;
  }
  EXPECT_EQ(verbs.size(), 10);
  EXPECT_GT(results["rows"].size(), 500);
  EXPECT_EQ(result.code, refused ? 1 : 0);

  const outcome one =
      call(shapes +
           "--verb find --width 8 --distribution zipf --form sync,async --state present --json -"
           " 2>/dev/null");
  EXPECT_EQ(one.code, 0);
  const auto rows = nlohmann::json::parse(one.text)["rows"];
  ASSERT_EQ(rows.size(), 2);
  for (const auto& row : rows) {
    EXPECT_EQ(row["op"], "find");
    EXPECT_EQ(row["key_bytes"], 8);
    EXPECT_EQ(row["keys"], "zipf");
    EXPECT_EQ(row["state"], "present");
  }
  for (const char* bad : {"--verb look", "--form growing --verb find", "--items 10"})
    EXPECT_EQ(call_for_errors(shapes + bad).code, 2) << bad;
}

TEST(Program, SaysWhichDynamicTablesCannotBe) {
  if (!TILEHASH_PROGRAM_BENCHES) GTEST_SKIP() << "a build without the benchmarks";
  for (const auto& [arguments, complaint] :
       {std::pair("workload --n 20000 --batch 0", "--batch 0: must be from 1"),
        std::pair("workload --n 20000 --batch 20001", "--batch 20001: must be from 1"),
        std::pair("static --n 0", "--n 0: there must be at least one pair"),
        std::pair("workload --n 20000 --alpha 0.6 --beta 0.9", "--alpha 0.6: must be above 0 and below"),
        std::pair("sweep --vary beta --values 0.9,1 --n 20000", "--beta 1: must be above 0 and below 1"),
        std::pair("sweep --vary batch --values 0 --n 20000", "--batch 0: must be from 1"),
        std::pair("workload --beta 1.5", "--beta"), std::pair("workload --alpha 0", "--alpha"),
        std::pair("workload --erased 2", "--erased"), std::pair("static --n 10 --input tw", "--input"),
        std::pair("static --input tx", "--input 'tx'"),
        std::pair("workload --n 20000 --designs published_cuckoo", "published_cuckoo")}) {
    const outcome result = call_for_errors(std::string("bench dynamic/") + arguments + " --space cpu");
    EXPECT_NE(result.code, 0) << arguments;
    EXPECT_NE(result.text.find(complaint), std::string::npos) << arguments << ": " << result.text;
  }
}

TEST(Program, BenchesTakeOptionsAsRunDoes) {
  if (!TILEHASH_PROGRAM_BENCHES) GTEST_SKIP() << "a build without the benchmarks";
  std::istringstream all(call("bench --help").text);
  std::string line;
  while (std::getline(all, line) && line != "Subcommands:") {
  }
  int commands = 0;
  while (std::getline(all, line)) {
    if (!line.starts_with("  ") || line[2] == ' ') continue;
    ++commands;
    const std::string command = "bench " + line.substr(2, line.find_first_of(" ,", 2) - 2);
    const std::string help = call(command + " --help", "COLUMNS=200 ").text;
    for (const char* both : {"--design,--designs", "--load-factor,--load", "--key-bits,--bits"}) {
      const std::string_view names = both;
      const std::size_t comma = names.find(',');
      for (const std::string_view one : {names.substr(0, comma), names.substr(comma + 1)}) {
        EXPECT_TRUE(!testing::contains(help, " " + std::string(one) + " ") || testing::contains(help, both))
            << command << ": " << one;
      }
    }
    if (command != "bench list") {
      EXPECT_TRUE(testing::contains(help, "2^20")) << command << " says how sizes are typed";
    }
  }
  EXPECT_GT(commands, 10);
  for (const char* command : {"aggregation --items 2^10 --groups 1k",
                              "growth --items 1e3 --batch 2^7 --from 64 --load-factor 1/1.25",
                              "hashgraph/updates --n 1k --load-factor 1/2 --shares 0.1 --slacks 0.25",
                              "yardstick --n 2^10 --load 1/1.25 --design tiled --peers none"}) {
    const outcome result = call("bench " + std::string(command) + " --space cpu --repeat 1 --json - 2>&1");
    EXPECT_EQ(result.code, 0) << command << '\n' << result.text;
  }
  const outcome refused = call_for_errors("bench yardstick --load-factor 1/x");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(testing::contains(refused.text, "'1/x' is not a number such as 0.8 or 1/1.05")) << refused.text;
}

TEST(Program, CountsKmersBesideOtherPrograms) {
  if (!TILEHASH_PROGRAM_BENCHES) GTEST_SKIP() << "a build without the benchmarks";
  const testing::temporary_file file("x.fq", "@x\nACGTACGTTTGCANNACGT\n+\nIIIIIIIIIIIIIIIIIII\n");
  for (const std::string& input : {std::string("--reads 200"), "--input fastq:" + file.path() + ",k=9"}) {
    const outcome result = call("bench kmers --repeat 1 --json - " + input + " 2>/dev/null");
    ASSERT_EQ(result.code, 0) << input;
    const auto results = nlohmann::json::parse(result.text);
    EXPECT_EQ(violation(schema, results, "results"), "") << input;
    const auto rows = results["rows"];
    ASSERT_GE(rows.size(), 1U) << input;
    EXPECT_EQ(rows[0]["design"], "tilehash::map");
    for (const auto& row : rows) {  // of those that are installed
      EXPECT_EQ(row["wrong"], 0) << row;
      EXPECT_EQ(row["items"], input.starts_with("--reads") ? 200 * 80 : 5) << row;
    }
  }
  for (const char* bad : {"--input lines:x", "--reads 0", "--input fasta:/nonexistent", "--space cuda"}) {
    const outcome refused = call_for_errors(std::string("bench kmers ") + bad);
    EXPECT_EQ(refused.code, 2) << bad;
    EXPECT_EQ(std::count(refused.text.begin(), refused.text.end(), '\n'), 1) << refused.text;
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
        std::string("run --json /nonexistent/x.json"), std::string("run --design none"),
        std::string("run --design linear_probing --load-factor 0.99")}) {
    const outcome result = call_for_errors(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_TRUE(result.text.starts_with("tilehash: ")) << arguments << ": " << result.text;
    EXPECT_EQ(std::count(result.text.begin(), result.text.end(), '\n'), 1)
        << arguments << ": " << result.text;
  }
}

TEST(Program, SaysThatItsOutputIsLost) {
  for (const char* arguments :
       {"list", "--help", "run --space cpu --repeat 1 --design tiled --input random:n=10"}) {
    const outcome result = call(std::string(arguments) + " 2>&1 >/dev/full");
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_TRUE(result.text.starts_with("tilehash: cannot write to ")) << arguments << ": " << result.text;
    EXPECT_TRUE(testing::contains(result.text, "No space left on device\n")) << result.text;
  }
}

TEST(Program, NamesTheCommandThatIsNone) {
  EXPECT_EQ(call_for_errors("walk").text,
            "tilehash: 'walk' is no command; tilehash --help lists the commands and options\n");
  if (TILEHASH_PROGRAM_BENCHES) {
    EXPECT_EQ(call_for_errors("bench yard").text,
              "tilehash: 'yard' is no command; tilehash bench --help lists the commands and options\n");
  }
}

TEST(Program, ReproducesATableAndSkipsWhatIsRecorded) {
  const auto folder = std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_reproduced");
  const std::string options = " --results " + folder.string();
  const outcome first = call("reproduce li:table2 --quick --space cpu" + options);
  EXPECT_EQ(first.code, 0);
  EXPECT_TRUE(testing::contains(first.text, "theirs   50876784")) << first.text;
  EXPECT_TRUE(testing::contains(first.text, "ours       100000")) << first.text;
  const std::string file = (folder / "li_table2.json").string();
  const auto data = nlohmann::json::parse(std::ifstream(file));
  EXPECT_EQ(data["header"]["entry"], "li:table2");
  EXPECT_EQ(data["header"]["runs"].size(), 5U);
  EXPECT_FALSE(data["rows"].empty());
  const outcome second = call("reproduce li:table2 li:table2 --quick --space cpu" + options);
  EXPECT_TRUE(testing::contains(second.text, "2 recorded before, 0 not run")) << second.text;
  EXPECT_FALSE(testing::contains(second.text, " left")) << "nothing is measured: " << second.text;
  EXPECT_TRUE(
      testing::contains(call("bench list --paper li" + options).text, "2         recorded    The data sets"));
  std::filesystem::remove_all(folder);
}

// Numbers that do not depend on the machine: seeds that move, or answers that are wrong, fail here.
TEST(Program, ReproducesNumbersThatNoMachineChanges) {
  if (!TILEHASH_PROGRAM_BENCHES) GTEST_SKIP() << "a build without the benchmarks";
  const auto folder = std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_seeded");
  const auto cell_of = [&](const std::string& entry) {
    const outcome run = call("reproduce --quick --space cpu --results " + folder.string() + " " + entry);
    EXPECT_EQ(run.code, 0) << run.text;
    const auto at = run.text.find("ours");
    return at == std::string::npos ? 0 : std::stod(run.text.substr(at + 4));
  };
  EXPECT_NEAR(cell_of("alcantara:text5.2.2"), 5.5, 0.2);  // rounds of a bucket
  EXPECT_NEAR(cell_of("li:text5.3"), 1.05, 0.1);          // rehashed pairs for each update
  std::filesystem::remove_all(folder);
}

TEST(Program, ReportsTheirNumbersBesideOurs) {
  const auto folder = std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_report");
  std::filesystem::create_directories(folder / "h200");
  std::filesystem::create_directories(folder / "xeon");
  std::ofstream(folder / "xeon" / "li_table7.json") << R"({"header": {"machine": "Intel", "quick": true},
"rows": [{"design": "published_mega_kv", "input": "rand", "load_asked": 0.75, "refused_percent": 9.125}]})";
  std::ofstream(folder / "h200" / "li_table7.json")
      << R"({"header": {"gpu": "NVIDIA <H200>", "commit": "abc", "date": "2026"},
"rows": [{"design": "published_mega_kv", "input": "rand", "load_asked": 0.75, "refused_percent": 0.4242},
         {"design": "published_mega_kv", "input": "rand", "load_asked": 0.95, "refused_percent": 3.75}]})";
  const std::string page = (folder / "report.html").string();
  EXPECT_EQ(call("report " + folder.string() + " -o " + page).code, 0);
  std::stringstream text;
  text << std::ifstream(page).rdbuf();
  const std::string all = text.str();
  const std::string section = all.substr(all.find("id=\"li:table7\""), 7000);
  for (const char* part :
       {"Table 7: Failed inserts of RAND", "2 of 2 cells", "NVIDIA &lt;H200&gt;", "commit abc 2026",
        "<td>0.4242</td>", "<td>Intel, quick</td>", "<td>9.125</td>", "<svg", "tilehash reproduce li:table7"})
    EXPECT_TRUE(testing::contains(section, part)) << part;
  for (const char* part : {"<link", "src=", "http", "<H200>"})
    EXPECT_FALSE(testing::contains(all, part)) << part;
  EXPECT_EQ(call_for_errors("report " + page).text,
            "tilehash: " + page + ": no folder; tilehash reproduce writes one, bench/results is another\n");
  std::filesystem::remove_all(folder);
}

TEST(Program, SaysInOneLineWhatItCannotReproduce) {
  const auto error_of = [](const std::string& entry) {
    const auto folder = std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_none");
    const outcome result =
        call_for_errors("reproduce --quick --space cpu " + entry + " --results " + folder.string());
    std::filesystem::remove_all(folder);
    EXPECT_EQ(result.code, 2) << entry;
    EXPECT_EQ(std::count(result.text.begin(), result.text.end(), '\n'), 1) << result.text;
    return result.text;
  };
  EXPECT_TRUE(testing::contains(error_of("li:tabel7"), "nearest are li:table"));
  EXPECT_TRUE(testing::contains(error_of("li:figure10"), "has no command: "));
}

TEST(Program, AdvisesADesignAndKeepsItsRates) {
  const auto folder = std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_advised");
  const std::string ask = "advise --space cpu --threads 1 --n 5000 --lookups 2 --results " + folder.string();
  const auto kept = [&] {
    std::stringstream text;
    text << std::ifstream(folder / "advise.json").rdbuf();
    return text.str();
  };
  const outcome first = call(ask);
  EXPECT_EQ(first.code, 0);
  EXPECT_TRUE(testing::contains(first.text, "#include <tilehash/tilehash.hpp>\ntilehash::")) << first.text;
  const std::string rates = kept();
  const std::size_t designs = nlohmann::json::parse(rates)["rows"].size();
  EXPECT_GE(designs, 4U);
  const outcome second = call(ask + " --absent 1 --memory 1 --json - 2>/dev/null");
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(nlohmann::json::parse(second.text)["rows"][0]["obstacle"], "it takes 0 MiB") << second.text;
  EXPECT_EQ(kept(), rates) << "they were measured again";
  EXPECT_EQ(call_for_errors("advise --space cpu --clock processor --threads 2").code, 2);
  std::filesystem::remove_all(folder);
}

TEST(Program, ReturnsTwoForBadUsage) {
  for (const char* arguments :
       {"walk", "run --size 1.05 --load-factor 0.5", "run --load-factor 1/0", "run --queries 1.5",
        "run --peers nope", "run --bogus", "run --load-factor 0", "run --load-factor 10.5",
        "run --load-factor nan", "run --load-factor inf", "run --hit-rate -0.1", "run --hit-rate 1.1",
        "run --key-bits 33", "run --value-bits 8", "run --repeat 0", "run --threads 0", "run --queries -4",
        "run --queries 0", "run --space moon"}) {
    const outcome result = call_for_errors(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_NE(result.text, "") << arguments;
    EXPECT_EQ(std::count(result.text.begin(), result.text.end(), '\n'), 1)
        << arguments << ": " << result.text;
  }
  EXPECT_EQ(call("--help").code, 0);
  EXPECT_EQ(call("run --help").code, 0);
}

}  // namespace
}  // namespace tilehash::app
