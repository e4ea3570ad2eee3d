// SPDX-License-Identifier: Apache-2.0
// Code of docs/guide/, each part checked: joins, groups, analysis, dictionary codes, memory, errors, and code written for std.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include <tilehash/analysis/factorize.hpp>
#include <tilehash/analysis/group_by.hpp>
#include <tilehash/analysis/join_rows.hpp>
#include <tilehash/analysis/reductions.hpp>
#include <tilehash/join.hpp>
#include <tilehash/tilehash.hpp>

namespace {

int wrong = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  ++wrong;
}

void joins() {
  const std::vector<std::uint32_t> left_keys{5, 8, 5, 1}, right_keys{8, 5, 7, 8};
  // [join_rows-begin]
  tilehash::cpu space;
  const auto rows = tilehash::join(space, left_keys, right_keys);  // rows.left[i] and rows.right[i]
  const auto pairs = tilehash::join_size(space, left_keys, right_keys);
  // [join_rows-end]
  expect(rows.left.size() == 4 && pairs == 4, "a join has 4 rows");
}

void groups() {
  const std::vector<std::uint32_t> shop{1, 2, 1, 3, 2};
  const std::vector<std::uint64_t> amount{10, 20, 30, 40, 50};
  // [groups-begin]
  tilehash::cpu space;
  tilehash::map<std::uint32_t, std::uint64_t, tilehash::cpu> total(space);
  const auto report = total.insert_or_apply(space, shop, amount, tilehash::op::sum{});

  std::vector<std::uint32_t> shops(total.size());
  std::vector<std::uint64_t> totals(total.size());
  total.retrieve_all(space, shops, totals);  // (1, 40) (2, 70) (3, 40), in some order
  // [groups-end]
  expect(report.inserted == 3 && total.at(1) == 40 && total.at(2) == 70, "three groups");
}

void distinct() {
  const std::vector<std::uint64_t> seen{4, 4, 9, 4};
  // [distinct-begin]
  tilehash::cpu space;
  tilehash::set<std::uint64_t, tilehash::cpu> distinct(space);
  const auto report = distinct.insert(space, seen);  // report.inserted == 2, report.present == 2
  std::vector<tilehash::outcome> outcomes(seen.size());
  const auto again = distinct.insert(space, seen, outcomes);  // outcomes[i]: inserted, present or refused
  // [distinct-end]
  expect(report.inserted == 2 && report.present == 2 && again.inserted == 0, "two distinct keys");
  expect(outcomes[2] == tilehash::outcome::present, "a present key");
}

void dictionary() {
  using word = std::array<char, 8>;
  const std::vector<word> words{{"red"}, {"blue"}, {"red"}, {"green"}};
  // [dictionary-begin]
  tilehash::cpu space;
  tilehash::index<word, tilehash::cpu> codes(space);
  std::vector<std::uint32_t> code(words.size());
  const auto report = codes.insert_and_find(space, words, code);  // equal words have equal codes, from 0 on

  std::vector<word> decoded(code.size());
  codes.keys_of(space, code, decoded);
  // [dictionary-end]
  expect(report.inserted == 3 && code[0] == code[2] && codes.size() == 3 && decoded == words, "three codes");
}

void memory() {
  const std::vector<std::uint32_t> keys{17, 4, 23}, values{170, 40, 230};
  // [memory-begin]
  tilehash::cpu space;
  tilehash::map<std::uint32_t, std::uint32_t, tilehash::cpu> map(space, 1'000'000, {.load_factor = 0.9});
  const auto report = map.insert(space, keys, values);
  const auto bytes = map.bytes();  // of the table, without temporary memory
  map.shrink_to_fit(space);        // memory for map.size() items
  map.reserve(space, 5'000'000);   // one resize, not many
  // [memory-end]
  expect(report.inserted == 3 && bytes > 8'000'000 && map.capacity() >= 5'000'000, "capacity");
}

void errors() {
  const std::vector<std::uint32_t> keys{17, 4, 23}, values{170, 40};
  std::string message;
  // [errors-begin]
  tilehash::cpu space;
  tilehash::map<std::uint32_t, std::uint32_t, tilehash::cpu> map(space);
  try {
    const auto report = map.insert(space, keys, values);  // one value is missing
    if (report.refused != 0) std::puts("some items are not in the table");
  } catch (const tilehash::invalid_argument& e) {
    message = e.what();  // one line; the table is unchanged
  } catch (const tilehash::out_of_memory& e) {
    message = e.what();
  }
  // [errors-end]
  expect(!message.empty() && map.size() == 0, "an exception");
}

