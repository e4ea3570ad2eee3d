// SPDX-License-Identifier: Apache-2.0
// tilehash_gpu_peers [ITEMS [LOAD_FACTOR [REPEATS]]]: tilehash::map and other libraries' tables on one GPU, in turns, with
// the same keys. Answers are checked after the last repeat of each row. The exit status is 1 if one was wrong.
#include <tilehash/map.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/space/cuda.cuh>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../numbered.hpp"
#include "gpu_table.hpp"
#include "spread.hpp"

namespace tilehash::bench {
namespace {

class our_table final : public gpu_table {
 public:
  our_table(cuda& space, u64 n, double load_factor)
      : space_(space), map_(space, n, {.load_factor = load_factor, .grow = false}) {}

  std::string name() const override { return "tilehash::map"; }
  void clear() override { map_.clear(space_); }
  bool insert(const items_on_gpu& items, u64 first, u64 last) override {
    const u64 n = last - first;
    return map_.insert(space_, {items.keys + first, n}, {items.values + first, n}).refused == 0;
  }
  void find(const u32* keys, u64 n, u32* values) override {
    map_.find_or(space_, {keys, n}, {values, n}, absent_value);
  }
  void erase(const u32* keys, u64 n) override { map_.erase(space_, {keys, n}); }

 private:
  cuda& space_;
  map<u32, u32, cuda> map_;
};

struct make_pairs {
  u32 *keys, *values;
  word_pair* pairs;
  TILEHASH_FN void operator()(u64 i) const {
    keys[i] = key_of<u32>(i);
    values[i] = value_of<u32>(keys[i]);
    pairs[i] = {keys[i], values[i]};
  }
};
struct make_lookups {
  shuffled number;
  u32* keys;
  TILEHASH_FN void operator()(u64 i) const { keys[i] = key_of<u32>(number(i)); }
};
// The numbers below n are in the table, less those of the first `erased` lookups.
struct count_wrong {
  const u32 *lookups, *answers;
  u64 n, erased;
  u64* wrong;
  TILEHASH_FN void operator()(u64 i) const {
    const bool present = number_of(lookups[i]) < n && i >= erased;
    if (answers[i] != (present ? value_of<u32>(lookups[i]) : absent_value)) detail::fetch_add(wrong, u64(1));
  }
};

class comparison {
 public:
  comparison(u64 n, double load_factor, unsigned repeats)
      : n_(n),
        repeats_(repeats),
        keys_(space_, n),
        values_(space_, n),
        present_(space_, n),
        absent_(space_, n),
        answers_(space_, n),
        pairs_(space_, n),
        wrong_(space_, 1) {
    if (number_of(empty_key) < 2 * n || number_of(erased_key) < 2 * n)
      throw std::invalid_argument("so many items contain a key that some libraries reserve");
    space_.for_each(n, make_pairs{keys_.data(), values_.data(), pairs_.data()});
    space_.for_each(n, make_lookups{shuffled(0, n), present_.data()});
    space_.for_each(n, make_lookups{shuffled(n, n), absent_.data()});
    const auto slots = static_cast<u64>(static_cast<double>(n) / load_factor);
    tables_.push_back(std::make_unique<our_table>(space_, n, load_factor));
#ifdef TILEHASH_HAS_BGHT
    tables_.push_back(make_bght(slots, space_.stream()));
#endif
#ifdef TILEHASH_HAS_CUCO
    tables_.push_back(make_cuco(slots, space_.stream()));
#endif
    tables_.push_back(make_cub_sort(n, space_.stream()));
    static_cast<void>(slots);
  }

  // Returns how many answers were wrong.
  u64 run() {
    row(
        "insert into an empty table", n_, [](gpu_table& t) { t.clear(); },
        [&](gpu_table& t) { return t.insert(items(), 0, n_); }, [](gpu_table&) { return true; });
    insert_last("insert the last 63/64", n_ - n_ / 64);
    insert_last("insert the last 1/16", n_ / 16);
    find("find, present", present_);
    find("find, absent", absent_);
    row(
        "erase half", n_ / 2, [&](gpu_table& t) { fill(t, 0, n_); },
        [&](gpu_table& t) { return t.erase(present_.data(), n_ / 2), true; },
        [](gpu_table& t) { return t.erases(); }, n_ / 2);
    return wrong_answers_;
  }

 private:
  using action = std::function<bool(gpu_table&)>;

