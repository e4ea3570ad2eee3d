// SPDX-License-Identifier: Apache-2.0
// One table over several processes of a CPU: each counts the words of its own part of a text, and all share the table.
//
// usage: several [PROCESSES]     default: 3
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <tilehash/map.hpp>
#include <tilehash/several/distributed.hpp>
#include <tilehash/several/join.hpp>
#include <tilehash/several/out_of_core.hpp>
#include <tilehash/several/processes.hpp>
#include <tilehash/space/cpu.hpp>

namespace {

// The work of rank r; all ranks call the same verbs in the same order.
int work(tilehash::several::processes& ranks) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 1000; ++i) keys.push_back(i % 10 + ranks.rank());
  // [table-begin]
  using map = tilehash::map<std::uint64_t, std::uint32_t, tilehash::cpu>;
  tilehash::cpu space(1);
  tilehash::several::distributed<map, tilehash::several::processes> counts(space, ranks);

  const auto report = counts.insert_or_apply(space, keys, tilehash::op::count{});  // of all ranks
  std::vector<std::uint32_t> of_key(keys.size());
  counts.find_or(space, keys, of_key, 0);  // in the order of this rank's keys
  // [table-end]
  const std::uint64_t n = ranks.size();
  bool right = report.inserted == 9 + n && report.inserted + report.present == 1000 * n;
  for (std::size_t i = 0; i < keys.size(); ++i) {  // key k is one of rank r's 10 keys if r <= k < r + 10
    std::uint32_t expected = 0;
    for (std::uint64_t r = 0; r < n; ++r) expected += keys[i] >= r && keys[i] < r + 10 ? 100 : 0;
    right = right && of_key[i] == expected;
  }
  // [join-begin]
  const std::vector<std::uint64_t> left{ranks.rank()}, right_side{0, ranks.rank()};
  const auto rows =
      tilehash::several::join(space, ranks, left, right_side);  // the rows whose keys this rank owns
  // [join-end]
  static_cast<void>(rows);
  if (ranks.rank() == 0) {
    const std::vector<std::uint32_t> values(keys.size(), 1);
    std::vector<std::uint32_t> sums(keys.size());
    const std::string folder =
        std::filesystem::temp_directory_path() / ("several." + std::to_string(getpid()));
    // [out_of_core-begin]
    tilehash::several::out_of_core<map> stored(space, folder, 8);  // 8 parts
    for (int batch = 0; batch < 3; ++batch) stored.append(keys, values);
    const auto merged = stored.insert_or_apply(tilehash::op::sum{});  // reads and writes each part once
    stored.find_or(keys, sums, 0);
    // [out_of_core-end]
    for (const std::uint32_t sum : sums) right = right && sum == 300;
    right = right && merged.inserted == 10 && merged.present == 2990;
    std::filesystem::remove_all(folder);
  }
  if (ranks.rank() == 0)
    std::printf("%u processes, %llu keys: %s\n", ranks.size(), static_cast<unsigned long long>(counts.size()),
                right ? "right" : "wrong");
  else
    static_cast<void>(counts.size());  // collective, too
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 3;
  if (asked < 1 || asked > 64) {
    std::fprintf(stderr, "several: 1 to 64 processes\n");
    return 2;
  }
  const auto count = static_cast<std::uint32_t>(asked);
  const auto sockets = tilehash::several::processes::connected(count);
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    for (std::uint32_t r = 0; r < count; ++r)
      if (r != rank) tilehash::several::processes::close_sockets(sockets[r]);
    int result = 1;
    try {
      tilehash::several::processes ranks(rank, sockets[rank]);
      result = work(ranks);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "rank %u: %s\n", rank, e.what());
    }
    std::fflush(nullptr);
    _exit(result);
  }
  for (const auto& row : sockets) tilehash::several::processes::close_sockets(row);
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  return failed == 0 ? 0 : 1;
}
