// SPDX-License-Identifier: Apache-2.0
// The least accesses of memory of the rows of `tilehash bench shapes`. The rates of memory are measured in the same
// run (access_rates), so a row that is slower than its verb's best is held against what this machine allows.
//
// Moves of other keys are counted for tables that are filled from load factor 0.89 to 0.95. In buckets of eight
// slots (4 + 4 bytes) half of the items find two full buckets. To place one of these, 6 buckets are read, up to
// 2.6 of them one after the other, and 1.8 keys are moved. In buckets of four slots two thirds of the items do,
// with 8 buckets, 3.3 and 2.1 (docs/measured/dead_ends.md, breadth-first search). A move is two updates.
#include "ours/shapes.hpp"

namespace tilehash::bench {
namespace {

constexpr std::string_view adding = "build insert insert_or_assign insert_or_apply count insert_and_find",
                           many_keys =
                               "distinct sequential sorted strided half_one_key zipf groups_65536 "
                               "groups_2097152",
                           by_view = "by_thread by_tile", small = "4 8", wide = "16 record";

constexpr std::string_view moves_no_key =
    "a read and a compare-and-swap an item; an update through a view moves no other key (mutable_table_view)";
constexpr std::string_view one_by_one =
    "a read and an atomic operation an item, those of one key one after the other";
constexpr std::string_view moves = "at load factor 0.95 many items move other keys";

constexpr shape_bound bounds[] = {
    // ---- lookups and erases ----
    {.verbs = "find contains",
     .forms = by_view,
     .cost = {.reads_alone = 1},
     .reason = "a read an item, by a thread that does not look ahead"},
    {.verbs = "find contains", .cost = {.reads = 1}, .reason = "a read an item"},
    {.verbs = "erase",
     .forms = by_view,
     .cost = {.reads_alone = 1, .updates_alone = 1},
     .reason = "a read and a compare-and-swap an item, by a thread that does not look ahead"},
    {.verbs = "erase", .cost = {.updates = 1}, .reason = "a read and a compare-and-swap an item"},
    {.verbs = "retrieve",
     .cost = {.reads = 3, .by_key = true},
     .reason = "reads at three places a key: its id, its range and its values"},

    // ---- views ----
    {.verbs = "insert_or_assign insert_or_apply",
     .forms = by_view,
     .states = "near_full",
     .cost = {.reads_alone = 1, .updates_alone = 1},
     .refused = 0.7,
     .reason = moves_no_key},
    {.space = "cuda",
     .verbs = "insert_or_apply",
     .forms = by_view,
     .cost = {.reads_alone = 1, .updates_alone = 1, .one_line = 1},
     .refused = 0.15,
     .reason = one_by_one},
    {.verbs = "insert_or_assign insert_or_apply",
     .forms = by_view,
     .cost = {.reads_alone = 1, .updates_alone = 1},
     .refused = 0.15,
     .reason = moves_no_key},
    {.verbs = "insert",
     .widths = "4",
     .forms = by_view,
     .states = "near_full",
     .cost = {.updates_alone = 3, .steps = 1.3},
     .reason = moves},
    {.verbs = "insert",
     .forms = by_view,
     .states = "near_full",
     .cost = {.updates_alone = 3.8, .steps = 2.2},
     .reason = moves},
    {.verbs = "insert",
     .forms = by_view,
     .cost = {.reads_alone = 1, .updates_alone = 1},
     .reason = "a read and a compare-and-swap an item, by a thread that does not look ahead"},

    // ---- calls that move keys ----
    {.space = "cpu",
     .verbs = adding,
     .widths = "4",
     .states = "near_full",
     .cost = {.updates = 3, .steps = 1.3, .by_key = true, .combined = 2},
     .reason = moves},
    {.space = "cpu",
     .verbs = adding,
     .states = "near_full",
     .cost = {.updates = 3.8, .steps = 2.2, .by_key = true, .combined = 2},
     .reason = moves},
    // (The numbers of new keys, of clashes, of those of each key, of the table of the call's new keys, of inserted keys,
    // of items whose record another thread changes, and of refused items; and two waits before memory is freed.)
    {.space = "cuda",
     .verbs = "insert_or_apply count",
     .widths = "record",
     .states = "near_full",
     .cost = {.reads = 7, .updates = 3.8, .by_key = true, .waits = 9},
     .reason = "at load factor 0.95 many items move other keys; the host waits nine times"},
    // (An assignment waits for neither the items whose record another thread changes nor the memory of their list.)
    {.space = "cuda",
     .verbs = "insert_or_assign",
     .widths = "record",
     .states = "near_full",
     .cost = {.reads = 7, .updates = 3.8, .by_key = true, .waits = 7},
     .reason = "at load factor 0.95 many items move other keys; the host waits seven times"},
    // (A sample of present keys, one of equal keys, the numbers of combined items and of those left over, and the insert.)
    {.space = "cuda",
     .verbs = "insert",
     .widths = "8",
     .keys = "groups_65536",
     .forms = "sync",
     .states = "near_full",
     .cost = {.reads = 7, .updates = 3.8, .by_key = true, .waits = 5},
     .reason = "at load factor 0.95 many items move other keys; the host waits five times"},
    {.space = "cuda",
     .verbs = adding,
     .widths = "4",
     .states = "near_full",
     .cost = {.reads = 4.5, .updates = 3, .by_key = true},
     .reason = moves},
    {.space = "cuda",
     .verbs = adding,
     .states = "near_full",
     .cost = {.reads = 7, .updates = 3.8, .by_key = true},
     .reason = moves},
    {.verbs = adding,
     .forms = "growing",
     .states = "half",
     .cost = {.reads = 1, .updates = 1, .by_key = true, .moved = 2},
     .reason = "keys are looked up first; a table that grows moves the items that it holds"},

    // ---- calls that do not combine equal keys ----
    {.space = "cuda",
     .verbs = "insert_or_apply count",
     .widths = small,
     .forms = "outcomes",
     .cost = {.reads = 1, .updates = 1, .one_line = 1},
     .reason = one_by_one},
    {.verbs = adding,
     .forms = "outcomes",
     .cost = {.reads = 1, .updates = 1},
     .reason = "items are looked up, then placed: calls with outcomes do not combine equal keys"},
    {.space = "cpu",
     .verbs = adding,
     .forms = "async",
     .cost = {.updates = 1},
     .reason =
         "a read and a compare-and-swap an item: on a CPU asynchronous calls do not combine equal keys"},
    {.space = "cuda",
     .verbs = adding,
     .widths = wide,
     .cost = {.updates = 1},
     .reason = "a read and a compare-and-swap an item: each key of more than 8 bytes is looked up, and its "
               "value changed then"},

    // ---- calls that do ----
    {.verbs = "insert_and_find",
     .keys = many_keys,
     .cost = {.reads = 1, .updates = 2, .by_key = true, .combined = 2},
     .reason = "a key's id and record are written, then the id is looked up"},
    {.verbs = adding,
     .keys = many_keys,
     .cost = {.updates = 1, .by_key = true, .combined = 2},
     .reason =
         "a read and a compare-and-swap a key; items of equal keys meet in a thread's cache, then in a part"},
};

}  // namespace

std::span<const shape_bound> shape_bounds() { return bounds; }

}  // namespace tilehash::bench
