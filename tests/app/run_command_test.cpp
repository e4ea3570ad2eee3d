// SPDX-License-Identifier: Apache-2.0
// The command on toy designs: what it selects, prints, writes and returns.
#include "run_command.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cuda_presence.hpp"
#include "offered_pairs.hpp"
#include "support.hpp"

namespace tilehash::app {
namespace {

using testing::message_of;

// A design whose one row has these faults.
design_entry toy(const std::string& name, std::uint64_t failed, std::uint64_t wrong) {
  return {name,
          "paper",
          "summary",
          {},
          {{"cpu", [=](const workload& work, const run_settings& settings, const announce& tell) {
              tell("build");
              row r;
              r.design = name;
              r.op = "build";
              r.n = work.data.size();
              r.load_factor = settings.load_factor;
              r.failed = failed;
              r.wrong = wrong;
              return run_result{"toy machine", {r}};
            }}}};
}

class RunCommand : public ::testing::Test {
 protected:
  RunCommand() {
    designs.add(toy("good", 0, 0));
    designs.add(toy("loses", 1, 0));
    designs.add(toy("lies", 0, 1));
    options.space = "cpu";
    options.input = "random:n=10";
  }

  exit_code run() {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    struct fetch {  // also when the command throws
      RunCommand& test;
      ~fetch() {
        test.out = ::testing::internal::GetCapturedStdout();
        test.err = ::testing::internal::GetCapturedStderr();
      }
    } at_end{*this};
    return run_command(options, designs);
  }

  registry designs;
  run_options options;
  std::string out, err;
};

TEST_F(RunCommand, RefusesALoadFactorThatADesignCannotTake) {
  options.designs = {"good"};
  options.settings.load_factor = 0.99;
  EXPECT_NE(message_of<input_error>([&] { run(); }).find("good: it takes a load factor of at most 0.98"),
            std::string::npos);
}

TEST_F(RunCommand, LeavesOutOfAllWhatCannotBeSoFull) {
  design_entry sparse = toy("roomy", 0, 0);
  sparse.max_load_factor = 0.7;
  designs.add(sparse);
  options.designs = {"all"};
  run();
  EXPECT_NE(out.find("roomy is left out: it takes a load factor of at most 0.7"), std::string::npos) << out;
  EXPECT_EQ(out.find("roomy on toy machine"), std::string::npos) << out;
  EXPECT_NE(out.find("good on toy machine"), std::string::npos) << out;
}

TEST_F(RunCommand, RefusesALoadFactorThatTablesOfThatPairCannotTake) {
  design_entry sparse = toy("roomy", 0, 0);
  sparse.max_load_factors = {{"u64/u64", 0.7}};
  designs.add(sparse);
  options.designs = {"roomy"};
  options.settings.load_factor = 0.75;
  EXPECT_EQ(run(), all_right);
  options.key_bits = options.settings.value_bits = 64;
  EXPECT_NE(message_of<input_error>([&] { run(); }).find("roomy: it takes a load factor of at most 0.7"),
            std::string::npos);
  options.settings.load_factor = fullest_load;
  EXPECT_EQ(run(), all_right);
  EXPECT_NE(out.find("70.0 % full"), std::string::npos) << out;
}

TEST_F(RunCommand, FillsEachDesignAsMuchAsItTakes) {
  design_entry sparse = toy("roomy", 0, 0);
  sparse.max_load_factor = 0.7;
  designs.add(sparse);
  options.designs = {"good", "roomy"};
  options.settings.load_factor = fullest_load;
  EXPECT_EQ(run(), all_right);
  EXPECT_NE(out.find("design as full as it takes"), std::string::npos) << out;
  EXPECT_NE(out.find("98.0 % full"), std::string::npos) << out;
  EXPECT_NE(out.find("70.0 % full"), std::string::npos) << out;
}

TEST_F(RunCommand, ReturnsOneForWrongAnswersAndLostItems) {
  options.designs = {"good"};
  EXPECT_EQ(run(), all_right);
  options.designs = {"good", "loses"};
  EXPECT_EQ(run(), wrong_or_lost);
  EXPECT_NE(err.find("wrong or items lost"), std::string::npos);
  options.designs = {"lies"};
  EXPECT_EQ(run(), wrong_or_lost);
}

TEST_F(RunCommand, RunsEachChosenDesignOnce) {
  options.json = "-";
  options.designs = {"lies", "good", "lies"};
  run();
  const auto rows = nlohmann::json::parse(out)["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["design"], "lies");
  EXPECT_EQ(rows[1]["design"], "good");
  options.designs = {"all"};
  run();
  EXPECT_EQ(nlohmann::json::parse(out)["rows"].size(), 3U);
}

TEST_F(RunCommand, KeepsStandardOutputPureJsonWhenAsked) {
  options.json = "-";
  options.designs = {"good"};
  run();
  EXPECT_TRUE(nlohmann::json::accept(out)) << out;
  EXPECT_NE(err.find("good on toy machine"), std::string::npos) << "the table goes to standard error";
}

TEST_F(RunCommand, WritesJsonToAFile) {
  const testing::temporary_file file("rows.json", "old");
  options.json = file.path();
  options.designs = {"good"};
  run();
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(file.path()))["rows"][0]["n"], 10);
  EXPECT_NE(out.find("good on toy machine"), std::string::npos) << "the table stays on standard output";
}

TEST_F(RunCommand, LeavesTheFileAloneUntilThereIsBetter) {
  const testing::temporary_file file("rows.json", "old");
  options.json = file.path();
  options.input = "lines:/nonexistent";
  EXPECT_NE(message_of<input_error>([&] { run(); }), "");
  std::string kept;
  std::getline(std::ifstream(file.path()), kept);
  EXPECT_EQ(kept, "old");
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(file.path()).parent_path()))
    EXPECT_FALSE(entry.path().string().starts_with(file.path() + ".")) << entry.path() << " was left behind";
}

