// SPDX-License-Identifier: Apache-2.0
#include "breslow/horton_accesses.hpp"

#include <fmt/format.h>

#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/horton.hpp>
#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>
#include <tilehash/papers/horton/model.hpp>

#include "breslow/horton_tables.hpp"
#include "rows.hpp"

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

// Keys of each bucket, by the hash function alone.
home_counts homes_of(cpu& space, u64 buckets, double load) {
  using design_type = horton<u32, u32>;
  const u64 n = static_cast<u64>(load * static_cast<double>(buckets * design_type::bucket_slots));
  const design_type design(nullptr, buckets * design_type::bucket_slots, 1, design_type::max_load_factor);
  std::vector<u32> keys_of(design.capacity() / design_type::bucket_slots);
  space.for_each_share(n, [&](u64 from, u64 to) {
    for (u64 i = from; i < to; ++i) {
      const auto at = design.locate(design_type::slot_type::encode(key_of<u32>(i)));
      detail::fetch_add(keys_of.data() + design.where(at), 1U);
    }
  });
  home_counts all{design_type::bucket_slots, load, {}, {}};
  all.buckets.resize(*std::ranges::max_element(keys_of) + 1);
  for (const u32 keys : keys_of) ++all.buckets[keys];
  for (u32 keys = 0; keys < all.buckets.size(); ++keys)
    all.model.push_back(static_cast<double>(keys_of.size()) *
                        papers::horton_model{design_type::bucket_slots}.share_with(keys, load));
  return all;
}

std::string heading() {
  return fmt::format(
      "\n{:<26} {:>5} {:>6} | {:>21} | {:>15} | {:>15}\n{:<26} {:>5} {:>6} | {:>10} {:>10} | "
      "{:>7} {:>7} | {:>7} {:>7}\n",
      "buckets read by a lookup", "slots", "load", "remap entries, %", "found", "not found", "", "", "",
      "measured", "model", "read", "model", "read", "model");
}
std::string line(const bucket_reads& row) {
  const bool modelled = row.model_found != 0;
  const auto where = [&](double x) { return modelled ? fmt::format("{:.3f}", x) : std::string(); };
  return fmt::format("{:<26} {:>5} {:>6.3f} | {:>10} {:>10} | {:>7.3f} {:>7} | {:>7.3f} {:>7}{}\n",
                     row.design, row.slots, row.load, where(100 * row.entries),
                     where(100 * row.model_entries), row.found, where(row.model_found), row.not_found,
                     where(row.model_not_found), faults({{"refused", row.failed}, {"WRONG", row.wrong}}));
}

}  // namespace

accesses count_accesses(u64 table_slots, u64 buckets, const std::function<void(const std::string&)>& say) {
  cpu space;
  accesses all;
  for (const double load : {0.5, 0.9}) {
    all.homes.push_back(homes_of(space, buckets, load));
    say(fmt::format("load {}: {} buckets of 8 slots, at most {} keys in one\n", load, buckets,
                    all.homes.back().buckets.size() - 1));
  }
  say(heading());
  const auto count = [&]<class Design>() {
    for (const double load : loads_to(Design::max_load_factor)) {
      all.reads.push_back(reads_of<Design>(space, table_slots, load));
      say(line(all.reads.back()));
    }
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
  return all;
}

nlohmann::ordered_json accesses_as_json(const accesses& all) {
  auto rows = nlohmann::ordered_json::array();
  for (const home_counts& h : all.homes)
    rows.push_back({{"what", "homes"},
                    {"slots", h.slots},
                    {"load", h.load},
                    {"buckets_by_keys", h.buckets},
                    {"model", h.model}});
  for (const u32 slots : {1U, 2U, 4U, 8U, 16U}) {  // for a smooth line, and beyond what tables reach
    const papers::horton_model m{slots};
    for (int percent = 1; percent / 100.0 < m.highest_load(); ++percent) {
      const double load = percent / 100.0;
      rows.push_back({{"what", "model"},
                      {"slots", slots},
                      {"load", load},
                      {"entries", m.space_of_entries(load)},
                      {"found", m.found(load)},
                      {"not_found", m.not_found(load)}});
    }
  }
  for (const u32 bits : {3U, 4U, 5U, 6U, 8U}) {
    const auto m = papers::horton_model::with_explicit_tags(8, bits);
    for (const double load : {0.5, 0.6, 0.7, 0.8, 0.9, 0.95})
      rows.push_back({{"what", "explicit_tags"},
                      {"slots", m.slots},
                      {"tag_bits", bits},
                      {"load", load},
                      {"not_found", m.not_found(load)}});
  }
  for (const bucket_reads& r : all.reads) {
    nlohmann::ordered_json row{{"what", "reads"},         {"design", r.design}, {"slots", r.slots},
                               {"load", r.load},          {"items", r.items},   {"found", r.found},
                               {"not_found", r.not_found}};
    if (r.model_found != 0)
      row.update({{"entries", r.entries},
                  {"model_entries", r.model_entries},
                  {"model_found", r.model_found},
                  {"model_not_found", r.model_not_found}});
    row.update({{"failed", r.failed}, {"wrong", r.wrong}});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tilehash::bench
