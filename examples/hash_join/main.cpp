// SPDX-License-Identifier: Apache-2.0
// Database joins: TPC-H's queries 12 and 4, and three like them, on its tables orders and lineitem, which are
// made by its rules.
//
//   example_hash_join [--scale 0.1] [--seed 1] [--threads 0] [--csv FOLDER]
//
// Scale 1 is 1.5 million orders and 6 million lines. --csv writes both tables, for another database. The
// answers are compared with the standard library's; the exit code is 1 when they differ.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <tilehash/space/cpu.hpp>

#include "../arguments.hpp"
#include "queries.hpp"

namespace hash_join {
namespace {

struct settings {
  double scale = 0.1;
  count seed = 1;
  int threads = 0;  // of the CPU; 0: all
  std::string csv;  // a folder; empty: none
};

settings read_arguments(const std::vector<std::string>& given) {
  using tilehash_examples::number;
  settings s;
  const auto rest =
      tilehash_examples::read_options(given, [&](const std::string& name, const std::string& text) {
        if (name == "--scale")
          s.scale = tilehash_examples::fraction(name, text, 0.0001, 500);
        else if (name == "--seed")
          s.seed = number(name, text, 0, ~count(0));
        else if (name == "--threads")
          s.threads = static_cast<int>(number(name, text, 0, 1'024));
        else if (name == "--csv")
          s.csv = text;
        else
          return false;
        return true;
      });
  if (!rest.empty()) throw std::runtime_error("unknown option " + rest[0]);
  if (!s.csv.empty() && !std::filesystem::is_directory(s.csv))
    throw std::runtime_error("--csv is '" + s.csv + "'; it must be a folder that is there");
  return s;
}

void print(const answers& a) {
  const auto number = [](count n) { return static_cast<unsigned long long>(n); };
  for (count m = 0; m < a.lines.size(); ++m)
    std::printf("Q12,%s,%llu,%llu\n", ship_modes[static_cast<count>(q12_modes[m])], number(a.lines[m][0]),
                number(a.lines[m][1]));
  for (count p = 0; p < priorities.size(); ++p)
    std::printf("Q4,%s,%llu\n", priorities[p], number(a.orders[p]));
  for (count p = 0; p < priorities.size(); ++p)
    std::printf("in time,%s,%llu\n", priorities[p], number(a.in_time[p]));
  for (count n = 0; n < a.by_overdue.size(); ++n)
    if (a.by_overdue[n] != 0) std::printf("overdue,%llu,%llu\n", number(n), number(a.by_overdue[n]));
  for (count m = 0; m < a.pairs.size(); ++m)
    std::printf("pairs,%s,%llu\n", ship_modes[static_cast<count>(q12_modes[m])], number(a.pairs[m]));
}

}  // namespace
}  // namespace hash_join

int main(int argc, char** argv) {
  return tilehash_examples::guarded([&] {
    const auto given = hash_join::read_arguments({argv + 1, argv + argc});
    const auto tables = hash_join::make_tables(given.scale, given.seed);
    if (!given.csv.empty()) hash_join::write_csv(tables, given.csv);
    tilehash::cpu space(given.threads);
    const auto got = hash_join::ask(space, tables);
    hash_join::print(got);
    const auto known = hash_join::expected(tables);
    const int wrong = (got != known) + hash_join::wrong_on_gpu(tables, known);
    if (wrong != 0) std::puts("wrong: the standard library has other answers");
    return wrong == 0 ? 0 : 1;
  });
}
