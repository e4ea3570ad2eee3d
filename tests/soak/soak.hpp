// SPDX-License-Identifier: Apache-2.0
// The soak: rounds of random calls on random tables, until time is up. Each round has a seed, and that seed
// alone repeats it. A world is a design with its types, or another part of the library; each is a unit that
// registers itself.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/core/config.hpp>

namespace tilehash::soak {

using contract::random_numbers;

// An answer that is wrong, or a call that throws what it must not.
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void expect(bool holds, const char* what) {
  if (!holds) throw fault(what);
}
template <class A, class B>
void expect_equal(const A& got, const B& wanted, const char* what) {
  if (got != static_cast<A>(wanted))
    throw fault(std::string(what) + ": " + std::to_string(got) + ", expected " + std::to_string(wanted));
}

// One round: the dice, what it did so far, and how many answers it compared.
struct round {
  round(u64 seed, u64 most_items) : dice(seed), most(most_items) {}

  random_numbers dice;
  u64 most;  // items in one call
  u64 checked = 0;
  std::string log;

  void note(const std::string& what) { log += (log.empty() ? "" : "; ") + what; }
  // From 1 to `largest`, each order of magnitude as often as the next.
  u64 any_size(u64 largest) {
    u64 n = 1;
    while (n < largest && !dice.one_in(4)) n *= 4;
    return dice.between(1, n < largest ? n : largest);
  }
  // The same from the large end.
  u64 large_size(u64 largest) {
    u64 n = largest;
    while (n >= 8 && dice.one_in(3)) n /= 4;
    return dice.between(n / 4 + 1, n);
  }
};

struct world {
  const char* name;
  void (*play)(round&);
};
inline std::vector<world>& worlds() {
  static std::vector<world> all;
  return all;
}
inline bool offer(const char* name, void (*play)(round&)) {
  worlds().push_back({name, play});
  return true;
}

}  // namespace tilehash::soak
