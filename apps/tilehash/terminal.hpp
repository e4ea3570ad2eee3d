// SPDX-License-Identifier: Apache-2.0
// The abilities of the terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tilehash::app {

enum class colour { off, on };

inline constexpr unsigned unlimited_width = 1U << 30;

// How to write for people: `width` columns, of which no line takes more unless it is one long word.
struct style {
  colour use = colour::off;
  unsigned width = unlimited_width;
};

bool is_terminal(std::FILE* stream);
// Can it move the cursor and paint? Not where TERM is dumb or missing.
bool can_paint(std::FILE* stream);
// Colours where it can paint and NO_COLOR does not forbid them. The width is that of COLUMNS or of the
// terminal; without a terminal there is no limit, so that other programs read whole lines.
style style_of(std::FILE* stream);

// Lines that are too long broken at blanks, what follows indented; newlines stay. Escape sequences take no
// columns.
std::string wrap(std::string_view text, unsigned width, unsigned indent);

}  // namespace tilehash::app