  items_on_gpu items() const { return {keys_.data(), values_.data(), pairs_.data()}; }
  void fill(gpu_table& t, u64 first, u64 last) {
    t.clear();
    if (!t.insert(items(), first, last)) ++wrong_answers_;
  }
  void insert_last(const char* name, u64 last) {
    row(
        name, last, [&, last](gpu_table& t) { fill(t, 0, n_ - last); },
        [&, last](gpu_table& t) { return t.insert(items(), n_ - last, n_); },
        [](gpu_table& t) { return t.keeps_items(); });
  }
  void find(const char* name, const buffer<u32, cuda>& lookups) {
    row(
        name, n_, [](gpu_table&) {},
        [&](gpu_table& t) { return t.find(lookups.data(), n_, answers_.data()), true; },
        [](gpu_table& t) { return t.finds(); }, 0, &lookups);
  }

  // A line for each table, measured in turns. `lookups`: `run` has asked for them and left their answers.
  void row(const char* name, u64 count, const std::function<void(gpu_table&)>& setup, const action& run,
           const action& takes_part, u64 erased = 0, const buffer<u32, cuda>* lookups = nullptr) {
    std::vector<std::vector<double>> seconds(tables_.size());
    std::vector<u64> wrong(tables_.size());
    for (unsigned round = 0; round <= repeats_; ++round)
      for (size_t i = 0; i < tables_.size(); ++i) {
        gpu_table& t = *tables_[i];
        if (!takes_part(t)) continue;
        setup(t);
        space_.synchronize();
        bool all = false;
        const double s = space_.time([&] { all = run(t); });
        if (round != 0) seconds[i].push_back(s);
        if (!all) ++wrong[i];
        if (round == repeats_) wrong[i] += wrong_answers(t, erased, lookups);
      }
    std::printf("%s, %llu items\n", name, static_cast<unsigned long long>(count));
    double ours = 0;
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (seconds[i].empty()) continue;
      wrong_answers_ += wrong[i];
      const app::spread its(std::move(seconds[i]));
      const auto rate = [&](double s) { return static_cast<double>(count) / s / 1e9; };
      if (i == 0) ours = rate(its.median);
      std::printf("  %-26s%8.2f (%.2f to %.2f) G/s   tilehash / it %5.2f%s\n", tables_[i]->name().c_str(),
                  rate(its.median), rate(its.max), rate(its.min), ours / rate(its.median),
                  wrong[i] == 0 ? "" : "   WRONG ANSWERS");
    }
  }
  u64 wrong_answers(gpu_table& t, u64 erased, const buffer<u32, cuda>* lookups) {
    if (!t.finds()) return 0;
    const auto& asked = lookups != nullptr ? *lookups : present_;
    if (lookups == nullptr) t.find(asked.data(), n_, answers_.data());
    space_.fill(wrong_.data(), 1, u64(0));
    space_.for_each(n_, count_wrong{asked.data(), answers_.data(), n_, erased, wrong_.data()});
    return wrong_.to_host()[0];
  }

  cuda space_;
  u64 n_;
  unsigned repeats_;
  buffer<u32, cuda> keys_, values_, present_, absent_, answers_;
  buffer<word_pair, cuda> pairs_;
  buffer<u64, cuda> wrong_;
  std::vector<std::unique_ptr<gpu_table>> tables_;
  u64 wrong_answers_ = 0;
};

std::string gpu_name() {
  cudaDeviceProp properties{};
  detail::check_cuda(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's name");
  return properties.name;
}

}  // namespace
}  // namespace tilehash::bench

int main(int argc, char** argv) {
  namespace bench = tilehash::bench;
  try {
    const tilehash::u64 n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : tilehash::u64(1) << 26;
    const double load_factor = argc > 2 ? std::strtod(argv[2], nullptr) : 0.8;
    const auto repeats = argc > 3 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : 7U;
    if (n < 64 || load_factor <= 0 || load_factor >= 1 || repeats == 0)
      throw std::invalid_argument("usage: tilehash_gpu_peers [ITEMS [LOAD_FACTOR [REPEATS]]]");
    std::printf("%s, %llu pairs of 32 + 32 bits, load factor %g; median (slowest to fastest) of %u\n",
                bench::gpu_name().c_str(), static_cast<unsigned long long>(n), load_factor, repeats);
    const auto wrong = bench::comparison(n, load_factor, repeats).run();
    std::printf("%llu wrong answers\n", static_cast<unsigned long long>(wrong));
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tilehash_gpu_peers: %s\n", e.what());
    return 2;
  }
}
