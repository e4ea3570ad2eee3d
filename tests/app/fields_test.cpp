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

TEST(Fields, MakeLinesThatFitTheHeading) {
  EXPECT_EQ(heading_of(row_of(0)), "design    items       ms  keys\n");
  EXPECT_EQ(line_of(row_of(0)), "tiled      1000   250.00   all\n");
  EXPECT_EQ(line_of(row_of(3)), "tiled      1000   250.00   all  3 WRONG\n");
  EXPECT_FALSE(is_faulty(row_of(0)));
  EXPECT_TRUE(is_faulty(row_of(3)));
}

TEST(Fields, PrintNothingOfRowsWithoutColumns) {
  const fields row{{"what", "model"}, {"load", 0.5}};
  EXPECT_EQ(heading_of(row), "");
  EXPECT_EQ(line_of(row), "");
}

}  // namespace
}  // namespace tilehash::bench
