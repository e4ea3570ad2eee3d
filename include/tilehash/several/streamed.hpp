// SPDX-License-Identifier: Apache-2.0
// streamed<Table>: a table's bulk verbs for arrays in host memory, a batch at a time.
//
//   batch 0   | copy in | verb | copy out |
//   batch 1             | copy in | verb | copy out |        both directions of the bus at once
//
// Memory of the space for three batches is enough. On a GPU include several/streamed.cuh, where copies and the
// table's work overlap.
#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include <tilehash/core/arrays.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/core/op.hpp>
#include <tilehash/core/result.hpp>
#include <tilehash/several/traffic.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// Copies of batches between host memory and that of a space. Here each copy is done when the call returns.
template <class Space>
class batch_copies {
 public:
  static constexpr u32 places = 3;  // for batches

  explicit batch_copies(Space& space) : space_(&space) {}
  // Starts to copy into a place, after the work on the place's earlier batch.
  void bring(u32 /*place*/) {}
  void copy_in(void* to, const void* from, u64 bytes) { space_->copy_from_host(to, from, bytes); }
  void brought(u32 /*place*/) {}
  // Later work of the space starts when the batch has been copied, and the place's earlier answers have left.
  void await(u32 /*place*/) {}
  // Starts to copy out of a place, after the work of the space.
  void send(u32 /*place*/) {}
  void copy_out(void* to, const void* from, u64 bytes) { space_->copy_to_host(to, from, bytes); }
  void sent(u32 /*place*/) {}
  void finish() { space_->synchronize(); }
  void give_up() noexcept {}  // waits for copies that began

 private:
  Space* space_;
};

}  // namespace detail

namespace several {

/// Calls a table's bulk verbs with arrays in host memory.
///
/// Use it for arrays that do not fit the GPU, or that are needed there once. On a GPU page-locked arrays
/// (cudaMallocHost, cudaHostRegister) are copied at the rate of the bus, in both directions at once; others take
/// longer.
///
/// Errors. If a verb throws, the batches before it have been inserted or answered (basic); build() is strong.
///
/// Memory. Three batches of items and results, which are freed with the object.
///
/// Synchronization. Every verb synchronizes with the host.
///
/// Concurrency. Exclusive.
template <class Table>
class streamed {
 public:
  using Space = typename Table::space_type;
  using key_type = typename Table::key_type;
  using value_element = typename Table::value_element;
  using keys_in = std::span<const key_type>;
  using values_in = std::span<const value_element>;
  static constexpr u64 usual_batch = u64(1) << 22;

  /// \param space of the table; it must outlive the object.
  /// \param table that the verbs change or ask; it must outlive the object.
  /// \param batch items of a batch.
  /// \throws invalid_argument for a batch of no items.
  streamed(Space& space, Table& table, u64 batch = usual_batch)
      : space_(&space), table_(&table), batch_(batch), copies_(space) {
    detail::require(batch != 0, "streamed: a batch has at least one item");
  }

  /// Replaces the contents by these items. See table::build(). Takes the memory of the new table before the old
  /// one is freed.
  insert_report build(keys_in keys, values_in values)
    requires(!Table::is_set)
  {
    std::optional<Table> next;  // made while the first batches are copied
    const auto make = [&] {
      if (!next) next.emplace(*space_, keys.size(), table_->options());
    };
    const insert_report report = change(keys, values, [&](auto k, auto v) {
      make();
      return next->insert(*space_, k, v);
    });
    make();
    *table_ = std::move(*next);
    return report;
  }
  /// See table::insert().
  insert_report insert(keys_in keys, values_in values)
    requires(!Table::is_set)
  {
    return change(keys, values, [&](auto k, auto v) { return table_->insert(*space_, k, v); });
  }
  /// See table::insert_or_assign().
  insert_report insert_or_assign(keys_in keys, values_in values)
    requires(!Table::is_set)
  {
    return change(keys, values, [&](auto k, auto v) { return table_->insert_or_assign(*space_, k, v); });
  }
  /// See table::insert_or_apply().
  template <combines<value_element> Op>
  insert_report insert_or_apply(keys_in keys, values_in values, Op op)
    requires(!Table::is_set)
  {
    return change(keys, values, [&](auto k, auto v) { return table_->insert_or_apply(*space_, k, v, op); });
  }
  /// See table::erase().
  u64 erase(keys_in keys) {
    u64 all = 0;
    run(keys.size(), std::tuple(keys.data()), std::tuple(),
        [&](u64 n, const key_type* k) { all += table_->erase(*space_, keys_in(k, n)); });
    return all;
  }
  /// See table::find_or().
  void find_or(keys_in keys, std::span<value_element> out, value_element missing)
    requires(!Table::is_set)
  {
    detail::require(keys.size() == out.size(), "streamed: keys and results differ in length");
    run(keys.size(), std::tuple(keys.data()), std::tuple(out.data()),
        [&](u64 n, const key_type* k, value_element* to) {
          table_->find_or(*space_, keys_in(k, n), std::span(to, n), missing);
        });
  }
  /// See table::find().
  void find(keys_in keys, std::span<value_element> out, std::span<u8> found)
    requires(!Table::is_set)
  {
    detail::require(keys.size() == out.size() && keys.size() == found.size(),
                    "streamed: keys and results differ in length");
    run(keys.size(), std::tuple(keys.data()), std::tuple(out.data(), found.data()),
        [&](u64 n, const key_type* k, value_element* to, u8* flags_to) {
          table_->find(*space_, keys_in(k, n), std::span(to, n), flags(flags_to, n));
        });
  }
  /// See table::contains().
  void contains(keys_in keys, std::span<u8> found) {
    detail::require(keys.size() == found.size(), "streamed: keys and results differ in length");
    run(keys.size(), std::tuple(keys.data()), std::tuple(found.data()),
        [&](u64 n, const key_type* k, u8* to) { table_->contains(*space_, keys_in(k, n), flags(to, n)); });
  }

