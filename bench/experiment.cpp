// SPDX-License-Identifier: Apache-2.0
#include "experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tilehash/core/error.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cuda_presence.hpp"
#include "dataset.hpp"
#include "environment.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "parallel.hpp"
#include "run_command.hpp"
#include "sizes.hpp"

namespace tilehash::app {

using bench::subject;

experiment::experiment(const common_options& options, const declaration& of)
    : space_(options.space), command_(of.name), name_(of.name), faults_(of.faults), file_(options.json) {
  const std::string obstacle = why_no_cuda();
  if (space_ == "auto") space_ = obstacle.empty() ? "cuda" : "cpu";
  if (space_ == "cuda" && !obstacle.empty())
    throw input_error(fmt::format("--space cuda: {}; use --space cpu", obstacle));
  header_ = environment({.space = space_, .threads = options.threads_asked, .repeat = options.repeat});
  if (const int runs = threads_that_run(options.threads_asked); options.threads_asked > runs)
    above_ = fmt::format("--threads {}: this machine runs {} at once, and so does the program\n",
                         options.threads_asked, runs);
  if (!of.on_cpu_alone) above_ += machine() + '\n';
  above_ += of.above;
}

std::string experiment::machine() const {
  if (on_gpu()) return header_["gpu"];
  return fmt::format("{}, threads: {}", std::string(header_["machine"]), int(header_["threads"]));
}

void experiment::print(const std::string& text) {
  fmt::print(file_.to_stdout() ? stderr : stdout, "{}{}", std::exchange(above_, {}), text);
  std::fflush(file_.to_stdout() ? stderr : stdout);
  keep_results();
  stop_if_asked();
}

void experiment::say(const std::string& text) {
  print(lines_.end(text));
  lines_.new_heading();
}

void experiment::add(const bench::fields& row, const std::string& more) {
  std::string text = lines_.add(row);
  if (!more.empty()) text += lines_.end(more);
  keep(row);
  print(text);
}

void experiment::keep(const bench::fields& row) {
  rows_.push_back(bench::object_of(row));
  faulty_ = faulty_ || bench::is_faulty(row);
}

void experiment::measure(const subject& design, const bench::yardstick_case& the_case,
                         const std::function<bench::fields(const bench::measurement&)>& row_of) {
  bool any = false;
  try {
    design.run(the_case, limits, [&](const bench::measurement& m) {
      any = true;
      add(row_of(m));
    });
  } catch (const out_of_memory&) {
    say(fmt::format("{}: there is not the memory\n", design.name));
  } catch (const input_error& error) {  // the program has no tables of such pairs of this design
    if (any) throw;
    say(fmt::format("{} is left out: {}\n", design.name, error.what()));
  }
}

void experiment::finish() {
  print(lines_.end());
  header_["experiment"] = name_;
  file_.write(results_text(header_, rows_));
  if (!faulty_ || faults_ == nullptr) return;
  fmt::print(stderr, "tilehash: some {}; see the rows above\n", faults_);
  throw CLI::RuntimeError(wrong_or_lost);
}

void experiment::stop_if_asked() {
  if (!asked_to_stop()) return;
  header_["experiment"] = command_;  // so that what was done can be drawn
  header_["stopped"] = true;
  file_.write(results_text(header_, so_far_()));
  fmt::print(stderr, "tilehash: stopped; what was done until then is above{}\n",
             file_.wanted() ? " and written" : "");
  throw CLI::RuntimeError(stopped);
}

CLI::Option* option_list::size(const char* names, std::uint64_t& value, const std::string& about,
                               std::int64_t least, std::int64_t most) {
  CLI::Option* const option = command_.add_option(names, value, about);
  if (most != 0) option->check(CLI::Range(least, most));
  option->transform(CLI::Validator(read_size, ""));
  return value == 0 ? option : option->capture_default_str();
}
CLI::Option* option_list::size(const char* names, std::optional<std::uint64_t>& value,
                               const std::string& about) {
  return command_.add_option(names, value, about)->transform(CLI::Validator(read_size, ""));
}

namespace {

CLI::Option* list(CLI::Option* option, const auto& values, std::string (*read)(std::string&) = nullptr) {
  option->delimiter(',');
  if (read != nullptr) option->transform(CLI::Validator(read, ""));
  return values.empty() ? option : option->default_str(fmt::format("{}", fmt::join(values, ",")));
}

}  // namespace

CLI::Option* option_list::sizes(const char* names, std::vector<std::uint64_t>& values,
                                const std::string& about) {
  return list(command_.add_option(names, values, about), values, read_size);
}
CLI::Option* option_list::ratio(const char* names, double& value, const std::string& about, double least,
                                double most) {
  return command_.add_option(names, value, about)
      ->check(CLI::Range(least, most))
      ->transform(CLI::Validator(read_ratio, ""))
      ->capture_default_str();
}
CLI::Option* option_list::ratios(const char* names, std::vector<double>& values, const std::string& about,
                                 double least, double most) {
  return list(command_.add_option(names, values, about), values, read_ratio)->check(CLI::Range(least, most));
}
CLI::Option* option_list::number(const char* names, unsigned& value, const std::string& about, int least,
                                 int most) {
  CLI::Option* const option = command_.add_option(names, value, about)->check(CLI::Range(least, most));
  return value == 0 ? option : option->capture_default_str();
}
CLI::Option* option_list::numbers(const char* names, std::vector<unsigned>& values, const std::string& about,
                                  const CLI::Validator& check) {
  return list(command_.add_option(names, values, about), values)->check(check);
}
CLI::Option* option_list::names(const char* names, std::vector<std::string>& values, const std::string& about,
                                const std::vector<std::string>& known) {
  CLI::Option* const option = list(command_.add_option(names, values, about), values);
  return known.empty() ? option : option->check(CLI::IsMember(known));
}
CLI::Option* option_list::designs(std::vector<std::string>& values, const std::string& about) {
  return names(option::design, values, about);
}
void option_list::clock(bench::measured_clock& value) {
  using bench::measured_clock;
  const std::map<std::string, measured_clock> clocks{{"wall", measured_clock::wall},
                                                     {"processor", measured_clock::processor}};
  command_.add_option("--clock", value, "wall, or processor: time of one CPU thread")
      ->transform(CLI::CheckedTransformer(clocks))
      ->default_str("wall");
}

void option_list::on_cpu_only(common_options& options) {
  options.space = "cpu";
  const auto to_cpu = [](std::string& space) {
    if (space == "cuda") return std::string("cuda: this is measured on a CPU alone");
    space = "cpu";
    return std::string();
  };
  command_.get_option("--space")->transform(CLI::Validator(to_cpu, ""))->default_str("cpu");
}

CLI::App& add_command(CLI::App& bench, const declaration& what, common_options& options) {
  CLI::App& command = *bench.add_subcommand(what.name, what.about);
  if (what.on_cpu_alone) {
    options.space = "cpu";
  } else {
    command.add_option("--space", options.space, "Where: cpu, cuda, or auto for cuda where there is a GPU")
        ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
        ->capture_default_str();
    command.add_option("--repeat", options.repeat, "Times to measure; the median is shown")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    add_threads_option(command, options.threads_asked, options.threads);
  }
  command.add_option(option::json, options.json, "Write the figures to FILE, or to standard output with -")
      ->type_name("FILE|-");
  command.footer("Sizes: 1000003, 2^20, 1e6, 1M (k, M, G: steps of 1024). Load factors: 0.8 or 1/1.25.");
  return command;
}

void check_sizes(const std::vector<std::uint64_t>& values, const char* option, std::uint64_t least,
                 std::uint64_t most) {
  for (const std::uint64_t n : values) {
    if (n < least || n > most)
      throw input_error(fmt::format("{} {}: must be from {} to {}", option, n, least, most));
  }
}

void check_clock(bench::measured_clock clock, bool one_thread) {
  if (clock == bench::measured_clock::processor && !one_thread)
    throw input_error(
        "--clock processor: it is for one thread of a CPU; add --threads 1, or use --clock wall");
}

std::vector<subject> subjects_in(const std::string& space, bool peers) {
  std::vector<subject> known = bench::all_subjects();
  std::erase_if(known, [&](const subject& s) { return s.space != space || (s.is_peer && !peers); });
  return known;
}

std::vector<subject> choose(const std::vector<subject>& known, const std::vector<std::string>& names,
                            const char* option, const std::vector<std::string>& defaults) {
  if (names == std::vector<std::string>{"all"}) return known;
  std::vector<subject> chosen;
  for (const std::string& name : names.empty() ? defaults : names) {
    const auto at = std::ranges::find(known, name, &subject::name);
    if (at != known.end()) {
      chosen.push_back(*at);
    } else if (!names.empty() && names != std::vector<std::string>{"none"}) {
      std::vector<std::string> all;
      all.reserve(known.size());
      for (const subject& s : known) all.push_back(s.name);
      throw input_error(fmt::format("{} '{}' is unknown here; use all, none or some of {}", option, name,
                                    fmt::join(all, ",")));
    }
  }
  return chosen;
}

}  // namespace tilehash::app
