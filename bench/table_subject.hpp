// SPDX-License-Identifier: Apache-2.0
// A design's table as the workload sees it.
#pragma once

#include <tilehash/table.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "registry.hpp"
#include "workload.hpp"

namespace tilehash::bench {

template <class Key, class Value, class Space>
class table_subject {
  using table_type = app::any_table<Key, Value, Space>;
  using maker = app::table_maker<Key, Value, Space>;

 public:
  using key_type = Key;
  using value_type = Value;
  using keys_in = std::span<const key_type>;
  using values_in = std::span<const value_type>;

  table_subject(Space& space, maker make, double load_factor)
      : space_(&space), make_(make), load_factor_(load_factor) {
    reset();
  }

  bool inserts() const { return table_->inserts(); }
  bool one_writer() const { return table_->one_writer(); }
  bool erases() const { return table_->erases(); }

  void reset() {
    table_.reset();
    table_ = make_(*space_, 0, {.load_factor = load_factor_});
  }
  void reserve(u64 items) {  // empty, with capacity for so many
    table_.reset();
    table_ = make_(*space_, items, {.load_factor = load_factor_});
  }
  void clear() { table_->clear(*space_); }
  insert_report build(keys_in keys, values_in values) { return table_->build(*space_, keys, values); }
  insert_report insert(keys_in keys, values_in values) { return table_->insert(*space_, keys, values); }
  void find(keys_in keys, std::span<value_type> answers, value_type missing) const {
    table_->find_or(*space_, keys, answers, missing);
  }
  void probe_counts(keys_in keys, std::span<u32> buckets) const {
    table_->probe_counts(*space_, keys, buckets);
  }
  u64 erase(keys_in keys) { return table_->erase(*space_, keys); }
  u64 size() const { return table_->size(); }
  u64 bytes() const { return table_->bytes(); }
  double load_factor() const { return table_->load_factor(); }

 private:
  Space* space_;
  maker make_;
  double load_factor_;
  std::unique_ptr<table_type> table_;
};

// Adds the designs that exist in a space, which open() makes of a case.
template <class Space, class Open>
void register_designs(std::vector<subject>& all, const std::vector<app::design_entry>& designs,
                      const std::string& space_name,
                      std::optional<app::table_makers<Space>> app::design_entry::*its_tables, Open open) {
  for (const app::design_entry& design : designs) {
    if (!(design.*its_tables)) continue;
    const auto run = [=, name = design.name, is_peer = design.is_peer, tables = *(design.*its_tables)](
                         const yardstick_case& the_case, known_limits& known, const emit& tell) {
      if (!is_peer && the_case.load_factor > design.load_factor_limit(the_case.bits, the_case.bits))
        return;  // a table of this design is never so full
      auto space = open(the_case);
      const auto limit = [&](u64 bytes) {
        return is_peer ? limits{} : known.at(space, bytes, the_case.repeat);
      };
      const auto run_as = [&]<class Key, class Value>() {
        using subject_type = table_subject<Key, Value, Space>;
        measurement blank;
        blank.design = name;
        blank.space = space_name;
        const auto make = std::get<app::table_maker<Key, Value, Space>>(tables);
        if (make == nullptr)
          throw app::input_error("this program was built without such pairs (TILEHASH_CLI_PAIRS)");
        workload<subject_type, Space>(space, subject_type(space, make, the_case.load_factor), the_case, blank,
                                      tell)
            .run(limit);
      };
      if (the_case.bits == 64)
        run_as.template operator()<u64, u64>();
      else
        run_as.template operator()<u32, u32>();
    };
    all.push_back({design.name, space_name, design.is_peer, run, design.bytes, design.max_load_factor});
  }
}

}  // namespace tilehash::bench
