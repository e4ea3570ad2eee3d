// Quadratic probing: open addressing with another probe sequence.
#pragma once

#include <contract/types.hpp>
#include <tilehash/designs/quadratic_probing.hpp>

namespace tilehash::contract {

template <class Key, class Value>
using design = quadratic_probing<Key, Value>;
using pairs_on_cpu = few_pairs;
using pairs_elsewhere = few_pairs;
using pairs_under_asan = word_pairs;

}  // namespace tilehash::contract
