// SPDX-License-Identifier: Apache-2.0
// All values of keys, from a multimap over several ranks: first the number of each key's values, then the
// values.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <tilehash/several/item_traffic.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace several {

/// The values of keys[i] are values[offsets[i]] ... values[offsets[i + 1] - 1].
template <class Value, class Space>
struct retrieved_values {
  buffer<u64, Space> offsets;   ///< one for each key, and the number of values at the end
  buffer<Value, Space> values;  ///< those of the first key, of the second, and so on
};

}  // namespace several

namespace detail {

struct write_lengths {
  const u64* offsets;
  u64* lengths;
  TILEHASH_FN void operator()(u64 i) const { lengths[i] = offsets[i + 1] - offsets[i]; }
};
// Element i of the picked ones is the element at[i] of all.
struct pick_elements {
  const u64* all;
  const u64* at;
  u64* picked;
  TILEHASH_FN void operator()(u64 i) const { picked[i] = all[at[i]]; }
};
// The values of a key, from the order of the owners to that of the caller.
template <class Value>
struct return_values {
  const Value* from;
  const u64* starts;  // of each item in the order of the owners
  const u32* positions;
  const u64* offsets;
  Value* to;
  TILEHASH_FN void operator()(u64 i) const {
    const u64 first = offsets[i], n = offsets[i + 1] - first, start = starts[positions[i]];
    for (u64 k = 0; k < n; ++k) to[first + k] = from[start + k];
  }
};

// How many of an owner's values each rank asked for.
template <class Space>
std::vector<u64> values_for(Space& space, const buffer<u64, Space>& offsets, const item_counts& counts) {
  std::vector<u64> at{0};
  for (const u64 n : counts.received) at.push_back(at.back() + n);
  const buffer<u64, Space> ends(space, std::span<const u64>(at)), picked(space, at.size());
  space.for_each(at.size(), pick_elements{offsets.data(), ends.data(), picked.data()});
  const auto begins = picked.to_host();
  std::vector<u64> values;
  for (u64 r = 0; r + 1 < at.size(); ++r) values.push_back(begins[r + 1] - begins[r]);
  return values;
}

template <class Space, class Exchange, class Table>
auto retrieve_from_owners(Space& space, item_traffic<Space, Exchange>& traffic, const Table& table,
                          typename Table::keys_in keys, u64 shape) {
  using key = typename Table::key_type;
  using value = typename Table::value_element;
  auto& words = traffic.words();
  words.begin(shared_verb::retrieve, shape);
  words.attempt([&] { space.check_pointer(keys, "retrieve: the keys"); });
  traffic.takes_values(false);
  const u32 sizes[] = {u32(sizeof(u64))};
  auto in = traffic.template send<key, value>(space, keys, nullptr, {}, sizes);
  // The owner's part: the values of the keys that it received, and how many go to each rank.
  decltype(table.retrieve(space, keys)) found;
  std::vector<u64> going(traffic.ranks(), 0);
  words.attempt([&] {
    found = table.retrieve(space, in.keys);
    columns here = in.answers_here;
    space.for_each(in.keys.size(), write_lengths{found.offsets.data(), here.next<u64>()});
    going = values_for(space, found.offsets, in.counts);
  });
  for (u32 r = 0; r < traffic.ranks(); ++r) words.mine(r) = going[r];
  traffic.agree();
  std::vector<u64> coming(traffic.ranks());
  for (u32 r = 0; r < traffic.ranks(); ++r) coming[r] = words.of(r, traffic.rank());
  const item_counts values(going, coming);
  const u64* const lengths = traffic.template send_back<u64>(in);
  several::retrieved_values<value, Space> all;
  auto& memory = memory_of(traffic.exchange(), space);
  buffer<value, Space> sent, received;
  buffer<u64, Space> starts;
  words.attempt([&] {
    const u64 n = keys.size();
    sent = buffer<value, Space>(memory, values.all_sent);
    if (values.all_sent != 0) space.copy(sent.data(), found.values.data(), sent.bytes());
    received = buffer<value, Space>(memory, values.all_received);
    all.values = buffer<value, Space>(space, values.all_received);
    all.offsets = buffer<u64, Space>(space, n + 1);
    starts = buffer<u64, Space>(space, n + 1);
    space.fill(all.offsets.data() + n, 1, u64(0));
    space.for_each(n, return_answers<u64>{lengths, in.positions.data(), n, all.offsets.data()});
    space.exclusive_scan(all.offsets.data(), all.offsets.data(), n + 1);
    space.exclusive_scan(lengths, starts.data(), n);
  });
  traffic.agree();
  exchange_column(traffic.exchange(), values, sent.data(), received.data());
  space.for_each(keys.size(), return_values<value>{received.data(), starts.data(), in.positions.data(),
                                                   all.offsets.data(), all.values.data()});
  space.synchronize();
  return all;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
