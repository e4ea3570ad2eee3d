// SPDX-License-Identifier: Apache-2.0
// The data sets of Li et al., "Dynamic Hash Tables on GPUs" (table 2), of any size:
//
//   tw     Twitter, actions of users        50,876,784 pairs, 44,523,684 keys, at most 4 pairs of a key
//   re     Reddit, comments and posts       48,104,875        41,466,682                 2
//   com    Alibaba's customers              10,000,000         4,583,941                14
//   line   TPC-H's lineitem, by its rules   50,000,000
//   rand   normal, no key twice            100,000,000       100,000,000                 1
//
// The first three are not public. The sets that are made here have their numbers of pairs and of keys and their most
// frequent key; between these the logarithm of the number of keys that come c times is a parabola in c, by
// which one key comes most often. Their keys are random, and pairs of one key lie anywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace tilehash::app {

enum class data_set { tw, re, com, line, rand };

struct data_set_spec {
  data_set which;
  std::uint64_t n;  // pairs
};

std::optional<data_set> data_set_called(std::string_view name);
std::uint64_t full_size(data_set which);  // pairs, in the paper

// How often keys come among n pairs.
struct copies_plan {
  std::uint64_t keys = 0;                  // different ones
  std::vector<std::uint64_t> keys_with{};  // [c]: those that come c times
};
// That of tw, re or com: the share of different keys is that of the full set; the most frequent key comes as
// often as there where so many pairs repeat a key, else as often as it can.
copies_plan plan_copies(data_set which, std::uint64_t n);

// How much of the work is done, from 0 to 1: now and then.
using tell_share = std::function<void(double)>;

// The keys in the order in which they are inserted; the same set, n, width and seed always give the same.
// O(n), without other memory. Throws input_error: no memory for them; more keys of rand than a bell of this
// width has values.
std::vector<std::uint64_t> data_set_keys(const data_set_spec& spec, unsigned key_bits, std::uint64_t seed,
                                         const tell_share& tell = {});

}  // namespace tilehash::app
