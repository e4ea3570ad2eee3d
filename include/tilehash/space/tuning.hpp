// SPDX-License-Identifier: Apache-2.0
// The tuning numbers of all machines: block sizes, requests in flight, and the item counts from which another
// way pays. Edit this file to port tilehash to another GPU or CPU; no other header has such numbers.
//
//   common    what all machines share so far, and no code reads; a class hides a member to differ
//   cpu       a thread is a block, and prefetches
//   sm_90     GPUs of compute capability 9.x; measured on an H200 (docs/measured/)
//   sm_75     older GPUs, sm_75 to sm_89; not measured, as are newer ones (sm_100)
//   table     what is in a table's layout, so the same on all machines
// To port: hide in the GPU's class the members that differ. For a finer class add a struct, and a line in
// gpu_of and in the static_assert below. Code reads a number through one of these:
//   of<Space>         code that knows its space
//   of_block<Threads> the body of a block of so many threads
//   gpu               lanes and blocks without a space. The oldest GPU that the unit is compiled for: a
//                     kernel's block size is in its type, so host and device must agree on it
//   gpu_here, here    the GPU or CPU that the code is compiled for. For occupancy and for requests in flight,
//                     never for the size of a type that host and device exchange
// The space itself reads sizes that differ within a class: of the L2 cache, of shared memory, and the number
// of multiprocessors. Limits that bound a loop or a retry are no tuning numbers: designs name them.
#pragma once

#include <type_traits>

#include <tilehash/core/config.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail::tuning {

// Wide words, of 16 bytes, take twice the registers and scratch.
constexpr u32 by_word(u64 word_bytes, u32 narrow, u32 wide) { return word_bytes <= 8 ? narrow : wide; }

// Numbers without a reason were the fastest of those measured.
struct common {
  static constexpr u64 dense_share = 2;  // words of a small range (analysis/) for each row
  // ---- requests that a thread has in flight at once: more hide latency, and cost registers ----
  static constexpr u32 walked_at_once = 2;     // next buckets, of a tile's keys that look on
  static constexpr u32 searched_at_once = 2;   // buckets one step ahead, where a path is searched
  static constexpr u32 looked_at_once = 4;     // buckets of a key without a slot, in dynamic_cuckoo
  static constexpr u32 tidied_at_once = 2;     // buckets of horton's secondary items
  static constexpr u32 fetched_at_once = 4;    // elements of an array, or runs of a table's words
  static constexpr u32 written_at_once = 2;    // slots of robin_hood's build, each a chain of dependent reads
  static constexpr u32 sampled_at_once = 8;    // keys of a sample
  static constexpr u32 sketched_at_once = 8;   // keys, of which each is hashed
  static constexpr u32 routed_at_once = 8;     // keys, on their way to their ranks
  static constexpr u32 contested_at_once = 8;  // keys, each with a random read of a filter
  static constexpr u32 combined_at_once = 8,
                       region_combined_at_once = 2;  // items whose equal keys are combined
  static constexpr u32 met_at_once = 4;              // the same, by blocks that share no partition
  static constexpr u32 applied_in_flight = 4;        // words of values of a key, in turn
  static constexpr u32 grouped_at_once = 7;  // items of a multimap's bin: 21504 are three times 7 * 1024
  static constexpr u32 ordered_at_once = 4, binned_at_once = 4;                              // items of rows
  static constexpr u32 rows_at_once(u64 word_bytes) { return by_word(word_bytes, 9, 6); }    // the same
  static constexpr u32 merged_at_once(u64 word_bytes) { return by_word(word_bytes, 3, 2); }  // tiled's items
  static constexpr u32 merged_few_at_once(u64 word_bytes) { return by_word(word_bytes, 4, 3); }  // ... of few
  static constexpr u32 joined_at_once(u64 word_bytes) { return by_word(word_bytes, 8, 4); }  // rows of a join
  // A partition reserves space in so many bins, and then writes so many items there.
  static constexpr u32 reserved_at_once(u64 word_bytes) { return by_word(word_bytes, 4, 5); }
  static constexpr u32 leaving_at_once = 2;
  // The same in a partition that combines equal keys.
  static constexpr u32 combined_reserved_at_once = 5, combined_leaving_at_once = 1;

