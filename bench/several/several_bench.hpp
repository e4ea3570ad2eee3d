// SPDX-License-Identifier: Apache-2.0
// The calls that are timed over several ranks: builds, lookups, updates, groups.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <tilehash/map.hpp>
#include <tilehash/several/distributed.hpp>
#include <tilehash/several/group_by.hpp>

namespace tilehash::bench {

using clock = std::chrono::steady_clock;
inline double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}
// The time of all threads of this process.
inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
inline double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

struct several_options {
  u64 items = u64(1) << 22;  // of a rank
  u32 ranks = 2, threads = 1;
  u32 calls = 7;
  u32 windows = 1;      // 0: GPUs of one process copy
  u32 shares_gpus = 0;  // 1: more ranks than GPUs
  u32 gpus = 1;         // of the machine

  // Reads --NAME N, with N a number or 2^N.
  several_options(int argc, char** argv, u64 usual_items) : items(usual_items) {
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string name = argv[i], text = argv[i + 1];
      const u64 n = text.starts_with("2^") ? u64(1) << std::strtoul(text.c_str() + 2, nullptr, 10)
                                           : std::strtoull(text.c_str(), nullptr, 10);
      if (name == "--items")
        items = n;
      else if (name == "--ranks")
        ranks = static_cast<u32>(n);
      else if (name == "--threads")
        threads = static_cast<u32>(n);
      else if (name == "--calls")
        calls = static_cast<u32>(n);
      else if (name == "--windows")
        windows = static_cast<u32>(n);
      else if (name == "--share")
        shares_gpus = static_cast<u32>(n);
      else
        usage();
    }
    if (argc % 2 == 0 || items < 65536 || ranks == 0 || threads == 0 || calls == 0) usage();
  }
  [[noreturn]] static void usage() {
    std::fprintf(stderr,
                 "usage: tilehash_several [--items N] [--ranks N] [--threads N] [--calls N] [--windows 0] "
                 "[--share 1]\n");
    std::exit(2);
  }
};

// An exchange whose calls are timed.
template <class Exchange>
class timed {
 public:
  explicit timed(Exchange& real) : real_(&real) {}
  u32 rank() const { return real_->rank(); }
  u32 size() const { return real_->size(); }
  void all_gather(std::span<const u64> mine, std::span<u64> all) {
    const auto begin = clock::now();
    real_->all_gather(mine, all);
    words += seconds_since(begin);
  }
  void all_to_all(const several::sent_parts& sent, const several::received_parts& received) {
    const auto begin = clock::now();
    real_->all_to_all(sent, received);
    items += seconds_since(begin);
  }
  template <class Space>
  Space& memory(Space& space) {
    return detail::memory_of(*real_, space);
  }
  bool has_windows() const
    requires detail::windowed<Exchange>
  {
    return real_->has_windows();
  }
  void fence()
    requires detail::windowed<Exchange>
  {
    const auto begin = clock::now();
    real_->fence();
    words += seconds_since(begin);
  }
  double words = 0, items = 0;  // seconds

 private:
  Exchange* real_;
};

// Each number once (a bijection).
TILEHASH_FN u32 scrambled(u32 x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}
TILEHASH_FN u32 value_of(u32 key) { return key * 0x9e3779b1U ^ 0x55555555U; }

struct draw_items {
  u64 first, every;  // each `every`th key is one key; 0: none is
  u32 *keys, *values;
  TILEHASH_FN void operator()(u64 i) const {
    const bool one = every != 0 && i % every == 0;
    keys[i] = scrambled(static_cast<u32>(one ? 1 : first + i));
    values[i] = value_of(keys[i]);
  }
};
struct draw_groups {
  u64 first;
  u32 groups;
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = scrambled(static_cast<u32>(first + i)) % groups; }
};
struct count_wrong {
  const u32 *keys, *out;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    if (out[i] != value_of(keys[i])) detail::fetch_add(wrong, u64(1));
  }
};

// The medians of one call.
struct row {
  double seconds = 0, items = 0, words = 0;
};

// The rows of one rank. `Table` is a distributed<> or a plain table.
template <class Space, class Exchange>
class several_bench {
 public:
  several_bench(Space& space, timed<Exchange>& exchange, const several_options& options, const char* name)
      : space_(space),
        exchange_(exchange),
        options_(options),
        name_(name),
        keys_(space, options.items),
        values_(space, options.items),
        out_(space, options.items) {}

