// SPDX-License-Identifier: Apache-2.0
// table<Design, Space> as a subject: copies the host's arrays to the space, calls the verb and copies the
// results back.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include <contract/faulty.hpp>
#include <contract/random.hpp>
#include <contract/subject.hpp>
#include <tilehash/core/atomic.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

// A test specialises this for its space: one entry for each way to set it up.
//   static constexpr u64 largest;  static int variants();  static std::string name(int variant);
//   using ground_type = ground<Space, ...>;  static std::unique_ptr<ground_type> make(int variant);
template <class Space>
struct under_test;

template <class T, class Space>
buffer<T, Space> to_space(Space& space, const std::vector<T>& host) {
  return buffer<T, Space>(space, std::span<const T>(host));
}

// A function for for_each() that records every item.
template <class Key, class Value>
struct gather {
  Key* keys;
  Value* values;
  u64* count;

  TILEHASH_FN void operator()(const Key& key, const Value& value) const {
    burn_fuse();
    const u64 at = detail::fetch_add(count, u64(1));
    keys[at] = key;
    values[at] = value;
  }
  TILEHASH_FN void operator()(const Key& key) const { (*this)(key, Value{}); }
};

// Looks keys up one by one, each by one thread.
template <class View, class Key, class Value>
struct ask_view {
  View view;
  const Key* keys;
  Value* out;
  bool* found;

  TILEHASH_FN void operator()(u64 i) const {
    const auto hit = view.find(keys[i]);
    found[i] = hit.found() && view.contains(keys[i]) && view.count(keys[i]) != 0;
    if constexpr (!std::is_void_v<typename View::mapped_type>) {
      if (hit.found()) out[i] = hit.value();
    }
  }
};

template <class Design>
concept sorted = Design::is_sorted;

template <class Design, class Space>
class table_subject : public subject<typename Design::key_type, typename Design::mapped_type> {
 protected:
  using base = subject<typename Design::key_type, typename Design::mapped_type>;
  using key = typename base::key;
  using value = typename base::value;
  using keys = typename base::keys;
  using values = typename base::values;
  using items = typename base::items;
  using inserted = typename base::inserted;
  using space_type = Space;
  using ground_type = typename under_test<Space>::ground_type;
  using table_type = table<Design, space_type>;
  static constexpr bool is_set = table_type::is_set;
  static constexpr bool inserts = insertable<Design>;
  static constexpr bool adds = table_type::adds_items;
  static constexpr bool reserves = requires(table_type t, space_type& s) { t.reserve(s, u64(0)); };
  static constexpr bool erases = requires(table_type t, space_type& s) { t.erase(s, {}); };

 public:
  static constexpr abilities can = {.inserts = inserts,
                                    .erases = erases,
                                    .keeps_duplicates = multivalue<Design>,
                                    .maps = !is_set,
                                    .hashes = !sorted<Design>,
                                    .adds = adds,
                                    .reserves = reserves,
                                    .throws = !Space::has_lanes,
                                    .highest_load = std::min(0.98, detail::highest_load_factor<Design>())};

  table_subject(std::unique_ptr<ground_type> ground, u64 n, table_options options)
      : ground_(std::move(ground)), space_(&ground_->space), table_(*space_, n, options) {}