  // ---- when a bulk way pays ----
  static constexpr u64 least_to_partition = u64(1) << 15;  // items: bins cost a fixed time
  static constexpr u32 best_regions = 8192;                // more make the runs to the bins short
  static constexpr u64 cache_share = 2;                    // half of a cache stays while other data streams
  static constexpr u64 fill_share_of_empty = 4;  // from a 4th of its capacity on, regions fill a table
  // One that holds items is read and written: a 12th, or less where it gets so full that single inserts are slow.
  static constexpr u64 fill_share(double full, u64 word_bytes) {
    return word_bytes > 8 ? 4 : full > 0.93 ? 20 : full > 0.85 ? 17 : 12;
  }
  // The same for a merge, which streams the table one way. In a rather empty table single inserts are fast.
  static constexpr u64 merge_share(double full, u64 word_bytes, u64 capacity) {
    const u64 fuller = full > (capacity < u64(1) << 22 ? 0.7 : 0.65) ? 30 : 12;
    const u64 wide = full > 0.64 && full <= merge_few_load ? 70 : 25;
    return full > 0.93 ? 100 : full > 0.85 ? 50 : word_bytes > 8 ? wide : fuller;
  }
  static constexpr u64 merge_few_share = 16;      // up to it a merge reads the buckets of its items alone,
  static constexpr double merge_few_load = 0.82;  // if the table stays so empty
  static constexpr u64 assign_share = 8;          // as fill_share, for values that are replaced in place
  static constexpr u64 assign_whole_share = 4;    // the same, for blocks that hold whole regions
  static constexpr u64 assigned_each = 2048;      // of these for each block that runs at once
  static constexpr u64 least_to_build = 64;       // items of a table of one region: fewer do not contend
  static constexpr u64 erase_share = 12;          // as fill_share, for keys that are erased
  static constexpr u64 erase_regions_each = 2;    // of each block that runs at once (docs/explain/horton.md)
  // Values of so many copies of a key in a sample are combined before they are assigned.
  static constexpr double few_assigned_copies = 16;
  // Up to so many copies of a key in a sample, regions insert items of which the outcomes are requested.
  static constexpr double few_outcome_copies = 8;
  static constexpr u64 combined_each = 1024;  // items of each block that runs at once, so that all have work
  // Regions for each block that runs at once, from which they combine equal keys: the last blocks then cost little.
  static constexpr u64 combined_regions_each = 2;
  static constexpr u64 crowd_copies = 8, waiting_copies = 4;  // of a key at least: of many, or near full
  static constexpr u64 sketch_excess = 32;         // a sketch counts a 32nd too many: three deviations
  static constexpr u64 combined_again_share = 8;   // an eighth of the items or less is combined again
  static constexpr u64 met_each = u64(1) << 15;    // the same, so that a sample before them costs little
  static constexpr u64 met_waited = u64(1) << 25;  // ... that synchronizes: a partition is as fast for fewer
  static constexpr u32 repeats_one_in = 8;         // keys of a sample, from which equal ones are combined
  // Slots of a block that combines equal keys, and replicas of them for few keys.
  static constexpr u32 met_slots(u64 slot_bytes) { return slot_bytes <= 8 ? 16384 : 8192; }
  static constexpr u32 most_replicas_log2 = 5;
  // Keys that a sample of repeats_sampled has twice are frequent, of which so many have a slot. They count if one of
  // them comes so often, or if together they are a quarter of the sample.
  static constexpr u32 frequent_copies = 16, frequent_one_in = 4, frequent_slots = 4096;
  // Items of a call, from which it pays to ask whether keys are frequent: the copies of one key are tried again for
  // each other.
  static constexpr u64 least_in_turn = u64(1) << 14;
  static constexpr u64 least_resized_regions = 4;  // of a table: fewer are better replaced by other regions
  static constexpr u64 copied_share = 32;          // a 32nd of the regions is copied, not built in steps
  // Copies of a key in a multimap, up to which it is grouped by regions: more make bins too uneven.
  static constexpr double grouped_copies(u64 word_bytes) { return by_word(word_bytes, 32, 16); }

