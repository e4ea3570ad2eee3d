// SPDX-License-Identifier: Apache-2.0
// Stores of 16 bytes that are not read soon: a GPU's cache gives their place up first.
#pragma once

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// `to` is aligned to 16 bytes.
TILEHASH_FN void store_streaming(u32* to, const u32 (&x)[4]) {
#if defined(__CUDA_ARCH__)
  __stcs(reinterpret_cast<uint4*>(to), make_uint4(x[0], x[1], x[2], x[3]));
#else
  for (u32 k = 0; k < 4; ++k) to[k] = x[k];
#endif
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
