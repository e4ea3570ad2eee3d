// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "advise.hpp"
#include "advise_costs.hpp"
#include "environment.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "offered_pairs.hpp"
#include "progress.hpp"
#include "results_file.hpp"
#include "sizes.hpp"

namespace tilehash::app {
namespace {

using json = nlohmann::ordered_json;

constexpr double most_off = 1.1;  // of the first choice's seconds and the least
constexpr double tie = 1.03;      // designs nearer than that are as fast as each other

void print_advice(std::FILE* out, const std::vector<advised>& all, const wanted_table& wanted,
                  const std::string& space) {
  fmt::print(out, "{:<20} {:>12} {:>12} {:>10}\n", "design", "ms", "of the best", "B/item");
  for (const advised& one : all) {
    if (!one.obstacle.empty()) {
      fmt::print(out, "{:<20} {}\n", one.design, one.obstacle);
      continue;
    }
    const double ratio = one.seconds / all.front().seconds;
    fmt::print(out, "{:<20} {:>12.3f} {:>12.2f} {:>10.1f}{}\n", one.design, one.seconds * 1e3, ratio,
               one.bytes / static_cast<double>(wanted.items), ratio > 1 && ratio < tie ? "  as fast" : "");
  }
  if (wanted.value_bits != wanted.key_bits)
    fmt::print(out, "The program has {} of tiled and multi alone.\n",
               wanted.value_bits == 0 ? "sets" : "values of another length than the keys");
  if (!all.empty() && all.front().obstacle.empty())
    fmt::print(out, "\n#include <tilehash/tilehash.hpp>\n{}\n", code_for(all.front().design, wanted, space));
}

json advice_rows(const std::vector<advised>& all) {
  json rows = json::array();
  for (const advised& one : all)
    rows.push_back(
        {{"design", one.design}, {"seconds", one.seconds}, {"bytes", one.bytes}, {"obstacle", one.obstacle}});
  return rows;
}

// The check's tables have sizes that the advice does not measure.
const wanted_table check_tables[] = {
    {.items = 20'000, .lookups = 1},
    {.items = 20'000, .lookups = 10, .absent = 0.5},
    {.items = 20'000, .lookups = 1, .absent = 1},
    {.items = 20'000, .lookups = 2, .absent = 0.2, .replaced = 0.5},
    {.items = 20'000, .lookups = 5, .absent = 0.1, .grows = true},
    {.items = 200'000, .lookups = 0},
    {.items = 200'000, .lookups = 1},
    {.items = 200'000, .lookups = 10},
    {.items = 200'000, .lookups = 10, .absent = 1},
    {.items = 200'000, .lookups = 3, .absent = 0.5},
    {.items = 200'000, .lookups = 1, .absent = 0.5, .replaced = 1},
    {.items = 200'000, .lookups = 1, .absent = 0.9, .grows = true},
    {.items = 200'000, .lookups = 4, .keeps_all = true},
    {.items = 200'000, .lookups = 5, .in_sequence = true},
    {.items = 200'000, .lookups = 2, .absent = 0.3, .key_bits = 64, .value_bits = 64},
    {.items = 1'500'000, .lookups = 0},
    {.items = 1'500'000, .lookups = 1},
    {.items = 1'500'000, .lookups = 10, .absent = 0.5},
    {.items = 1'500'000, .lookups = 3, .absent = 1, .replaced = 0.25},
    {.items = 1'500'000, .lookups = 2, .absent = 0.5, .in_sequence = true},
};

// The seconds that a workload took in a round. Lookups are those of its mix.
std::optional<double> measured_seconds(const wanted_table& wanted, const design_costs& costs) {
  design_costs mixed = costs;
  const auto mix = costs.seconds.find("find_mix");
  if (wanted.absent > 0 && wanted.absent < 1 && mix != costs.seconds.end())
    mixed.seconds["find_hit"] = mixed.seconds["find_miss"] = mix->second;
  return seconds_of(wanted, std::span(&mixed, 1));
}

// The seconds of a design in each round.
struct measured_time {
  std::string design;
  std::vector<double> seconds{};

  double usual() const { return median_of(seconds); }
};

// The seconds of one design in those of the other, round by round: other work meets both in the same round.
struct compared {
  double ratio = 1;   // median
  double spread = 0;  // between the quartiles
};

compared compare(const measured_time& one, const measured_time& other) {
  std::vector<double> ratios(std::min(one.seconds.size(), other.seconds.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = one.seconds[i] / other.seconds[i];
  std::ranges::sort(ratios);
  const std::size_t n = ratios.size();
  return {ratios[n / 2], ratios[n * 3 / 4] - ratios[n / 4]};
}

struct checked {
  measured_time first, fastest;
  compared off{};
  std::size_t rounds = 0;
};

std::vector<measured_time> times_of(const wanted_table& wanted, const measurer& measured) {
  std::vector<measured_time> times;
  times.reserve(measured.all.size());
  for (const rounds_of_design& one : measured.all) {
    measured_time its{one.design->name};
    for (const design_costs& costs : one.rounds)
      if (const auto seconds = measured_seconds(wanted, costs)) its.seconds.push_back(*seconds);
    if (!its.seconds.empty()) times.push_back(std::move(its));
  }
  return times;
}

// The first choice of `advice` and the fastest design, by so many rounds that their ratio is known. Designs that are
// slower by far are left out after each round.
checked check_one(const wanted_table& wanted, const conditions& what, const registry& designs,
                  std::span<const advised> advice) {
  constexpr std::size_t few = 5, most = 25;
  constexpr double far_off = 3, off = 1.3, steady = 0.04;
  const auto can = [&](const std::string& name) {
    const auto its = std::ranges::find(advice, name, &advised::design);
    return its != advice.end() && its->obstacle.empty();
  };
  const auto its_place = [&](const measured_time& one) {
    return std::ranges::find(advice, one.design, &advised::design) - advice.begin();
  };
  measurer measured(designs, what, wanted.items, 1 - wanted.absent, 2);
  std::erase_if(measured.all, [&](const rounds_of_design& one) { return !can(one.design->name); });
  progress bar(std::vector<double>(most, static_cast<double>(wanted.items) * 4e-6));
  checked found;
  while (found.rounds < most) {
    measured.round([&](const std::string& name) { bar.begin(found.rounds, name); });
    if (asked_to_stop()) break;
    ++found.rounds;
    const auto times = times_of(wanted, measured);
    if (times.empty()) break;
    found.first = *std::ranges::min_element(times, {}, its_place);
    found.fastest = *std::ranges::min_element(times, {}, &measured_time::usual);
    found.off = compare(found.first, found.fastest);
    if (found.rounds >= few && (found.off.spread < steady || found.off.ratio < tie)) break;
    const double limit = (found.rounds < few ? far_off : off) * found.fastest.usual();
    std::erase_if(measured.all, [&](const rounds_of_design& one) {
      const auto its = std::ranges::find(times, one.design->name, &measured_time::design);
      return one.design->name != found.first.design && (its == times.end() || its->usual() > limit);
    });
  }
  return found;
}

std::string words_of(const wanted_table& w) {
  return fmt::format("{} {}/{}{}{}{}, {} lookups, {:.0f} % absent, {:.0f} % replaced", w.items, w.key_bits,
                     w.value_bits, w.in_sequence ? ", in sequence" : "", w.grows ? ", grows" : "",
                     w.keeps_all ? ", all values" : "", w.lookups, 100 * w.absent, 100 * w.replaced);
}

exit_code check_advice(const advise_request& request, const registry& designs, const std::string& space,
                       cost_file& file) {
  results_file json_file(request.json);
  std::FILE* const out = json_file.to_stdout() ? stderr : stdout;
  json rows = json::array();
  std::size_t off = 0, checked_tables = 0;
  fmt::print(out, "{:<70} {:<20} {:<20} {:>6} {:>6} {:>7}\n", "workload", "first choice", "fastest", "ratio",
             "spread", "rounds");
  for (const wanted_table& wanted : check_tables) {
    const conditions what = conditions_of(request, wanted, space);
    if (!offers_pair(wanted.key_bits, wanted.value_bits)) continue;
    const auto advice = advise(wanted, designs, file.for_table(wanted, what, designs));
    if (asked_to_stop()) return stopped;
    const checked found = check_one(wanted, what, designs, advice);
    if (asked_to_stop()) return stopped;
    off += found.off.ratio > most_off;
    ++checked_tables;
    fmt::print(out, "{:<70} {:<20} {:<20} {:>6.2f} {:>6.2f} {:>7}{}\n", words_of(wanted), found.first.design,
               found.fastest.design, found.off.ratio, found.off.spread, found.rounds,
               found.first.design != found.fastest.design && found.off.ratio < tie ? "  as fast" : "");
    std::fflush(out);
    rows.push_back({{"workload", words_of(wanted)},
                    {"first", found.first.design},
                    {"fastest", found.fastest.design},
                    {"first_seconds", found.first.usual()},
                    {"fastest_seconds", found.fastest.usual()},
                    {"spread", found.off.spread},
                    {"rounds", found.rounds},
                    {"ratio", found.off.ratio}});
  }
  fmt::print(out, "{} of {} first choices take at most {:.1f} times the least\n", checked_tables - off,
             checked_tables, most_off);
  json header = environment({.space = space, .threads = request.threads_asked});
  header["experiment"] = "advise --check";
  json_file.write(results_text(header, rows));
  return off == 0 ? all_right : wrong_or_lost;
}

}  // namespace

exit_code advise_command(const advise_request& request, const registry& designs) {
  const std::string space = choose_space(request.space);
  if (request.processor_time && (space != "cpu" || request.threads_asked != 1))
    throw input_error(
        "--clock processor: it is for one thread of a CPU; add --threads 1, or use --clock wall");
  keep_results();
  cost_file file(request, space);
  if (request.check) return check_advice(request, designs, space, file);
  require_offered(request.wanted.key_bits, request.wanted.value_bits);
  results_file out(request.json);
  const conditions what = conditions_of(request, request.wanted, space);
  const auto all = advise(request.wanted, designs, file.for_table(request.wanted, what, designs));
  if (asked_to_stop()) return stopped;
  print_advice(out.to_stdout() ? stderr : stdout, all, request.wanted, space);
  json header = environment({.space = space, .threads = request.threads_asked});
  header["experiment"] = "advise";
  out.write(results_text(header, advice_rows(all)));
  return all_right;
}

CLI::App* add_advise_command(CLI::App& app, advise_request& request) {
  CLI::App* command = app.add_subcommand(
      "advise", "The fastest design for a workload, by rates that it measures on this machine and keeps");
  wanted_table& w = request.wanted;
  const CLI::Validator size(read_size, ""), share = CLI::Range(0.0, 1.0, "0..1");
  command->add_option("--n,--items", w.items, "Items")->transform(size)->capture_default_str();
  command->add_option(option::key_bits, w.key_bits, "32 or 64")->check(CLI::IsMember({32, 64}));
  command->add_option("--value-bits", w.value_bits, "0 (a set), 32 or 64")->check(CLI::IsMember({0, 32, 64}));
  command->add_option("--lookups", w.lookups, "Lookups of each item")->capture_default_str();
  command->add_option("--absent", w.absent, "Share of the lookups whose key is absent")->check(share);
  command->add_option("--replaced", w.replaced, "Share of the items erased, and as many inserted")
      ->check(share);
  command->add_flag("--grows", w.grows, "Items come in several calls");
  command->add_flag("--keep-all", w.keeps_all, "All values of a key are kept");
  command->add_flag("--in-sequence", w.in_sequence, "Keys are 0, 1, 2 ...");
  command->add_option("--memory", w.most_bytes, "Bytes of the table, at most")->transform(size);
  command->add_option("--space", request.space, "Where: cpu, cuda, or auto for cuda where there is a GPU")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->capture_default_str();
  add_threads_option(*command, request.threads_asked, request.threads);
  command
      ->add_option_function<std::string>(
          "--clock", [&request](const std::string& clock) { request.processor_time = clock == "processor"; },
          "wall, or processor: of one thread, for a machine with other work")
      ->check(CLI::IsMember({"wall", "processor"}));
  command->add_option("--results", request.folder, "Folder of the kept rates, in advise.json")
      ->capture_default_str();
  command->add_flag("--again", request.again, "Measure again what is kept");
  command->add_flag("--check", request.check, "Compare the first choice with the fastest on 20 workloads");
  command->add_option(option::json, request.json, "Write the advice to FILE, or to standard output with -")
      ->type_name("FILE|-");
  command->footer(
      "Rates of a size, a commit, a machine and a number of threads are measured once. Tables are 0.8 full. "
      "What "
      "growth adds to inserts is not in the rates. The program has sets, and values of another length than "
      "the keys, "
      "of tiled and multi alone.");
  return command;
}

}  // namespace tilehash::app
