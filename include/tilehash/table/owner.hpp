// SPDX-License-Identifier: Apache-2.0
// The lowest base class of a table. It owns the engine, checks the verbs' arrays and orders calls through two
// streams.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>
#include <utility>

#include <tilehash/core/arrays.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/key.hpp>
#include <tilehash/core/options.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/misuse.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/foreign_stream.hpp>
#include <tilehash/table_view.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
/// The verbs of `table`, a class for each family; each derives from the one below it.
namespace verbs {

/// The types, the size and the views of a table.
template <class Design, class Space>
class owner : public detail::misuse<Design, Space> {
 public:
  using design_type = Design;
  using space_type = Space;
  using engine_type = typename Design::template engine<Space>;
  using key_type = typename Design::key_type;
  using mapped_type = typename Design::mapped_type;
  using hasher = typename Design::hasher;
  using size_type = u64;
  static_assert(
      requires { sizeof(engine_type); },
      "tilehash: include the header that has tables of this design: <tilehash/rows.hpp>, "
      "<tilehash/dynamic_map.hpp>, or all with <tilehash/tilehash.hpp>");
  static_assert(detail::hashes_without_throwing<hasher, key_type>(),
                "tilehash: a hasher must not throw; declare its operator() noexcept");
  using view_type = table_view<Design>;
  static constexpr bool is_set = std::is_void_v<mapped_type>;  ///< keys without values

  /// The element type of value arrays; no verb of a set takes one.
  using value_element = std::conditional_t<is_set, char, mapped_type>;
  using keys_in = std::span<const key_type>;
  using values_in = std::span<const value_element>;
  /// Whether a thread of the host can look up one key by itself.
  static constexpr bool one_by_one =
      !Space::has_lanes && requires(const view_type v, const key_type k) { v.find(k); };

  /// Returns the number of items, including those that views and `_async` verbs inserted.
  ///
  /// \complexity O(1); after such changes it reads 256 bytes of the table's memory.
  /// \synchronizes with the table's own space after such changes; else no.
  /// \concurrency with const verbs.
  u64 size() const {
    if constexpr (requires { engine_.live_size(); })
      return engine_.live_size();
    else
      return engine_.size();
  }
  /// Returns the number of slots; of a table of rows, the number of rows. O(1).
  u64 capacity() const { return engine_.capacity(); }
  /// Returns size() / capacity(): items per slot, or per row. Costs as size().
  double load_factor() const {
    return capacity() == 0 ? 0 : static_cast<double>(size()) / static_cast<double>(capacity());
  }
  /// Returns the bytes of all memory that the table holds. O(1).
  u64 bytes() const { return engine_.bytes(); }
  /// Returns whether size() is 0. Costs as size().
  bool empty() const { return size() == 0; }
  /// Returns the options of the table; `seed` is the one in use. O(1).
  const table_options& options() const { return engine_.options(); }

  /// Returns a view for lookups in the caller's own kernels and threads, which take it by value.
  ///
  /// The view is valid until the table changes its memory (build, rehash, reserve, an insert that grows), is
  /// moved from or ends. The view of a moved-from table answers as that of an empty one.
  /// \complexity O(1).
  /// \synchronizes no.
  /// \concurrency with const verbs.
  view_type view() const { return engine_.view(); }
  /// Returns a view that also inserts, updates and erases (concurrency: see mutable_table_view).
  ///
  /// It is valid as long as that of view(). size() counts all changes through it, once the kernel or the
  /// threads are done. The next size(), or the next verb that changes the table and synchronizes, reads the
  /// count. It does so in the stream of the table's own space: synchronize a kernel in another stream first.
  /// \param space of the same device as the table.
  /// \return the view, which a kernel or a thread takes by value.
  /// \throws invalid_argument for a space of another device (strong).
  /// \complexity O(1).
  /// \memory none.
  /// \synchronizes no.
  /// \concurrency exclusive.
  auto mutable_view(Space& space)
    requires view_changeable<Design>
  {
    detail::require_same_device(engine_.home(), space, "mutable_view");
    return with_memory(space).mutable_view();
  }

 protected:
  /// \cond
  explicit owner(engine_type&& engine) : engine_(std::move(engine)) {}

  // Orders a call through another space of the same device with the table's own (space/foreign_stream.hpp).
  // The table's memory and scratch come from the space that it was made with.
  detail::foreign_change<Space> changing(Space& space, const char* call) {
    return {engine_.home(), space, call};
  }
  detail::foreign_read<Space> reading(Space& space, const char* call) const {
    return {engine_.home(), space, call};
  }
  Space& home(Space& space) const { return engine_.home() != nullptr ? *engine_.home() : space; }
  // Gives a moved-from table memory. Verbs that must not synchronize call this first; the engine may not know
  // its size then.
  engine_type& with_memory(Space& space) {
    if (!engine_.has_memory()) engine_ = engine_type(space, 0, engine_.options());
    return engine_;
  }
  // All other verbs that change the table call this first and know its size. It adds the changes by views and
  // `_async` verbs to the size, once, in an exclusive call. Const verbs only read that size (size()).
  engine_type& awake(Space& space) {
    engine_type& engine = with_memory(space);
    if constexpr (requires { engine.settle(space); }) engine.settle(home(space));
    return engine;
  }

  template <class T>
  static void check(const Space& space, std::span<T> array, const char* what) {
    space.check_pointer(array, what);
  }
  static void check(const Space& space, flags array, const char* what) {
    space.check_pointer(std::span(array.data(), array.size()), what);
  }
  static void check_items(const Space& space, keys_in keys, values_in values, const char* lengths) {
    detail::require(keys.size() == values.size(), lengths);
    check(space, keys, "the keys");
    check(space, values, "the values");
  }
  // The array of these keys' values; empty in a set.
  template <class Pointer>
  static values_in values_at(keys_in keys, Pointer values) {
    if constexpr (is_set)
      return {};
    else
      return {static_cast<const value_element*>(values), keys.size()};
  }
  template <class Pointer>
  static auto items(keys_in keys, Pointer values) {
    return detail::array_source<typename Design::slot_type>{keys.data(),
                                                            static_cast<const mapped_type*>(values)};
  }
  template <class Sink>
  void look_up(Space& space, keys_in keys, Sink sink) const {
    check(space, keys, "the keys");
    [[maybe_unused]] const auto call = reading(space, "a lookup");
    engine_.look_up(space, keys.data(), keys.size(), sink);
  }

  engine_type engine_;
  /// \endcond
};

}  // namespace verbs
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(verbs);
}  // namespace tilehash