  insert_report build(const keys& k, const values& v) override {
    const auto ks = to_space(*space_, k);
    const auto vs = to_space(*space_, v);
    return ground_->memory.guarded([&] {
      if constexpr (is_set)
        return table_.build(*space_, ks.span());
      else
        return table_.build(*space_, ks.span(), vs.span());
    });
  }
  inserted insert(const keys& k, const values& v) override {
    inserted result;
    if constexpr (inserts) {
      const auto ks = to_space(*space_, k);
      const auto vs = to_space(*space_, v);
      const buffer<outcome, space_type> outcomes(*space_, k.size());
      result.report = ground_->memory.guarded([&] {
        if constexpr (is_set)
          return table_.insert(*space_, ks.span(), outcomes.span());
        else
          return table_.insert(*space_, ks.span(), vs.span(), outcomes.span());
      });
      result.outcomes = outcomes.to_host();
    }
    return result;
  }
  insert_report insert_unnamed(const keys& k, const values& v) override {
    if constexpr (inserts || adds) {
      const auto ks = to_space(*space_, k);
      const auto vs = to_space(*space_, v);
      return ground_->memory.guarded([&] {
        if constexpr (is_set)
          return table_.insert(*space_, ks.span());
        else
          return table_.insert(*space_, ks.span(), vs.span());
      });
    } else {
      return {};
    }
  }
  inserted insert_or_assign(const keys& k, const values& v) override {
    if constexpr (inserts && !is_set)
      return change(k, v, [&](auto keys_in, auto values_in, auto outcomes) {
        return table_.insert_or_assign(*space_, keys_in, values_in, outcomes);
      });
    else
      return {};
  }
  inserted insert_or_apply(const keys& k, const values& v) override {
    if constexpr (inserts && !is_set)
      return change(k, v, [&](auto keys_in, auto values_in, auto outcomes) {
        return table_.insert_or_apply(*space_, keys_in, values_in, sum_of_bytes{}, outcomes);
      });
    else
      return {};
  }
  u64 erase(const keys& k) override {
    if constexpr (erases) {
      const auto ks = to_space(*space_, k);
      return ground_->memory.guarded([&] { return table_.erase(*space_, ks.span()); });
    } else {
      return 0;
    }
  }
  void clear() override {
    ground_->memory.guarded([&] { table_.clear(*space_); });
  }
  u64 reserve(u64 n) override {
    if constexpr (reserves)
      return ground_->memory.guarded([&] { return table_.reserve(*space_, n); });
    else
      return 0;
  }
  u64 rehash(u64 n) override {
    if constexpr (reserves)
      return ground_->memory.guarded([&] { return table_.rehash(*space_, n); });
    else
      return 0;
  }
  u64 shrink_to_fit() override {
    if constexpr (reserves)
      return ground_->memory.guarded([&] { return table_.shrink_to_fit(*space_); });
    else
      return 0;
  }

  std::vector<std::optional<value>> find(const keys& k) override {
    const auto ks = to_space(*space_, k);
    const auto out = to_space(*space_, values(k.size()));
    const buffer<bool, space_type> found(*space_, k.size());
    ground_->memory.guarded([&] {
      if constexpr (is_set)
        table_.contains(*space_, ks.span(), found.span());
      else
        table_.find(*space_, ks.span(), out.span(), found.span());
    });
    return together(out.to_host(), found.to_host());
  }
  values find_or(const keys& k, value missing) override {
    if constexpr (is_set)
      return values(k.size());
    else {
      const auto ks = to_space(*space_, k);
      const buffer<value, space_type> out(*space_, k.size());
      ground_->memory.guarded([&] { table_.find_or(*space_, ks.span(), out.span(), missing); });
      return out.to_host();
    }
  }
  std::vector<bool> contains(const keys& k) override {
    const auto ks = to_space(*space_, k);
    const buffer<bool, space_type> found(*space_, k.size());
    ground_->memory.guarded([&] { table_.contains(*space_, ks.span(), found.span()); });
    const auto host = found.to_host();
    return {host.begin(), host.end()};
  }
  std::vector<u32> count(const keys& k) override {
    const auto ks = to_space(*space_, k);
    const buffer<u32, space_type> out(*space_, k.size());
    ground_->memory.guarded([&] { table_.count(*space_, ks.span(), out.span()); });
    return out.to_host();
  }
  std::vector<u32> probe_counts(const keys& k) override {
    const auto ks = to_space(*space_, k);
    const buffer<u32, space_type> out(*space_, k.size());
    ground_->memory.guarded([&] { table_.probe_counts(*space_, ks.span(), out.span()); });
    return out.to_host();
  }
  std::vector<std::optional<value>> find_by_view(const keys& k) override {
    const auto ks = to_space(*space_, k);
    const auto out = to_space(*space_, values(k.size()));
    const buffer<bool, space_type> found(*space_, k.size());
    using body = ask_view<typename table_type::view_type, key, value>;
    space_->for_each(k.size(), body{table_.view(), ks.data(), out.data(), found.data()});
    space_->synchronize();
    return together(out.to_host(), found.to_host());
  }
  u64 seen_when_moved_from(const keys& k) override {
    table_type moved = std::move(table_);
    u64 seen = table_.size();
    for (const auto& found : find_by_view(k)) seen += found.has_value();
    const auto view = table_.view();
    if constexpr (requires { view.entries(); }) seen += view.entries();
    table_ = std::move(moved);
    return seen;
  }
  items retrieve_all() override {
    const buffer<key, space_type> ks(*space_, size());
    const buffer<value, space_type> vs(*space_, is_set ? 0 : size());
    const u64 n = ground_->memory.guarded([&] {
      if constexpr (is_set)
        return table_.retrieve_all(*space_, ks.span());
      else
        return table_.retrieve_all(*space_, ks.span(), vs.span());
    });
    return zip(ks.to_host(), is_set ? values(size()) : vs.to_host(), n);
  }
  items for_each() override {
    const auto count = to_space(*space_, std::vector<u64>{0});
    const buffer<key, space_type> ks(*space_, 2 * size());  // larger than size()
    const buffer<value, space_type> vs(*space_, 2 * size());
    ground_->memory.guarded([&] {
      table_.for_each(*space_, gather<key, value>{ks.data(), vs.data(), count.data()});
    });
    return zip(ks.to_host(), vs.to_host(), read_one(*space_, count.data()));
  }

