// SPDX-License-Identifier: Apache-2.0
// Tables over several ranks: each verb against one table, and failures at every step.
// length: one fixture; each verb, and a failure at each of its steps.
#include <contract/several.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <contract/faulty.hpp>
#include <tilehash/map.hpp>
#include <tilehash/multimap.hpp>
#include <tilehash/several/distributed.hpp>
#include <tilehash/several/group_by.hpp>
#include <tilehash/several/join.hpp>
#include <tilehash/several/out_of_core.hpp>
#include <tilehash/several/simulated.hpp>
#include <tilehash/several/streamed.hpp>
#include <tilehash/space/cpu_algorithms.hpp>

namespace tilehash::contract {
namespace {

using local_map = map<u32, u32, cpu>;
using shared_map = several::distributed<local_map, any_exchange>;
using shared_multimap = several::distributed<multimap<u32, u32, cpu>, any_exchange>;
using model_map = std::map<u32, u32>;

std::string message_of_failure(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

// ---- one table ----

struct one_table {
  shared_map& table;
  cpu& space;
  u32 rank;
  model_map model;

  // The report of a call, from the items of all ranks.
  void check_report(const insert_report& report, const rank_items& items, const model_map& before) {
    u64 given = 0;
    for (const auto& keys : items.keys) given += keys.size();
    EXPECT_EQ(report.inserted, model.size() - before.size());
    EXPECT_EQ(report.refused, 0U);
    EXPECT_EQ(report.present, given - report.inserted);
    EXPECT_EQ(table.size(), model.size());
  }
  void check_all() {
    std::vector<u32> keys(table.local().size()), values(keys.size());
    table.local().retrieve_all(space, keys, values);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(table.owner(keys[i]), rank);
      const auto found = model.find(keys[i]);
      ASSERT_NE(found, model.end());
      ASSERT_EQ(values[i], found->second);
    }
  }
  void check_lookups(const rank_items& items) {
    const auto& keys = items.keys[rank];
    std::vector<u32> out(keys.size()), or_else(keys.size()), counts(keys.size());
    std::vector<u8> found(keys.size()), present(keys.size());
    table.find(space, keys, out, found);
    table.find_or(space, keys, or_else, 77);
    table.contains(space, keys, present);
    table.count(space, keys, counts);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto at = model.find(keys[i]);
      const bool there = at != model.end();
      ASSERT_EQ(found[i], there);
      ASSERT_EQ(present[i], there);
      ASSERT_EQ(counts[i], u32(there));
      ASSERT_EQ(out[i], there ? at->second : 0);
      ASSERT_EQ(or_else[i], there ? at->second : 77);
    }
  }
  // Any one of equal keys wins, so equal keys get equal values here.
  static void make_equal(rank_items& items, u32 salt) {
    for (std::size_t r = 0; r < items.keys.size(); ++r)
      for (std::size_t i = 0; i < items.keys[r].size(); ++i) items.values[r][i] = items.keys[r][i] * 3 + salt;
  }
  template <class Change>
  void for_all(const rank_items& items, const Change& change) {
    for (std::size_t r = 0; r < items.keys.size(); ++r)
      for (std::size_t i = 0; i < items.keys[r].size(); ++i) change(items.keys[r][i], items.values[r][i]);
  }

