// SPDX-License-Identifier: Apache-2.0
// Recipes of docs/guide/counting.md, each checked: words counted, duplicates dropped, one key at a time, a copy.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include <tilehash/tilehash.hpp>

// A word as a key: its first 16 letters, the rest zeros.
using word = std::array<char, 16>;

int main() {
  int wrong = 0;
  const std::string_view text = "the cat and the dog and the bird";
  std::vector<word> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    word w{};
    text.substr(at, end - at).copy(w.data(), w.size());
    words.push_back(w);
    at = end + 1;
  }
  const word the{'t', 'h', 'e'};
  {
    // [word_count-begin]
    tilehash::cpu space;
    tilehash::map<word, std::uint32_t, tilehash::cpu> times(space);  // word: std::array<char, 16>
    const auto counted = times.insert_or_apply(space, words, tilehash::op::count{});
    // times.at(the) == 3
    // [word_count-end]
    wrong += counted.inserted != 5 || times.at(the) != 3;
  }
  {
    const std::vector<std::uint32_t> user{7, 3, 7, 9, 3}, score{10, 20, 30, 40, 50};
    // [dedup-begin]
    tilehash::cpu space;
    tilehash::map<std::uint32_t, std::uint32_t, tilehash::cpu> first_score(space);
    const auto report = first_score.build(space, user, score, tilehash::keep::first);
    std::vector<std::uint32_t> users(first_score.size()), scores(first_score.size());
    first_score.retrieve_all(space, users, scores);  // (7, 10) (3, 20) (9, 40), in some order
    // [dedup-end]
    wrong += report.inserted != 3 || first_score.at(7) != 10 || first_score.at(3) != 20;
  }
  {
    // [one_key-begin]
    tilehash::cpu space;
    tilehash::map<std::uint64_t, double, tilehash::cpu> price(space);
    price.insert(space, 4711, 9.5);  // inserted, present or refused
    const double cost = price.at(4711);
    const auto unknown = price.find(4712);  // an empty optional
    auto copy = price.clone(space);
    // [one_key-end]
    wrong += cost != 9.5 || unknown.has_value() || copy.size() != 1;
  }
  std::printf("%d recipes went wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