  u64 size() const override { return table_.size(); }
  bool empty() const override { return table_.empty(); }
  u64 capacity() const override { return table_.capacity(); }
  double load_factor() const override { return table_.load_factor(); }
  u64 bytes() const override { return table_.bytes(); }

  void refuse_memory_after(u64 allocations) override { ground_->memory.refuse_after(allocations); }
  bool memory_was_refused() const override { return ground_->memory.refused(); }
  u64 bytes_allocated() const override { return ground_->memory.allocated(); }

 private:
  // Calls a verb that inserts items and returns their outcomes.
  template <class Verb>
  inserted change(const keys& k, const values& v, Verb verb) {
    const auto ks = to_space(*space_, k);
    const auto vs = to_space(*space_, v);
    const buffer<outcome, space_type> outcomes(*space_, k.size());
    inserted result;
    result.report = ground_->memory.guarded([&] { return verb(ks.span(), vs.span(), outcomes.span()); });
    result.outcomes = outcomes.to_host();
    return result;
  }
  template <class Flags>
  static std::vector<std::optional<value>> together(const values& out, const Flags& found) {
    std::vector<std::optional<value>> result(out.size());
    for (u64 i = 0; i < out.size(); ++i) {
      if (found[i]) result[i] = out[i];
    }
    return result;
  }
  static items zip(const keys& k, const values& v, u64 n) {
    items result;
    for (u64 i = 0; i < n; ++i) result.emplace_back(k.at(i), v.at(i));
    return result;
  }

 protected:
  std::unique_ptr<ground_type> ground_;
  space_type* space_;
  table_type table_;
};

// ---- registration of a design -------------------------------------------------------------------------
template <class Key, class Value>
struct pair_of {
  using key = Key;
  using mapped = Value;
};
template <class... Pairs>
struct pairs {};

// Asks every question of Design<Key, Value> for each pair of types; for the first pair, with every setup of
// the space. Where tests run on a CPU, only the first setup has large sizes.
template <template <class, class> class Design, class Space, declared_abilities Declared, class... Pairs>
bool check(pairs<Pairs...>, double most_read) {
  int variants = under_test<Space>::variants();
  bool small = false;
  const auto one = [&](auto pair) {
    using key = typename decltype(pair)::key;
    using mapped = typename decltype(pair)::mapped;
    using design = Design<key, mapped>;
    using subject_type = table_subject<design, Space>;
    static_assert(declared_abilities{subject_type::can.inserts, subject_type::can.erases,
                                     subject_type::can.keeps_duplicates, subject_type::can.adds} == Declared,
                  "the tables of this design do not offer what its registration declares");
    // A sanitizer checks every byte, so it gets fewer wide keys.
    const u64 largest =
        sizeof(key) > 16 ? scaled(under_test<Space>::largest, 1'500) : under_test<Space>::largest;
    auto can = subject_type::can;
    can.most_read = most_read;
    for (int variant = 0; variant < variants; ++variant) {
      ask_all<key, mapped>({design::name, under_test<Space>::name(variant), can, largest, small,
                            [variant](u64 n, table_options options) -> std::unique_ptr<subject<key, mapped>> {
                              if (options.load_factor > subject_type::can.highest_load)
                                options.load_factor = subject_type::can.highest_load;
                              if (!options.seed) options.seed = known_seed;
                              return std::make_unique<subject_type>(under_test<Space>::make(variant), n,
                                                                    options);
                            }});
      small = !Space::has_lanes;
    }
    variants = 1;
  };
  (one(Pairs{}), ...);
  return true;
}

}  // namespace tilehash::contract
