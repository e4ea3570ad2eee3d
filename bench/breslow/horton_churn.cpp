// SPDX-License-Identifier: Apache-2.0
#include "breslow/horton_churn.hpp"

#include <tilehash/designs/horton.hpp>
#include <tilehash/papers/horton_lazy.hpp>

#include <random>
#include <utility>

#include "breslow/horton_tables.hpp"

namespace tilehash::bench {
namespace {

// The control: what left its primary bucket stays away, and no entry is taken back.
template <u32 Slots>
struct horton_untidied : horton<u32, u32, Slots> {
  using horton<u32, u32, Slots>::horton;
  template <class Space>
  using engine = tilehash::engine::insertion<horton_untidied, Space>;
  TILEHASH_FN bool tidies_after(u64 /*erased*/) const { return false; }
};

// One of the tables that all get the same calls.
template <class Design>
class churned {
 public:
  churned(cpu& space, const char* home, u64 items, double load) : home_(home), table_(space, items, load) {}

  void insert(std::span<const u32> keys) {
    const insert_report report = table_.insert(keys);
    refused_ += report.refused;
    wrong_ += report.present;
  }
  // Keys that were refused when they came cannot be erased.
  void erase(std::span<const u32> keys) { gone_without_ += keys.size() - table_.erase(keys); }

  churn_row look(churn_row row, std::span<const u32> keys, std::span<const u32> others) {
    const lookups_read there = table_.look_up(keys), none = table_.look_up(others);
    row.home = home_;
    row.found = there.buckets;
    row.not_found = none.buckets;
    row.type_b = table_.type_b();
    row.failed = refused_ - std::exchange(reported_, refused_);
    row.wrong = std::exchange(wrong_, 0) + there.wrong + none.wrong + (others.size() - none.missing) +
                (there.missing != refused_ - gone_without_);
    return row;
  }

 private:
  const char* home_;
  counted_table<Design> table_;
  u64 refused_ = 0, reported_ = 0, gone_without_ = 0, wrong_ = 0;
};

template <u32 Slots>
void churn(cpu& space, const churn_case& c, double load, const std::function<void(const churn_row&)>& tell) {
  using eager_type = horton<u32, u32, Slots>;
  using lazy_type = papers::horton_lazy<u32, u32, Slots>;
  const u64 n = static_cast<u64>(load * static_cast<double>(c.table_slots));
  churned<eager_type> eager(space, "eager", n, load);
  churned<lazy_type> lazy(space, "lazy", n, load);
  churned<horton_untidied<Slots>> never(space, "never", n, load);
  const auto all = [&](auto call) { call(eager), call(lazy), call(never); };

  u64 next = n;  // number of a key that has never come
  auto keys = numbered_keys(0, n);
  const auto others = numbered_keys(u64(1) << 31, n);  // these never do
  all([&](auto& t) { t.insert(keys); });
  for (unsigned round = 0; round <= c.rounds; ++round) {
    if (round != 0) {
      std::ranges::shuffle(keys, std::mt19937_64(round));
      const u64 tenth = n / 10;
      for (unsigned call = 0; call < c.calls; ++call) {  // the first of them go
        const u64 from = tenth * call / c.calls, to = tenth * (call + 1) / c.calls;
        const auto part = std::span(keys).subspan(from, to - from);
        all([&](auto& t) { t.erase(part); });
        std::ranges::copy(numbered_keys(next, part.size()), part.begin());
        next += part.size();
        all([&](auto& t) { t.insert(part); });
      }
    }
    const churn_row blank{.slots = Slots, .load = load, .round = round, .items = n};
    all([&](auto& t) { tell(t.look(blank, keys, others)); });
    churned<eager_type> fresh(space, "fresh", n, load);
    fresh.insert(keys);
    tell(fresh.look(blank, keys, others));
  }
}

}  // namespace

void count_churn(const churn_case& the_case, const std::function<void(const churn_row&)>& tell) {
  cpu space;
  churn<8>(space, the_case, 0.9, tell);
  churn<4>(space, the_case, 0.85, tell);
}

}  // namespace tilehash::bench