  // ---- samples: twice the precision takes four times the size ----
  static constexpr u32 repeats_sampled = 4096;  // keys of a call that may combine equal ones
  // A sample of 1 item in 1024. Keys are many if at most 1/16 of it repeats, and few if at most 1/16 differs.
  static constexpr u64 many_sampled_one_in = 1024, least_many_sampled = 1024, most_many_sampled = 65536,
                       repeated_of_many = 16, few_of_sampled = 16, met_sampled = u64(1) << 24;
  static constexpr u32 sampled_keys = 8192;     // of a block, in a set of twice as many slots
  static constexpr u32 sample_slots_log2 = 14;  // of that set: 64 KiB of scratch
  static constexpr u32 sampled_buckets = 1024;  // of a subtable
  static constexpr u64 sampled_one_in = 32;     // keys of a multimap, of which frequent ones are found

  // ---- shares of work: as much as a block's scratch holds, or one block or thread holds up the others ----
  static constexpr u32 displace_words = 256;  // of pending bits, at most, for a block
  static constexpr u64 copied_row = 64;       // entries of a row that one thread copies; more go to all
  static constexpr u64 section_items = 4096;  // new items of a section of rows, at most
  static constexpr u64 few_shares = 4;        // of a block; up to so many are made equally long
  static constexpr u64 sorted_groups = 1024;  // of a bin of robin_hood: half of a block's capacity
  static constexpr u32 ordered_items = 32768, ordered_bins = 8192;  // of rows that are built in bins, at most
  static constexpr u32 rows_items = 18432;   // of a region of rows, at most: registers hold their places
  static constexpr u64 rows_region = 16384;  // ... on average
  static constexpr u64 rows_blocks = 1024;   // each reads the counts of all regions before its own
  static constexpr u32 binned_share = 16384, binned_bins = 1024;  // items of a block, and bins that it counts
  static constexpr u32 subtables_parts = 4;                       // a table of subtables is filled in so many
  static constexpr u32 segments_share = 4096;                     // positions and ends
  // Copies of a right key, up to which each left row walks a list of its region, and up to which regions are
  // joined at all.
  static constexpr double walked_copies = 3;
  static constexpr u32 joined_copies = 32;
  static constexpr u32 joined_list = 64;  // right rows with one hash that one thread walks
  // Right rows of a region: few regions mean long runs to their bins.
  static constexpr u64 joined_region(u64 word_bytes) { return by_word(word_bytes, 14336, 7168); }
  static constexpr u64 grouped_region(u64 word_bytes) { return by_word(word_bytes, 20480, 10240); }
  static constexpr u64 walked_rows(u64 mean) { return 16 * mean + 16384; }  // left ones, for a block
  static constexpr u32 combined_parts = 4096;       // that a block counts next to its items
  static constexpr u64 first_items = u64(1) << 25;  // of one call that keeps the first of equal keys
  static constexpr u32 grouped_items(u64 word_bytes) { return by_word(word_bytes, 21504, 9984); }  // of a bin
};

struct cpu : common {
  static constexpr u32 routed_sample = 1024;  // keys, of which frequent ones are sent to their rank once
  // ---- threads of a block: a block is one thread ----
  static constexpr u32 large_block = 1, displace_block = 1, segments_block = 1, runs_block = 1,
                       rank_block = 1, sort_block = 1;

  // ---- operations that a thread has in flight: it prefetches so far ahead ----
  static constexpr u32 in_flight = 32;
  static constexpr u64 scattered_ahead = 256;                   // items of one round of three loops
  static constexpr u64 inserted_ahead = 16;                     // one after the other
  static constexpr u32 coded_rows = 64, gathered_at_once = 64;  // of a block; used slots that move next

