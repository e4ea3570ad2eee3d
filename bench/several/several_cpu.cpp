// SPDX-License-Identifier: Apache-2.0
// Times tables over several processes of a CPU, and one process with as many threads.
#include <sys/wait.h>
#include <unistd.h>

#include <several/several_bench.hpp>

#include <tilehash/several/processes.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::bench {
namespace {

// Runs body(exchange) on so many processes; returns whether all succeeded.
template <class Body>
bool in_processes(u32 ranks, const Body& body) {
  const auto sockets = several::processes::connected(ranks);
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (u32 rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    for (u32 r = 0; r < ranks; ++r)
      if (r != rank) several::processes::close_sockets(sockets[r]);
    bool right = false;
    try {
      several::processes exchange(rank, sockets[rank]);
      right = body(exchange);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "rank %u: %s\n", rank, e.what());
    }
    std::fflush(nullptr);
    _exit(right ? 0 : 1);
  }
  for (const auto& row : sockets) several::processes::close_sockets(row);
  bool right = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    right = right && status == 0;
  }
  return right;
}

bool measure(several::processes& exchange, const several_options& options) {
  cpu space(static_cast<int>(options.threads));
  timed<several::processes> all(exchange);
  several_bench bench(space, all, options, "processes");
  bench.run();
  return bench.right();
}

int run(int argc, char** argv) {
  const several_options options(argc, argv, u64(1) << 22);
  print_heading(options);
  several_options one = options;
  one.items *= options.ranks;
  one.threads *= options.ranks;
  one.ranks = 1;
  bool right = in_processes(1, [&](auto& exchange) { return measure(exchange, one); });
  if (options.ranks != 1)
    right = in_processes(options.ranks, [&](auto& exchange) { return measure(exchange, options); }) && right;
  return right ? 0 : 1;
}

}  // namespace
}  // namespace tilehash::bench

int main(int argc, char** argv) { return tilehash::bench::run(argc, argv); }
