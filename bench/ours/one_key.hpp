// SPDX-License-Identifier: Apache-2.0
// The costs of one key at a time, by the caller's own thread: `tiled` on a CPU next to maps that know nothing
// else.
#pragma once

#include <tilehash/core/config.hpp>

#include <functional>
#include <string>

#include "measure.hpp"

namespace tilehash::bench {

struct one_key_case {
  u64 n = 0;          // keys
  unsigned bits = 0;  // of a key, and of its value: 32 or 64
  unsigned repeat = 0;
};

struct one_key_row {
  std::string map;  // whose
  std::string
      verb;  // insert_growing (into an empty one), insert (made for n), insert_present, find, at, find_missing
  one_key_case what{};
  spread seconds{};  // a key
  u64 wrong = 0;     // answers
};

// All maps and verbs, in turns; the maps one after the other in each, as many times as there are repeats.
void one_key(const one_key_case& the_case, const std::function<void(const one_key_row&)>& tell);

}  // namespace tilehash::bench
