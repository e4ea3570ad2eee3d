// SPDX-License-Identifier: Apache-2.0
// tilehash bench list, tilehash reproduce, tilehash report.
#pragma once

namespace CLI {
class App;
}

namespace tilehash::app {

void add_paper_list(CLI::App& bench);
// Both run from their callbacks, as the children of bench do.
CLI::App* add_reproduce_command(CLI::App& app);
CLI::App* add_report_command(CLI::App& app);

}  // namespace tilehash::app
