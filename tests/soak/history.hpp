// SPDX-License-Identifier: Apache-2.0
// A random history of one table: bulk calls of every verb that it has, growth, turnover, streams, views,
// memory that ends. After each call the table is asked for the keys that were touched, and now and then for
// everything.
// length: one class, whose members are the calls of a history.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <contract/table_subject.hpp>
#include <soak/universe.hpp>
#include <tilehash/engine/multi.hpp>
#include <tilehash/engine/records.hpp>
#include <tilehash/table.hpp>

namespace tilehash::soak {

enum class change : u8 { insert, assign, add, erase };
inline const char* name_of(change what) {
  constexpr const char* names[] = {"insert", "insert_or_assign", "insert_or_apply", "erase"};
  return names[static_cast<u8>(what)];
}

// The work of each thread of the caller with its key.
template <class View, class Key, class Value, class Op>
struct change_by_view {
  View view;
  const Key* keys;
  const Value* values;
  outcome* outcomes;
  change what;

  TILEHASH_FN void operator()(u64 i) const { outcomes[i] = one(keys[i], values[i]); }
  TILEHASH_FN outcome one(const Key& key, const Value& value) const {
    if (what == change::erase) return view.erase(key) ? outcome::present : outcome::refused;
    if constexpr (View::is_set) {
      return view.insert(key);
    } else {
      if constexpr (requires { view.insert_or_assign(key, value); }) {
        if (what == change::assign) return view.insert_or_assign(key, value);
        if (what == change::add) return view.insert_or_apply(key, value, Op{});
      }
      return view.insert(key, value);
    }
  }
};

template <class Design, class Place>
class history {
  using space_type = typename Place::space_type;
  using table_type = table<Design, space_type>;
  using key = typename Design::key_type;
  using value = typename table_type::value_element;
  template <class T>
  using array = buffer<T, space_type>;
  using op_type = std::conditional_t<std::is_integral_v<value>, op::sum, contract::sum_of_bytes>;
  static constexpr bool is_set = table_type::is_set;
  static constexpr bool inserts = insertable<Design>, adds_items = table_type::adds_items;
  static constexpr bool keeps_all = multivalue<Design>;
  static constexpr bool erases = requires(table_type t, space_type& s) { t.erase(s, {}); };
  static constexpr bool reserves = requires(table_type t, space_type& s) { t.reserve(s, u64(0)); };
  static constexpr bool has_async =
      changed_in_place<Design> && !replacing<Design> && erases_in_place<Design> && !is_set;
  static constexpr bool has_views = view_changeable<Design> && erases_in_place<Design>;
  static constexpr u64 mask = is_set ? 0 : word_mask<value>;

 public:
  static void play(round& r) { history(r).run(); }

 private:
  // The arguments of one call. Equal keys get words that differ in three bits.
  struct batch {
    std::vector<u32> numbers, touched;
    std::vector<u64> words;
    std::vector<key> keys;
    std::vector<value> values;
    u64 size() const { return numbers.size(); }
  };
  struct answers {
    std::vector<u8> found;
    std::vector<u64> words;
  };

  explicit history(round& r)
      : r_(r),
        dice_(r.dice),
        faulty_(r.dice.one_in(4)),
        place_(r.dice, faulty_),
        options_(any_options()),
        keys_(any_keys<key>(r, r.any_size(2 * r.most))),
        held_(keys_.size()),
        scratch_(keys_.size()),
        table_(place_.home(), dice_.one_in(2) ? 0 : dice_.below(2 * keys_.size()), options_) {
    r_.note(std::to_string(keys_.size()) + " keys, load factor " +
            std::to_string(double(options_.load_factor)) + ", seed " + std::to_string(*options_.seed) +
            (options_.grow ? "" : ", fixed") + (faulty_ ? ", faulty memory" : ""));
  }
  table_options any_options() {
    double load = 0.1 + 0.01 * static_cast<double>(dice_.below(89));
    if constexpr (keeps_all) load = dice_.one_in(2) ? load : 4 * load;
    table_options options{.load_factor = std::min(load, detail::highest_load_factor<Design>()),
                          .seed = dice_.one_in(2) ? contract::known_seed : dice_(),
                          .grow = !inserts || !dice_.one_in(4),
                          .slack = 0.25 * static_cast<double>(dice_.below(5))};
    if (inserts && dice_.one_in(4)) options.shrink_below = options.load_factor / 2;
    return options;
  }

