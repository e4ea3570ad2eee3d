// SPDX-License-Identifier: Apache-2.0
// Advice from costs that are given.
#include "advise.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilehash::app {
namespace {

design_entry made_up(const std::string& name, std::vector<std::string> abilities) {
  return {name, "paper", "summary", std::move(abilities), {}};
}

class Advise : public ::testing::Test {
 protected:
  Advise() {
    designs.add(made_up("changes", {"insert", "erase"}));
    designs.add(made_up("built", {"bulk build", "multivalue"}));
    designs.add(made_up("unknown", {"insert"}));
    for (const std::uint64_t items : {1000, 100'000}) {
      const double far = items == 1000 ? 1e-9 : 3e-9;  // of an item
      costs.push_back({"changes",
                       items,
                       10,
                       {{"build", 4 * far},
                        {"insert", 5 * far},
                        {"find_hit", 3 * far},
                        {"find_miss", 3 * far},
                        {"find_mix", 4 * far},
                        {"erase", far},
                        {"reinsert", 2 * far}}});
      costs.push_back({"built",
                       items,
                       20,
                       {{"build", far}, {"find_hit", 6 * far}, {"find_miss", far}, {"find_mix", 4 * far}}});
    }
  }
  std::vector<advised> of(const wanted_table& wanted) { return advise(wanted, designs, costs); }

  registry designs;
  std::vector<design_costs> costs;
};

TEST_F(Advise, least_seconds_come_first) {
  const auto found = of({.items = 1000, .lookups = 2});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].design, "changes");
  EXPECT_NEAR(found[0].seconds, 1000 * 10e-9, 1e-12);
  EXPECT_NEAR(found[1].seconds, 1000 * 13e-9, 1e-12);
  EXPECT_EQ(of({.items = 1000, .lookups = 2, .absent = 1})[0].design, "built");
  EXPECT_EQ(of({.items = 1000, .lookups = 0})[0].design, "built");
}

TEST_F(Advise, half_absent_keys_cost_what_the_mix_costs) {
  EXPECT_NEAR(of({.items = 1000, .lookups = 1, .absent = 0.5})[0].seconds, 1000 * 5e-9, 1e-12);
}

TEST_F(Advise, sizes_between_those_measured) {
  const wanted_table middle{.items = 10'000, .lookups = 0};
  EXPECT_NEAR(of(middle)[0].seconds, 10'000 * 2e-9, 1e-12);
  EXPECT_NEAR(of({.items = 10, .lookups = 0})[0].seconds, 10 * 1e-9, 1e-15);
  EXPECT_NEAR(of({.items = 1'000'000, .lookups = 0})[0].seconds, 1'000'000 * 3e-9, 1e-9);
}

TEST_F(Advise, says_why_a_design_cannot) {
  const auto changing = of({.items = 1000, .absent = 1, .replaced = 0.5});
  EXPECT_EQ(changing[0].design, "changes");
  EXPECT_NEAR(changing[0].seconds, 1000 * 8.5e-9, 1e-12);
  EXPECT_FALSE(changing[1].obstacle.empty());
  EXPECT_EQ(of({.items = 1000, .grows = true})[0].design, "changes");
  EXPECT_EQ(of({.items = 1000, .keeps_all = true})[0].design, "built");
  const auto small = of({.items = 1000, .lookups = 0, .most_bytes = 15'000});
  EXPECT_EQ(small[0].design, "changes");
  EXPECT_FALSE(small[1].obstacle.empty());
}

TEST_F(Advise, nothing_where_an_operation_was_not_measured) {
  const auto built = std::ranges::find(costs, "built", &design_costs::design);
  EXPECT_FALSE(seconds_of({.items = 10, .grows = true}, std::span(&*built, 1)).has_value());
}

TEST_F(Advise, code) {
  EXPECT_EQ(code_for("tiled", {.items = 7}, "cpu"),
            "tilehash::map<std::uint32_t, std::uint32_t, tilehash::cpu> t(space, 7);");
  EXPECT_EQ(code_for("tiled", {.items = 7, .value_bits = 0}, "cuda"),
            "tilehash::set<std::uint32_t, tilehash::cuda> t(space, 7);");
  EXPECT_EQ(code_for("horton", {.items = 7, .key_bits = 64}, "cpu"),
            "tilehash::table<tilehash::horton<std::uint64_t, std::uint32_t>, tilehash::cpu> t(space, 7);");
}

}  // namespace
}  // namespace tilehash::app
