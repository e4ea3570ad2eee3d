// SPDX-License-Identifier: Apache-2.0
// The functions that tilehash::instances compiles: those that the verbs of its tables call and that are worth
// compiling once. An explicit instantiation must spell out its types, so these are macros. `how` is
// `extern template` in users' units (map.hpp, multimap.hpp), and `template` in the library (instances/ in the
// repository).
#pragma once

#include <optional>
#include <type_traits>

#include <tilehash/engine/insertion.hpp>
#include <tilehash/table.hpp>

// Do the library and this unit see the same tilehash (core/config.hpp: TILEHASH_ABI)? CMake's target defines
// how the library was compiled; without it there is none. GPUs before sm_90 have other tables (map.hpp).
#if !defined(TILEHASH_INSTANCES_AVX2) || defined(__AVX2__) != TILEHASH_INSTANCES_AVX2 || \
    TILEHASH_HAS_TBB != TILEHASH_INSTANCES_TBB
#define TILEHASH_HAS_INSTANCES 0
#else
#define TILEHASH_HAS_INSTANCES 1
#endif
#if TILEHASH_HAS_INSTANCES && defined(__CUDACC__) && TILEHASH_INSTANCES_CUDA
#define TILEHASH_HAS_CUDA_INSTANCES !TILEHASH_NARROW_GPUS
#else
#define TILEHASH_HAS_CUDA_INSTANCES 0
#endif

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

template <class Design>
using items_of = array_source<typename Design::slot_type>;
template <class Design>
using cells_of = sentinel_cells<typename Design::slot_type>;
// The source of displace(): on a CPU one code serves all sources (engine/insert_phases.hpp).
template <class Design, class Space>
using displaced_of = std::conditional_t<Space::has_lanes, array_source<typename Design::slot_type>,
                                        called_source<typename Design::slot_type>>;

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash

// For tables that change in place. The arguments after the space are the design.
#define TILEHASH_TABLE_PARTS(how, Space, ...)                                                                \
  how insert_report engine::insertion<__VA_ARGS__, Space>::insert(                                           \
      Space&, const detail::items_of<__VA_ARGS__>&, u64, outcome*, const detail::keep_stored&);              \
  how std::optional<insert_report> engine::insertion<__VA_ARGS__, Space>::insert_repeated(                   \
      Space&, const detail::items_of<__VA_ARGS__>&, u64);                                                    \
  how insert_report engine::insertion<__VA_ARGS__, Space>::build(Space&,                                     \
                                                                 const detail::items_of<__VA_ARGS__>&, u64); \
  how u64 engine::insertion<__VA_ARGS__, Space>::rehash(Space&, u64);                                        \
  how std::optional<u64> engine::insertion<__VA_ARGS__, Space>::rebuild(                                     \
      Space&, u64, u64, const detail::unplaced_items<__VA_ARGS__::slot_type>::entry*, u64, u64);             \
  how void detail::displace(Space&, const __VA_ARGS__&, const detail::displaced_of<__VA_ARGS__, Space>&,     \
                            u64, u64, bool, const detail::outcome_recorder&, u64*, const detail::call_end&); \
  how bool engine::region_slots<__VA_ARGS__, Space>::resize_in_place(Space&, u64);                           \
  how void engine::insertion<__VA_ARGS__, Space>::shrink_if_asked(Space&);                                   \
  how detail::call_ended detail::erase(Space&, const __VA_ARGS__&, const detail::cells_of<__VA_ARGS__>&,     \
                                       const __VA_ARGS__::key_type*, u64, const detail::call_end&, u32*);    \
  how void detail::look_up(Space&, const __VA_ARGS__&, const detail::cells_of<__VA_ARGS__>&,                 \
                           const __VA_ARGS__::key_type*, u64, detail::lookup_sink);                          \
  how void detail::collect_entries(Space&, const table_view<__VA_ARGS__>&, __VA_ARGS__::key_type*,           \
                                   table<__VA_ARGS__, Space>::value_element*, u64, u64*);
// Tables with values too.
#define TILEHASH_VALUE_PARTS(how, Space, ...)                                                \
  how void detail::look_up(Space&, const __VA_ARGS__&, const detail::cells_of<__VA_ARGS__>&, \
                           const __VA_ARGS__::key_type*, u64, detail::value_sink<__VA_ARGS__::mapped_type>);
#define TILEHASH_SET_PARTS(how, Space, ...)                     \
  TILEHASH_TABLE_PARTS(how, Space, __VA_ARGS__)                 \
  how void engine::insertion<__VA_ARGS__, Space>::insert_async( \
      Space&, const detail::items_of<__VA_ARGS__>&, u64, insert_report*, const detail::keep_stored&);
#define TILEHASH_MAP_PARTS(how, Space, ...)                  \
  TILEHASH_SET_PARTS(how, Space, __VA_ARGS__)                \
  TILEHASH_VALUE_PARTS(how, Space, __VA_ARGS__)              \
  TILEHASH_UPDATE_PARTS(how, Space, op::assign, __VA_ARGS__) \
  TILEHASH_UPDATE_PARTS(how, Space, op::sum, __VA_ARGS__)
// insert_or_apply with one op: with and without outcomes, and asynchronous.
#define TILEHASH_UPDATE_PARTS(how, Space, Op, ...)                                            \
  how insert_report engine::insertion<__VA_ARGS__, Space>::insert_combined(                   \
      Space&, const detail::items_of<__VA_ARGS__>&, u64, const Op&);                          \
  how insert_report engine::insertion<__VA_ARGS__, Space>::insert(                            \
      Space&, const detail::items_of<__VA_ARGS__>&, u64, outcome*, const detail::apply<Op>&); \
  how void engine::insertion<__VA_ARGS__, Space>::insert_async(                               \
      Space&, const detail::items_of<__VA_ARGS__>&, u64, insert_report*, const detail::apply<Op>&);