  void run() {
    draw(0);
    if (exchange_.size() == 1) {
      map<u32, u32, Space> table(space_);
      time("one table: build", keys_.size(),
           [&] { check(table.build(space_, keys_.span(), values_.span())); });
      time("one table: find_or", keys_.size(), [&] { look_up(table, keys_.size()); });
      expect_right(keys_.size());
      time("one table: find_or of 65536", few, [&] { look_up(table, few); });
    }
    several::distributed<map<u32, u32, Space>, timed<Exchange>> table(space_, exchange_);
    time("build", keys_.size(), [&] { check(table.build(space_, keys_.span(), values_.span())); });
    time("find_or", keys_.size(), [&] { look_up(table, keys_.size()); });
    expect_right(keys_.size());
    time("find_or of 65536", few, [&] { look_up(table, few); });
    time("insert_or_assign of present keys", keys_.size(),
         [&] { check(table.insert_or_assign(space_, keys_.span(), values_.span())); });
    draw(2);
    time("find_or, half of one key", keys_.size(), [&] { look_up(table, keys_.size()); });
    expect_right(keys_.size());
    time("insert_or_assign, half of one key", keys_.size(),
         [&] { check(table.insert_or_assign(space_, keys_.span(), values_.span())); });
    for (const u32 groups : {100U, 1U << 20}) {
      space_.for_each(keys_.size(), draw_groups{first(), groups, keys_.data()});
      u64 found = 0;
      time("value_counts of " + std::to_string(groups) + " keys", keys_.size(), [&] {
        found = several::value_counts(space_, exchange_, std::span<const u32>(keys_.span())).size();
      });
      if (exchange_.size() == 1 && groups == 100 && found != groups) ++wrong_;
    }
    if (wrong_ != 0) std::printf("%s: rank %u: %llu answers were WRONG\n", name_, exchange_.rank(), wrong_);
  }
  bool right() const { return wrong_ == 0; }

 private:
  static constexpr u64 few = 65536;

  u64 first() const { return exchange_.rank() * options_.items + 1; }
  void draw(u64 every) {
    space_.for_each(keys_.size(), draw_items{first(), every, keys_.data(), values_.data()});
    space_.synchronize();
  }
  void check(const insert_report& report) { wrong_ += report.refused; }
  template <class Table>
  void look_up(Table& table, u64 n) {
    table.find_or(space_, keys_.first(n), out_.first(n), 7);
    space_.synchronize();
  }
  void expect_right(u64 n) {
    const buffer<u64, Space> wrong(space_, 1);
    space_.fill(wrong.data(), 1, u64(0));
    space_.for_each(n, count_wrong{keys_.data(), out_.data(), wrong.data()});
    wrong_ += read_one(space_, wrong.data());
  }
  template <class Call>
  void time(const std::string& what, u64 n, const Call& call) {
    std::vector<double> all, items, words, processors;
    for (u32 c = 0; c <= options_.calls; ++c) {
      std::vector<u64> meet(exchange_.size());
      exchange_.all_gather(std::vector<u64>{c}, meet);
      exchange_.items = exchange_.words = 0;
      const double processor_begin = processor_seconds();
      const auto begin = clock::now();
      call();
      if (c == 0) continue;  // memory is allocated
      all.push_back(seconds_since(begin));
      processors.push_back(processor_seconds() - processor_begin);
      items.push_back(exchange_.items);
      words.push_back(exchange_.words);
    }
    if (exchange_.rank() != 0) return;
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    constexpr double us = 1e6;
    std::printf("%s, %u, %s, %.3f, %.0f, %.0f to %.0f, %.0f, %.0f, %.0f\n", name_, exchange_.size(),
                what.c_str(), static_cast<double>(n) / median(all) / 1e9, us * median(all), us * *least,
                us * *most, us * median(items), us * median(words), us * median(processors));
    std::fflush(stdout);
  }

  Space& space_;
  timed<Exchange>& exchange_;
  const several_options& options_;
  const char* name_;
  buffer<u32, Space> keys_, values_, out_;
  unsigned long long wrong_ = 0;
};

inline void print_heading(const several_options& options) {
  std::printf(
      "# %llu pairs of 32 + 32 bits a rank, load factor 0.8, medians of %u calls of rank 0\n"
      "exchange, ranks, call, G/s a rank, us, us least to most, us in all_to_all, us in all_gather, "
      "us of processors\n",
      static_cast<unsigned long long>(options.items), options.calls);
}

}  // namespace tilehash::bench