  void take_turn(random_numbers& random, rank_items items, u32 turn) {
    const model_map before = model;
    const auto& keys = items.keys[rank];
    const auto& values = items.values[rank];
    if (turn % 5 == 0 || turn % 5 == 1) make_equal(items, turn);
    insert_report report;
    switch (turn % 5) {
      case 0:
        report = table.insert(space, keys, values);
        for_all(items, [&](u32 k, u32 v) { model.emplace(k, v); });
        break;
      case 1:
        report = table.insert_or_assign(space, keys, values);
        for_all(items, [&](u32 k, u32 v) { model[k] = v; });
        break;
      case 2:
        report = table.insert_or_apply(space, keys, values, op::sum{});
        for_all(items, [&](u32 k, u32 v) { model[k] += v; });
        break;
      case 3:
        report = table.insert_or_apply(space, keys, op::count{});
        for_all(items, [&](u32 k, u32) { ++model[k]; });
        break;
      default: {
        std::set<u32> gone;
        for_all(items, [&](u32 k, u32) {
          if (model.erase(k) != 0) gone.insert(k);
        });
        EXPECT_EQ(table.erase(space, keys), gone.size());
        EXPECT_EQ(table.size(), model.size());
        return;
      }
    }
    check_report(report, items, before);
    if (random.one_in(3)) check_all();
  }
};

void expect_one_table(any_exchange& exchange, u32 turns, u64 most, u64 combined_from, const char* name) {
  cpu space(1);
  random_numbers random(name);
  shared_map table(space, exchange, 100);
  table.combine_from(combined_from);
  one_table one{table, space, exchange.rank(), {}};
  for (u32 turn = 0; turn < turns; ++turn) {
    const spread how = all_spreads[random.below(std::size(all_spreads))];
    one.take_turn(random, rank_items(random, exchange.size(), how, most), turn);
    one.check_lookups(rank_items(random, exchange.size(), how, most));
    if (::testing::Test::HasFailure()) return;
  }
  one.check_all();
}

TEST(Several, AnswersAsOneTable) {
  for (const u32 ranks : {1, 2, 3, 4})
    in_processes(ranks, [](any_exchange& e) { expect_one_table(e, 20, 500, ~u64(0), "as one table"); });
}
TEST(Several, CombinesFrequentKeys) {
  for (const u32 ranks : {2, 4})
    in_processes(ranks, [](any_exchange& e) { expect_one_table(e, 20, 500, 1, "combined"); });
}
TEST(Several, AnswersOverThreads) {
  in_threads(3, [](any_exchange& e) { expect_one_table(e, 10, 300, 1, "over threads"); });
}

// A key that is half of all items is sent once by each rank.
TEST(Several, SendsAFrequentKeyOnce) {
  in_threads(2, [](any_exchange& e) {
    cpu space(1);
    shared_map table(space, e);
    table.combine_from(1000);
    std::vector<u32> keys(4000, 7), values(4000, 1), out(4000);
    for (u32 i = 0; i < 2000; ++i) keys[2 * i] = e.rank() * 2000 + i;
    EXPECT_EQ(table.insert_or_apply(space, keys, values, op::sum{}).inserted, 4000U);
    EXPECT_LE(e.bytes, 2001 * 8U);
    e.bytes = 0;
    table.find_or(space, keys, out, 0);
    EXPECT_EQ(out[1], 4001U);
    EXPECT_LE(e.bytes, 2 * 2100 * 4U);
  });
}

TEST(Several, Builds) {
  for (const u64 combined_from : {~u64(0), u64(1)})
    in_processes(3, [&](any_exchange& e) {
      cpu space(1);
      random_numbers random("builds");
      shared_map table(space, e);
      table.combine_from(combined_from);
      one_table one{table, space, e.rank(), {}};
      for (const spread how : all_spreads) {
        rank_items items(random, e.size(), how, 1000);
        one_table::make_equal(items, 0);
        one.model.clear();
        one.for_all(items, [&](u32 k, u32 v) { one.model.emplace(k, v); });
        one.check_report(table.build(space, items.keys[e.rank()], items.values[e.rank()]), items, {});
        one.check_all();
      }
    });
}

// ---- multimaps, joins ----

TEST(Several, RetrievesAllValues) {
  for (const u32 ranks : {1, 3})
    in_processes(ranks, [](any_exchange& e) {
      cpu space(1);
      random_numbers random("retrieves");
      shared_multimap table(space, e);
      std::multimap<u32, u32> model;
      for (const spread how : {spread::few, spread::half_one_key, spread::empty_ranks}) {
        const rank_items items(random, e.size(), how, 200);
        const auto report = table.insert(space, items.keys[e.rank()], items.values[e.rank()]);
        const u64 before = model.size();
        for (u32 r = 0; r < e.size(); ++r)
          for (std::size_t i = 0; i < items.keys[r].size(); ++i)
            model.emplace(items.keys[r][i], items.values[r][i]);
        EXPECT_EQ(report.inserted, model.size() - before);
        EXPECT_EQ(table.size(), model.size());
        const rank_items queries(random, e.size(), how, 100);
        const auto& keys = queries.keys[e.rank()];
        const auto all = table.retrieve(space, keys);
        for (std::size_t i = 0; i < keys.size(); ++i) {
          std::vector<u32> got(all.values.data() + all.offsets.data()[i],
                               all.values.data() + all.offsets.data()[i + 1]);
          std::vector<u32> expected;
          for (auto [at, end] = model.equal_range(keys[i]); at != end; ++at) expected.push_back(at->second);
          std::sort(got.begin(), got.end());
          std::sort(expected.begin(), expected.end());
          ASSERT_EQ(got, expected);
        }
        EXPECT_EQ(all.offsets.data()[keys.size()], all.values.size());
      }
    });
}

TEST(Several, JoinsRowsOfAllRanks) {
  in_threads(3, [](any_exchange& e) {
    cpu space(1);
    random_numbers random("joins");
    for (const spread how : {spread::few, spread::even, spread::empty_ranks}) {
      const rank_items left(random, e.size(), how, 60), right(random, e.size(), how, 60);
      std::vector<u32> all_left, all_right;
      for (u32 r = 0; r < e.size(); ++r) {
        all_left.insert(all_left.end(), left.keys[r].begin(), left.keys[r].end());
        all_right.insert(all_right.end(), right.keys[r].begin(), right.keys[r].end());
      }
      std::set<std::pair<u64, u64>> expected, got;
      for (u64 l = 0; l < all_left.size(); ++l)
        for (u64 r = 0; r < all_right.size(); ++r)
          if (all_left[l] == all_right[r] &&
              several::rank_of(several::shard_of(all_left[l]), e.size()) == e.rank())
            expected.emplace(l, r);
      const auto rows = several::join(space, e, left.keys[e.rank()], right.keys[e.rank()]);
      for (u64 i = 0; i < rows.size(); ++i) got.emplace(rows.left.data()[i], rows.right.data()[i]);
      EXPECT_EQ(rows.size(), expected.size());
      EXPECT_EQ(got, expected);
    }
  });
}

TEST(Several, GroupsRowsOfAllRanks) {
  for (const u32 ranks : {1, 4})
    in_threads(ranks, [](any_exchange& e) {
      cpu space(1);
      random_numbers random("groups");
      for (const spread how : all_spreads) {
        const rank_items rows(random, e.size(), how, 200);
        model_map sums, counts;
        for (u32 r = 0; r < e.size(); ++r)
          for (std::size_t i = 0; i < rows.keys[r].size(); ++i) {
            const u32 key = rows.keys[r][i];
            if (several::rank_of(several::shard_of(key), e.size()) != e.rank()) continue;
            sums[key] += rows.values[r][i];
            ++counts[key];
          }
        const auto& keys = rows.keys[e.rank()];
        const auto groups = several::group_by(space, e, keys, rows.values[e.rank()], op::sum{}, 0);
        const auto counted = several::value_counts(space, e, keys);
        model_map got_sums, got_counts;
        for (u64 i = 0; i < groups.size(); ++i) got_sums[groups.keys.data()[i]] = groups.values.data()[i];
        for (u64 i = 0; i < counted.size(); ++i)
          got_counts[counted.keys.data()[i]] = static_cast<u32>(counted.values.data()[i]);
        EXPECT_EQ(groups.size(), sums.size());
        EXPECT_EQ(got_sums, sums);
        EXPECT_EQ(got_counts, counts);
      }
    });
}

// ---- files ----

struct own_folder {
  std::string path = ::testing::TempDir() + "several." + std::to_string(getpid());
  own_folder() { std::filesystem::remove_all(path); }
  ~own_folder() { std::filesystem::remove_all(path); }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  u64 files() const {
    const std::filesystem::directory_iterator all(path);
    return static_cast<u64>(std::distance(begin(all), end(all)));
  }
};

TEST(Several, LoadsWhatOtherNumbersOfRanksSaved) {
  const own_folder folder;
  for (const u32 saving : {3, 1, 4, 2}) {
    in_processes(saving, [&](any_exchange& e) {
      cpu space(1);
      shared_map table(space, e);
      std::vector<u32> keys;
      for (u32 i = 0; i < 1000; ++i) keys.push_back(i * saving * 7 + e.rank());
      std::vector<u32> values(keys);
      for (u32& v : values) v += saving;
      static_cast<void>(table.insert_or_assign(space, keys, values));
      table.save(space, folder.path);
    });
    EXPECT_EQ(folder.files(), saving + 1);
    for (const u32 ranks : {1, 2, 3, 4})
      in_threads(ranks, [&](any_exchange& e) {
        cpu space(1);
        shared_map table(space, e, 10);
        one_table one{table, space, e.rank(), {}};
        for (u32 r = 0; r < saving; ++r)
          for (u32 i = 0; i < 1000; ++i) one.model[i * saving * 7 + r] = i * saving * 7 + r + saving;
        const std::vector<u32> others{1, 2, 3};
        static_cast<void>(one.table.insert(space, others, others));
        EXPECT_EQ(one.table.load(space, folder.path), (insert_report{.inserted = one.model.size()}));
        EXPECT_EQ(one.table.size(), one.model.size());
        one.check_all();
      });
  }
}
TEST(Several, LoadsMultimaps) {
  const own_folder folder;
  for (const u32 ranks : {2, 3})
    in_threads(ranks, [&](any_exchange& e) {
      cpu space(1);
      shared_multimap table(space, e);
      const std::vector<u32> keys{1, 2, 3, 1, 2, 1};
      if (ranks == 2) {
        static_cast<void>(table.insert(space, keys, keys));
        table.save(space, folder.path);
      }
      static_cast<void>(table.load(space, folder.path));
      EXPECT_EQ(table.size(), 12U);
      EXPECT_EQ(table.retrieve(space, keys).values.size(), 2 * (9 + 4 + 1U));
    });
}
TEST(Several, RefusesFilesThatAreDamaged) {
  const own_folder folder;
  const auto loaded = [&] {
    std::string failure;
    in_threads(1, [&](any_exchange& e) {
      cpu space(1);
      shared_map table(space, e);
      failure = message_of_failure([&] { static_cast<void>(table.load(space, folder.path)); });
    });
    return failure;
  };
  EXPECT_EQ(loaded(), "tilehash: cannot open " + folder.path + "/table: No such file or directory");
  in_threads(1, [&](any_exchange& e) {
    cpu space(1);
    shared_map table(space, e);
    const std::vector<u32> keys{1, 2, 3};
    static_cast<void>(table.insert(space, keys, keys));
    table.save(space, folder.path);
    several::distributed<map<u64, u32, cpu>, any_exchange> other(space, e);
    EXPECT_THROW(static_cast<void>(other.load(space, folder.path)), invalid_argument);
  });
  EXPECT_EQ(loaded(), "");
  for (const auto& file : std::filesystem::directory_iterator(folder.path)) {
    std::stringstream all;
    all << std::ifstream(file.path(), std::ios::binary).rdbuf();
    const std::string bytes = all.str();
    const auto write = [&](const std::string& to) { std::ofstream(file.path(), std::ios::binary) << to; };
    for (const std::size_t at : {std::size_t(0), std::size_t(8), bytes.size() / 2, bytes.size() - 1}) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ 1);
      write(flipped);
      EXPECT_NE(loaded().find("is damaged"), std::string::npos) << file.path() << at;
      write(bytes.substr(0, at));
      EXPECT_NE(loaded().find("is damaged"), std::string::npos) << file.path() << at;
    }
    write(bytes);
    EXPECT_EQ(loaded(), "");
  }
}