  // ---- codes of rows (analysis/): when threads share a call, and when keys need no hash ----
  static constexpr u64 first_code_slots = u64(1) << 12, least_shared = u64(1) << 16;  // rows: threads start
  static constexpr u64 few_keys_rows = 32, listed_rows = 256;  // of a key, if keys are few; listed at once
  static constexpr u64 sampled_codes = u64(1) << 14, few_keys_share = 8;  // rows; keys that are few
  static constexpr u64 sampled_blocks = 16;  // whose range decides whether all are looked at

  // ---- work of a thread between two visits to oneTBB's scheduler ----
  static constexpr u64 grain = 4096;        // steps of a loop
  static constexpr u64 upsert_words = 128;  // of pending bits, for 4096 items
  static constexpr u64 put_sections = 64;   // of rows
  // Blocks of a displacement, so that threads that finish early find others.
  template <class Space>
  static constexpr u64 displace_blocks(const Space& /*space*/) {
    return 64;
  }
  static constexpr u64 blocks_per_thread = 16;  // that combine equal keys: no thread waits long for the last
  // Blocks of a sketch, and the keys of one at least: each clears its registers, and merges them.
  template <class Space>
  static constexpr u64 sketch_blocks(const Space& space) {
    return space.threads() == 1 ? 1 : 2 * static_cast<u64>(space.threads());
  }
  static constexpr u64 sketched_each = u64(1) << 16;

  // ---- items of a block: they fit a core's cache ----
  static constexpr u32 runs_items = 4096, rank_items = 16384;
  static constexpr u32 partition_items(u64 /*word_bytes*/) { return 16384; }
  static constexpr u32 combined_items(bool narrow) { return narrow ? 16384 : 8192; }
  static constexpr u32 combined_slots(bool narrow) { return narrow ? 28672 : 14336; }
  static constexpr u32 joined_rows(u64 /*word_bytes*/) { return 256; }
  static constexpr u32 joined_groups_rows(u64 /*word_bytes*/) { return 256; }
  static constexpr u64 met_window = u64(1) << 14;  // ids that a lookup in a multimap finds first

  // ---- equal keys combined by threads (algorithm/thread_combine.hpp) ----
  // Bytes of a node of a part's list, and of a thread's cache of items at first.
  static constexpr u64 combining_node = 4096, combining_cache = u64(1) << 18;
  // Bytes at last; growth; items for each key, and missed ones for each new slot, from which growth pays.
  static constexpr u64 combining_memory = u64(1) << 26, combining_growth = 4, combining_copies = 12;
  static constexpr u32 combining_missed = 4, combining_round = 64;  // items of a round in that cache
  static constexpr u64 combined_share = 4096;                       // items that a thread takes at once
  static constexpr u64 sent_ahead = 128;  // bytes of a node, requested before they are written
  // A full cache that serves less than one item in 8, or in 2 if it has grown, is left out for 15 of 16 shares.
  static constexpr u64 combining_hits = 8, combining_large_hits = 2, combining_skipped = 15;
  static constexpr u64 least_combined = u64(1) << 15;       // items: a sample and the parts cost a fixed time
  static constexpr u64 most_combined = u64(1) << 31;        // numbers of a part's keys have 32 bits
  static constexpr u32 combined_part_bits = 8;              // parts at most: a thread writes to all at once
  static constexpr u64 combined_part_items = u64(1) << 12;  // of a part at least, where there are fewer

