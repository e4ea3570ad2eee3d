// SPDX-License-Identifier: Apache-2.0
#include "breslow/horton_accesses.hpp"

#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>
#include <tilehash/papers/horton/model.hpp>

#include "breslow/hashes.hpp"
#include "breslow/horton_tables.hpp"

namespace tilehash::bench {
namespace {

// Up to the most that a design takes.
std::vector<double> loads_to(double most) {
  std::vector<double> loads;
  for (int twentieths = 2; twentieths < 20 && twentieths < 20 * most - 0.01; ++twentieths)
    loads.push_back(twentieths / 20.0);
  loads.push_back(most);
  return loads;
}

template <class Design>
bucket_reads reads_of(cpu& space, u64 table_slots, double load) {
  constexpr bool has_entries = requires(counted_table<Design> t) { t.type_b(); };
  const u64 n = static_cast<u64>(load * static_cast<double>(table_slots));
  bucket_reads row{.design = Design::name, .slots = Design::bucket_slots, .items = n};
  counted_table<Design> table(space, n, load);
  const insert_report report = table.insert(numbered_keys(0, n));
  const lookups_read there = table.look_up(numbered_keys(0, n)), others = table.look_up(numbered_keys(n, n));
  row.load = table.load();
  row.found = there.buckets;
  row.not_found = others.buckets;
  row.failed = report.refused;
  row.wrong =
      report.present + there.wrong + others.wrong + (n - others.missing) + (there.missing != report.refused);
  if constexpr (has_entries) {
    const papers::horton_model model{Design::bucket_slots, Design::slot_type::entries};
    row.entries = table.type_b() / Design::bucket_slots;
    row.model_entries = model.space_of_entries(row.load);
    row.model_found = model.found(row.load);
    row.model_not_found = model.not_found(row.load);
  }
  return row;
}

// Keys of each bucket by a hash function alone: bucket_of of a key.
template <class BucketOf>
home_counts homes_of(cpu& space, const char* hash, u64 buckets, double load, const BucketOf& bucket_of) {
  constexpr u32 slots = horton<u32, u32>::bucket_slots;
  const u64 n = static_cast<u64>(load * static_cast<double>(buckets * slots));
  std::vector<u32> keys_of(buckets);
  space.for_each_share(n, [&](u64 from, u64 to) {
    for (u64 i = from; i < to; ++i) detail::fetch_add(keys_of.data() + bucket_of(key_of<u32>(i)), 1U);
  });
  home_counts all{hash, slots, load, {}, {}};
  all.buckets.resize(*std::ranges::max_element(keys_of) + 1);
  for (const u32 keys : keys_of) ++all.buckets[keys];
  for (u32 keys = 0; keys < all.buckets.size(); ++keys)
    all.model.push_back(static_cast<double>(keys_of.size()) *
                        papers::horton_model{slots}.share_with(keys, load));
  return all;
}

// By the function of a Horton table, then by those that the paper tried.
void count_homes(cpu& space, u64 buckets, const std::function<void(const home_counts&)>& tell) {
  using design_type = horton<u32, u32>;
  const design_type design(nullptr, buckets * design_type::bucket_slots, 1, design_type::max_load_factor);
  const u64 all = design.capacity() / design_type::bucket_slots;
  const auto count = [&](const char* hash, const auto& bucket_of) {
    for (const double load : {0.5, 0.9}) tell(homes_of(space, hash, all, load, bucket_of));
  };
  count("murmur", [&](u32 key) { return design.where(design.locate(design_type::slot_type::encode(key))); });
  const auto count_by = [&]<class Hash>(Hash) {
    count(Hash::name, [&](u32 key) { return Hash::hash(key) * all >> 32; });
  };
  count_by(figure_8::city{}), count_by(figure_8::spooky{}), count_by(figure_8::lookup3{});
  count_by(figure_8::wang{}), count_by(figure_8::fnv{});
}

}  // namespace

void count_accesses(u64 table_slots, u64 buckets, const std::function<void(const home_counts&)>& tell_homes,
                    const std::function<void(const bucket_reads&)>& tell) {
  cpu space;
  count_homes(space, buckets, tell_homes);
  const auto count = [&]<class Design>() {
    for (const double load : loads_to(Design::max_load_factor))
      tell(reads_of<Design>(space, table_slots, load));
  };
  const auto count_shape = [&]<u32 Slots>() {
    count.template operator()<horton<u32, u32, Slots>>();
    count.template operator()<bucketed_cuckoo<u32, u32, murmur, Slots>>();
    count.template operator()<papers::bucketed_cuckoo_balanced<u32, u32, murmur, Slots>>();
  };
  count_shape.template operator()<1>();
  count_shape.template operator()<2>();
  count_shape.template operator()<4>();
  count_shape.template operator()<8>();
  count_shape.template operator()<16>();
}

}  // namespace tilehash::bench
