// The rows of `tilehash bench shapes` that may be under the least share of their verb's best, and why.
#include "shapes.hpp"

namespace tilehash::bench {
namespace {

constexpr std::string_view moves_no_key = "an update through a view moves no other key (mutable_table_view)";

constexpr shape_bound bounds[] = {
    {.verbs = "insert_or_assign insert_or_apply",
     .forms = "by_thread by_tile",
     .states = "near_full",
     .least = 0.25,
     .refused = 0.5,
     .reason = moves_no_key},
    {.verbs = "insert_or_assign insert_or_apply",
     .forms = "by_thread by_tile",
     .least = 0.25,
     .refused = 0.15,
     .reason = moves_no_key},
};

}  // namespace

std::span<const shape_bound> shape_bounds() { return bounds; }

}  // namespace tilehash::bench
