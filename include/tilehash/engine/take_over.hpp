// What a build of regions did, in the report of the call whose items they were.
#pragma once

#include <tilehash/core/result.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// What regions left is put in one by one: put_rest(source) gives the report of that. It refuses the items for
// which memory ends, and throws only where the table is given up.
// False, and nothing is put in, where it is not known what was left.
template <class Filled, class PutRest>
bool take_over(insert_report& report, const Filled& filled, const PutRest& put_rest) {
  report.inserted += filled.inserted;
  if (!filled.lists_left) return false;
  report.refused += filled.illegal;
  if (filled.left == 0) return true;
  const insert_report rest = put_rest(filled.rest());
  report.inserted += rest.inserted;
  report.refused += rest.refused;
  report.restarts += rest.restarts;
  return true;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
