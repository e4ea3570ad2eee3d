// SPDX-License-Identifier: Apache-2.0
// The expected state of a table: a std::unordered_map that gets the same calls.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <contract/judged.hpp>
#include <contract/keys.hpp>
#include <contract/random.hpp>
#include <contract/subject.hpp>

namespace tilehash::contract {

// Keys compare by their bytes, after -0.0 has become 0.0.
template <class Key>
Key one_representation(Key key) {
  if constexpr (std::floating_point<Key>)
    return key == Key(0) ? Key(0) : key;
  else
    return key;
}
struct bytes_hash {
  template <class Key>
  std::size_t operator()(const Key& key) const {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&key), sizeof key});
  }
};
struct bytes_equal {
  template <class Key>
  bool operator()(const Key& a, const Key& b) const {
    return same_bytes(a, b);
  }
};

template <class Key, class Value>
class model {
 public:
  using subject_type = subject<Key, Value>;
  using value = typename subject_type::value;
  using keys = typename subject_type::keys;
  using values = typename subject_type::values;

  explicit model(const abilities& can) : keeps_all_(can.keeps_duplicates), adds_(can.adds) {}

  bool has(const Key& key) const { return items_.contains(one_representation(key)); }
  u64 size() const {
    u64 n = 0;
    for (const auto& [key, stored] : items_) n += stored.size();
    return n;
  }
  keys all_keys() const {
    keys all;
    for (const auto& [key, stored] : items_) all.push_back(key);
    return all;
  }

  // Builds the table from these items, checks its report and records its expected contents.
  judged build(subject_type& table, const keys& k, const values& v) {
    const insert_report report = table.build(k, v);
    judge_build(table, k, v, report);
    return {report};
  }

  // Inserts, checks report and outcomes. Refusals are wrong unless `may_refuse` or the key is not legal.
  judged insert(subject_type& table, const keys& k, const values& v, bool may_refuse = false) {
    if (adds_) return insert_unnamed(table, k, v);
    const auto [report, outcomes] = table.insert(k, v);
    judge_insert(k, v, report, outcomes, may_refuse);
    return {report};
  }

  // Inserts without outcomes.
  judged insert_unnamed(subject_type& table, const keys& k, const values& v) {
    const insert_report report = table.insert_unnamed(k, v);
    judge_unnamed(table, k, v, report);
    return {report};
  }

  // The same for insert_or_assign: any of a key's given values may have won.
  void insert_or_assign(subject_type& table, const keys& k, const values& v, bool may_refuse = false) {
    const auto [report, outcomes] = table.insert_or_assign(k, v);
    judge_assign(table, k, v, report, outcomes, may_refuse);
  }

  // The same for insert_or_apply: every item that was not refused counts once.
  void insert_or_apply(subject_type& table, const keys& k, const values& v, bool may_refuse = false) {
    const auto [report, outcomes] = table.insert_or_apply(k, v);
    judge_apply(k, v, report, outcomes, may_refuse);
  }

  void erase(subject_type& table, const keys& k) { judge_erased(k, table.erase(k)); }
  void clear(subject_type& table) {
    table.clear();
    items_.clear();
  }

