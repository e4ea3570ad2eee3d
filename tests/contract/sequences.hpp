// SPDX-License-Identifier: Apache-2.0
// Any sequence of calls leaves the same contents in a table and in std::unordered_map. RapidCheck generates
// the sequences and shortens the first that fails. The tables are small, and grow and shrink all the time.
//
// The includer names the space, `sequence_space`; `sequences_at_once`, how many run concurrently; and
// `sequence_keys`, the number of different keys (sequence_space.*). TILEHASH_SEQUENCES in the environment
// sets the number of sequences.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <contract/random.hpp>
#include <tilehash/space/buffer.hpp>
#include <tilehash/table.hpp>

namespace tilehash::contract {

enum class call : u8 { insert, assign, add, erase, mixed, reserve, rehash, shrink, clear, build };

struct step {
  call what;
  u32 first;  // the number of the first key, ...
  u32 count;  // ... of so many keys, ...
  u32 times;  // ... so many times each
};
inline std::ostream& operator<<(std::ostream& out, const step& s) {
  constexpr const char* names[] = {"insert",  "insert_or_assign", "insert_or_apply", "erase", "mixed",
                                   "reserve", "rehash",           "shrink_to_fit",   "clear", "build"};
  return out << names[static_cast<u8>(s.what)] << " " << s.first << "+" << s.count << " x" << s.times;
}

template <class Design>
class sequence_run {
  using key = typename Design::key_type;
  using value = typename Design::mapped_type;
  static constexpr u32 universe = sequence_keys;

 public:
  sequence_run(sequence_space& here, const table_options& options) : space_(here), table_(here, 0, options) {
    for (u32 i = 0; i < universe; ++i) all_.push_back(key_of(i));
  }

  static rc::Gen<step> any_step() {
    return rc::gen::build<step>(rc::gen::set(&step::what, rc::gen::weightedElement<call>({{8, call::insert},
                                                                                          {4, call::assign},
                                                                                          {4, call::add},
                                                                                          {8, call::erase},
                                                                                          {6, call::mixed},
                                                                                          {1, call::reserve},
                                                                                          {2, call::rehash},
                                                                                          {1, call::shrink},
                                                                                          {1, call::clear},
                                                                                          {1, call::build}})),
                                rc::gen::set(&step::first, rc::gen::inRange<u32>(0, universe)),
                                rc::gen::set(&step::count, rc::gen::inRange<u32>(0, universe)),
                                rc::gen::set(&step::times, rc::gen::inRange<u32>(1, 4)));
  }

  void play(const step& s) {
    ++serial_;
    keys_.clear(), values_.clear();
    for (u32 t = 0; t < s.times; ++t) {
      for (u32 i = s.first; i < s.first + s.count && i < universe; ++i)
        keys_.push_back(key_of(i)), values_.push_back(value_of(i));
    }
    const buffer<key, space> k(space_, keys_);
    const buffer<value, space> v(space_, values_);
    switch (s.what) {
      case call::insert:
        expect(table_.insert(space_, k.span(), v.span()), insert());
        break;
      case call::assign:
        expect(table_.insert_or_assign(space_, k.span(), v.span()), assign());
        break;
      case call::add:
        expect(table_.insert_or_apply(space_, k.span(), v.span(), op::sum{}), add());
        break;
      case call::erase:
        RC_ASSERT(table_.erase(space_, k.span()) == erase());
        break;
      case call::mixed:
        mix(k.span(), v.span());
        break;
      case call::reserve:
        table_.reserve(space_, s.count);
        break;
      case call::rehash:
        table_.rehash(space_, s.count / 4);
        break;
      case call::shrink:
        table_.shrink_to_fit(space_);
        break;
      case call::clear:
        table_.clear(space_);
        model_.clear();
        break;
      case call::build:
        model_.clear();
        expect(table_.build(space_, k.span(), v.span()), insert());
        break;
    }
    compare();
  }

 private:
  using space = sequence_space;
  static key key_of(u32 i) { return static_cast<key>(i == 0 ? ~u64(0) : i == 1 ? ~u64(0) - 1 : mix64(i)); }
  // Equal keys of one call get equal values, so that any winner is right.
  value value_of(u32 i) const { return static_cast<value>(mix64(u64(serial_) << 32 | i)); }

