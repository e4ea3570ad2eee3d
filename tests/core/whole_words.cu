// SPDX-License-Identifier: Apache-2.0
// Memory that others may be changing is read word by word: WholeWords.cmake looks at the PTX of these kernels. (No
// run can show that a GPU might tear a word: none has.)
#include <tilehash/core/atomic.hpp>
#include <tilehash/space/cuda_tile.cuh>

namespace tilehash {

template <class Word, u32 N>
__global__ void read_shared_words(const Word* from, Word* to) {
  Word words[N];
  cuda_tile<1>().load_shared<N>(from, words, from != nullptr);
  for (u32 i = 0; i < N; ++i) to[i] = words[i];
}
__global__ void read_one_word(const u128* from, u128* to) {
  detail::store_relaxed(to, detail::load_relaxed(from));
}

template __global__ void read_shared_words<u64, 2>(const u64*, u64*);
template __global__ void read_shared_words<u128, 2>(const u128*, u128*);

}  // namespace tilehash
