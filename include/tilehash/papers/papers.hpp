// SPDX-License-Identifier: Apache-2.0
// Baselines of the papers, to compare with, in the namespace tilehash::papers. No other header of the library
// includes them.
#pragma once

#include <tilehash/papers/bucketed_cuckoo_balanced.hpp>
#include <tilehash/papers/chained_by_sort.hpp>
#include <tilehash/papers/cuckoo.hpp>
#include <tilehash/papers/hash_graph.hpp>
#include <tilehash/papers/hash_graph_original.hpp>
#include <tilehash/papers/horton/model.hpp>
#include <tilehash/papers/horton/queued_lookup.hpp>
#include <tilehash/papers/horton_lazy.hpp>
#include <tilehash/papers/indexed_cuckoo.hpp>
#include <tilehash/papers/layouts/bit_reversal.hpp>
#include <tilehash/papers/mega_kv.hpp>
#include <tilehash/papers/perfect_spatial.hpp>
#include <tilehash/papers/published/cuckoo.hpp>
#include <tilehash/papers/published/linear_probing.hpp>
#include <tilehash/papers/published/mega_kv.hpp>
#include <tilehash/papers/quadratic_probing.hpp>
#include <tilehash/papers/robin_hood_ages.hpp>
#include <tilehash/papers/robin_hood_random.hpp>
#include <tilehash/papers/sorted_array.hpp>
#include <tilehash/papers/two_level_cuckoo.hpp>
