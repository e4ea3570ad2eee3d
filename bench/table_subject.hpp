// A design as the workload sees it.
#pragma once

#include <tilehash/core/concepts.hpp>
#include <tilehash/table.hpp>

#include <string>
#include <type_traits>
#include <vector>

#include "workload.hpp"

namespace tilehash::bench {

template <class Design, class Space>
class table_subject {
  using table_type = table<Design, Space>;

 public:
  using key_type = typename Design::key_type;
  using value_type = typename table_type::value_element;
  static constexpr bool is_set = table_type::is_set;
  using answer_type = std::conditional_t<is_set, bool, value_type>;
  static constexpr bool inserts = insertable<Design>;
  static constexpr bool erases = erasable<Design>;
  using keys_in = std::span<const key_type>;
  using values_in = std::span<const value_type>;

  table_subject(Space& space, double load_factor)
      : space_(&space), options_{.load_factor = load_factor}, table_(space, 0, options_) {}

  void reset() { table_ = table_type(*space_, 0, options_); }
  void clear() { table_.clear(*space_); }
  insert_report build(keys_in keys, values_in values) {
    if constexpr (is_set)
      return table_.build(*space_, keys);
    else
      return table_.build(*space_, keys, values);
  }
  insert_report insert(keys_in keys, values_in values) {
    if constexpr (is_set)
      return table_.insert(*space_, keys);
    else
      return table_.insert(*space_, keys, values);
  }
  void find(keys_in keys, std::span<answer_type> answers, answer_type missing) const {
    if constexpr (is_set)
      table_.contains(*space_, keys, answers);
    else
      table_.find_or(*space_, keys, answers, missing);
  }
  u64 erase(keys_in keys) { return table_.erase(*space_, keys); }
  u64 size() const { return table_.size(); }
  u64 bytes() const { return table_.bytes(); }
  double load_factor() const { return table_.load_factor(); }

 private:
  Space* space_;
  table_options options_;
  table_type table_;
};

// Adds the design that Entry describes (see apps/tilehash/designs/), in the space that open() makes of a
// case.
template <class Entry, class Open>
void register_design(std::vector<subject>& all, const std::string& name, const std::string& space_name,
                     Open open) {
  const auto run = [=](const yardstick_case& the_case, known_limits& known, const emit& tell) {
    auto space = open(the_case);
    using space_type = decltype(space);
    const auto limit = [&](u64 bytes) { return known.at(space, bytes, the_case.repeat); };
    const auto run_as = [&]<class Key, class Value>() {
      using subject_type = table_subject<typename Entry::template design<Key, Value>, space_type>;
      measurement blank;
      blank.design = name;
      blank.space = space_name;
      workload<subject_type, space_type>(space, subject_type(space, the_case.load_factor), the_case, blank,
                                         tell)
          .run(limit);
    };
    if (the_case.bits == 64)
      run_as.template operator()<u64, u64>();
    else
      run_as.template operator()<u32, u32>();
  };
  all.push_back({name, space_name, false, run});
}

}  // namespace tilehash::bench
