// tilehash bench ceilings, yardstick, aggregation, thesis/restarts, thesis/multiplicity.
#include "bench_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cuda_presence.hpp"
#include "dataset.hpp"
#include "environment.hpp"
#include "report.hpp"
#include "run_command.hpp"
#include "thesis_multiplicity_report.hpp"
#include "thesis_restarts.hpp"

namespace tilehash::app {
namespace {

using bench::known_limits;
using bench::measurement;
using bench::subject;
using bench::yardstick_case;

struct common_options {
  std::string space = "auto", json;
  unsigned repeat = 5;
  int threads = 0;
};

struct ceilings_options : common_options {
  std::vector<std::uint64_t> sizes{32 << 20, 256 << 20, 1ULL << 30, 4ULL << 30};
};

struct yardstick_options : common_options {
  std::vector<std::string> designs{"all"}, peers{"all"};
  std::vector<std::uint64_t> sizes{1 << 24, 1 << 26};
  std::vector<double> load_factors{0.5, 0.8, 0.9, 0.95};
  unsigned bits = 32;
};

struct aggregation_options : common_options {
  std::uint64_t items = 1 << 26;
  std::vector<std::uint64_t> groups{1 << 10, 1 << 16, 1 << 24};
};

struct restarts_options : common_options {
  std::vector<std::uint64_t> items{1'000, 10'000, 1'000'000};
  std::uint64_t all_items = 20'000'000;
};

struct multiplicity_options : common_options {
  std::uint64_t items = 10'000'000;
  std::vector<std::uint64_t> copies{1, 2, 4, 16, 64, 256, 1'000, 10'000, 50'000};
};

void add_common(CLI::App& command, common_options& options) {
  command.add_option("--space", options.space, "Where: cpu, cuda, or auto for cuda where there is a GPU")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->capture_default_str();
  command.add_option("--repeat", options.repeat, "Times to measure; the median is shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "CPU threads (default: all)")->check(CLI::Range(1, 4096));
  command.add_option("--json", options.json, "Write the rows to FILE, or to standard output with -")
      ->type_name("FILE|-");
}

// What both commands begin and end with: where to measure, where to print, and the JSON, whose file is opened
// before the work is done.
class session {
 public:
  explicit session(const common_options& options) : path_(options.json), space_(options.space) {
    const std::string obstacle = why_no_cuda();
    if (space_ == "auto") space_ = obstacle.empty() ? "cuda" : "cpu";
    if (space_ == "cuda" && !obstacle.empty())
      throw input_error(fmt::format("--space cuda: {}; use --space cpu", obstacle));
    if (!path_.empty() && path_ != "-") file_.open(path_);
    if (!file_) throw input_error(fmt::format("--json {}: cannot write it", path_));
    header_ = bench::environment(space_, options.threads);
  }

  const std::string& space() const { return space_; }
  std::string machine() const {
    if (space_ == "cuda") return header_["gpu"];
    return fmt::format("{}, threads: {}", std::string(header_["machine"]), int(header_["threads"]));
  }

  void say(const std::string& text) const {
    std::FILE* const out = path_ == "-" ? stderr : stdout;
    fmt::print(out, "{}", text);
    std::fflush(out);
  }

  void write(const nlohmann::ordered_json& rows) {
    if (path_.empty()) return;
    std::vector<std::string> lines;
    for (const auto& row : rows) lines.push_back(row.dump());
    const std::string text =
        fmt::format("{{\"header\": {},\n\"rows\": [\n{}\n]}}\n", header_.dump(), fmt::join(lines, ",\n"));
    if (path_ == "-")
      fmt::print("{}", text);
    else if (!(file_ << text << std::flush))
      throw input_error(fmt::format("--json {}: cannot write it", path_));
  }

 private:
  std::string path_, space_;
  std::ofstream file_;
  nlohmann::ordered_json header_;
};

void run_ceilings(const ceilings_options& options) {
  session session(options);
  const auto rows = session.space() == "cuda"
                        ? bench::cuda_ceilings(options.sizes, options.repeat)
                        : bench::cpu_ceilings(options.sizes, options.repeat, options.threads);
  session.say(fmt::format("{}\n{}", session.machine(), bench::ceiling_table(rows)));
  session.write(bench::ceilings_as_json(rows, session.space()));
}

// Those asked for by name that are there; a name that is not is an error.
std::vector<subject> choose(const std::vector<subject>& known, const std::vector<std::string>& names,
                            const char* option) {
  if (names == std::vector<std::string>{"all"}) return known;
  if (names == std::vector<std::string>{"none"}) return {};
  std::vector<subject> chosen;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(known, name, &subject::name);
    if (at == known.end()) {
      std::vector<std::string> all;
      for (const subject& s : known) all.push_back(s.name);
      throw input_error(fmt::format("{} '{}' is unknown here; use all, none or some of {}", option, name,
                                    fmt::join(all, ",")));
    }
    chosen.push_back(*at);
  }
  return chosen;
}

void run_yardstick(const yardstick_options& options) {
  for (const std::uint64_t n : options.sizes) {
    if (n < 2 || (options.bits == 32 && n >= 1ULL << 31))
      throw input_error(fmt::format("--n {}: must be at least 2, and below 2^31 for keys of 32 bits", n));
  }
  session session(options);
  std::vector<subject> designs, peers;
  for (const subject& s : bench::all_subjects()) {
    if (s.space == session.space()) (s.is_peer ? peers : designs).push_back(s);
  }
  designs = choose(designs, options.designs, "--designs");
  peers = session.space() == "cpu" ? choose(peers, options.peers, "--peers") : std::vector<subject>{};

  std::vector<measurement> rows;
  known_limits known;
  const auto run = [&](const subject& s, const yardstick_case& the_case) {
    std::vector<measurement> its;
    s.run(the_case, known, [&](const measurement& m) { its.push_back(m); });
    if (!its.empty()) session.say(bench::subject_line(its));
    rows.insert(rows.end(), its.begin(), its.end());
    return its;
  };
  for (const std::uint64_t n : options.sizes) {
    std::vector<measurement> rival;  // the fastest of the peers by repute
    bool peers_done = false;         // they choose their own load factor: once is enough
    for (const double load_factor : options.load_factors) {
      const yardstick_case the_case{n, load_factor, options.bits, options.repeat, options.threads};
      session.say(bench::case_heading(the_case, session.machine()));
      if (!std::exchange(peers_done, true)) {
        for (const subject& peer : peers) {
          auto its = run(peer, the_case);
          if (peer.name == "boost::unordered_flat_map") rival = std::move(its);
        }
      }
      for (const subject& design : designs) {
        const auto its = run(design, the_case);
        if (!rival.empty() && !its.empty()) session.say(bench::advantage_line(its, rival));
      }
    }
  }
  session.say(bench::limits_lines(known));
  session.write(bench::measurements_as_json(rows));
  if (std::ranges::any_of(rows, [](const measurement& m) { return m.failed + m.wrong != 0; })) {
    fmt::print(stderr, "tilehash: some answers were wrong or items lost; see the rows above\n");
    throw CLI::RuntimeError(wrong_or_lost);
  }
}

void run_aggregation(const aggregation_options& options) {
  if (options.items < 1 || options.items >= 1ULL << 31)
    throw input_error(fmt::format("--items {}: must be at least 1 and below 2^31", options.items));
  for (const std::uint64_t groups : options.groups) {
    if (groups < 2 || groups >= 1ULL << 31)
      throw input_error(fmt::format("--groups {}: must be at least 2 and below 2^31", groups));
  }
  session session(options);
  session.say(session.machine() + '\n');
  std::vector<bench::aggregation> rows;
  for (const std::uint64_t groups : options.groups) {
    for (const bool skewed : {false, true}) {
      const bench::aggregation_case the_case{options.items, groups, skewed};
      for (const auto& row : session.space() == "cuda"
                                 ? bench::cuda_aggregations(the_case, options.repeat)
                                 : bench::cpu_aggregations(the_case, options.repeat, options.threads)) {
        session.say(bench::aggregation_line(row));
        rows.push_back(row);
      }
    }
  }
  session.write(bench::aggregations_as_json(rows));
  if (std::ranges::any_of(rows, [](const bench::aggregation& row) { return row.wrong != 0; })) {
    fmt::print(stderr, "tilehash: some sums were wrong; see the rows above\n");
    throw CLI::RuntimeError(wrong_or_lost);
  }
}

void run_restarts(const restarts_options& options) {
  for (const std::uint64_t n : options.items) {
    if (n < 1 || n >= 1ULL << 31)
      throw input_error(fmt::format("--items {}: must be at least 1 and below 2^31", n));
  }
  session session(options);
  session.say(bench::restarts_heading());
  std::vector<bench::restart_counts> rows;
  const std::vector<std::pair<unsigned, std::vector<double>>> sizes{
      {4, {1.03, 1.04, 1.05, 1.1, 1.25}}, {2, {2.1, 2.2}}, {3, {1.1, 1.15}}, {5, {1.0205, 1.05}}};
  for (const auto& [functions, its_sizes] : sizes) {
    for (const std::uint64_t n : options.items) {
      const std::uint64_t trials = std::max<std::uint64_t>(1, options.all_items / n);
      for (const double size : its_sizes) {
        for (const bool stash : {true, false}) {
          rows.push_back(bench::count_restarts({functions, stash, n, trials, size}));
          session.say(bench::restarts_line(rows.back()));
        }
      }
    }
  }
  session.write(bench::restarts_as_json(rows));
  if (std::ranges::any_of(rows, [](const bench::restart_counts& row) { return row.lost != 0; })) {
    fmt::print(stderr, "tilehash: some items were lost; see the rows above\n");
    throw CLI::RuntimeError(wrong_or_lost);
  }
}

void run_multiplicity(const multiplicity_options& options) {
  if (options.items < 1 || options.items >= 1ULL << 31)
    throw input_error(fmt::format("--items {}: must be at least 1 and below 2^31", options.items));
  for (const std::uint64_t copies : options.copies) {
    if (copies < 1 || copies > options.items)
      throw input_error(fmt::format("--copies {}: must be at least 1 and at most --items", copies));
  }
  session session(options);
  session.say(fmt::format("{}\n{}", session.machine(), bench::multiplicity_heading()));
  std::vector<bench::multiplicity_row> rows;
  for (const std::uint64_t copies : options.copies) {
    const bench::multiplicity_case the_case{options.items, copies};
    rows.push_back(session.space() == "cuda"
                       ? bench::cuda_multiplicity(the_case, options.repeat)
                       : bench::cpu_multiplicity(the_case, options.repeat, options.threads));
    session.say(bench::multiplicity_line(rows.back()));
  }
  session.write(bench::multiplicities_as_json(rows));
  if (std::ranges::any_of(rows, [](const bench::multiplicity_row& row) { return row.wrong != 0; })) {
    fmt::print(stderr, "tilehash: some keys have other values than they should; see the rows above\n");
    throw CLI::RuntimeError(wrong_or_lost);
  }
}

}  // namespace

void add_bench_commands(CLI::App& bench) {
  bench.require_subcommand(1);

  CLI::App* ceilings =
      bench.add_subcommand("ceilings", "The machine's limits: copies, random reads, random atomics");
  const auto limits = std::make_shared<ceilings_options>();
  add_common(*ceilings, *limits);
  ceilings->add_option("--bytes", limits->sizes, "Sizes of the memory that is accessed, such as 32M,1G")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->default_str("32M,256M,1G,4G");
  ceilings->callback([limits] { run_ceilings(*limits); });

  CLI::App* yardstick = bench.add_subcommand(
      "yardstick", "Tables against the machine's limits and, on the CPU, against other libraries");
  const auto cases = std::make_shared<yardstick_options>();
  add_common(*yardstick, *cases);
  yardstick->add_option("--designs", cases->designs, "Designs to measure, all or none")
      ->delimiter(',')
      ->capture_default_str();
  yardstick->add_option("--peers", cases->peers, "Other libraries' maps to measure on the CPU, all or none")
      ->delimiter(',')
      ->capture_default_str();
  yardstick->add_option("--n", cases->sizes, "Numbers of unique random keys")
      ->delimiter(',')
      ->default_str("16777216,67108864");
  yardstick->add_option("--load", cases->load_factors, "Shares of the slots to fill")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 0.98))
      ->default_str("0.5,0.8,0.9,0.95");
  yardstick->add_option("--bits", cases->bits, "Bits of a key, and of its value: 32 or 64")
      ->check(CLI::IsMember({32, 64}))
      ->capture_default_str();
  yardstick->callback([cases] { run_yardstick(*cases); });