  // ---- check a call's report, and record the table's expected contents ----
  void judge_assign(subject_type& table, const keys& k, const values& v, const insert_report& report,
                    const std::vector<outcome>& outcomes, bool may_refuse) {
    const map given = judge_change(k, v, report, outcomes, may_refuse);
    keys changed;
    for (const auto& [key, values_given] : given) changed.push_back(key);
    const auto found = table.find(changed);
    for (u64 i = 0; i < changed.size(); ++i) {
      ASSERT_TRUE(found[i].has_value()) << "lost: key " << show(changed[i]);
      ASSERT_TRUE(among(*found[i], given.at(changed[i]))) << "not a value given to key " << show(changed[i]);
      items_[changed[i]] = {*found[i]};
    }
  }
  void judge_apply(const keys& k, const values& v, const insert_report& report,
                   const std::vector<outcome>& outcomes, bool may_refuse) {
    for (const auto& [key, values_given] : judge_change(k, v, report, outcomes, may_refuse)) {
      values& stored = items_[key];
      for (const value& x : values_given) stored = {stored.empty() ? x : sum_of_bytes{}(stored[0], x)};
    }
  }
  // A change that threw: some of its items are in the table, and no key is lost.
  void judge_thrown(subject_type& table, const keys& k) {
    const auto found = table.find(k);
    for (u64 i = 0; i < k.size(); ++i) {
      ASSERT_TRUE(found[i].has_value() || !has(k[i])) << "lost: key " << show(k[i]);
      if (found[i]) items_[one_representation(k[i])] = {*found[i]};
    }
  }
  void judge_erased(const keys& k, u64 erased) {
    u64 gone = 0;
    for (const Key& key : k) {
      const auto it = items_.find(one_representation(key));
      if (it == items_.end()) continue;
      gone += it->second.size();
      items_.erase(it);
    }
    ASSERT_EQ(erased, gone);
  }
  void judge_insert(const keys& k, const values& v, const insert_report& report,
                    const std::vector<outcome>& outcomes, bool may_refuse) {
    ASSERT_EQ(outcomes.size(), k.size());
    const auto times = [&](outcome o) {
      return static_cast<u64>(std::count(outcomes.begin(), outcomes.end(), o));
    };
    ASSERT_EQ(report.inserted, times(outcome::inserted));
    ASSERT_EQ(report.present, times(outcome::present));
    ASSERT_EQ(report.refused, times(outcome::refused));
    ASSERT_EQ(report.inserted + report.present + report.refused, k.size()) << "an item has no outcome";
    map fresh;
    for (u64 i = 0; i < k.size(); ++i) {
      if (outcomes[i] == outcome::refused) {
        ASSERT_FALSE(has(k[i])) << "refused, but was there already: key " << show(k[i]);
      }
      if (outcomes[i] != outcome::inserted) continue;
      ASSERT_FALSE(is_nan(k[i]));
      ASSERT_FALSE(has(k[i])) << "inserted, but was there already: key " << show(k[i]);
      ASSERT_TRUE(fresh.emplace(one_representation(k[i]), values{v[i]}).second)
          << "inserted twice: key " << show(k[i]);
    }
    items_.merge(fresh);
    for (u64 i = 0; i < k.size(); ++i) {
      if (outcomes[i] == outcome::present) {
        ASSERT_TRUE(has(k[i])) << "present, but nobody put in key " << show(k[i]);
      }
      if (outcomes[i] == outcome::refused) {
        ASSERT_TRUE(may_refuse || is_nan(k[i])) << "refused: key " << show(k[i]);
        ASSERT_TRUE(is_nan(k[i]) || !has(k[i])) << "refused, but it is there: key " << show(k[i]);
      }
    }
  }
  // The inserts and assigns of a mixed call, after its erases.
  using key_values = std::pair<keys, values>;
  void judge_put(subject_type& table, const key_values& inserts, const insert_report& inserted,
                 const key_values& assigns, const insert_report& assigned) {
    const auto put = [&](const key_values& items, const insert_report& report, bool assign) {
      map given;
      u64 fresh = 0, illegal = 0;
      for (u64 i = 0; i < items.first.size(); ++i) {
        if (is_nan(items.first[i]))
          ++illegal;
        else
          given[one_representation(items.first[i])].push_back(items.second[i]);
      }
      for (const auto& [key, values_given] : given) {
        fresh += !has(key);
        if (assign || !has(key)) items_[key] = values_given;  // one of them; believe() finds which
      }
      ASSERT_EQ(report.inserted, fresh);
      ASSERT_EQ(report.refused, illegal);
      ASSERT_EQ(report.present, items.first.size() - illegal - fresh);
    };
    put(inserts, inserted, false);
    put(assigns, assigned, true);
    believe(table);
  }
  // An insert in which the first item of each new key must have won.
  void judge_first(subject_type& table, const keys& k, const values& v, const insert_report& report) {
    u64 fresh = 0, illegal = 0;
    for (u64 i = 0; i < k.size(); ++i) {
      if (is_nan(k[i]))
        ++illegal;
      else
        fresh += items_.try_emplace(one_representation(k[i]), values{v[i]}).second;
    }
    ASSERT_EQ(report.inserted, fresh);
    ASSERT_EQ(report.refused, illegal);
    ASSERT_EQ(report.present, k.size() - illegal - fresh);
    verify_answers(table, k);
  }

