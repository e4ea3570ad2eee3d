// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

int main(int argc, char** argv) { return tilehash::app::run_program(argc, argv); }
