// SPDX-License-Identifier: Apache-2.0
// Converts the arguments of an op to values of the table (core/op.hpp), in a new buffer.
#pragma once

#include <tilehash/core/op.hpp>
#include <tilehash/space/buffer.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Given, class Value, class Op>
struct lift_body {
  const Given* given;
  Value* values;
  TILEHASH_FN void operator()(u64 i) const { values[i] = Op::template lift<Value>(given[i]); }
};
template <class Value, class Op, class Space, class Given>
buffer<Value, Space> lift(Space& space, const Given* given, u64 n) {
  buffer<Value, Space> values(space, n);
  if constexpr (std::same_as<Given, nothing>)
    space.fill(values.data(), n, Op::template lift<Value>(nothing{}));
  else
    space.for_each(n, lift_body<Given, Value, Op>{given, values.data()});
  return values;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