// ---- tables in files ----

using map_in_files = several::out_of_core<local_map>;

void expect_model(map_in_files& table, random_numbers& random, const model_map& model) {
  EXPECT_EQ(table.size(), model.size());
  std::vector<u32> keys(500), out(500);
  for (u32& k : keys) k = static_cast<u32>(random.below(3000));
  table.find_or(keys, out, 77);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto at = model.find(keys[i]);
    ASSERT_EQ(out[i], at == model.end() ? 77 : at->second);
  }
}

// Bins in memory, and in files: 100 bytes are a few items.
TEST(Several, TablesInFilesAnswerAsOneTable) {
  for (const u64 bin_bytes : {u64(100), u64(1) << 20}) {
    const own_folder folder;
    random_numbers random("tables in files");
    model_map model;
    cpu space(1);
    for (const u32 turn : {0, 1, 2, 3, 4}) {
      map_in_files table(space, folder.path, 7, bin_bytes);
      u32 passes = 0;
      table.report_to([&](u32 done, u32 all) { passes = done == all ? passes + 1 : passes; });
      const u64 before = model.size();
      u64 given = 0;
      for (const u64 n : {300, 0, 200}) {
        std::vector<u32> keys(n), values(n);
        for (u32& k : keys) k = static_cast<u32>(random.below(2000));
        for (std::size_t i = 0; i < n; ++i) values[i] = keys[i] * 3 + turn;
        table.append(keys, values);
        for (std::size_t i = 0; i < n; ++i) {
          if (turn % 3 == 0) model.emplace(keys[i], values[i]);
          if (turn % 3 == 1) model[keys[i]] = values[i];
          if (turn % 3 == 2) model[keys[i]] += values[i];
        }
        given += n;
      }
      EXPECT_EQ(table.waiting(), given);
      EXPECT_EQ(table.size(), before);
      const auto report = turn % 3 == 0   ? table.insert()
                          : turn % 3 == 1 ? table.insert_or_assign()
                                          : table.insert_or_apply(op::sum{});
      EXPECT_EQ(report.inserted, model.size() - before);
      EXPECT_EQ(report.present, given - report.inserted);
      EXPECT_EQ(table.waiting(), 0U);
      EXPECT_EQ(table.bytes_written(), 8 * model.size());
      expect_model(table, random, model);
      EXPECT_EQ(passes, 2U);
      EXPECT_EQ(folder.files(), 8U);
    }
    in_threads(2, [&](any_exchange& e) {  // ranks load its files, and it has theirs
      cpu own(1);
      shared_map table(own, e);
      EXPECT_EQ(table.load(own, folder.path).inserted, model.size());
      table.save(own, folder.path);
    });
    map_in_files table(space, folder.path, 7);
    EXPECT_EQ(table.parts(), 2U);
    expect_model(table, random, model);
    u64 items = 0;
    table.for_each_part([&](const local_map& part) { items += part.size(); });
    EXPECT_EQ(items, model.size());
  }
}
TEST(Several, AMergeWithoutMemoryChangesNothing) {
  const own_folder folder;
  faulty_host memory;
  cpu space(1, memory);
  random_numbers random("merges");
  map_in_files table(space, folder.path, 3);
  model_map model;
  for (u32 i = 0; i < 200; ++i) model[i] = i;
  const auto append = [&] {
    for (const auto& [key, value] : model) table.append(std::span(&key, 1), std::span(&value, 1));
  };
  append();
  static_cast<void>(table.insert());
  for (u32 i = 100; i < 400; ++i) model[i] = i;
  append();
  bool refused = true;
  for (u64 k = 0; refused; ++k) {
    memory.refuse_after(k, 1);
    insert_report report;
    const std::string failure =
        message_of_failure([&] { report = memory.guarded([&] { return table.insert(); }); });
    refused = memory.refused();
    ASSERT_EQ(table.size(), failure.empty() ? 400 : 200);
    ASSERT_EQ(table.waiting(), failure.empty() ? 0 : 400);
    ASSERT_EQ(folder.files(), 4U);
    if (failure.empty()) break;
  }
  expect_model(table, random, model);
}

