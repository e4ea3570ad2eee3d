// SPDX-License-Identifier: Apache-2.0
// A random history of an index: ids are given, kept and given back.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <soak/universe.hpp>
#include <tilehash/index.hpp>

namespace tilehash::soak {

template <class Key, class Place>
class ids {
  using space_type = typename Place::space_type;
  using table_type = tilehash::index<Key, space_type>;
  static constexpr u32 none = table_type::no_id;

 public:
  static void play(round& r) { ids(r).run(); }

 private:
  explicit ids(round& r)
      : r_(r),
        place_(r.dice, false),
        keys_(any_keys<Key>(r, r.any_size(r.most))),
        id_of_(keys_.size(), none),
        reuses_(r.dice.one_in(2)),
        table_(place_.home(), 0, {.seed = r.dice(), .reuse_ids = reuses_}) {
    r_.note(std::to_string(keys_.size()) + (reuses_ ? " keys, ids are reused" : " keys"));
  }

  void run() {
    for (u64 steps = 2 + r_.dice.below(12); steps != 0; --steps) {
      const auto numbers =
          any_numbers(r_, keys_.size(), r_.any_size(std::min<u64>(r_.most, 2 * keys_.size())));
      const u64 choice = r_.dice.below(8);
      if (choice < 5)
        insert(numbers);
      else if (choice < 7)
        erase(numbers);
      else
        change_capacity(numbers.size());
      expect_equal(table_.size(), size_, "size()");
    }
    verify();
  }
  space_type& any_space() { return r_.dice.one_in(4) ? place_.other() : place_.home(); }
  std::vector<Key> keys_of(const std::vector<u32>& numbers) const {
    std::vector<Key> k;
    for (const u32 i : numbers) k.push_back(keys_[i]);
    return k;
  }
  void insert(const std::vector<u32>& numbers) {
    r_.note("insert_and_find " + std::to_string(numbers.size()));
    const buffer<Key, space_type> k(place_.home(), keys_of(numbers));
    const buffer<u32, space_type> got(place_.home(), numbers.size());
    const u64 limit = table_.id_limit();
    const insert_report report = table_.insert_and_find(any_space(), k.span(), got.span());
    const auto id = got.to_host();
    u64 fresh = 0;
    for (u64 i = 0; i < numbers.size(); ++i) {
      u32& its = id_of_[numbers[i]];
      if (its == none) {
        its = id[i], ++fresh;
        expect(its < table_.id_limit(), "an id that is not below id_limit()");
        expect(reuses_ || its >= limit, "an id was given again");
      }
      expect_equal(id[i], its, "id");
    }
    size_ += fresh;
    expect_equal(report.inserted, fresh, "inserted");
    expect_equal(report.present, numbers.size() - fresh, "present");
    r_.checked += numbers.size();
  }
  void erase(const std::vector<u32>& numbers) {
    r_.note("erase " + std::to_string(numbers.size()));
    const buffer<Key, space_type> k(place_.home(), keys_of(numbers));
    const u64 gone = table_.erase(any_space(), k.span());
    u64 wanted = 0;
    for (const u32 i : numbers) {
      wanted += id_of_[i] != none;
      id_of_[i] = none;
    }
    size_ -= wanted;
    expect_equal(gone, wanted, "erased");
  }
  void change_capacity(u64 n) {
    r_.note("reserve, rehash or shrink_to_fit " + std::to_string(n));
    const u64 choice = r_.dice.below(3);
    if (choice == 0) table_.reserve(any_space(), n);
    if (choice == 1) table_.rehash(any_space(), n);
    if (choice == 2) table_.shrink_to_fit(any_space());
  }
  // Each key has the id that it was given, and each id its key.
  void verify() {
    auto& home = place_.home();
    const buffer<Key, space_type> k(home, keys_), back(home, keys_.size());
    const buffer<u32, space_type> got(home, keys_.size());
    const buffer<bool, space_type> found(home, keys_.size());
    table_.find_ids(any_space(), k.span(), got.span());
    const auto id = got.to_host();
    std::vector<u8> taken(table_.id_limit());
    for (u64 i = 0; i < keys_.size(); ++i) {
      expect_equal(id[i], id_of_[i], "find_ids");
      if (id[i] != none) expect(taken[id[i]]++ == 0, "two keys have one id");
    }
    std::vector<u32> held, numbers;
    for (u32 i = 0; i < keys_.size(); ++i)
      if (id[i] != none) held.push_back(id[i]), numbers.push_back(i);
    if (held.empty()) return;
    const buffer<u32, space_type> asked(home, held);
    table_.keys_of(any_space(), asked.span(), back.first(held.size()), flags(found.data(), held.size()));
    const auto key = back.to_host();
    const auto there = found.to_host();
    for (u64 i = 0; i < held.size(); ++i)
      expect(there[i] && contract::same_bytes(key[i], keys_[numbers[i]]), "keys_of gives another key");
    r_.checked += 2 * keys_.size();
  }

  round& r_;
  Place place_;
  std::vector<Key> keys_;
  std::vector<u32> id_of_;
  bool reuses_;
  table_type table_;
  u64 size_ = 0;
};

}  // namespace tilehash::soak