  // ---- when another way pays ----
  // Slots of a table that grows: one thread moves fewer faster by itself than all threads do by regions.
  static constexpr u64 moved_alone = u64(1) << 14, moved_by_one_thread = u64(1) << 22;
  static constexpr int few_threads = 2;  // partition items no faster than one inserts them
  // Copies of a key in a sample, from which equal keys are combined first; and if the first is kept.
  static constexpr double few_combined_copies = 2, few_first_copies = 3;
  // Pending items from which a sketch says how far a table grows: it costs a fifth of their insert. A sample
  // decides first, of 1024 keys or a 256th: with so many copies of a key, growth costs less.
  static constexpr u64 least_sketched = u64(1) << 16, sketch_sampled = 1024, sketch_share = 256;
  static constexpr double few_sketched_copies = 8;
  // Bytes of a table in a near cache: one thread inserts in order to keep the first of equal keys (docs/adr/0016).
  static constexpr u64 first_in_order = u64(4) << 20;
  static constexpr u64 evicted_at_once = 1024;  // keys in hand: at most one for each thread

  // ---- passes of robin_hood's build: threads have other homes to serve while one is slow ----
  static constexpr double match_passes = 1.2;  // for each key over free slots
  static constexpr u32 match_turns = ~u32(0);  // of a home in a pass

  // ---- memory, in bytes ----
  static constexpr u64 core_cache = u64(1) << 20;    // of a core, on most machines (L2)
  static constexpr u64 last_cache = u64(32) << 20;   // shared by all cores
  static constexpr u64 mapped_from = u64(64) << 20;  // of an array with its own pages: the check takes time
};

struct sm_90 : common {
  // ---- analysis/: integers in a small range; the first rows, before a near cache pays; their table; folds ----
  static constexpr u64 least_dense = 4096, sampled_rows = 1024, range_lanes = 1 << 17, few_words = 2048;
  static constexpr u64 first_rows_share = 64, least_first_rows = 16384, cached_words = 65536;
  static constexpr u64 rows_without_sketch = 1 << 20, first_steps = 1024, fold_scratch = 216 << 10;
  static constexpr u64 few_fold_scratch = 24 << 10, fold_copies = 32, fold_blocks = 4;
  static constexpr u32 coded_at_once = 4, hashed_at_once = 1, fold_block = 512;
  static constexpr double first_load = 0.4, cached_first_load = 0.27;
  // ---- threads of a block ----
  static constexpr u32 large_block = 1024, lanes_block = 256;  // with all scratch; without any
  static constexpr u32 routed_sample = 1024;  // keys, of which frequent ones are sent to their rank once
  static constexpr u32 route_warps = 64, route_block = 256, route_occupancy = 4;  // items to their ranks
  static constexpr u32 route_items(u64 bytes) { return bytes <= 8 ? 8 : bytes <= 16 ? 4 : 2; }
  static constexpr u32 displace_block = 256;  // searches differ in length, and a block waits for its longest
  static constexpr u32 tidy_block = 256, segments_block = 256, runs_block = 256, compact_block = 256;
  static constexpr u32 small_join_block = 256, rank_block = 512, sort_block = 512, few_partition_block = 512;
  // More threads on a multiprocessor (merge_occupancy) keep registers in local memory.
  static constexpr u32 merge_block(u64 word_bytes) { return by_word(word_bytes, 640, 512); }
  static constexpr u32 merge_few_block(u64 word_bytes) { return by_word(word_bytes, 384, 256); }
  // Threads of a block that builds a table's only region from few items: few threads pass a barrier sooner.
  static constexpr u32 build_threads(u32 items) { return items / 64 * 32 + 32; }

  // ---- blocks that a multiprocessor should hold: the compiler limits their registers ----
  // Lookups wait for memory: as many warps as there can be, unless wide words need more than 32 registers.
  static constexpr u32 lookup_occupancy(u64 word_bytes) { return by_word(word_bytes, 8, 6); }
  static constexpr u32 change_occupancy(u64 word_bytes) { return by_word(word_bytes, 6, 4); }    // 40 or 64
  static constexpr u32 displace_occupancy(u64 word_bytes) { return by_word(word_bytes, 4, 2); }  // 64 or 128
  static constexpr u32 merge_occupancy = 2, sort_occupancy = 3;
  static constexpr u32 merge_few_occupancy(u64 word_bytes) { return by_word(word_bytes, 3, 4); }