  u64 insert() {
    u64 fresh = 0;
    for (u64 i = 0; i < keys_.size(); ++i) fresh += model_.try_emplace(keys_[i], values_[i]).second;
    return fresh;
  }
  u64 assign() {
    u64 fresh = 0;
    for (u64 i = 0; i < keys_.size(); ++i) fresh += model_.insert_or_assign(keys_[i], values_[i]).second;
    return fresh;
  }
  u64 add() {
    u64 fresh = 0;
    for (u64 i = 0; i < keys_.size(); ++i) {
      const auto [at, is_new] = model_.try_emplace(keys_[i], value(0));
      at->second = static_cast<value>(at->second + values_[i]);
      fresh += is_new;
    }
    return fresh;
  }
  u64 erase() {
    u64 gone = 0;
    for (const key& k : keys_) gone += model_.erase(k);
    return gone;
  }
  void expect(const insert_report& report, u64 inserted) {
    RC_ASSERT(report.inserted == inserted);
    RC_ASSERT(report.refused == 0U);
    RC_ASSERT(report.present == keys_.size() - inserted);
  }

  // Operations in turn on the keys, which repeat: so a key gets several operations.
  void mix(std::span<const key> k, std::span<const value> v) {
    std::vector<operation> ops(keys_.size());
    for (u64 i = 0; i < ops.size(); ++i) ops[i] = static_cast<operation>(mix64(serial_ * 7919 + i) % 4);
    const auto before = model_;
    const auto with = [&](operation what, auto use) {
      for (u64 i = 0; i < ops.size(); ++i) {
        if (ops[i] == what) use(i);
      }
    };
    apply_report expected;
    with(operation::find, [&](u64 i) { expected.found += before.contains(keys_[i]); });
    with(operation::erase, [&](u64 i) { expected.erased += model_.erase(keys_[i]); });
    u64 inserts = 0, assigns = 0;
    with(operation::insert, [&](u64 i) {
      ++inserts;
      expected.inserted.inserted += model_.try_emplace(keys_[i], values_[i]).second;
    });
    with(operation::insert_or_assign, [&](u64 i) {
      ++assigns;
      expected.assigned.inserted += model_.insert_or_assign(keys_[i], values_[i]).second;
    });
    const buffer<operation, space> o(space_, ops);
    const buffer<value, space> out(space_, std::vector<value>(ops.size(), value(77)));
    const buffer<bool, space> found(space_, ops.size());
    const apply_report got = table_.apply(space_, o.span(), k, v, out.span(), found.span());
    RC_ASSERT(got.found == expected.found);
    RC_ASSERT(got.erased == expected.erased);
    RC_ASSERT(got.inserted.inserted == expected.inserted.inserted);
    RC_ASSERT(got.inserted.present == inserts - expected.inserted.inserted);
    RC_ASSERT(got.assigned.inserted == expected.assigned.inserted);
    RC_ASSERT(got.assigned.present == assigns - expected.assigned.inserted);
    const auto values = out.to_host();
    const auto flags = found.to_host();
    for (u64 i = 0; i < ops.size(); ++i) {
      const auto at = before.find(keys_[i]);
      if (ops[i] != operation::find) {
        RC_ASSERT(values[i] == value(77));
      } else {
        RC_ASSERT(flags[i] == (at != before.end()));
        RC_ASSERT(values[i] == (at != before.end() ? at->second : value(0)));
      }
    }
  }

  void compare() {
    RC_ASSERT(table_.size() == model_.size());
    const buffer<key, space> k(space_, all_);
    const buffer<value, space> out(space_, universe);
    const buffer<bool, space> found(space_, universe);
    table_.find(space_, k.span(), out.span(), found.span());
    const auto values = out.to_host();
    const auto flags = found.to_host();
    for (u32 i = 0; i < universe; ++i) {
      const auto at = model_.find(all_[i]);
      RC_ASSERT(flags[i] == (at != model_.end()));
      if (flags[i]) RC_ASSERT(values[i] == at->second);
    }
    const buffer<key, space> items(space_, table_.size());
    const buffer<value, space> beside(space_, table_.size());
    RC_ASSERT(table_.retrieve_all(space_, items.span(), beside.span()) == model_.size());
    std::unordered_map<key, value> seen;
    const auto host = items.to_host();
    for (u64 i = 0; i < host.size(); ++i) RC_ASSERT(seen.try_emplace(host[i], value(0)).second);
  }