  void judge_build(subject_type& table, const keys& k, const values& v, const insert_report& report) {
    items_.clear();
    judge_unnamed(table, k, v, report);
  }

  // Checks every lookup and listing for these keys and the model's own.
  void verify(subject_type& table, keys asked = {}) const {
    for (const auto& [key, stored] : items_) asked.push_back(key);
    ASSERT_EQ(table.size(), size());
    ASSERT_EQ(table.empty(), size() == 0);
    ASSERT_DOUBLE_EQ(table.load_factor() * static_cast<double>(table.capacity()),
                     static_cast<double>(size()));
    verify_answers(table, asked);
    verify_items(table.retrieve_all(), "retrieve_all");
    verify_items(table.for_each(), "for_each");
  }

  // Checks that exactly the expected ones of these keys are present.
  void verify_size(subject_type& table, const keys& asked) const {
    ASSERT_EQ(table.size(), size());
    const auto found = table.find(asked);
    for (u64 i = 0; i < asked.size(); ++i) {
      const auto it = items_.find(one_representation(asked[i]));
      ASSERT_EQ(found[i].has_value(), it != items_.end()) << "find of key " << show(asked[i]);
      if (it != items_.end()) {
        ASSERT_TRUE(among(*found[i], it->second)) << "find: the value of key " << show(asked[i]);
      }
    }
  }
  void verify_answers(subject_type& table, const keys& asked) const {
    const value missing = {};
    const auto found = table.find(asked), by_view = table.find_by_view(asked);
    const auto found_or = table.find_or(asked, missing);
    const auto contained = table.contains(asked);
    const auto counts = table.count(asked);
    ASSERT_TRUE(found.size() == asked.size() && contained.size() == asked.size() &&
                counts.size() == asked.size());
    for (u64 i = 0; i < asked.size(); ++i) {
      const auto it = items_.find(one_representation(asked[i]));
      const bool is_here = it != items_.end();
      ASSERT_EQ(found[i].has_value(), is_here) << "find of key " << show(asked[i]);
      ASSERT_EQ(contained[i], is_here) << "contains of key " << show(asked[i]);
      ASSERT_EQ(counts[i], is_here ? it->second.size() : 0) << "count of key " << show(asked[i]);
      ASSERT_EQ(by_view[i].has_value(), is_here) << "the view's find of key " << show(asked[i]);
      if (is_here) {
        ASSERT_TRUE(among(*found[i], it->second)) << "find: the value of key " << show(asked[i]);
        ASSERT_TRUE(among(*by_view[i], it->second)) << "the view: the value of key " << show(asked[i]);
        ASSERT_TRUE(among(found_or[i], it->second)) << "find_or: the value of key " << show(asked[i]);
      } else {
        ASSERT_TRUE(same_bytes(found_or[i], missing)) << "find_or: absent key " << show(asked[i]);
      }
    }
  }

  static std::string show(const Key& key) {
    std::string hex = "0x";
    const auto* bytes = reinterpret_cast<const unsigned char*>(&key);
    for (u64 i = sizeof key; i-- > 0;)
      hex += "0123456789abcdef"[bytes[i] >> 4], hex += "0123456789abcdef"[bytes[i] & 15];
    return hex;
  }

 private:
  using map = std::unordered_map<Key, values, bytes_hash, bytes_equal>;

  static bool among(const value& x, const values& stored) {
    return std::any_of(stored.begin(), stored.end(), [&](const value& y) { return same_bytes(x, y); });
  }

  // For keys with several values that may have won, takes the stored one.
  void believe(subject_type& table) {
    keys open;
    for (const auto& [key, stored] : items_)
      if (stored.size() > 1) open.push_back(key);
    const auto found = table.find(open);
    for (u64 i = 0; i < open.size(); ++i) {
      ASSERT_TRUE(found[i].has_value()) << "lost: key " << show(open[i]);
      ASSERT_TRUE(among(*found[i], items_[open[i]])) << "not a value given to key " << show(open[i]);
      items_[open[i]] = {*found[i]};
    }
  }

