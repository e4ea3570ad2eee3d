// SPDX-License-Identifier: Apache-2.0
// soak [--minutes M] [--seed S] [--rounds N] [--world NAME] [--most ITEMS] [--list]: rounds of random calls
// until time is up. It prints each round's seed before the round, and ends with a line that adds up. Exit
// code 1: a wrong answer. With --seed the first round has that seed, and there is one round unless --rounds
// or --minutes says more.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <string>
#include <tuple>

#include <unistd.h>

#include <soak/soak.hpp>
#include <tilehash/core/hash.hpp>

namespace tilehash::soak {
namespace {

constexpr unsigned longest_round = 300;  // seconds; one that takes longer hangs

struct arguments {
  double minutes = 1;
  u64 rounds = ~u64(0), most = 3'000'000;
  u64 seed = u64(std::random_device{}()) << 32 | std::random_device{}();
  std::string world;
};

[[noreturn]] void usage(const char* why) {
  std::fprintf(
      stderr,
      "error: %s\nusage: soak [--minutes M] [--seed S] [--rounds N] [--world NAME] [--most ITEMS] [--list]\n",
      why);
  std::exit(2);
}
arguments parse(int argc, char** argv) {
  arguments a;
  bool seeded = false, bounded = false;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--list") {
      for (const world& w : worlds()) std::puts(w.name);
      std::exit(0);
    }
    if (i + 1 == argc) usage((name + " needs a value").c_str());
    const char* value = argv[++i];
    if (name == "--minutes")
      a.minutes = std::strtod(value, nullptr), bounded = true;
    else if (name == "--rounds")
      a.rounds = std::strtoull(value, nullptr, 0), bounded = true;
    else if (name == "--most")
      a.most = std::strtoull(value, nullptr, 0);
    else if (name == "--seed")
      a.seed = std::strtoull(value, nullptr, 0), seeded = true;
    else if (name == "--world")
      a.world = value;
    else
      usage(("unknown option " + name).c_str());
  }
  if (a.most == 0) usage("--most must be 1 or more");
  if (seeded && !bounded) a.rounds = 1, a.minutes = 60;
  return a;
}

// The seed chooses the world, too, so that it repeats the round alone.
const world& world_of(u64 seed, const std::string& name) {
  if (name.empty()) return worlds()[mix64(seed) % worlds().size()];
  for (const world& w : worlds())
    if (name == w.name) return w;
  usage(("no world " + name + "; see --list").c_str());
}

extern "C" void say_that_it_hangs(int /*signal*/) {
  constexpr char text[] = "FAULT the round does not end\n";
  std::ignore = ::write(STDOUT_FILENO, text, sizeof text - 1);
  ::_exit(1);
}

int run(const arguments& a) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(60 * a.minutes);
  u64 rounds = 0, checked = 0, wrong = 0;
  std::signal(SIGALRM, say_that_it_hangs);
  for (u64 seed = a.seed; rounds < a.rounds && std::chrono::steady_clock::now() < end && wrong == 0;
       seed = mix64(seed + 1)) {
    const world& w = world_of(seed, a.world);
    std::printf("round %llu: --seed %llu --most %llu --world '%s'\n", static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(a.most), w.name);
    std::fflush(stdout);
    round r(seed, a.most);
    ::alarm(longest_round);
    try {
      w.play(r);
    } catch (const std::exception& e) {
      ++wrong;
      std::printf("FAULT %s: %s\n  after: %s\n  repeat it with --seed %llu --most %llu --world '%s'\n",
                  w.name, e.what(), r.log.c_str(), static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(a.most), w.name);
    }
    ::alarm(0);
    ++rounds;
    checked += r.checked;
  }
  std::printf("%llu rounds, %llu items checked, %llu wrong\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(checked), static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tilehash::soak

int main(int argc, char** argv) { return tilehash::soak::run(tilehash::soak::parse(argc, argv)); }
