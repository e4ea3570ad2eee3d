// SPDX-License-Identifier: Apache-2.0
// Tables that follow the number of their items (Li et al., Dynamic Hash Tables on GPUs): rates and failures
// by the filled factor, what a resize costs next to a full rehash, and batches of inserts, finds and deletes.
#pragma once

#include <tilehash/core/config.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace tilehash::bench {

// How a table follows its items.
//   subtables   one subtable after the other, before a batch would pass beta and after one has passed alpha
//   automatic   the same by the table itself, within its inserts and erases
//   rehash      the paper's for all others: all items into a table of twice or half the slots
inline const std::vector<std::string> dynamic_policies{"subtables", "automatic", "rehash"};

// The tables that are compared: those in subtables, by their number; the two rivals of the paper that erase
// (MegaKV and Linear); MegaKV's buckets with our inserts; our default.
inline const std::vector<std::string> dynamic_designs{
    "dynamic_cuckoo_2",         "dynamic_cuckoo",     "dynamic_cuckoo_4",
    "dynamic_cuckoo_8",         "dynamic_cuckoo_two", "mega_kv",
    "bucketed_cuckoo_balanced", "linear_probing",     "tiled"};

// As published (papers/published/), which may lose pairs: MegaKV, Linear, and CUDPP; DyHash's inserts, by its vote
// and by what it is compared with; on a CPU, Google's dense_hash_map. From Alcantara's thesis: quadratic probing with
// a pair in one slot and in two arrays. They are measured by load only.
inline const std::vector<std::string> published_designs{
    "published_mega_kv",     "published_linear_probing", "published_cuckoo",  "published_dyhash",
    "published_dyhash_spin", "dense_hash_map",           "published_probing", "published_probing_arrays"};

// Operations on words that several of them want at once (dynamic_conflicts.hpp).
inline const std::vector<std::string> conflict_ops{"compare_and_swap", "exchange", "sequential"};

// Keys of a data set; without one they are numbered (numbered.hpp), each once.
struct dynamic_keys {
  std::string input{};        // its SPEC
  std::vector<u32> pairs{};   // in their order; a key may come several times
  std::vector<u32> others{};  // as many that are not among them
  u64 different = 0;
};

struct dynamic_case {
  std::string design;
  u64 items = 0;                       // unique, random; or pairs of a data set
  const dynamic_keys* keys = nullptr;  // the data set
  std::vector<double> loads;           // static: shares of the slots to fill
  u64 batch = 0;                       // of a workload: inserts, finds; and
  double erased = 0.4;                 // ... of that, deletes
  double alpha = 0.4, beta = 0.9;
  std::vector<std::string> policies;
  unsigned repeat = 5;
  int threads = 0;
  measured_clock clock = measured_clock::wall;
};

// The parameter that a sweep varies, and its default values: the paper's (table 3), and sizes of batches.
struct dynamic_axis {
  std::string name;
  std::vector<double> values;
};

inline const std::vector<dynamic_axis> dynamic_axes{
    {"alpha", {0.25, 0.3, 0.35, 0.4, 0.45}},
    {"beta", {0.75, 0.8, 0.85, 0.9, 0.95}},
    {"erased", {0.1, 0.2, 0.3, 0.4, 0.5}},
    {"batch", {200'000, 500'000, 1'000'000, 2'000'000, 5'000'000}}};

// One line of an experiment: numbers by name, in their order.
struct dynamic_row {
  std::string design, policy, space;
  std::vector<std::pair<std::string, double>> numbers;
  std::vector<double> batches{};  // seconds of each
  std::vector<u64> bytes{};       // of the table after each
  std::string input{};
  u64 wrong = 0;  // answers; and absent items
};
using tell_dynamic = std::function<void(const dynamic_row&)>;

enum class dynamic_experiment { by_load, resize, workload, distribution, rehashes, conflicts };

void cpu_dynamic(dynamic_experiment, const dynamic_case&, const tell_dynamic&);
void cuda_dynamic(dynamic_experiment, const dynamic_case&, const tell_dynamic&);

}  // namespace tilehash::bench
