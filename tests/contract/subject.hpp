// SPDX-License-Identifier: Apache-2.0
// A table under test with an interface of host arrays. The questions of this folder use it, so they are
// compiled once for each pair of types, for all designs and spaces.
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

// The type of a set's values, which are all equal.
template <class Value>
using value_of = std::conditional_t<std::is_void_v<Value>, char, Value>;

// On a CPU a function passed to a verb throws this at the call for which the fuse is set. (Every other time
// it throws an exception that a table could throw, too.)
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

// Combines values of any type; the result does not depend on their order.
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

// The abilities that a registration declares for its design. They must be those of the tables: a misspelt
// member that hides a verb then fails to compile, and no question is skipped silently.
struct declared_abilities {
  bool inserts = false, erases = false, keeps_duplicates = false;
  bool adds = false;  // inserts, and keeps the items of equal keys
  friend bool operator==(const declared_abilities&, const declared_abilities&) = default;
};

struct abilities {
  bool inserts = false, erases = false, keeps_duplicates = false, maps = false, hashes = false, adds = false;
  bool reserves = false;       // has reserve()
  bool throws = false;         // passes on exceptions of functions given to verbs
  double highest_load = 0.98;  // a test that needs a higher load gets a table for this load
  double most_read = 0;        // buckets that a lookup of a present key reads on average, at most

  // Are all abilities that a test needs among these?
  constexpr bool offer(const abilities& needs) const {
    return inserts >= needs.inserts && erases >= needs.erases && keeps_duplicates >= needs.keeps_duplicates &&
           maps >= needs.maps && hashes >= needs.hashes && adds >= needs.adds && reserves >= needs.reserves &&
           throws >= needs.throws;
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
  // How many of these keys, and entries, a view of the moved-from table finds. (The table is moved back.)
  virtual u64 seen_when_moved_from(const keys&) = 0;
  virtual items retrieve_all() = 0;
  virtual items for_each() = 0;

  virtual u64 size() const = 0;
  virtual bool empty() const = 0;
  virtual u64 capacity() const = 0;
  virtual double load_factor() const = 0;
  virtual u64 bytes() const = 0;

  // The space refuses memory from the n-th allocation of the next call on. The second function returns
  // whether it refused any.
  virtual void refuse_memory_after(u64 allocations) = 0;
  virtual bool memory_was_refused() const = 0;
  virtual u64 bytes_allocated() const = 0;  // by the table, at present
};

// How to make the tables of one design, one pair of types and one space.
template <class Key, class Value>
struct maker {
  std::string design, space;
  abilities can;
  u64 largest;  // items in one test, as the space's speed allows
  bool small;   // small sizes suffice
  std::function<std::unique_ptr<subject<Key, Value>>(u64 items, table_options)> make;

  auto operator()(u64 items = 0, table_options options = {}) const { return make(items, options); }
  u64 at_most(u64 n) const { return n < largest ? n : largest; }
};

// Registers every question that applies to the design with GoogleTest. Compiled in instances_*.cpp.
template <class Key, class Value>
void ask_all(const maker<Key, Value>&);

}  // namespace tilehash::contract
