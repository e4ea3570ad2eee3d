// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dataset.hpp"
#include "offered_pairs.hpp"

namespace tilehash::app {

namespace {

template <class Key, class Value, class Space>
void add_if_made(std::vector<std::string>& names,
                 std::unique_ptr<any_table<Key, Value, Space>> (*made)(Space&, u64, const table_options&)) {
  if (made == nullptr) return;
  if constexpr (std::is_void_v<Value>)
    names.push_back(pair_name(8 * sizeof(Key), 0));
  else
    names.push_back(pair_name(8 * sizeof(Key), 8 * sizeof(Value)));
}
template <class Space>
std::vector<std::string> pairs_of(const table_makers<Space>& makers) {
  std::vector<std::string> names;
  std::apply([&](auto... made) { (add_if_made(names, made), ...); }, makers);
  return names;
}

}  // namespace

std::string pair_name(unsigned key_bits, unsigned value_bits) {
  return fmt::format("u{}/{}", key_bits, value_bits == 0 ? "void" : fmt::format("u{}", value_bits));
}

double design_entry::load_factor_limit(unsigned key_bits, unsigned value_bits) const {
  const auto known = max_load_factors.find(pair_name(key_bits, value_bits));
  return known == max_load_factors.end() ? max_load_factor : known->second;
}

std::vector<std::string> design_entry::pairs() const {
  if (cpu_tables) return pairs_of<cpu>(*cpu_tables);
  if (cuda_tables) return pairs_of<cuda>(*cuda_tables);
  return {};
}

void registry::add(const design_entry& entry) {
  const auto known = std::ranges::find(designs_, entry.name, &design_entry::name);
  if (known == designs_.end()) {
    designs_.push_back(entry);
  } else {
    known->spaces.insert(entry.spaces.begin(), entry.spaces.end());
    if (entry.cpu_tables) known->cpu_tables = entry.cpu_tables;
    if (entry.cuda_tables) known->cuda_tables = entry.cuda_tables;
  }
}

const design_entry& registry::at(const std::string& name, const char* option) const {
  const auto known = std::ranges::find(designs_, name, &design_entry::name);
  if (known != designs_.end()) return *known;
  std::vector<std::string> names;
  for (const design_entry& design : designs_) names.push_back(design.name);
  throw input_error(
      fmt::format("{} '{}' is unknown; use all or some of {}", option, name, fmt::join(names, ",")));
}

bool offers_pair(unsigned key_bits, unsigned value_bits) {
  const auto with_keys = [&]<class Key>() {
    return value_bits == 0    ? is_offered<Key, void>
           : value_bits == 32 ? is_offered<Key, u32>
                              : is_offered<Key, u64>;
  };
  return key_bits == 32 ? with_keys.operator()<u32>() : with_keys.operator()<u64>();
}

void require_offered(unsigned key_bits, unsigned value_bits) {
  if (offers_pair(key_bits, value_bits)) return;
  throw input_error(
      fmt::format("this program was built without tables of these keys and values; build it with {} in "
                  "TILEHASH_CLI_PAIRS, or ask for others (--key-bits, --value-bits)",
                  pair_name(key_bits, value_bits)));
}

}  // namespace tilehash::app
