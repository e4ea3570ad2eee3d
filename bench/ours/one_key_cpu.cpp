// SPDX-License-Identifier: Apache-2.0
#include "ours/one_key.hpp"

#include <tilehash/instances/map.hpp>
#include <tilehash/space/cpu.hpp>

#include <array>
#include <ctime>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bare_buckets.hpp"
#include "numbered.hpp"

#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
#include <boost/unordered/unordered_flat_map.hpp>
#endif

namespace tilehash::bench {
namespace {

constexpr std::array verbs{"insert_growing", "insert", "insert_present", "find", "at", "find_missing"};

template <class Key, class Value>
class our_map {
 public:
  static constexpr const char* name = "tiled";
  explicit our_map(u64 items) : map_(space(), items) {}
  bool insert(Key key, Value value) { return map_.insert(space(), key, value) == outcome::inserted; }
  std::optional<Value> find(Key key) const { return map_.find(key); }
  Value at(Key key) const { return map_.at(key); }

 private:
  static cpu& space() {
    static cpu one_thread(1);
    return one_thread;
  }
  map<Key, Value, cpu> map_;
};

// The bound of ours.
template <class Key, class Value>
struct bare_map : bare_buckets<Key, Value> {
  static constexpr const char* name = "bare buckets";
  explicit bare_map(u64 items) : bare_buckets<Key, Value>(items, key_of<Key>(~u64(0)), next_seed()) {}

 private:
  static u64 next_seed() {
    static u64 made = 0;
    return mix64(++made);
  }
};

template <class Map>
class their_map {
 public:
  using key_type = typename Map::key_type;
  using mapped_type = typename Map::mapped_type;
  explicit their_map(u64 items) { map_.reserve(items); }
  bool insert(key_type key, mapped_type value) { return map_.emplace(key, value).second; }
  std::optional<mapped_type> find(key_type key) const {
    const auto at = map_.find(key);
    return at != map_.end() ? std::optional(at->second) : std::nullopt;
  }
  mapped_type at(key_type key) const { return map_.at(key); }

 private:
  Map map_;
};
template <class Key, class Value>
struct standard_map : their_map<std::unordered_map<Key, Value>> {
  static constexpr const char* name = "std::unordered_map";
  using their_map<std::unordered_map<Key, Value>>::their_map;
};
#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
template <class Key, class Value>
struct boost_map : their_map<boost::unordered_flat_map<Key, Value>> {
  static constexpr const char* name = "boost::unordered_flat_map";
  using their_map<boost::unordered_flat_map<Key, Value>>::their_map;
};
#endif

// One map's figures, run by run.
struct figures {
  const char* map;
  std::array<std::vector<double>, verbs.size()> seconds;  // a key
  u64 wrong = 0;
};

// The processor time of this thread, in seconds. Other programs on the machine change it little.
double processor_time() {
  std::timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// One run: maps are made, filled and asked until so many keys have been put in, as the clock is coarse compared with
// a few of them.
template <class Map, class Key, class Value>
void measure_one(figures& its, const std::vector<Key>& keys, const std::vector<Key>& missing) {
  constexpr u64 enough = 300'000;
  const u64 n = keys.size(), rounds = (enough + n - 1) / n;
  std::array<double, verbs.size()> sums{};
  const auto timed = [&](u64 verb, const std::vector<Key>& of, u64 expected, const auto& work) {
    u64 sum = 0;
    const double start = processor_time();
    for (const Key key : of) sum += work(key);
    sums[verb] += processor_time() - start;
    its.wrong += sum != expected;
  };
  u64 values = 0;
  for (const Key key : keys) values += value_of<Value>(key);
  for (u64 round = 0; round < rounds; ++round) {
    {
      Map growing(0);
      timed(0, keys, n, [&](Key key) { return u64(growing.insert(key, value_of<Value>(key))); });
    }
    Map map(n);
    timed(1, keys, n, [&](Key key) { return u64(map.insert(key, value_of<Value>(key))); });
    timed(2, keys, 0, [&](Key key) { return u64(map.insert(key, Value(0))); });
    timed(3, keys, values, [&](Key key) { return u64(map.find(key).value_or(Value(0))); });
    timed(4, keys, values, [&](Key key) { return u64(map.at(key)); });
    timed(5, missing, 0, [&](Key key) { return u64(map.find(key).has_value()); });
  }
  for (u64 verb = 0; verb < verbs.size(); ++verb)
    its.seconds[verb].push_back(sums[verb] / static_cast<double>(rounds * n));
}

template <class Key, class Value>
std::vector<figures> measure_all(const one_key_case& what) {
  std::vector<Key> keys(what.n), missing(what.n);
  for (u64 i = 0; i < what.n; ++i) keys[i] = key_of<Key>(i), missing[i] = key_of<Key>(what.n + i);
  std::vector<figures> all{{our_map<Key, Value>::name, {}},
                           {bare_map<Key, Value>::name, {}},
                           {standard_map<Key, Value>::name, {}}};
#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
  all.push_back({boost_map<Key, Value>::name, {}});
#endif
  for (unsigned run = 0; run < what.repeat; ++run) {
    measure_one<our_map<Key, Value>, Key, Value>(all[0], keys, missing);
    measure_one<bare_map<Key, Value>, Key, Value>(all[1], keys, missing);
    measure_one<standard_map<Key, Value>, Key, Value>(all[2], keys, missing);
#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
    measure_one<boost_map<Key, Value>, Key, Value>(all[3], keys, missing);
#endif
  }
  return all;
}

}  // namespace

void one_key(const one_key_case& the_case, const std::function<void(const one_key_row&)>& tell) {
  auto all = the_case.bits == 64 ? measure_all<u64, u64>(the_case) : measure_all<u32, u32>(the_case);
  for (figures& its : all) {
    for (u64 verb = 0; verb < verbs.size(); ++verb)
      tell({its.map, verbs[verb], the_case, spread(std::move(its.seconds[verb])), its.wrong});
  }
}

}  // namespace tilehash::bench