// ---- arrays in host memory, a batch at a time ----

TEST(Several, StreamedCallsAnswerAsOneCall) {
  for (const u64 batch : {1, 7, 100, 5000}) {
    cpu space(1);
    local_map table(space);
    several::streamed<local_map> stream(space, table, batch);
    std::vector<u32> keys(1003), values(keys.size()), out(keys.size());
    std::vector<u8> found(keys.size());
    for (u32 i = 0; i < keys.size(); ++i) keys[i] = spread_key<u32>(i), values[i] = keys[i] + 5;
    EXPECT_EQ(stream.build({}, {}), insert_report());
    EXPECT_EQ(stream.build(keys, values).inserted, keys.size());
    stream.find_or(keys, out, 7);
    EXPECT_EQ(out, values);
    EXPECT_EQ(stream.insert(keys, keys).present, keys.size());
    EXPECT_EQ(stream.insert_or_apply(keys, keys, op::sum{}).present, keys.size());
    stream.find(keys, out, found);
    for (u32 i = 0; i < keys.size(); ++i) ASSERT_EQ(out[i], values[i] + keys[i]);
    EXPECT_EQ(stream.insert_or_assign(keys, keys).present, keys.size());
    EXPECT_EQ(stream.erase(std::span(keys).first(500)), 500U);
    stream.contains(keys, found);
    stream.find_or(keys, out, 7);
    for (u32 i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(found[i], u8(i >= 500));
      ASSERT_EQ(out[i], i >= 500 ? keys[i] : 7);
    }
    EXPECT_THROW(stream.find_or(keys, std::span(out).first(3), 7), invalid_argument);
  }
}
TEST(Several, StreamedCallsOfUsualBatches) {
  cpu space(1);
  local_map table(space);
  const std::vector<u32> keys{5, 6, 7, 5}, values{1, 2, 3, 1};
  std::vector<u32> answers(keys.size());
  // [streamed-begin]
  several::streamed<local_map> stream(space, table);
  const auto report = stream.insert(keys, values);  // arrays in host memory
  stream.find_or(keys, answers, 0);
  // [streamed-end]
  EXPECT_EQ(report.inserted, 3U);
  EXPECT_EQ(answers, values);
}
// build() changes nothing if it throws; insert() has inserted whole batches.
TEST(Several, StreamedCallsWithoutMemory) {
  bool refused = true;
  for (u64 k = 0; refused; ++k) {
    faulty_host memory;
    cpu space(1, memory);
    local_map table(space);
    const std::vector<u32> few{1, 2, 3};
    static_cast<void>(table.insert(space, few, few));
    std::vector<u32> keys(2000);
    for (u32 i = 0; i < keys.size(); ++i) keys[i] = i + 10;
    several::streamed<local_map> stream(space, table, 300);
    memory.refuse_after(k);
    insert_report report;
    const std::string failure = message_of_failure([&] {
      report =
          memory.guarded([&] { return k % 2 == 0 ? stream.build(keys, keys) : stream.insert(keys, keys); });
    });
    refused = memory.refused();
    std::vector<u8> found(few.size());
    table.contains(space, few, found);
    const u64 all = k % 2 == 0 ? 2000 : 2003;
    if (failure.empty()) {
      EXPECT_EQ(table.size(), all - report.refused);
    } else {
      EXPECT_EQ(found, std::vector<u8>(3, 1));
      EXPECT_TRUE(k % 2 == 0 ? table.size() == 3 : table.size() >= 3 && table.size() < all) << table.size();
    }
  }
}

