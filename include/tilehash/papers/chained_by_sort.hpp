// SPDX-License-Identifier: Apache-2.0
// Chaining as the thesis builds it, by a radix sort of all items by bucket, whatever their size. designs/chained.hpp
// sorts so only items that fit no word, and partitions others.
//
// Source: D. Alcantara, Efficient Hash Tables on the GPU, PhD thesis, UC Davis 2011, section 4.1.
#pragma once

#include <tilehash/designs/chained.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

struct by_sort : builders::radix_sort {
  static constexpr const char* name = "chained_by_sort";
};

template <class Key, class Value, class Hash = murmur, class Offset = u32>
using chained_by_sort = chained<Key, Value, Hash, Offset, by_sort>;

static_assert(rowed<chained_by_sort<u32, u32>> && multivalue<chained_by_sort<u32, u32>>);

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash
