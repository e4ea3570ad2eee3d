// A table under test, spoken to in arrays of the host. The questions of this folder are asked of it, so they
// are compiled once for each pair of types, whatever the design and the space.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilehash/core/result.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

// What stands for a value in a set, where all values are equal.
template <class Value>
using value_of = std::conditional_t<std::is_void_v<Value>, char, Value>;

// What a function that a verb is given throws at the call for which the fuse is set, if it is, on a CPU. (By
// turns it says what a table could say, too.)
struct fuse_burnt {
  static constexpr const char* message = "thrown by a function of the test's";
};
inline std::atomic<u64> fuse = 0;
TILEHASH_FN void burn_fuse() {
#if !defined(__CUDA_ARCH__)
  if (fuse.load(std::memory_order_relaxed) == 0 || fuse.fetch_sub(1) != 1) return;
  static std::atomic<u32> turn = 0;
  if (++turn % 2 == 0) throw out_of_memory(fuse_burnt::message);
  throw fuse_burnt{};
#endif
}

// Combines values of any type; the order of many does not matter.
struct sum_of_bytes {
  template <class Value>
  TILEHASH_FN Value operator()(const Value& a, const Value& b) const {
    burn_fuse();
    unsigned char x[sizeof(Value)], y[sizeof(Value)];
    memcpy(x, &a, sizeof a);
    memcpy(y, &b, sizeof b);
    for (u32 i = 0; i < sizeof(Value); ++i) x[i] = static_cast<unsigned char>(x[i] + y[i]);
    Value result;
    memcpy(static_cast<void*>(&result), x, sizeof result);
    return result;
  }
};

// What a registration says its design can do. It must be what the tables offer: a misspelt member, which
// makes a verb vanish, fails to compile, and no question is left out in silence.
struct declared_abilities {
  bool inserts = false, erases = false, keeps_duplicates = false;
  bool adds = false;  // inserts, and keeps the items of equal keys
  friend bool operator==(const declared_abilities&, const declared_abilities&) = default;
};

struct abilities {
  bool inserts = false, erases = false, keeps_duplicates = false, maps = false, hashes = false, adds = false;
  bool makes_room = false;     // when asked to
  bool throws = false;         // what a function that a verb is given throws
  double highest_load = 0.98;  // where a test asks for more, it gets a table for this
  double most_read = 0;        // buckets that a lookup of a present key reads on average, at most

  // Is what a test needs among these?
  constexpr bool offer(const abilities& needs) const {
    return inserts >= needs.inserts && erases >= needs.erases && keeps_duplicates >= needs.keeps_duplicates &&
           maps >= needs.maps && hashes >= needs.hashes && adds >= needs.adds &&
           makes_room >= needs.makes_room && throws >= needs.throws;
  }
};

template <class Key, class Value>
class subject {
 public:
  using key = Key;
  using value = value_of<Value>;
  using keys = std::vector<Key>;
  using values = std::vector<value>;
  using items = std::vector<std::pair<Key, value>>;
  struct inserted {
    insert_report report;
    std::vector<outcome> outcomes;
  };

  virtual ~subject() = default;

  virtual insert_report build(const keys&, const values&) = 0;
  virtual inserted insert(const keys&, const values&) = 0;
  virtual insert_report insert_unnamed(const keys&, const values&) = 0;  // without outcomes
  virtual inserted insert_or_assign(const keys&, const values&) = 0;
  virtual inserted insert_or_apply(const keys&, const values&) = 0;  // sum_of_bytes
  virtual u64 erase(const keys&) = 0;
  virtual void clear() = 0;
  virtual u64 reserve(u64 items) = 0;
  virtual u64 rehash(u64 items) = 0;
  virtual u64 shrink_to_fit() = 0;

  virtual std::vector<std::optional<value>> find(const keys&) = 0;
  virtual values find_or(const keys&, value missing) = 0;
  virtual std::vector<bool> contains(const keys&) = 0;
  virtual std::vector<u32> count(const keys&) = 0;
  virtual std::vector<u32> probe_counts(const keys&) = 0;
  virtual std::vector<std::optional<value>> find_by_view(
      const keys&) = 0;  // as a kernel of the user's own would
  // How many of these keys, and entries, a view of the table finds once it was moved from. (It moves back.)
  virtual u64 seen_when_moved_from(const keys&) = 0;
  virtual items retrieve_all() = 0;
  virtual items for_each() = 0;

  virtual u64 size() const = 0;
  virtual bool empty() const = 0;
  virtual u64 capacity() const = 0;
  virtual double load_factor() const = 0;
  virtual u64 bytes() const = 0;

  // The space refuses memory from the n-th allocation of the next call on; gives whether the last call met
  // that.
  virtual void refuse_memory_after(u64 allocations) = 0;
  virtual bool memory_was_refused() const = 0;
  virtual u64 bytes_allocated() const = 0;  // by the table, now
};

// How to make the tables of one design, one pair of types and one space.
template <class Key, class Value>
struct maker {
  std::string design, space;
  abilities can;
  u64 largest;  // items in one test, as the space's speed allows
  bool small;   // sizes will do
  std::function<std::unique_ptr<subject<Key, Value>>(u64 items, table_options)> make;

  auto operator()(u64 items = 0, table_options options = {}) const { return make(items, options); }
  u64 at_most(u64 n) const { return n < largest ? n : largest; }
};

// Registers every question that the design can answer with GoogleTest. Compiled in instances_*.cpp.
template <class Key, class Value>
void ask_all(const maker<Key, Value>&);

}  // namespace tilehash::contract
