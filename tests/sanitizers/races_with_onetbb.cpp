// SPDX-License-Identifier: Apache-2.0
// A map, sorts and scans on oneTBB's threads, in which ThreadSanitizer must find nothing; with an argument
// also a race of a loop body, which it must find.
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include <tilehash/map.hpp>
#include <tilehash/space/cpu.hpp>
#include <tilehash/space/cpu_algorithms.hpp>

int main(int arguments, char** /*argument*/) {
  tilehash::cpu space(4);
  constexpr unsigned n = 100'000;
  std::vector<unsigned> keys(n), out(n);
  space.for_each(n, [&](tilehash::u64 i) { keys[i] = static_cast<unsigned>(i) * 7; });
  tilehash::map<unsigned, unsigned, tilehash::cpu> map(space);
  bool right = map.insert(space, keys, keys).inserted == n;
  map.find(space, keys, out);
  right = right && out == keys && map.erase(space, std::span(keys).first(1000)) == 1000;
  space.sort(keys.data(), n);
  space.exclusive_scan(keys.data(), out.data(), n);
  right = right && out[2] == 7;
  if (arguments > 1) {
    int touched = 0;
    const auto touch = [&](tilehash::u64 first, tilehash::u64 last) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that another thread takes some
      for (; first < last; ++first) ++touched;
    };
    space.for_each_share(64, touch, 1);
    right = right && touched > 0;
  }
  return right ? 0 : 1;
}
