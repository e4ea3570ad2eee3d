// SPDX-License-Identifier: Apache-2.0
// The costs of a Horton table, as the paper predicts them (section 6). The keys of a bucket are Poisson
// distributed. A bucket of type B keeps S - 1 of its x keys and remaps the others, each by an entry of its
// own, and these fit elsewhere. `load` is items per slot.
//
// Host arithmetic, O(1): a few hundred terms.
#pragma once

#include <cmath>

#include <tilehash/core/config.hpp>

#include <tilehash/core/prologue.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace papers {

struct horton_model {
  u32 slots;         // of a bucket
  u32 entries = 21;  // of a bucket of type B, whose numbers are the tags

  // Explicit tags of so many bits instead (section 6.3): equation 8 has all of them but the one that marks an
  // empty entry. The model asks only how many tags there are, not whether their entries fit a word.
  static horton_model with_explicit_tags(u32 slots, u32 tag_bits) {
    return {slots, (u32(1) << tag_bits) - 1};
  }

  double mean(double load) const { return load * slots; }

  // Equation 3: the share of buckets that x keys have as their primary one.
  double share_with(u32 x, double load) const {
    return std::exp(x * std::log(mean(load)) - mean(load) - std::lgamma(x + 1.0));
  }
  // The share of buckets of type B.
  double type_b(double load) const {
    return sum(slots + 1, most, [&](u32 x) { return share_with(x, load); });
  }
  // Equation 4: the share of the table that remap entries take. No load can pass 1 minus that.
  double space_of_entries(double load) const { return type_b(load) / slots; }
  // The highest load at which the needed entries still fit.
  double highest_load() const {
    double low = 0, high = 1;
    for (u32 i = 0; i < 50; ++i) {
      const double middle = (low + high) / 2;
      (middle + space_of_entries(middle) < 1 ? low : high) = middle;
    }
    return low;
  }
  // Equation 5: the share of keys that are remapped.
  double remapped(double load) const {
    return sum(slots + 1, most, [&](u32 x) { return (x - slots + 1) * share_with(x, load); }) / mean(load);
  }
  // Equation 6: the share of keys that are in their primary bucket.
  double primary(double load) const {
    return (sum(1, slots, [&](u32 x) { return x * share_with(x, load); }) +
            sum(slots + 1, most, [&](u32 x) { return (slots - 1) * share_with(x, load); })) /
           mean(load);
  }
  // Equation 7: buckets read by a lookup that finds its key.
  double found(double load) const { return primary(load) + 2 * remapped(load); }
  // Equation 8: the chance that an absent key has an entry that is used.
  double alias(double load) const {
    const auto entries_used = [&](u32 x) { return (x - slots + 1) * share_with(x, load); };
    return sum(slots + 1, slots - 1 + entries, entries_used) / entries;
  }
  // Equation 9: buckets read by a lookup that does not find its key.
  double not_found(double load) const { return 1 + alias(load); }

 private:
  static constexpr u32 most = 400;  // keys of a bucket: above this, the terms are below 1e-100

  template <class Term>
  static double sum(u32 first, u32 last, const Term& term) {
    double all = 0;
    for (u32 x = first; x <= last; ++x) all += term(x);
    return all;
  }
};

}  // namespace papers
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(papers);
}  // namespace tilehash

#include <tilehash/core/epilogue.hpp>
