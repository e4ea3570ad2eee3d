// SPDX-License-Identifier: Apache-2.0
// YCSB's core workloads: what comes next, and on which record.
//
// Sources: B. Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC 2010, whose program's
// generators these are; J. Gray et al., Quickly Generating Billion-Record Synthetic Databases, SIGMOD 1994.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace kv_store {

using count = std::uint64_t;  // records are numbered by it in the order of their insertion
using random_source = std::mt19937_64;

enum class write_kind { none, update, insert, read_modify_write };

struct workload {
  char name;
  const char* what;
  double reads;  // of all operations; the others are writes
  write_kind writes;
  bool latest = false;  // are new records asked for most, or some that lie anywhere?
};
inline constexpr std::array<workload, 5> workloads{{
    {'A', "50 % read, 50 % update", 0.50, write_kind::update},
    {'B', "95 % read, 5 % update", 0.95, write_kind::update},
    {'C', "100 % read", 1.00, write_kind::none},
    {'D', "95 % read latest, 5 % insert", 0.95, write_kind::insert, true},
    {'F', "50 % read, 50 % read-modify-write", 0.50, write_kind::read_modify_write},
}};

// FNV-1a of the eight bytes of x. YCSB's is a long of Java's without its sign, hence the smaller of two.
inline std::uint64_t fnv(std::uint64_t x) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < 8; ++i, x >>= 8) hash = (hash ^ (x & 0xff)) * 0x100000001b3;
  return std::min(hash, 0 - hash);
}

inline double uniform(random_source& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// Draws 0, 1, ... items - 1; item i with a probability in proportion to 1 / (i + 1)^theta.
class zipfian {
 public:
  static constexpr double theta = 0.99;

  // `sum` is that of all 1 / i^theta.
  zipfian(count items, double sum) : items_(items), sum_(sum), eta_(eta()) {}
  explicit zipfian(count items) { grow(items); }

  // O(new items).
  void grow(count items) {
    while (items_ < items) sum_ += std::pow(static_cast<double>(++items_), -theta);
    eta_ = eta();
  }
  count operator()(random_source& random) const {
    const double u = uniform(random), reached = u * sum_;
    if (reached < 1) return 0;
    if (reached < first_two) return 1;
    const double part = std::pow(eta_ * u - eta_ + 1, 1 / (1 - theta));
    return std::min(static_cast<count>(static_cast<double>(items_) * part), items_ - 1);
  }

 private:
  inline static const double first_two = 1 + std::pow(0.5, theta);

  double eta() const {
    return (1 - std::pow(2 / static_cast<double>(items_), 1 - theta)) / (1 - first_two / sum_);
  }

  count items_ = 0;
  double sum_ = 0, eta_ = 0;
};

// Operations that are handed to the store together. A read-modify-write is in both lists.
struct batch {
  std::vector<count> reads, writes;
};

class requests {
 public:
  requests(const workload& of, count records)
      : of_(of), popular_(10'000'000'000, 26.46902820178302), latest_(of.latest ? records : 1) {}

  // The next ones, of a store of so many records, to which inserts add. Reads are of records that were present
  // before the batch.
  batch next(count operations, count& records) {
    batch b;
    const count known = records;
    if (of_.latest) latest_.grow(known);
    for (count i = 0; i < operations; ++i) {
      const bool is_read = uniform(random_) < of_.reads;
      const bool is_insert = !is_read && of_.writes == write_kind::insert;
      const count record = is_insert ? records++ : draw(known);
      if (is_read || of_.writes == write_kind::read_modify_write) b.reads.push_back(record);
      if (!is_read) b.writes.push_back(record);
    }
    return b;
  }

 private:
  // As YCSB does, popular records are drawn of ten billion, whose sum is known, and scattered over those
  // there.
  count draw(count known) {
    return of_.latest ? known - 1 - latest_(random_) : fnv(popular_(random_)) % known;
  }

  workload of_;
  zipfian popular_, latest_;
  random_source random_;  // the same requests for every table
};

}  // namespace kv_store