// ---- failures ----

// Tables, and one call of each verb.
struct called_tables {
  static constexpr u32 verbs = 17, saves = 14, loads = 15;
  u32 verb;
  cpu& space;
  any_exchange& e;
  const std::string& folder;
  shared_map table;
  shared_multimap multi;
  std::vector<u32> few, keys, out;
  std::vector<u8> found;

  called_tables(cpu& s, any_exchange& exchange, const std::string& f, u32 v)
      : verb(v), space(s), e(exchange), folder(f), table(space, e), multi(space, e), out(600), found(600) {
    for (u32 i = 0; i < 600; ++i) keys.push_back(i % 2 == 0 ? 7 : i * 2 + e.rank());
    few.assign(keys.begin() + 100, keys.begin() + 160);
    static_cast<void>(table.insert(space, few, few));
    static_cast<void>(multi.insert(space, few, few));
    if (verb == saves || verb == loads) table.save(space, folder);
    table.combine_from(100);
    multi.combine_from(100);
    table.release();
  }
  void call() {
    switch (verb) {
      case 0:
        return static_cast<void>(table.insert(space, keys, keys));
      case 1:
        return static_cast<void>(table.insert_or_assign(space, keys, keys));
      case 2:
        return static_cast<void>(table.insert_or_apply(space, keys, keys, op::sum{}));
      case 3:
        return static_cast<void>(table.erase(space, keys));
      case 4:
        return table.find(space, keys, out, found);
      case 5:
        return table.find_or(space, keys, out, 1);
      case 6:
        return table.contains(space, keys, found);
      case 7:
        return table.count(space, keys, out);
      case 8:
        return static_cast<void>(table.build(space, keys, keys));
      case 9:
        return static_cast<void>(multi.insert(space, keys, keys));
      case 10:
        return static_cast<void>(multi.retrieve(space, few));
      case 11:
        return static_cast<void>(several::join(space, e, few, few));
      case 12:
        return static_cast<void>(several::group_by(space, e, keys, keys, op::sum{}, 0));
      case 13:
        return static_cast<void>(several::value_counts(space, e, keys));
      case saves:
        return table.save(space, folder);
      case loads:
        return static_cast<void>(table.load(space, folder));
      default:
        shared_map(space, e, 1000);
    }
  }
  void expect_unchanged() {
    EXPECT_EQ(table.size(), 30 * e.size() + 1);
    EXPECT_EQ(multi.size(), 60 * e.size());
    table.find(space, few, {out.data(), few.size()}, {found.data(), few.size()});
    for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(out[i], few[i]);
  }
};

