// SPDX-License-Identifier: Apache-2.0
// tilehash bench kmers: how often each k-mer of a file comes, by our map and by the programs that people
// count them with, from the file to the counts. They run in turns, each on as many threads.
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "command_line.hpp"
#include "experiment.hpp"
#include "file.hpp"
#include "file_keys.hpp"
#include "input_spec.hpp"
#include "ours/kmers.hpp"
#include "parallel.hpp"
#include "report.hpp"
#include "sizes.hpp"
#include "spent.hpp"

namespace tilehash::app {
namespace {

using bench::scratch_folder;
using bench::spread;

struct kmers_options : common_options {
  std::string input;  // fasta:FILE,k=K; empty: generated reads
  std::uint64_t reads = 160'000;
};

// Reads of 100 letters from anywhere in 2 million random ones.
std::string made_up_reads(std::uint64_t reads) {
  constexpr std::size_t genome = 2'000'000, letters = 100;
  std::mt19937_64 random(1);
  std::string from(genome, 'A');
  for (char& letter : from) letter = "ACGT"[random() % 4];
  std::string text;
  for (std::uint64_t i = 0; i < reads; ++i)
    text +=
        fmt::format(">{}\n{}\n", i, std::string_view(from).substr(random() % (genome - letters), letters));
  return text;
}

// A program that counts: seconds of its runs, and its number of different k-mers.
struct counter {
  std::string name;
  std::vector<double> wall{}, processor{}, reading{}, counting{};
  std::uint64_t distinct = 0, wrong = 0;
};

struct sequences {
  std::string path;  // unpacked
  bool is_fastq = false;
  unsigned k = 21;
  std::uint64_t kmers = 0;
  dataset right{};  // each k-mer with how often it comes
};

void count_here(counter& its, const sequences& of, int threads) {
  const bench::counted_kmers counted = bench::count_kmers(of.path, of.k, threads, of.right.keys);
  its.wall.push_back(counted.all.wall), its.processor.push_back(counted.all.cpu);
  its.reading.push_back(counted.reading), its.counting.push_back(counted.all.wall - counted.reading);
  its.distinct = counted.distinct;
  its.wrong = counted.refused;
  for (std::size_t i = 0; i < counted.counts.size(); ++i)
    its.wrong += counted.counts[i] != of.right.counts[i] ? 1 : 0;
}

// The number behind a mark, "Distinct:   1996633".
std::uint64_t number_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return 0;
  const std::size_t begin = text.find_first_of("0123456789", at + mark.size());
  if (begin == std::string_view::npos) return 0;
  const std::size_t end = text.find_first_not_of("0123456789", begin);
  return to_number<std::uint64_t>(text.substr(begin, end == std::string_view::npos ? end : end - begin))
      .value_or(0);
}

void count_by(counter& its, const std::vector<std::string>& words, const scratch_folder& folder,
              std::string& said) {
  const auto outcome = bench::run_command_line(words, folder);
  if (!outcome || outcome->code != 0)
    throw input_error(fmt::format("{} failed: {}", its.name,
                                  outcome ? outcome->said.substr(0, outcome->said.find('\n')) : "not there"));
  its.wall.push_back(outcome->seconds.wall), its.processor.push_back(outcome->seconds.cpu);
  said = outcome->said;
}

void count_by_jellyfish(counter& its, const sequences& of, int threads, const scratch_folder& folder) {
  std::string said;
  // Its caller passes how many there are, and it gets capacity for twice as many.
  count_by(its,
           {"jellyfish", "count", "-C", "-m", std::to_string(of.k), "-s",
            std::to_string(std::max<std::size_t>(2 * of.right.size(), 1000)), "-t", std::to_string(threads),
            "-o", folder / "jellyfish", of.path},
           folder, said);
  const auto output = bench::run_command_line({"jellyfish", "stats", folder / "jellyfish"}, folder);
  its.distinct = output ? number_after(output->said, "Distinct:") : 0;
}

void count_by_kmc(counter& its, const sequences& of, int threads, const scratch_folder& folder) {
  std::string said;
  count_by(its,
           {"kmc", "-hp", "-r", fmt::format("-k{}", of.k), "-m4", "-ci1", "-cs4000000000",
            fmt::format("-t{}", threads), of.is_fastq ? "-fq" : "-fm", of.path, folder / "kmc", folder / ""},
           folder, said);
  its.distinct = number_after(said, "No. of unique counted k-mers");
}

// The name with a version, or nothing where it is not installed.
std::optional<std::string> version_of(const std::string& program, const std::string& option,
                                      std::string_view mark, const scratch_folder& folder) {
  const auto output = bench::run_command_line({program, option}, folder);
  if (!output) return std::nullopt;
  const std::size_t at = output->said.find(mark);
  if (at == std::string::npos) return program;
  const std::string rest = output->said.substr(at + mark.size());
  return fmt::format("{} {}", program, rest.substr(0, rest.find_first_of(" \n")));
}

sequences prepare(const kmers_options& options, const scratch_folder& folder) {
  sequences its{.path = folder / "sequences"};
  std::string text;
  if (options.input.empty()) {
    text = made_up_reads(options.reads);
  } else {
    const input_spec spec = parse_spec(options.input);
    const auto* const fasta = std::get_if<fasta_spec>(&spec);
    if (fasta == nullptr)
      throw input_error(fmt::format("--input '{}': k-mers are of sequences; use fasta:FILE", options.input));
    its.k = fasta->k;
    text = read_file(fasta->path);
  }
  its.is_fastq = text[text.find_first_not_of(" \t\r\n")] == '@';
  its.right = sequence_keys(text, options.input.empty() ? "the reads" : options.input, its.k);
  its.kmers = its.right.raw.size();
  if (!(std::ofstream(its.path, std::ios::binary) << text << std::flush))
    throw input_error(fmt::format("{}: cannot write the sequences there, unpacked", its.path));
  return its;
}

bench::fields fields_of(const counter& its, const sequences& of, const std::string& input, int threads) {
  const spread wall(its.wall), processor(its.processor);
  bench::fields all{{"design", its.name, "program", -16},
                    {"space", "cpu"},
                    {"threads", threads},
                    {"input", input},
                    {"k", of.k},
                    {"n", of.kmers},
                    {"unique", of.right.size()},
                    {"op", "count"},
                    {"items", of.kmers},
                    {"", wall.median, "s", 8, ".3f"},
                    {"", processor.median, "CPU s", 8, ".3f"}};
  nlohmann::ordered_json seconds{{"wall", bench::as_json(wall)}, {"processor", bench::as_json(processor)}};
  if (!its.reading.empty()) {
    const spread reading(its.reading), counting(its.counting);
    seconds["reading"] = bench::as_json(reading);
    seconds["counting"] = bench::as_json(counting);
    all.push_back({"", reading.median, "reading", 8, ".3f"});
    all.push_back({"", counting.median, "counting", 8, ".3f"});
  }
  all.push_back({"seconds", seconds});
  all.push_back({"mitems_per_s", static_cast<double>(of.kmers) / wall.median / 1e6, "M k-mers/s", 10, ".1f"});
  all.push_back({"", its.distinct, "different", 9});
  all.push_back({"", bench::noise_of("this", wall), "", -1});
  all.push_back(bench::wrong_answers(its.wrong + (its.distinct != of.right.size() ? 1U : 0U)));
  return all;
}

void run_kmers(experiment& rows, const kmers_options& options) {
  const int threads = threads_that_run(options.threads);
  const scratch_folder folder;
  const sequences of = prepare(options, folder);
  const std::string input = options.input.empty()
                                ? fmt::format("{} reads of 100 letters of 2 million", options.reads)
                                : options.input;
  rows.say(fmt::format("{}: {} {}-mers, {} different\n", input, of.kmers, of.k, of.right.size()));
  std::vector<counter> counters{{"tilehash::map"}};
  const auto jellyfish = version_of("jellyfish", "--version", "jellyfish ", folder);
  const auto kmc = version_of("kmc", "--version", "ver. ", folder);
  if (jellyfish) counters.push_back({*jellyfish});
  if (kmc) counters.push_back({*kmc});
  for (unsigned run = 0; run <= options.repeat; ++run) {
    if (run == 1) {  // the first was to warm up
      for (counter& its : counters) its = {its.name};
    }
    rows.stop_if_asked();
    std::size_t at = 0;
    count_here(counters[at++], of, threads);
    if (jellyfish) count_by_jellyfish(counters[at++], of, threads, folder);
    if (kmc) count_by_kmc(counters[at++], of, threads, folder);
  }
  for (const counter& its : counters) rows.add(fields_of(its, of, input, threads));
  for (const auto& [program, there] :
       {std::pair("jellyfish", jellyfish.has_value()), std::pair("kmc", kmc.has_value())}) {
    if (!there) rows.say(fmt::format("{} is not installed (Debian, Ubuntu: {})\n", program, program));
  }
}

}  // namespace

void add_kmers_commands(CLI::App& bench) {
  declare<kmers_options>(
      bench,
      {"kmers",
       "k-mers counted from a file, next to jellyfish and KMC if they are installed",
       {},
       "counts differ"},
      run_kmers, [](option_list& list, kmers_options& o) {
        list.on_cpu_only(o);
        CLI::Option* const input = list.command().add_option(
            "--input", o.input, "fasta:FILE[,k=21], as for run (default: generated reads)");
        list.size("--reads", o.reads, "Number of generated reads, of 100 letters from 2 million", 1,
                  40'000'000)
            ->excludes(input);
      });
}

}  // namespace tilehash::app