  // ---- items of a thread: they are in registers, and in the block's scratch ----
  static constexpr u32 runs_items = 16, rank_items = 8, compacted_items = 16, few_partition_items = 8;
  static constexpr u32 record_part_items = 32, warp_records = 12, warp_tries = 3, neighbours_at_once = 2;
  static constexpr u32 partition_items(u64 word_bytes) { return by_word(word_bytes, 16, 8); }
  static constexpr u32 combined_items(bool narrow) { return narrow ? 16 : 8; }
  static constexpr u32 combined_slots(bool narrow) { return narrow ? 28 : 14; }
  static constexpr u32 joined_rows(u64 word_bytes) { return joined_at_once(word_bytes); }
  static constexpr u32 joined_groups_rows(u64 /*word_bytes*/) { return 4; }
  static constexpr u32 written_matches = 4096, few_written_matches = 2048;  // rows and segments of a block
  static constexpr u64 searched_shares = 1024;  // of a block each, which searches where its share begins
  static constexpr u64 few_matches = u64(1) << 21, small_join_rows = u64(1) << 18;  // of a side
  static constexpr u64 first_window_items = 2048, first_copies = 8, slots_windows = 2, leaders_windows = 4;

  // ---- blocks that the work is divided into: some for each multiprocessor, as they differ in length ----
  template <class Space>
  static u64 displace_blocks(const Space& space) {
    return 4 * space.large_blocks_at_once();
  }
  template <class Space>
  static u64 tidy_blocks(const Space& space) {
    return 8 * space.large_blocks_at_once();
  }
  static constexpr u64 compacting_threads = 2048;  // of a multiprocessor, before a thread takes a second item
  static constexpr u64 evicted_at_once = u64(1) << 19;  // keys in hand: one for each lane that runs at once
  // Blocks of a sketch: they fill a multiprocessor, and each merges its registers. A block has a step of keys.
  template <class Space>
  static u64 sketch_blocks(const Space& space) {
    return 2 * space.large_blocks_at_once();
  }
  static constexpr u64 sketched_each = u64(1) << 13;
  // Pending items from which a sketch says how far a table grows: 30 us are less than a step of growth.
  static constexpr u64 least_sketched = u64(1) << 15;

  // ---- passes of robin_hood's build: the home with most requests would hold up all others ----
  static constexpr double match_passes = 1.7;  // for each key over free slots
  static constexpr u32 match_turns = 6;        // of a home in a pass

  // ---- kernels that follow one another ----
  static constexpr u64 ended_items = u64(1) << 17;  // of a call that its last kernel ends, not another one
  static constexpr u64 built_by_one_kernel = 2048, few_of_a_block = 2048;  // items of a region
  static constexpr u32 one_region_block = 512, at_once_block = 128;        // threads of it, and of the next
  static constexpr u64 at_once_items = u64(1) << 20, at_once_few = 64;     // few may fill the table
  static constexpr double at_once_load(u64 word_bytes) { return word_bytes <= 8 ? 0.75 : 0.65; }
  static constexpr u64 left_to_one_block = u64(1) << 14;  // items of a call, if regions leave some over
  static constexpr bool late_loops(u64 word_bytes) { return word_bytes > 8; }
  static constexpr u32 late_each = 8;  // items of a thread, at most, if only the GPU knows their number
  // Load above which a displacement may give up, and above which copies of a key wait for each other.
  static constexpr double never_full = 0.9, waiting_load = 0.85;
  // Blocks of a kernel that is launched early; items of a call whose lanes store values by themselves; and items of a
  // view's threads, that came to full buckets together, from which the threads displace together.
  static constexpr u32 early_blocks = 1024, stored_alone = 1 << 17, displaced_together = 16;

  // ---- memory ----
  static constexpr u64 mapped_from = u64(64) << 20;  // bytes of an array that can grow: pages are large
  static constexpr u64 kept_ranges = 4;              // not in use: to map one takes longer than to fill it
  static constexpr u64 mappings_each_time = 16;      // of memory that a range gets: each takes 35 us
  static constexpr u64 staging_bytes = 512, host_word_bytes = 256;  // page-locked; kernels write host words
  static constexpr u32 word_reads = 64, word_microseconds = 50, block_reads = 256;  // of a word
};

