// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "interrupt.hpp"
#include "options.hpp"
#include "registry.hpp"

namespace tilehash::app {

enum exit_code : int {
  all_right = 0,
  wrong_or_lost = 1,           // a table gave a wrong answer or refused an item
  bad_request = 2,             // usage, input, or a machine that cannot do it
  stopped = interrupted_code,  // by Ctrl-C; what was done until then is shown and written
};

// The space of --space: cpu or cuda, and for auto cuda where there is a GPU. Throws input_error.
std::string choose_space(const std::string& asked);

// `peers` are other libraries' maps, for --peers.
exit_code run_command(const run_options& options, const registry& designs,
                      const registry& peers = {});  // throws input_error

}  // namespace tilehash::app