// A rank has no memory from its k-th allocation on, in each verb, for each k.
TEST(Several, LackOfMemoryInAnyVerb) {
  const own_folder folder;
  for (u32 verb = 0; verb < called_tables::verbs; ++verb) {
    std::atomic<bool> refused = true;
    for (u64 k = 0; refused && !HasFailure(); ++k)
      in_threads(2, [&](any_exchange& e) {
        faulty_host memory;
        cpu space(1, memory);
        called_tables tables(space, e, folder.path, verb);
        if (e.rank() == 1) memory.refuse_after(k);
        const std::string failure = message_of_failure([&] { memory.guarded([&] { tables.call(); }); });
        if (e.rank() == 1) refused = memory.refused();
        if (failure.empty()) return;
        SCOPED_TRACE("verb " + std::to_string(verb) + ", allocation " + std::to_string(k) + ": " + failure);
        tables.expect_unchanged();
        if (e.rank() == 0) {
          EXPECT_NE(failure.find(": rank 1 failed: "), std::string::npos);
        }
      });
  }
}
// A rank ends in the k-th step of each verb, for each k: the others end, and the saved table can be loaded.
TEST(Several, ARankEndsInAnyVerb) {
  const own_folder folder;
  for (u32 verb = 0; verb < called_tables::verbs; ++verb) {
    std::atomic<bool> ended = true;
    for (u64 k = 0; ended && !HasFailure(); ++k)
      in_threads(2, [&](any_exchange& e) {
        cpu space(1);
        called_tables tables(space, e, folder.path, verb);
        e.fail = [] { throw std::runtime_error("step"); };
        if (e.rank() == 1) e.fails_at = e.steps + k;
        const std::string failure = message_of_failure([&] { tables.call(); });
        if (e.rank() == 1) ended = !failure.empty();
        if (failure.empty() || e.rank() == 1) return;
        EXPECT_NE(failure.find("rank 1 of 2 has ended"), std::string::npos) << verb << " " << k << failure;
      });
    if (verb < called_tables::saves) continue;
    in_threads(1, [&](any_exchange& e) {
      cpu space(1);
      shared_map table(space, e);
      EXPECT_EQ(table.load(space, folder.path).inserted, 61U);
    });
  }
}

// An item with a frequent key represents all of them, also where it is refused.
TEST(Several, CountsItemsOfRefusedKeys) {
  u64 refused_often = 0;
  for (u32 often = 0; often < 4 || (refused_often == 0 && often < 60); ++often)  // half of them refuse it
    in_threads(2, [&](any_exchange& e) {
      cpu space(1);
      shared_map table(space, e, 64, {.grow = false});
      table.combine_from(1);
      std::vector<u32> keys(1600);
      for (u32 i = 0; i < keys.size(); ++i) keys[i] = i % 2 == 0 ? often * 4001 : i;
      const auto report = often % 2 == 0 ? table.insert(space, keys, keys)
                                         : table.insert_or_apply(space, keys, keys, op::sum{});
      std::vector<u8> present(keys.size());
      table.contains(space, keys, present);
      const auto absent = u64(std::count(present.begin(), present.end(), 0));
      EXPECT_EQ(report.inserted, table.size());
      EXPECT_EQ(report.refused, 2 * absent);
      EXPECT_EQ(report.present, 3200 - report.inserted - report.refused);
      if (e.rank() == 0) refused_often += present[0] == 0;
    });
  EXPECT_GT(refused_often, 0U);
}

