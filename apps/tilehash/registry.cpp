// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dataset.hpp"
#include "offered_pairs.hpp"

namespace tilehash::app {

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

void require_offered(unsigned key_bits, unsigned value_bits) {
  const auto with_keys = [&]<class Key>() {
    return value_bits == 0    ? is_offered<Key, void>
           : value_bits == 32 ? is_offered<Key, u32>
                              : is_offered<Key, u64>;
  };
  if (key_bits == 32 ? with_keys.operator()<u32>() : with_keys.operator()<u64>()) return;
  const std::string value = value_bits == 0 ? "void" : fmt::format("u{}", value_bits);
  throw input_error(
      fmt::format("this program was built without tables of these keys and values; build it with u{}/{} in "
                  "TILEHASH_CLI_PAIRS, or ask for others (--key-bits, --value-bits)",
                  key_bits, value));
}

}  // namespace tilehash::app
