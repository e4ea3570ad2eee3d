// SPDX-License-Identifier: Apache-2.0
// Rows of results: one list of fields makes the JSON object, the printed line and the heading.
#include "bench/fields.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tilehash::bench {
namespace {

fields row_of(std::uint64_t wrong) {
  return {{"design", "tiled", "design", -8},
          {"items", 1000U, "items", 6},
          {"seconds", 0.25, "ms", 8, ".2f", 1e3},
          {"runs", {1, 2}},
          {"", "all", "keys", 5},
          wrong_answers(wrong)};
}

TEST(Fields, MakeJsonOfThoseWithNames) {
  EXPECT_EQ(object_of(row_of(3)), nlohmann::ordered_json::parse(R"({"design": "tiled", "items": 1000,
      "seconds": 0.25, "runs": [1, 2], "wrong": 3})"));
}

TEST(Fields, MakeLinesBelowAHeading) {
  table_lines lines;
  EXPECT_EQ(lines.add(row_of(0)), "design    items       ms  keys\ntiled      1000   250.00   all\n");
  EXPECT_EQ(lines.add(row_of(3)), "tiled      1000   250.00   all  3 WRONG\n") << "the same columns";
  EXPECT_EQ(lines.end("more\n"), "more\n");
  lines.new_heading();
  EXPECT_TRUE(lines.add(row_of(0)).starts_with("design"));
  EXPECT_FALSE(is_faulty(row_of(0)));
  EXPECT_TRUE(is_faulty(row_of(3)));
}

TEST(Fields, ShareALineIfOnlyColumnsAcrossDiffer) {
  const auto row = [](const char* design, const char* op, double rate, std::uint64_t wrong = 0) {
    return fields{{"design", design, "design", -8},
                  {.name = "rate", .value = rate, .head = op, .width = 6, .format = ".1f", .across = true},
                  wrong_answers(wrong)};
  };
  table_lines lines;
  EXPECT_EQ(lines.add(row("tiled", "build", 1)), "");
  EXPECT_EQ(lines.add(row("tiled", "find", 2, 5)), "");
  EXPECT_EQ(lines.add(row("cuckoo", "build", 3)),
            "design    build   find\ntiled       1.0    2.0  5 WRONG\n");
  EXPECT_EQ(lines.add(row("cuckoo", "find", 4)), "");
  EXPECT_EQ(lines.end(), "cuckoo      3.0    4.0\n") << "the heading fits";
  EXPECT_EQ(lines.add(row("cuckoo", "build", 5)), "") << "a line that has ended goes on in a new one";
  EXPECT_EQ(lines.end(), "design    build\ncuckoo      5.0\n");
}

TEST(Fields, PrintNothingOfRowsWithoutColumns) {
  const fields row{{"what", "model"}, {"load", 0.5}};
  table_lines lines;
  EXPECT_EQ(lines.add(row), "");
  EXPECT_EQ(lines.end(), "");
}

}  // namespace
}  // namespace tilehash::bench