// One rank has no memory from its k-th allocation on: all ranks throw and no table changes, or none throws.
TEST(Several, LackOfMemoryEndsTheCallOnAllRanks) {
  for (const bool one_refusal : {true, false})
    for (u64 k = 0; k < 25; ++k)
      in_threads(2, [&](any_exchange& e) {
        faulty_host memory;
        cpu space(1, memory);
        shared_map table(space, e);
        std::vector<u32> keys(3000), found(3000);
        for (u32 i = 0; i < keys.size(); ++i) keys[i] = i * 2 + e.rank();
        const std::span<const u32> few(keys.data(), 100);
        EXPECT_EQ(table.insert(space, few, few).inserted, 200U);
        insert_report report;
        if (e.rank() == 1) memory.refuse_after(k, one_refusal ? 1 : faulty::never);
        const std::string failure =
            message_of_failure([&] { memory.guarded([&] { report = table.insert(space, keys, keys); }); });
        if (failure.empty()) {
          EXPECT_EQ(table.size(), 200 + report.inserted);
          EXPECT_EQ(report.inserted + report.present + report.refused, 6000U);
          if (one_refusal) {
            EXPECT_EQ(report.refused, 0U);
          }
        } else {
          EXPECT_EQ(table.size(), 200U) << failure;
          if (e.rank() == 0) {
            EXPECT_TRUE(failure.starts_with("tilehash: insert: rank 1 failed: ")) << failure;
          }
        }
        table.find_or(space, few, {found.data(), few.size()}, 0);
        EXPECT_TRUE(std::equal(few.begin(), few.end(), found.begin()));
      });
}

// A rank that throws in the exchange, or ends, at each step of three calls.
TEST(Several, ARankThatEndsEndsTheOthers) {
  for (const bool exits : {false, true})
    for (u64 step = 0; step < 10; ++step)
      in_processes(3, [&](any_exchange& e) {
        cpu space(1);
        if (e.rank() == 1) {
          e.fails_at = step;
          e.fail = [&] {
            if (exits) _exit(0);
            throw std::runtime_error("step");
          };
        }
        std::vector<u32> keys(1000), out(1000);
        for (u32 i = 0; i < keys.size(); ++i) keys[i] = i * 3 + e.rank();
        const std::string failure = message_of_failure([&] {
          shared_map table(space, e);
          static_cast<void>(table.insert(space, keys, keys));
          table.find_or(space, keys, out, 0);
        });
        if (e.rank() == 1)
          EXPECT_EQ(failure, "step");
        else
          EXPECT_NE(failure.find("has ended; start the ranks again"), std::string::npos) << failure;
      });
}
TEST(Several, AThreadThatEndsEndsTheOthers) {
  for (u64 step = 0; step < 9; ++step)
    in_threads(3, [&](any_exchange& e) {
      cpu space(1);
      if (e.rank() == 1) {
        e.fails_at = step;
        e.fail = [&] { throw std::runtime_error("step"); };
      }
      const std::vector<u32> keys{1, 2, 3, e.rank() + 10};
      std::vector<u32> out(4);
      const std::string failure = message_of_failure([&] {
        shared_map table(space, e);
        static_cast<void>(table.insert(space, keys, keys));
        table.find_or(space, keys, out, 0);
      });
      if (e.rank() == 1)
        EXPECT_EQ(failure, "step");
      else
        EXPECT_NE(failure.find("rank 1 of 3 has ended; start the ranks again"), std::string::npos) << failure;
    });
}
TEST(Several, ARankThatDoesNotAnswerIsGivenUp) {
  const auto body = [](any_exchange& e) {
    cpu space(1);
    if (e.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const std::string failure = message_of_failure([&] { shared_map table(space, e); });
    if (e.rank() != 1) {
      EXPECT_NE(failure.find("did not answer"), std::string::npos) << failure;
    }
  };
  in_processes(2, body, 30);
  in_threads(2, body, 30);
}
TEST(Several, DifferentCallsAreRefused) {
  in_threads(2, [](any_exchange& e) {
    cpu space(1);
    shared_map table(space, e);
    const std::vector<u32> keys{1, 2, 3}, values{1, 2, 3};
    std::vector<u32> out(3);
    const std::string verbs = message_of_failure([&] {
      if (e.rank() == 0)
        static_cast<void>(table.insert(space, keys, values));
      else
        table.find_or(space, keys, out, 0);
    });
    EXPECT_EQ(verbs.find("tilehash: the ranks call different verbs: rank 0 insert, rank 1 find;"), 0U)
        << verbs;
    std::vector<u8> present(3);
    const std::string answers = message_of_failure([&] {
      if (e.rank() == 0)
        table.find(space, keys, out, present);
      else
        table.find_or(space, keys, out, 0);
    });
    EXPECT_NE(answers.find("rank 0 and rank 1 use different types"), std::string::npos) << answers;
    std::vector<u32> shorter(e.rank() == 0 ? 2 : 3);
    EXPECT_THROW(static_cast<void>(table.insert(space, keys, shorter)), invalid_argument);
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.insert(space, keys, values).inserted, 3U);
  });
}
TEST(Several, AnOpThatThrowsEndsTheCallOnAllRanks) {
  in_threads(2, [](any_exchange& e) {
    cpu space(1);
    shared_map table(space, e);
    std::vector<u32> keys(100), values(100, 1);
    for (u32 i = 0; i < keys.size(); ++i) keys[i] = i;
    EXPECT_EQ(table.insert(space, keys, values).inserted, 100U);
    const u32 owner = table.owner(50);
    const auto op = [](u32 stored, u32 given) {
      return stored == 50 ? throw std::runtime_error("op") : given;
    };
    keys = {50};
    values = {50};
    static_cast<void>(table.insert_or_assign(space, keys, values));
    const std::string failure =
        message_of_failure([&] { static_cast<void>(table.insert_or_apply(space, keys, values, op)); });
    const std::string line = "tilehash: insert_or_apply: rank " + std::to_string(owner) + " failed: op";
    EXPECT_EQ(failure, e.rank() == owner ? "op" : line);
    EXPECT_EQ(table.size(), 100U);
  });
}