TEST_F(RunCommand, LeavesOutOfAllWhatHasOtherPairs) {
  design_entry narrow = toy("narrow", 0, 0), wide = toy("wide", 0, 0);
  std::get<table_maker<u32, u32, cpu>>(narrow.cpu_tables.emplace()) = [](cpu&, u64, const table_options&) {
    return std::unique_ptr<any_table<u32, u32, cpu>>();
  };
  std::get<table_maker<u64, u64, cpu>>(wide.cpu_tables.emplace()) = [](cpu&, u64, const table_options&) {
    return std::unique_ptr<any_table<u64, u64, cpu>>();
  };
  designs.add(narrow);
  designs.add(wide);
  options.designs = {"all"};
  run();
  if (is_offered<u32, u32>) {  // the input has keys of 32 bits
    EXPECT_NE(out.find("wide is left out: the program has its tables of u64/u64"), std::string::npos) << out;
    EXPECT_EQ(out.find("wide on toy machine"), std::string::npos) << out;
  }
  options.key_bits = options.settings.value_bits = 64;
  run();
  EXPECT_NE(out.find("narrow is left out: the program has its tables of u32/u32"), std::string::npos) << out;
  EXPECT_NE(out.find("TILEHASH_CLI_PAIRS adds u64/u64"), std::string::npos) << out;
  EXPECT_NE(out.find("wide on toy machine"), std::string::npos) << out;
  options.designs = {"narrow"};
  EXPECT_NE(message_of<input_error>([&] { run(); }).find("narrow: the program has its tables of u32/u32"),
            std::string::npos);
}

TEST_F(RunCommand, RunsPeersBesideTheDesigns) {
  registry peers;
  design_entry peer = toy("other::map", 0, 0);
  peer.is_peer = peer.needs_values = true;
  peers.add(peer);
  options.designs = {"good"};
  options.peers = {"all"};
  options.settings.load_factor = fullest_load;
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run_command(options, designs, peers), all_right);
  out = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(out.find("other::map on toy machine"), std::string::npos) << out;
  options.peers = {"another"};
  EXPECT_NE(message_of<input_error>([&] {
              run_command(options, designs, peers);
            }).find("--peers 'another' is unknown"),
            std::string::npos);
}

TEST_F(RunCommand, RefusesBeforeItWorks) {
  const auto message = [&] { return message_of<input_error>([&] { run(); }); };
  options.designs = {"good", "god"};
  EXPECT_NE(message().find("good,loses,lies"), std::string::npos) << "the known designs are named";
  options.designs = {"good"};
  options.json = "/nonexistent/rows.json";
  EXPECT_NE(message().find("/nonexistent/rows.json: cannot write"), std::string::npos);
  EXPECT_EQ(out, "");
}

TEST_F(RunCommand, SaysWhyThereIsNoGpu) {
  if (why_no_cuda().empty()) GTEST_SKIP() << "skipped: there is a GPU";
  options.space = "cuda";
  EXPECT_NE(message_of<input_error>([&] { run(); }).find("use --space cpu"), std::string::npos);
  options.space = "auto";
  options.designs = {"good"};
  EXPECT_EQ(run(), all_right) << "auto falls back to the CPU";
}

TEST_F(RunCommand, RefusesWhatDoesNotFitInMemory) {
  options.input = "random:n=10";
  options.queries = std::uint64_t{1} << 40;
  EXPECT_NE(message_of<input_error>([&] { run(); }).find("MiB are free"), std::string::npos);
}

TEST_F(RunCommand, RefusesPairsThatItWasBuiltWithoutBeforeItReads) {
  options.designs = {"good"};
  options.input = "fasta:no_such_file";
  options.key_bits = 64;
  for (const unsigned bits : {0U, 32U, 64U}) {
    options.settings.value_bits = bits;
    const bool offered = bits == 0    ? is_offered<u64, void>
                         : bits == 32 ? is_offered<u64, u32>
                                      : is_offered<u64, u64>;
    const std::string said = message_of<input_error>([&] { run(); });
    EXPECT_NE(said.find(offered ? "no_such_file" : "TILEHASH_CLI_PAIRS"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace tilehash::app