struct sm_75 : sm_90 {
  static constexpr u32 merged_at_once(u64 /*word_bytes*/) { return 1; }  // 99 KiB of sm_86's blocks suffice
  static constexpr u32 merge_block(u64 /*word_bytes*/) { return 512; }
};
struct sm_100 : sm_90 {};
// Threads that a multiprocessor holds, by compute capability (890: 8.9; 0: host code); from the CUDA guide.
constexpr u32 resident_threads(u32 arch) {
  if (arch == 0 || arch == 800 || (arch >= 900 && arch < 1200)) return 2048;
  return arch == 750 ? 1024 : 1536;
}

struct table {
  // ---- words of a counter, so that threads do not contend for one ----
  static constexpr u32 call_stripes = 32;                           // of a call's counters
  static constexpr u32 size_stripes = 32;                           // of the size that a view changes
  static constexpr u32 row_counters = 1024;                         // of an erase from rows
  static constexpr u32 count_shards = 256, slots_per_shard = 4096;  // of a bounded count of taken slots
  static constexpr u32 age_words = 64;                              // of the oldest age in robin_hood's build

  // ---- of calls ----
  static constexpr u64 few_items = u64(1) << 14;  // have their pending bits in the table's memory: 2 KiB
  static constexpr u64 window_step = 256;         // windows of items begin and end at its multiples
  static constexpr u64 first_subtables = 64 * window_step;  // items for which empty subtables grow

  // ---- of a sketch that estimates a number of keys: its standard deviation is 1.15 % ----
  static constexpr u32 sketch_registers_log2 = 13;

  static constexpr u64 presence_sample = 4096;  // keys that say whether nearly all are present

  // ---- regions that a block builds in its scratch ----
  static constexpr u64 block_scratch = 227 * 1024 - 512;  // bytes: what horton takes of sm_90's 227 KiB
  // Buckets with narrow and with wide words. Tables too full for them have larger ones, which no block builds.
  static constexpr u64 built_region = 2688, built_wide_region = 2496, unbuilt_region = 32768;
  static constexpr u64 few_regions = 128, least_region_slots = 1072;  // of a table: more blocks build
  static constexpr u64 subtables_region_bytes = u64(224) << 10;       // at most, and half of it at least
  static constexpr u64 subtables_region_slots = u64(1) << 14;  // of wide keys: smaller regions fill unevenly

  // ---- rows ----
  static constexpr u64 filtered_row = 64;   // entries: the filter of a longer row passes all keys
  static constexpr u64 section_rows = 256;  // that share free entries
};

// ---- the class of a machine ----

// By compute capability, 890 for 8.9; 0: no GPU is known.
template <u32 Arch>
using gpu_of = std::conditional_t<
    Arch == 0, sm_90,
    std::conditional_t<(Arch < 900), sm_75, std::conditional_t<(Arch < 1000), sm_90, sm_100>>>;

#if defined(__CUDA_ARCH_LIST__)
inline constexpr u32 oldest_target = [] {
  u32 oldest = ~u32(0);
  for (const u32 arch : {__CUDA_ARCH_LIST__}) oldest = arch < oldest ? arch : oldest;
  return oldest;
}();
#else
inline constexpr u32 oldest_target = 0;
#endif
using gpu = gpu_of<oldest_target>;
#if defined(__CUDA_ARCH__)
inline constexpr u32 target = __CUDA_ARCH__;
using gpu_here = gpu_of<target>;
using here = gpu_here;
#else
inline constexpr u32 target = 0;
using gpu_here = gpu;
using here = cpu;
#endif

template <class Space>
using of = std::conditional_t<Space::has_lanes, gpu, cpu>;
template <u32 Threads>
using of_block = std::conditional_t<Threads == 1, cpu, gpu>;

}  // namespace detail::tuning
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