// ---- shards and exchanges ----

TEST(Several, OwnersAreFixedAndEven) {
  EXPECT_EQ(several::shard_of(u32(0)), 2853U);
  EXPECT_EQ(several::shard_of(u32(1)), 2905U);
  EXPECT_EQ(several::shard_of(~u64(0)), 500U);
  EXPECT_EQ(several::shard_of(-0.0), several::shard_of(0.0));
  constexpr u64 n = 100'000;
  for (const u32 ranks : {1U, 3U, 64U, several::shards})
    for (const u32 apart : {1U, 1U << 12, 0x10001U}) {
      std::vector<u64> items(ranks, 0);
      for (u32 i = 0; i < n; ++i) ++items[several::rank_of(several::shard_of(i * apart), ranks)];
      const double mean = double(n) / ranks, most = mean + double(n) / several::shards + 6 * std::sqrt(mean);
      EXPECT_LE(double(*std::max_element(items.begin(), items.end())), most);
    }
}
// 64 ranks of 8 hosts. The links' time of items is that of scripts/several_model.py, and that of the fullest rank.
TEST(Several, SimulatesManyRanks) {
  constexpr u32 ranks = 64, host = 8, n = 1000;
  constexpr double between = 47e9;
  random_numbers random("many ranks");
  const u32 first = static_cast<u32>(random());
  in_threads(ranks, [&](any_exchange& real) {
    several::simulated<any_exchange> links(
        real, {.latency = 0, .between_hosts = between, .within_host = 364e9, .ranks_of_host = host});
    any_exchange e(links);
    cpu space(1);
    shared_map table(space, e);
    std::vector<u32> keys(n), values(n), out(n);
    for (u32 i = 0; i < n; ++i) {
      keys[i] = first + e.rank() * n + i;
      values[i] = keys[i] * 3;
    }
    const auto link = [&](u64 bytes) { return double(bytes) * n * (ranks - host) / ranks / between; };
    EXPECT_EQ(table.build(space, keys, values), (insert_report{.inserted = u64(ranks) * n}));
    const double build = links.seconds_of_items();
    EXPECT_GE(build, link(8));
    EXPECT_LE(build, 1.2 * link(8));
    for (u32& k : keys) k += n;  // the items of the next rank, or of none
    table.find_or(space, keys, out, 7);
    for (u32 i = 0; i < n; ++i) ASSERT_EQ(out[i], e.rank() + 1 == ranks ? 7 : keys[i] * 3);
    EXPECT_GE(links.seconds_of_items() - build, 2 * link(4));
    EXPECT_LE(links.seconds_of_items() - build, 1.2 * 2 * link(4));
    EXPECT_GT(links.seconds_of_words(), 0);
  });
}
TEST(Several, SimulatedLinksTakeTime) {
  in_threads(2, [&](any_exchange& real) {
    several::simulated<any_exchange> links(real, {.latency = 0.02, .waits = true});
    const auto begin = std::chrono::steady_clock::now();
    std::vector<u64> words(2);
    links.all_gather(std::vector<u64>{7}, words);
    EXPECT_EQ(words, (std::vector<u64>{7, 7}));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(20));
    EXPECT_GE(links.seconds_of_words(), 0.02);
  });
}
// A communicator of another library: two functions are enough.
TEST(Several, TakesFunctionsOfAnotherLibrary) {
  cpu space(1);
  several::one_rank<cpu> real(space);
  several::exchange_of exchange(
      0, 1, [&](auto mine, auto all) { real.all_gather(mine, all); },
      [&](const auto& sent, const auto& received) { real.all_to_all(sent, received); });
  static_assert(several::exchange<decltype(exchange)>);
  any_exchange any(exchange);
  expect_one_table(any, 5, 100, 1, "functions");
}
struct misnumbered : several::one_rank<cpu> {
  u32 own = 0, all = 1;
  u32 rank() const { return own; }
  u32 size() const { return all; }
};
TEST(Several, RefusesMisnumberedRanks) {
  cpu space(1);
  for (const auto& [rank, size] : {std::pair(0U, 0U), {1U, 1U}, {0U, several::shards + 1}}) {
    misnumbered wrong{several::one_rank<cpu>(space), rank, size};
    any_exchange exchange(wrong);
    EXPECT_THROW(shared_map(space, exchange), invalid_argument);
  }
  const auto none = [](const auto&, const auto&) {};
  EXPECT_THROW(several::exchange_of(2, 2, none, none), invalid_argument);
  EXPECT_THROW(several::exchange_of(0, 0, none, none), invalid_argument);
}

}  // namespace
}  // namespace tilehash::contract