void fixed() {
  std::vector<std::uint32_t> keys(1000);
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = 7 * i;
  // [fixed-begin]
  tilehash::cpu space;
  tilehash::set<std::uint32_t, tilehash::cpu> set(space, 100, {.grow = false});
  std::vector<tilehash::outcome> outcomes(keys.size());
  const auto report = set.insert(space, keys, outcomes);
  // report.refused items did not fit; outcomes[i] == tilehash::outcome::refused names them
  // [fixed-end]
  std::uint64_t refused = 0;
  for (const tilehash::outcome o : outcomes) refused += o == tilehash::outcome::refused;
  expect(report.refused > 0 && refused == report.refused, "refused items are named");
}

void from_std() {
  const std::vector<std::uint64_t> ids{3, 5, 3}, wanted{5, 6};
  const std::vector<double> prices{1.5, 2.5, 9.5};
  std::vector<double> found_prices;
  // [std-begin]
  std::unordered_map<std::uint64_t, double> price_of;
  for (std::size_t i = 0; i < ids.size(); ++i) price_of.try_emplace(ids[i], prices[i]);
  for (const std::uint64_t id : wanted) {
    const auto at = price_of.find(id);
    found_prices.push_back(at == price_of.end() ? 0 : at->second);
  }
  // [std-end]
  std::vector<double> out(wanted.size());
  // [from_std-begin]
  tilehash::cpu space;
  tilehash::map<std::uint64_t, double, tilehash::cpu> prices_of(space);
  const auto report = prices_of.insert(space, ids, prices, tilehash::keep::first);
  prices_of.find_or(space, wanted, out, 0.0);
  // [from_std-end]
  expect(report.inserted == price_of.size() && out == found_prices, "the same answers");
}

void analysis() {
  const std::vector<std::uint32_t> shop{7, 3, 7, 9, 3};
  const std::vector<float> amount{1, 2, 3, 4, 5};
  // [analysis-begin]
  tilehash::cpu space;
  const auto f = tilehash::analysis::factorize(space, shop);      // codes 0 1 0 2 1, first rows 0 1 3
  const auto u = tilehash::analysis::unique(space, shop);         // values 7 3 9, counts 2 2 1
  const auto groups = tilehash::analysis::group_by(space, shop);  // several columns: group_by(space, a, b)
  const auto totals =
      groups.reduce(space, amount, tilehash::op::sum{}, 0.0F);  // 4 7 4, in the order of u.values
  // [analysis-end]
  expect(f.size() == 3 && u.size() == 3 && groups.size() == 3, "three values");
  expect(f.codes.to_host()[3] == 2 && u.values.to_host()[0] == 7 && totals.to_host()[1] == 7,
         "codes in order");
}

void joins_by_columns() {
  const std::vector<std::uint32_t> shop{7, 3, 9}, day{1, 1, 2};
  const std::vector<std::uint32_t> open_shop{3, 7, 7}, open_day{1, 1, 1};
  const std::vector<float> hours{8, 10, 12};
  // [join_by_columns-begin]
  tilehash::cpu space;
  namespace analysis = tilehash::analysis;
  const auto rows =
      analysis::join_rows(space, analysis::on(shop, day), analysis::on(open_shop, open_day),
                          {.kind = analysis::join_kind::left});  // left 0 0 1 2, right 1 2 0 no_row
  const auto groups = analysis::group_by(space, open_shop);
  const auto medians = analysis::median(space, groups, hours);  // 8, 11
  // [join_by_columns-end]
  expect(rows.left.to_host() == std::vector<std::uint32_t>{0, 0, 1, 2}, "left rows");
  expect(rows.right.to_host() == std::vector<std::uint32_t>{1, 2, 0, analysis::no_row}, "right rows");
  expect(medians.to_host() == std::vector<double>{8, 11}, "medians");
}

void seeded() {
  const std::vector<std::uint32_t> keys{17, 4, 23};
  // [seed-begin]
  tilehash::cpu space;
  tilehash::set<std::uint32_t, tilehash::cpu> set(space, keys.size(), {.seed = 7});
  // [seed-end]
  expect(set.insert(space, keys).inserted == 3, "a seed");
}

}  // namespace

int main() {
  joins();
  groups();
  distinct();
  dictionary();
  memory();
  errors();
  fixed();
  from_std();
  seeded();
  analysis();
  joins_by_columns();
  std::printf("%d parts of the guide went wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
