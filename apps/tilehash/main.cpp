// tilehash: hash tables from the literature, run on your data, timed, and checked answer by answer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "bench_commands.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "registry.hpp"
#include "report.hpp"
#include "run_command.hpp"

namespace {

using namespace tilehash::app;

int list(const list_options& options, const registry& designs) {
  const colour use = is_terminal(stdout) ? colour::on : colour::off;
  fmt::print("{}", options.json ? designs_as_json(designs) : design_list(designs, use));
  return all_right;
}

int tilehash_main(int argc, char** argv) {
  CLI::App app("Hash tables from the literature, run on your data, timed, and checked answer by answer.",
               "tilehash");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 all right; 1 a wrong answer or a lost item; 2 bad usage or input.");
  run_options to_run;
  list_options to_list;
  add_list_command(app, to_list);
  const CLI::App* run = add_run_command(app, to_run);
  CLI::App* bench = app.add_subcommand("bench", "What this machine and these tables can do");
  add_bench_commands(*bench);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? all_right : bad_request;
  }
  if (bench->parsed()) return all_right;  // has run from its callback
  const registry designs = all_designs();
  return run->parsed() ? run_command(to_run, designs) : list(to_list, designs);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return tilehash_main(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tilehash: out of memory; use fewer items or queries\n");
  } catch (const std::exception& error) {
    const std::string_view what = error.what();  // the library's messages already say who speaks
    fmt::print(stderr, "{}{}\n", what.starts_with("tilehash: ") ? "" : "tilehash: ", what);
  }
  return bad_request;
}