  CLI::App* aggregation =
      bench.add_subcommand("aggregation", "Sums by group: a table against sorting or another map");
  const auto sums = std::make_shared<aggregation_options>();
  add_common(*aggregation, *sums);
  aggregation->add_option("--items", sums->items, "Number of items")->capture_default_str();
  aggregation->add_option("--groups", sums->groups, "Numbers of groups")
      ->delimiter(',')
      ->default_str("1024,65536,16777216");
  aggregation->callback([sums] { run_aggregation(*sums); });

  CLI::App* restarts = bench.add_subcommand(
      "thesis/restarts", "How often cuckoo tables start again, with the stash and without (on the CPU)");
  const auto constructions = std::make_shared<restarts_options>();
  constructions->space = "cpu";
  restarts->add_option("--items", constructions->items, "Numbers of items in a table")
      ->delimiter(',')
      ->default_str("1000,10000,1000000");
  restarts
      ->add_option("--all-items", constructions->all_items,
                   "Items in all tables of a row: as many tables are built as come to that")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  restarts->add_option("--json", constructions->json, "Write the rows to FILE, or to standard output with -")
      ->type_name("FILE|-");
  restarts->callback([constructions] { run_restarts(*constructions); });

  CLI::App* multiplicity = bench.add_subcommand(
      "thesis/multiplicity",
      "Multimaps against how often a key comes: builds, lookups, all values of all keys");
  const auto multimaps = std::make_shared<multiplicity_options>();
  add_common(*multiplicity, *multimaps);
  multiplicity->add_option("--items", multimaps->items, "Number of items")->capture_default_str();
  multiplicity->add_option("--copies", multimaps->copies, "How often each key comes")
      ->delimiter(',')
      ->default_str("1,2,4,16,64,256,1000,10000,50000");
  multiplicity->callback([multimaps] { run_multiplicity(*multimaps); });
}

}  // namespace tilehash::app
