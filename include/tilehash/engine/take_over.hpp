// What a build of regions did, in the report of the call whose items they were.
#pragma once

#include <tilehash/core/error.hpp>
#include <tilehash/core/result.hpp>

namespace tilehash::inline TILEHASH_ABI::detail {

// What regions left is put in one by one: put_rest(source) gives the report of that. Where it finds no memory
// before it has changed anything, its items are refused in a table that is `in_use`, and else it throws.
// False, and nothing is put in, where it is not known what was left.
template <class Filled, class PutRest>
bool take_over(insert_report& report, const Filled& filled, bool in_use, const PutRest& put_rest) {
  report.inserted += filled.inserted;
  if (!filled.lists_left) return false;
  report.refused += filled.illegal;
  if (filled.left == 0) return true;
  try {
    const insert_report rest = put_rest(filled.rest());
    report.inserted += rest.inserted;
    report.refused += rest.refused;
    report.restarts += rest.restarts;
  } catch (const out_of_memory&) {
    if (!in_use) throw;
    report.refused += filled.left;
  }
  return true;
}

}  // namespace tilehash::inline TILEHASH_ABI::detail