 private:
  template <class Change>
  insert_report change(keys_in keys, values_in values, const Change& insert_batch) {
    detail::require(keys.size() == values.size(), "streamed: keys and values differ in length");
    insert_report all;
    run(keys.size(), std::tuple(keys.data(), values.data()), std::tuple(),
        [&](u64 n, const key_type* k, const value_element* v) {
          const insert_report part = insert_batch(keys_in(k, n), values_in(v, n));
          all.inserted += part.inserted;
          all.present += part.present;
          all.refused += part.refused;
          all.restarts += part.restarts;
        });
    return all;
  }

  // Copies that began must end before their memory is freed.
  struct unfinished {
    detail::batch_copies<Space>& copies;
    bool done = false;
    ~unfinished() {
      if (!done) copies.give_up();
    }
  };
  // Calls verb(n, in ..., out ...) for each batch, with columns in memory of the space.
  template <class... In, class... Out, class Verb>
  void run(u64 n, std::tuple<const In*...> in, std::tuple<Out*...> out, const Verb& verb) {
    if (n == 0) return;
    const u64 each = n < batch_ ? n : batch_, batches = (n + each - 1) / each;
    const u32 sizes[] = {u32(sizeof(In))..., u32(sizeof(Out))...};
    const u64 bytes = detail::columns::bytes_for(each, sizes);
    memory_.reserve(*space_, bytes * copies_.places);
    const auto columns_of = [&](u64 b) {
      detail::columns here(memory_.data() + b % copies_.places * bytes, each);
      return std::tuple<In*..., Out*...>{here.next<In>()..., here.next<Out>()...};
    };
    const auto size_of = [&](u64 b) { return b + 1 < batches ? each : n - b * each; };
    unfinished state{copies_};
    const auto bring = [&](u64 b) {
      const u32 place = static_cast<u32>(b % copies_.places);
      copies_.bring(place);
      copy_in(columns_of(b), in, b * each, size_of(b), std::index_sequence_for<In...>());
      copies_.brought(place);
    };
    bring(0);
    for (u64 b = 0; b < batches; ++b) {
      const u32 place = static_cast<u32>(b % copies_.places);
      if (b + 1 < batches) bring(b + 1);
      copies_.await(place);
      std::apply([&](auto*... column) { verb(size_of(b), column...); }, columns_of(b));
      copies_.send(place);
      copy_out<sizeof...(In)>(columns_of(b), out, b * each, size_of(b), std::index_sequence_for<Out...>());
      copies_.sent(place);
    }
    copies_.finish();
    state.done = true;
  }
  template <class Columns, class From, std::size_t... Which>
  void copy_in(const Columns& to, const From& from, u64 first, u64 n,
               std::index_sequence<Which...> /*which*/) {
    (copies_.copy_in(std::get<Which>(to), std::get<Which>(from) + first, n * sizeof(*std::get<Which>(from))),
     ...);
  }
  template <std::size_t After, class Columns, class To, std::size_t... Which>
  void copy_out(const Columns& from, [[maybe_unused]] const To& to, [[maybe_unused]] u64 first,
                [[maybe_unused]] u64 n, std::index_sequence<Which...> /*which*/) {
    (copies_.copy_out(std::get<Which>(to) + first, std::get<After + Which>(from),
                      n * sizeof(*std::get<Which>(to))),
     ...);
  }

  Space* space_;
  Table* table_;
  u64 batch_;
  detail::batch_copies<Space> copies_;
  detail::kept_memory<Space> memory_;
};

}  // namespace several
TILEHASH_END_ABI_NAMESPACE
TILEHASH_PUBLIC_NAMESPACE(several);
}  // namespace tilehash
