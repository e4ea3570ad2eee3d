// SPDX-License-Identifier: Apache-2.0
// tilehash: hash tables from the literature, run on your data, timed, and checked answer by answer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "advise.hpp"
#include "bench_commands.hpp"
#include "cuda_presence.hpp"
#include "dataset.hpp"
#include "environment.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "paper_commands.hpp"
#include "program.hpp"
#include "registry.hpp"
#include "report.hpp"
#include "run_command.hpp"

namespace tilehash::app {
namespace {

int list(const list_options& options, const registry& designs) {
  fmt::print("{}",
             options.json ? designs_as_json(designs) : design_list(designs, style_of(stdout), why_no_cuda()));
  return all_right;
}

int tilehash_main(int argc, char** argv) {
  CLI::App app("Hash tables from the literature, run on your data, timed, and checked answer by answer.",
               "tilehash");
  add_manners(app);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 all right; 1 a wrong answer or a lost item; 2 bad usage or input; 130 stopped by "
      "Ctrl-C.");
  run_options to_run;
  list_options to_list;
  add_list_command(app, to_list);
  const CLI::App* run = add_run_command(app, to_run);
  CLI::App* bench =
      app.add_subcommand("bench", "Limits of this machine, rates of the tables, and the papers' experiments");
  add_bench_commands(*bench);
  add_paper_list(*bench);
  advise_request to_advise;
  const CLI::App* advice = add_advise_command(app, to_advise);
  const CLI::App* reproduce = add_reproduce_command(app);
  const CLI::App* report = add_report_command(app);
  if (argc == 1) {
    fmt::print("{}", app.help());
    return all_right;
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_name() == "RuntimeError")
      return error.get_exit_code();                          // a command's own, which has said why
    if (error.get_exit_code() == 0) return app.exit(error);  // help, and the version
    // For a word that is no command, CLI11 only says that a command is missing.
    const auto words = app.remaining(true);
    std::string what = error.what();
    if (error.get_name() == "RequiredError" && !words.empty())
      what = fmt::format("'{}' is no command", words.front());
    else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr &&
             !words.empty())  // whose text has them in reverse
      what = fmt::format("not expected: {}", fmt::join(words, " "));
    fmt::print(stderr, "tilehash: {}; tilehash {}--help lists the commands and options\n", what,
               bench->parsed() ? "bench " : "");
    return bad_request;
  }
  if (bench->parsed() || reproduce->parsed() || report->parsed())
    return all_right;  // have run from their callbacks
  const registry designs = all_designs();
  if (advice->parsed()) return advise_command(to_advise, designs);
  return run->parsed() ? run_command(to_run, designs, all_peers()) : list(to_list, designs);
}

// A disk that is full shows only now: what is printed waits in a buffer.
void require_printed() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw input_error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

}  // namespace

int run_program(int argc, char** argv) {
  remember_command(argc, argv);
  catch_interrupts();
  try {
    const int code = tilehash_main(argc, argv);
    require_printed();
    return code;
  } catch (const interrupted&) {
    fmt::print(stderr, "tilehash: stopped\n");
    return stopped;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tilehash: out of memory; use fewer items or queries\n");
  } catch (const std::exception& error) {
    const std::string_view what = error.what();  // the library's messages already begin with its name
    fmt::print(stderr, "{}{}\n", what.starts_with("tilehash: ") ? "" : "tilehash: ", what);
  }
  return bad_request;
}

}  // namespace tilehash::app
