// SPDX-License-Identifier: Apache-2.0
// One design of each kind that grows; each of the others has its own unit (sequences.in).
#pragma once

#include <gtest/gtest.h>

#include <tilehash/designs/bucketed_cuckoo.hpp>
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/robin_hood.hpp>
#include <tilehash/engine/subtables.hpp>
#include <tilehash/papers/mega_kv.hpp>

namespace tilehash::contract {

using growing_designs =
    ::testing::Types<dynamic_cuckoo<u32, u32>, dynamic_cuckoo<u64, u64, 5, 2>, bucketed_cuckoo<u32, u32>,
                     papers::mega_kv<u32, u32>, robin_hood<u32, u32>>;

}  // namespace tilehash::contract
