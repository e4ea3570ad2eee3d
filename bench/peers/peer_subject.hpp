// Other libraries' maps as the workload sees them: used as their users use them, reserved and then filled one
// by one.
#pragma once

#include <tilehash/space/cpu.hpp>

#include <malloc.h>

#include <string>
#include <vector>

#include "../workload.hpp"

namespace tilehash::bench {

// The map's own calls are the Adaptor's: for_all(space, n, body), reserve(map, n), insert(map, key, value) ->
// new?, find_or(map, key, missing), erase(map, key) -> erased?, uses_malloc (else its memory is not known).
template <class Adaptor>
class peer_subject {
  using map_type = typename Adaptor::map_type;

 public:
  using key_type = typename map_type::key_type;
  using value_type = typename map_type::mapped_type;
  using keys_in = std::span<const key_type>;
  using values_in = std::span<const value_type>;

  explicit peer_subject(cpu& space) : space_(&space) {}

  static bool erases() { return true; }
  void reset() { map_ = map_type(), bytes_ = 0; }
  insert_report build(keys_in keys, values_in values) {
    const u64 before = heap_bytes();
    Adaptor::reserve(map_, keys.size());
    insert_report report;
    report.inserted = count(keys, [&](u64 i) { return Adaptor::insert(map_, keys[i], values[i]); });
    report.present = keys.size() - report.inserted;
    if (Adaptor::uses_malloc) bytes_ = heap_bytes() - before;
    return report;
  }
  void find(keys_in keys, std::span<value_type> answers, value_type missing) const {
    Adaptor::for_all(*space_, keys.size(), [&](u64 from, u64 to) {
      for (u64 i = from; i < to; ++i) answers[i] = Adaptor::find_or(map_, keys[i], missing);
    });
  }
  u64 erase(keys_in keys) {
    return count(keys, [&](u64 i) { return Adaptor::erase(map_, keys[i]); });
  }
  u64 size() const { return map_.size(); }
  u64 bytes() const { return bytes_; }
  double load_factor() const { return 0; }

 private:
  template <class Change>
  u64 count(keys_in keys, Change change) {
    u64 changed = 0;
    Adaptor::for_all(*space_, keys.size(), [&](u64 from, u64 to) {
      u64 here = 0;
      for (u64 i = from; i < to; ++i) here += change(i);
      detail::fetch_add(&changed, here);
    });
    return changed;
  }
  static u64 heap_bytes() {
    const auto heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
  }

  cpu* space_;
  map_type map_;
  u64 bytes_ = 0;
};

// The interface of the standard's maps, on one thread.
template <class Map>
struct standard_map {
  using map_type = Map;
  using key_type = typename Map::key_type;
  using value_type = typename Map::mapped_type;
  static constexpr bool uses_malloc = true;

  template <class Body>
  static void for_all(cpu& /*space*/, u64 n, Body body) {
    body(u64(0), n);
  }
  static void reserve(Map& map, u64 n) { map.reserve(n); }
  static bool insert(Map& map, key_type key, value_type value) { return map.emplace(key, value).second; }
  static value_type find_or(const Map& map, key_type key, value_type missing) {
    const auto at = map.find(key);
    return at == map.end() ? missing : at->second;
  }
  static bool erase(Map& map, key_type key) { return map.erase(key) != 0; }
};

// Adds Adaptor<Key, Value>.
template <template <class, class> class Adaptor>
void register_peer(std::vector<subject>& all, const std::string& name) {
  const auto run = [=](const yardstick_case& the_case, known_limits& /*known*/, const emit& tell) {
    cpu space(the_case.threads);
    const auto run_as = [&]<class Key, class Value>() {
      using subject_type = peer_subject<Adaptor<Key, Value>>;
      measurement blank;
      blank.design = name;
      blank.space = "cpu";
      workload<subject_type, cpu>(space, subject_type(space), the_case, blank, tell).run([](u64) {
        return limits{};
      });
    };
    if (the_case.bits == 64)
      run_as.template operator()<u64, u64>();
    else
      run_as.template operator()<u32, u32>();
  };
  all.push_back({name, "cpu", true, run});
}

}  // namespace tilehash::bench
