// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tilehash::app {

// The program, but for main(): reads the command line, runs the command, and returns the exit code. Throws nothing.
int run_program(int argc, char** argv);

}  // namespace tilehash::app