  space& space_;
  table<Design, space> table_;
  std::unordered_map<key, value> model_;
  std::vector<key> all_, keys_;
  std::vector<value> values_;
  u32 serial_ = 0;
};

// A table and the calls on it.
struct sequence {
  std::vector<step> steps;
  double load;
  u64 seed;
  bool shrinks;
  std::pair<double, double> bounds;

  table_options options() const {
    return {.load_factor = load,
            .seed = seed,
            .shrink_below = shrinks ? load / 2 : 0,
            .alpha = bounds.first,
            .beta = bounds.second};
  }
};
inline std::ostream& operator<<(std::ostream& out, const sequence& s) {
  out << "load factor " << s.load << ", seed " << s.seed << (s.shrinks ? ", shrinks, " : ", ")
      << s.bounds.first << " to " << s.bounds.second;
  for (const step& its : s.steps) out << "; " << its;
  return out;
}
template <class Design>
rc::Gen<sequence> any_sequence() {
  return rc::gen::build<sequence>(
      rc::gen::set(&sequence::steps, rc::gen::container<std::vector<step>>(sequence_run<Design>::any_step())),
      rc::gen::set(&sequence::load, rc::gen::element(0.3, 0.7, 0.8, 0.9)),
      rc::gen::set(&sequence::seed, rc::gen::arbitrary<u64>()),
      rc::gen::set(&sequence::shrinks, rc::gen::arbitrary<bool>()),
      rc::gen::set(&sequence::bounds,
                   rc::gen::element(std::pair{0.4, 0.9}, std::pair{0.1, 0.6}, std::pair{0.6, 0.95})));
}

// Plays sequences concurrently, each by a thread in a space of its own; throws the exception of the first
// that fails.
template <class Design>
void play_together(sequence_space* spaces, const std::vector<sequence>& all) {
  const auto play = [&](u64 i) {
    sequence_run<Design> run(spaces[i], all[i].options());
    for (const step& its : all[i].steps) run.play(its);
  };
  if (all.size() == 1) return play(0);
  std::vector<std::exception_ptr> failures(all.size());
  std::vector<std::thread> threads;
  for (u64 i = 0; i < all.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        play(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

template <class Design>
class sequences : public ::testing::Test {};
TYPED_TEST_SUITE_P(sequences);

TYPED_TEST_P(sequences, leave_what_a_map_has) {
  const char* asked = std::getenv("TILEHASH_SEQUENCES");
  const u64 most = asked != nullptr ? std::strtoull(asked, nullptr, 10)
                   : large_sizes()  ? 20 * sequence_count
                                    : scaled(sequence_count, std::max<u64>(3, sequence_count / 15));
  ASSERT_GT(most, 0U) << "TILEHASH_SEQUENCES=" << asked << " is no number of sequences";
  rc::detail::TestParams params;
  params.seed = run_seed();
  params.maxSuccess = static_cast<int>((most + sequences_at_once - 1) / sequences_at_once);
  params.maxSize = 24;  // steps
  u64 played = 0;
  sequence_space spaces[sequences_at_once];  // their memory stays allocated between sequences
  const auto result = rc::detail::checkTestable(
      [&] {
        play_together<TypeParam>(
            spaces, *rc::gen::container<std::vector<sequence>>(sequences_at_once, any_sequence<TypeParam>()));
        played += sequences_at_once;
      },
      rc::detail::TestMetadata(), params);
  this->RecordProperty("sequences", std::to_string(played));
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  FAIL() << text.str();
}
REGISTER_TYPED_TEST_SUITE_P(sequences, leave_what_a_map_has);

}  // namespace tilehash::contract