  // No outcome shows which of a key's values won: takes the table's, if it was given.
  void judge_unnamed(subject_type& table, const keys& k, const values& v, const insert_report& report) {
    map given;
    u64 illegal = 0, inserted = 0;
    for (u64 i = 0; i < k.size(); ++i) {
      if (is_nan(k[i]))
        ++illegal;
      else if (keeps_all_ || !has(k[i]))
        given[one_representation(k[i])].push_back(v[i]);
    }
    if (!keeps_all_) {
      keys fresh;
      for (const auto& [key, values_given] : given) fresh.push_back(key);
      const auto found = table.find(fresh);
      for (u64 i = 0; i < fresh.size(); ++i) {
        ASSERT_TRUE(found[i].has_value()) << "lost: key " << show(fresh[i]);
        ASSERT_TRUE(among(*found[i], given[fresh[i]])) << "a value never given to key " << show(fresh[i]);
        given[fresh[i]] = {*found[i]};
      }
    }
    for (const auto& [key, stored] : given) {
      inserted += stored.size();
      values& all = items_[key];
      all.insert(all.end(), stored.begin(), stored.end());
    }
    ASSERT_EQ(report.inserted, inserted);
    ASSERT_EQ(report.refused, illegal);
    ASSERT_EQ(report.present, k.size() - illegal - inserted);
  }

  // Checks the report of a change of keys that may be present; returns, by key, the values that were not
  // refused.
  map judge_change(const keys& k, const values& v, const insert_report& report,
                   const std::vector<outcome>& outcomes, bool may_refuse) const {
    map given;
    std::array<u64, 3> times = {};
    std::unordered_map<Key, u64, bytes_hash, bytes_equal> inserted;
    EXPECT_EQ(outcomes.size(), k.size());
    for (u64 i = 0; i < outcomes.size(); ++i) {
      if (static_cast<u64>(outcomes[i]) >= times.size()) {
        ADD_FAILURE() << "an item has no outcome";
        return given;
      }
      ++times[static_cast<u64>(outcomes[i])];
      if (outcomes[i] == outcome::refused) {
        EXPECT_TRUE(may_refuse || is_nan(k[i])) << "refused: key " << show(k[i]);
      } else {
        EXPECT_FALSE(is_nan(k[i]));
        const Key key = one_representation(k[i]);
        given[key].push_back(v[i]);
        inserted[key] += outcomes[i] == outcome::inserted;
      }
    }
    for (const auto& [key, n] : inserted)
      EXPECT_EQ(n, has(key) ? 0U : 1U) << "times that it was inserted: key " << show(key);
    for (u64 i = 0; i < outcomes.size(); ++i) {
      const bool refused = outcomes[i] == outcome::refused && !is_nan(k[i]);
      EXPECT_FALSE(refused && (has(k[i]) || inserted.contains(one_representation(k[i]))))
          << "refused, but it is there: key " << show(k[i]);
    }
    EXPECT_EQ(report.inserted, times[static_cast<u64>(outcome::inserted)]);
    EXPECT_EQ(report.present, times[static_cast<u64>(outcome::present)]);
    EXPECT_EQ(report.refused, times[static_cast<u64>(outcome::refused)]);
    return given;
  }

  void verify_items(const typename subject_type::items& got, const char* what) const {
    using bytes = std::array<unsigned char, sizeof(Key) + sizeof(value)>;
    std::vector<bytes> expected, actual;
    const auto note = [](std::vector<bytes>& list, const Key& key, const value& x) {
      std::memcpy(list.emplace_back().data(), &key, sizeof key);
      std::memcpy(list.back().data() + sizeof key, &x, sizeof x);
    };
    for (const auto& [key, stored] : items_) {
      for (const value& x : stored) note(expected, key, x);
    }
    for (const auto& [key, x] : got) note(actual, key, x);
    const auto before = [](const bytes& a, const bytes& b) { return std::memcmp(&a, &b, sizeof a) < 0; };
    std::sort(expected.begin(), expected.end(), before);
    std::sort(actual.begin(), actual.end(), before);
    ASSERT_EQ(actual.size(), expected.size()) << what;
    ASSERT_TRUE(std::equal(actual.begin(), actual.end(), expected.begin(), same_bytes<bytes>))
        << what << " gives other items than were put in";
  }

  map items_;
  bool keeps_all_, adds_;
};

}  // namespace tilehash::contract