  void run() {
    u64 budget = 8 * r_.most;
    for (u64 steps = 2 + dice_.below(40); steps != 0; --steps) {
      const u64 n = dice_.one_in(16) ? 0 : r_.any_size(std::min(r_.most, 2 * keys_.size()));
      step(n);
      expect_equal(table_.size(), size_, "size()");
      if (dice_.one_in(keys_.size() < 5'000 ? 2 : 8)) verify_all();
      if (n > budget) break;
      budget -= n;
    }
    verify_all();
  }

  space_type& any_space() { return dice_.one_in(4) ? place_.other() : place_.home(); }

  void step(u64 n) {
    const u64 choice = dice_.below(20);
    if constexpr (inserts) {
      if (choice < 5) return change_it(change::insert, n);
      if (choice < 7) return is_set ? change_it(change::insert, n) : change_it(change::assign, n);
      if (choice < 9) return is_set ? change_it(change::insert, n) : change_it(change::add, n);
      if (choice < 12) return change_it(change::erase, n);
      if constexpr (has_async) {
        if (choice == 12 && !options_.grow) return change_async(n);
      }
      if constexpr (has_views) {
        if (choice < 14) return change_by_views(n);
      }
      if constexpr (!is_set) {
        if (choice == 14) return mix(n);
      }
    } else if constexpr (adds_items) {
      if (choice < 8) return add(n);
      if (choice < 13 && erases) return change_it(change::erase, n);
    }
    if (choice == 15) return copy_or_move();
    if constexpr (reserves) {
      if (choice < 18) return change_capacity(n);
    }
    if (choice == 18 && dice_.one_in(2)) return clear();
    build(n);
  }

  // ---- what a call is given ----
  batch any_batch(u64 n) {
    batch b;
    b.numbers = any_numbers(r_, keys_.size(), n);
    ++serial_;
    for (u64 i = 0; i < n; ++i) {
      const u32 k = b.numbers[i];
      scratch& s = scratch_[k];
      if (s.serial != serial_) s = scratch(serial_), b.touched.push_back(k);
      const u64 word = given_base(k) | (keeps_all ? serial_ * 16 + (i & 15) : s.times) % low;
      ++s.times;
      b.words.push_back(word & mask);
      b.keys.push_back(keys_[k]);
      b.values.push_back(value_from<value>(word & mask));
    }
    return b;
  }
  static constexpr u64 low = keeps_all ? 256 : 8;
  u64 given_base(u32 k) const { return mix64(u64(keeps_all ? 0 : serial_) << 32 | k) / low * low; }
  // Is it the word of an item that the call gave this key? (Of tables that keep all items: that any call
  // gave.)
  bool is_given(u32 k, u64 word) const { return ((word ^ given_base(k)) & mask) / low == 0; }

  // ---- what a table answers ----
  template <class T>
  array<T> there(const std::vector<T>& host) {
    return array<T>(place_.home(), std::span<const T>(host));
  }
  std::vector<key> keys_of(const std::vector<u32>& numbers) const {
    std::vector<key> k;
    k.reserve(numbers.size());
    for (const u32 i : numbers) k.push_back(keys_[i]);
    return k;
  }
  static answers together(const auto& found, const auto& values) {
    answers a;
    a.found.assign(found.begin(), found.end());
    for (const auto& v : values) a.words.push_back(is_set ? 0 : word_from(v));
    return a;
  }
  answers find(const std::vector<u32>& numbers) {
    const auto k = there(keys_of(numbers));
    const array<value> out(place_.home(), numbers.size());
    const array<bool> found(place_.home(), numbers.size());
    if constexpr (is_set) {
      table_.contains(any_space(), k.span(), found.span());
      return together(found.to_host(), std::vector<value>(numbers.size()));
    } else {
      table_.find(any_space(), k.span(), out.span(), found.span());
      return together(found.to_host(), out.to_host());
    }
  }

  // ---- judging ----
  [[noreturn]] void wrong(const char* what, u32 k) const {
    throw fault(std::string(what) + ": key " + std::to_string(k) + ", " +
                contract::model<key, typename Design::mapped_type>::show(keys_[k]));
  }
  void require(bool holds, const char* what, u32 k) const {
    if (!holds) wrong(what, k);
  }
  void hold(u32 k, u64 word) {
    size_ += held_[k].count == 0;
    held_[k] = {word & mask, checksum(keys_[k], word & mask), 1};
  }
  void drop(u32 k) {
    size_ -= held_[k].count;
    held_[k] = {};
  }

  // A change of unique keys, by its report, by the outcomes where they were named, and by what the table
  // answers now.
  void judge(change what, const batch& b, const insert_report& report, const std::vector<outcome>& named,
             const answers& now, bool may_refuse) {
    expect_equal(report.inserted + report.present + report.refused, b.size(), "outcomes add up to");
    expect(may_refuse || report.refused == 0, "refused items of a table that may grow");
    r_.checked += b.size();
    sum_up(b, named);
    u64 fresh = 0, unplaced = 0;
    for (u64 j = 0; j < b.touched.size(); ++j) {
      const u32 k = b.touched[j];
      const scratch& s = scratch_[k];
      const held& was = held_[k];
      const u64 word = now.words[j] & mask;
      if (!now.found[j]) {
        require(was.count == 0, "lost", k);
        require(named.empty() || s.counted == 0, "not in the table, though an item of it was not refused", k);
        unplaced += s.times;
        continue;
      }
      fresh += was.count == 0;
      require(named.empty() || s.inserted == (was.count == 0 ? 1 : 0), "number of items that were inserted",
              k);
      if constexpr (!is_set) {
        const bool some_refused = named.empty() ? report.refused != 0 : s.counted != s.times;
        if (what == change::add) {
          const u64 sum = was.count == 0 ? s.sum : plus(was.word, s.sum);
          require(word == sum || (named.empty() && some_refused && was.count == 0 && s.times > 1), "sum", k);
        } else if (what == change::insert && was.count != 0) {
          require(word == was.word, "an insert changed the value", k);
        } else if (what == change::insert && !named.empty()) {
          require(word == s.first, "not the value that was inserted", k);
        } else {
          require(is_given(k, word) || (was.count != 0 && some_refused && word == was.word),
                  "a value that was not given", k);
        }
      }
      hold(k, word);
    }
    expect_equal(report.inserted, fresh, "inserted");
    expect(report.refused >= unplaced, "keys are missing that were not refused");
  }
  static u64 plus(u64 a, u64 b) {
    return (std::is_same_v<op_type, op::sum> ? a + b : contract::sum_of_bytes{}(a, b)) & mask;
  }
  // By key: what its items add up to, and how many were inserted.
  void sum_up(const batch& b, const std::vector<outcome>& named) {
    for (u64 i = 0; i < b.size(); ++i) {
      scratch& s = scratch_[b.numbers[i]];
      if (!named.empty() && named[i] == outcome::refused) continue;
      s.sum = s.counted++ == 0 ? b.words[i] : plus(s.sum, b.words[i]);
      if (!named.empty() && named[i] == outcome::inserted) ++s.inserted, s.first = b.words[i];
    }
  }

  // ---- changes ----
  void change_it(change what, u64 n) {
    const batch b = any_batch(n);
    const bool named = dice_.one_in(3), memory_ends = faulty_ && dice_.one_in(3);
    r_.note(name_of(what) + (" " + std::to_string(n)) + (named ? " with outcomes" : ""));
    const auto k = there(b.keys);
    const auto v = there(b.values);
    const array<outcome> outcomes(place_.home(), named ? n : 0);
    insert_report report;
    u64 gone = 0;
    const bool done = with_memory(memory_ends, [&] {
      auto& space = any_space();
      if (what == change::erase) {
        if constexpr (erases) gone = table_.erase(space, k.span());
      } else if constexpr (inserts) {
        report = put(space, what, k.span(), v.span(), outcomes.span());
      }
    });
    const answers now = find(b.touched);
    if (!done) return compare(b.touched, now);
    if (what == change::erase) return judge_erase(b, gone, now);
    std::vector<outcome> reported;
    if (named) reported = outcomes.to_host();
    judge(what, b, report, reported, now, !options_.grow || memory_ends);
  }
  insert_report put(space_type& space, change what, std::span<const key> k, std::span<const value> v,
                    std::span<outcome> outcomes) {
    if constexpr (is_set) {
      return table_.insert(space, k, outcomes);
    } else {
      if (what == change::assign) return table_.insert_or_assign(space, k, v, outcomes);
      if (what == change::add) return table_.insert_or_apply(space, k, v, op_type{}, outcomes);
      return table_.insert(space, k, v, outcomes);
    }
  }
  // Calls f with memory that may end. False where it threw for that, and then the table must be as it was.
  template <class F>
  bool with_memory(bool ends, F f) {
    if (ends) {
      const u64 allocations = dice_.below(dice_.one_in(2) ? 4 : 20);
      r_.note("memory ends after " + std::to_string(allocations));
      place_.memory.refuse_after(allocations);
    }
    try {
      place_.memory.guarded(f);
    } catch (const out_of_memory&) {
      place_.memory.refuse_after(contract::faulty::never);
      expect(ends, "out_of_memory, though there was memory");
      return false;
    }
    place_.memory.refuse_after(contract::faulty::never);
    return true;
  }
  void judge_erase(const batch& b, u64 gone, const answers& now) {
    u64 expected = 0;
    for (u64 j = 0; j < b.touched.size(); ++j) {
      require(!now.found[j], "erased, but found", b.touched[j]);
      expected += held_[b.touched[j]].count;
      drop(b.touched[j]);
    }
    expect_equal(gone, expected, "erased");
    r_.checked += b.size();
  }
  // The table holds what it held.
  void compare(const std::vector<u32>& numbers, const answers& now) {
    for (u64 j = 0; j < numbers.size(); ++j) {
      const held& was = held_[numbers[j]];
      require(bool(now.found[j]) == (was.count != 0),
              was.count != 0 ? "lost" : "found, though never inserted", numbers[j]);
      if (is_set || was.count == 0) continue;
      const u64 word = now.words[j] & mask;
      require(keeps_all ? is_given(numbers[j], word) : word == was.word, "value", numbers[j]);
    }
    r_.checked += numbers.size();
  }

  void build(u64 n) {
    const batch b = any_batch(n);
    const bool memory_ends = faulty_ && dice_.one_in(3);
    r_.note("build " + std::to_string(n));
    const auto k = there(b.keys);
    const auto v = there(b.values);
    insert_report report;
    const bool done = with_memory(memory_ends, [&] {
      if constexpr (is_set)
        report = table_.build(any_space(), k.span());
      else
        report = table_.build(any_space(), k.span(), v.span());
    });
    if (!done) return verify_all();
    for (u32 i = 0; i < keys_.size(); ++i) drop(i);
    take_all(b, report);
    if (dice_.one_in(2)) verify_all();
  }
  // Items that were added (of unique keys, to an empty table).
  void take_all(const batch& b, const insert_report& report) {
    if constexpr (keeps_all) {
      expect_equal(report.inserted, b.size(), "inserted");
      expect_equal(report.present + report.refused, u64(0), "present or refused");
      for (u64 i = 0; i < b.size(); ++i) {
        held& its = held_[b.numbers[i]];
        ++its.count;
        its.sum += checksum(b.keys[i], b.words[i]);
      }
      size_ += b.size();
      compare(b.touched, find(b.touched));
    } else {
      judge(change::insert, b, report, {}, find(b.touched), false);
    }
  }
  void add(u64 n) {
    if constexpr (adds_items) {
      const batch b = any_batch(n);
      const bool memory_ends = faulty_ && dice_.one_in(3);
      r_.note("insert " + std::to_string(n));
      const auto k = there(b.keys);
      const auto v = there(b.values);
      insert_report report;
      const bool done = with_memory(memory_ends, [&] {
        if constexpr (is_set)
          report = table_.insert(any_space(), k.span());
        else
          report = table_.insert(any_space(), k.span(), v.span());
      });
      if (done)
        take_all(b, report);
      else
        compare(b.touched, find(b.touched));
    }
  }

  // Calls that do not wait, one behind another, each with a lookup of its keys behind it.
  void change_async(u64 n) {
    if constexpr (has_async) {
      struct call {
        change what = change::insert;
        batch given;
        array<key> k, asked;
        array<value> v, out;
        array<bool> found;
        array<insert_report> report;
        array<u64> gone;
        u32 serial = 0;
      };
      std::vector<call> calls;
      auto& space = any_space();
      std::string note = "async";
      for (u64 i = 1 + dice_.below(5); i != 0; --i) {
        auto& home = place_.home();
        call c;
        c.what = static_cast<change>(dice_.below(4)), c.given = any_batch(dice_.below(n + 1));
        note += std::string(" ") + name_of(c.what) + " " + std::to_string(c.given.size());
        c.k = there(c.given.keys), c.v = there(c.given.values), c.asked = there(keys_of(c.given.touched));
        c.out = array<value>(home, c.given.touched.size()),
        c.found = array<bool>(home, c.given.touched.size());
        c.report = array<insert_report>(home, 1), c.gone = array<u64>(home, 1);
        c.serial = serial_;
        calls.push_back(std::move(c));
      }
      r_.note(note);
      place_.home().synchronize();
      for (const call& c : calls) {
        if (c.what == change::insert) table_.insert_async(space, c.k.span(), c.v.span(), c.report.data());
        if (c.what == change::assign)
          table_.insert_or_assign_async(space, c.k.span(), c.v.span(), c.report.data());
        if (c.what == change::add)
          table_.insert_or_apply_async(space, c.k.span(), c.v.span(), op_type{}, c.report.data());
        if (c.what == change::erase) table_.erase_async(space, c.k.span(), c.gone.data());
        table_.find_async(space, c.asked.span(), c.out.span(), c.found.span());
      }
      space.synchronize();
      for (const call& c : calls) {
        serial_ = c.serial;  // whose words these are
        recount(c.given);
        const answers now = together(c.found.to_host(), c.out.to_host());
        if (c.what == change::erase)
          judge_erase(c.given, read_one(place_.home(), c.gone.data()), now);
        else
          judge(c.what, c.given, read_one(place_.home(), c.report.data()), {}, now, true);
      }
    }
  }
  // The notes on a batch that was made before others.
  void recount(const batch& b) {
    for (const u32 k : b.touched) scratch_[k] = scratch(serial_);
    for (const u32 k : b.numbers) ++scratch_[k].times;
  }

  // Threads of the caller's own, by a view that is kept while size() is asked for.
  void change_by_views(u64 n) {
    if constexpr (has_views) {
      const auto view = table_.mutable_view(place_.home());
      // A view does not grow the table, and in a full one some designs ask every slot before they refuse an item.
      if (size_ + 3 * n > table_.capacity()) n = std::min<u64>(n, 500);
      for (u64 turns = 1 + dice_.below(3); turns != 0; --turns) {
        change_by(view, n);
        expect_equal(table_.size(), size_, "size() after changes by a view");
      }
    }
  }
  template <class View>
  void change_by(const View& view, u64 n) {
    const batch b = any_batch(n);
    auto what = static_cast<change>(dice_.below(4));
    if (what != change::erase && (is_set || !steady<Design>)) what = change::insert;
    r_.note(std::string("by a view ") + name_of(what) + " " + std::to_string(n));
    const auto k = there(b.keys);
    const auto v = there(b.values);
    const array<outcome> outcomes(place_.home(), n);
    auto& space = place_.home();
    space.for_each(
        n, change_by_view<View, key, value, op_type>{view, k.data(), v.data(), outcomes.data(), what});
    space.synchronize();
    const auto reported = outcomes.to_host();
    const answers now = find(b.touched);
    insert_report report;
    for (const outcome o : reported) {
      report.inserted += o == outcome::inserted;
      report.present += o == outcome::present;
      report.refused += o == outcome::refused;
    }
    if (what == change::erase)
      judge_erase(b, report.present, now);
    else
      judge(what, b, report, reported, now, true);
  }

  // A mixed batch: of each key finds, then erases, then inserts, then assigns.
  void mix(u64 n) {
    if constexpr (inserts && !is_set && erases) {
      if (!options_.grow) return change_it(change::assign, n);
      const batch b = any_batch(n);
      r_.note("apply " + std::to_string(n));
      std::vector<operation> ops(n);
      for (auto& o : ops) o = static_cast<operation>(dice_.below(4));
      const auto o = there(ops);
      const auto k = there(b.keys);
      const auto v = there(b.values);
      const array<value> out(place_.home(), n);
      const array<bool> found(place_.home(), n);
      const apply_report report =
          table_.apply(any_space(), o.span(), k.span(), v.span(), out.span(), found.span());
      const answers answered = together(found.to_host(), out.to_host()), now = find(b.touched);
      judge_mix(b, ops, report, answered, now);
    }
  }
  void judge_mix(const batch& b, const std::vector<operation>& ops, const apply_report& report,
                 const answers& answered, const answers& now) {
    apply_report expected;
    for (u64 i = 0; i < b.size(); ++i) {
      const held& was = held_[b.numbers[i]];
      scratch_[b.numbers[i]].ops |= static_cast<u8>(1 << static_cast<u32>(ops[i]));
      expected.inserted.present += ops[i] == operation::insert;
      expected.assigned.present += ops[i] == operation::insert_or_assign;
      if (ops[i] != operation::find) continue;
      expected.found += was.count;
      require(bool(answered.found[i]) == (was.count != 0), "apply: find", b.numbers[i]);
      require((answered.words[i] & mask) == was.word, "apply: value", b.numbers[i]);
    }
    const auto has = [&](u32 k, operation what) {
      return (scratch_[k].ops >> static_cast<u32>(what) & 1) != 0;
    };
    for (u64 j = 0; j < b.touched.size(); ++j) {
      const u32 k = b.touched[j];
      const held was = held_[k];
      const bool erased = was.count != 0 && has(k, operation::erase), left = was.count != 0 && !erased;
      const bool fresh = !left && has(k, operation::insert);
      const bool assigned = has(k, operation::insert_or_assign), there_now = left || fresh || assigned;
      expected.erased += erased;
      expected.inserted.inserted += fresh;
      expected.assigned.inserted += assigned && !left && !fresh;
      require(bool(now.found[j]) == there_now, "apply: in the table", k);
      const u64 word = now.words[j] & mask;
      if (there_now)
        require(assigned || fresh ? is_given(k, word) : word == was.word, "apply: value stored", k);
      there_now ? hold(k, word) : drop(k);
    }
    expect_equal(report.found, expected.found, "apply: found");
    expect_equal(report.erased, expected.erased, "apply: erased");
    expect_equal(report.inserted.inserted, expected.inserted.inserted, "apply: inserted");
    expect_equal(report.assigned.inserted, expected.assigned.inserted, "apply: inserted to be assigned");
    expect_equal(report.inserted.inserted + report.inserted.present, expected.inserted.present,
                 "apply: inserts");
    expect_equal(report.assigned.inserted + report.assigned.present, expected.assigned.present,
                 "apply: assigns");
    r_.checked += b.size();
  }

  // ---- the table as a whole ----
  void copy_or_move() {
    if (dice_.one_in(2)) {
      r_.note("clone");
      const auto space = &any_space();
      std::optional<table_type> copy;
      if (!with_memory(faulty_ && dice_.one_in(3), [&] { copy.emplace(table_.clone(*space)); }))
        return verify_all();
      expect_equal(copy->size(), size_, "size() of a clone");
      if (dice_.one_in(2)) std::swap(table_, *copy);
    } else {
      r_.note("move");
      table_type taken = std::move(table_);
      expect_equal(table_.size(), u64(0), "size() after a move");
      if (dice_.one_in(2)) {  // what was moved from is an empty table
        auto all = std::exchange(held_, std::vector<held>(keys_.size()));
        const u64 size = std::exchange(size_, 0);
        if (dice_.one_in(2)) build(r_.any_size(100));
        verify_all();
        held_ = std::move(all), size_ = size;
      }
      table_ = std::move(taken);
    }
    verify_all();
  }
  void change_capacity(u64 n) {
    if constexpr (reserves) {
      const u64 choice = dice_.below(3);
      r_.note((choice == 0 ? "reserve " : choice == 1 ? "rehash " : "shrink_to_fit ") + std::to_string(n));
      const u64 before = table_.capacity();
      const bool done = with_memory(faulty_ && dice_.one_in(3), [&] {
        auto& space = any_space();
        if (choice == 0) table_.reserve(space, dice_.one_in(8) ? 4 * n : n);
        if (choice == 1) table_.rehash(space, n);
        if (choice == 2) table_.shrink_to_fit(space);
      });
      if (done && choice == 0) expect(table_.capacity() >= before, "reserve() made the table smaller");
      verify_all();
    }
  }
  void clear() {
    r_.note("clear");
    table_.clear(any_space());
    for (u32 i = 0; i < keys_.size(); ++i) drop(i);
    verify_all();
  }

  // Everything there is to ask, of every key.
  void verify_all() {
    expect_equal(table_.size(), size_, "size()");
    expect(table_.empty() == (size_ == 0), "empty()");
    std::vector<u32> all(keys_.size());
    for (u32 i = 0; i < all.size(); ++i) all[i] = i;
    compare(all, find(all));
    auto& home = place_.home();
    const auto k = there(keys_);
    const array<bool> found(home, all.size());
    const array<u32> counts(home, all.size());
    table_.contains(any_space(), k.span(), found.span());
    table_.count(any_space(), k.span(), counts.span());
    const auto contained = found.to_host();
    const auto counted = counts.to_host();
    u64 sum = 0;
    for (u32 i = 0; i < all.size(); ++i) {
      require(bool(contained[i]) == (held_[i].count != 0), "contains", i);
      require(counted[i] == held_[i].count, "count", i);
      sum += held_[i].sum;
    }
    ask_by_view(k);
    retrieve(sum);
    values_of_keys(k);
    r_.checked += 4 * keys_.size() + 2 * size_;
  }
  void ask_by_view(const array<key>& k) {
    if (!has_memory()) return;
    auto& home = place_.home();
    const array<value> out(home, k.size());
    const array<bool> found(home, k.size());
    const auto view = table_.view();
    home.for_each(k.size(), contract::ask_view<std::remove_cv_t<decltype(view)>, key, value>{
                                view, k.data(), out.data(), found.data()});
    home.synchronize();
    std::vector<u32> all(keys_.size());
    for (u32 i = 0; i < all.size(); ++i) all[i] = i;
    compare(all, together(found.to_host(), out.to_host()));
  }
  bool has_memory() const { return table_.capacity() != 0; }
  // retrieve_all and for_each give each item once.
  void retrieve(u64 sum) {
    auto& home = place_.home();
    const array<key> k(home, size_ + 1);
    const array<value> v(home, size_ + 1);
    const array<u64> count(home, 1);
    u64 n = 0;
    if constexpr (is_set)
      n = table_.retrieve_all(any_space(), k.span());
    else
      n = table_.retrieve_all(any_space(), k.span(), v.span());
    expect_equal(n, size_, "retrieve_all");
    expect(sum_of(k, v, n) == sum, "retrieve_all gives other items than were put in");
    home.fill(count.data(), 1, u64(0));
    home.synchronize();
    table_.for_each(any_space(), contract::gather<key, value>{k.data(), v.data(), count.data()});
    n = read_one(home, count.data());
    expect_equal(n, size_, "for_each");
    expect(sum_of(k, v, n) == sum, "for_each gives other items than were put in");
  }
  static u64 sum_of(const array<key>& keys, const array<value>& values, u64 n) {
    const auto k = keys.to_host();
    const auto v = values.to_host();
    u64 sum = 0;
    for (u64 i = 0; i < n; ++i) sum += checksum(key(k[i]), is_set ? 0 : word_from(v[i]) & mask);
    return sum;
  }
  // All values of each key, of a multimap.
  void values_of_keys(const array<key>& k) {
    if constexpr (requires { table_.key_count(); }) {
      const auto got = table_.retrieve(place_.home(), k.span());
      const auto offsets = got.offsets.to_host();
      const auto values = got.values.to_host();
      expect_equal(values.size(), size_, "retrieve: values");
      for (u32 i = 0; i < keys_.size(); ++i) {
        u64 sum = 0;
        for (u64 at = offsets[i]; at < offsets[i + 1]; ++at)
          sum += checksum(keys_[i], word_from(values[at]) & mask);
        require(offsets[i + 1] - offsets[i] == held_[i].count && sum == held_[i].sum, "retrieve", i);
      }
    }
  }

  // Notes on a key in the current call.
  struct scratch {
    scratch() = default;
    explicit scratch(u32 call) : serial(call) {}
    u32 serial = 0, times = 0;      // of the call; items of this key in it
    u32 counted = 0, inserted = 0;  // items that were not refused, or were inserted
    u8 ops = 0;
    u64 sum = 0, first = 0;  // of the words that were not refused; the one that was inserted
  };

  round& r_;
  random_numbers& dice_;
  bool faulty_;
  Place place_;
  table_options options_;
  std::vector<key> keys_;
  std::vector<held> held_;
  std::vector<scratch> scratch_;
  table_type table_;
  u64 size_ = 0;
  u32 serial_ = 0;
};

}  // namespace tilehash::soak
