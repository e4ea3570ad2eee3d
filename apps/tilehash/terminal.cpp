// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace tilehash::app {
namespace {

unsigned width_of(std::FILE* stream) {
  constexpr unsigned usual = 80, narrowest = 40;
  if (const char* columns = std::getenv("COLUMNS")) {
    const long given = std::strtol(columns, nullptr, 10);
    if (given > 0 && given < 10'000) return std::max(narrowest, static_cast<unsigned>(given));
  }
  if (!is_terminal(stream)) return unlimited_width;
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<unsigned>(narrowest, size.ws_col);
  return usual;
}

// Columns that a word takes: bytes, but of UTF-8 and of escape sequences only what is seen.
unsigned columns_of(std::string_view word) {
  unsigned columns = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\x1b') {
      while (i + 1 < word.size() && word[i] != 'm') ++i;
    } else if ((static_cast<unsigned char>(word[i]) & 0xc0U) != 0x80U) {
      ++columns;
    }
  }
  return columns;
}

}  // namespace

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

bool can_paint(std::FILE* stream) {
  const char* kind = std::getenv("TERM");
  return is_terminal(stream) && kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

style style_of(std::FILE* stream) {
  const char* forbids = std::getenv("NO_COLOR");
  const bool paints = can_paint(stream) && (forbids == nullptr || *forbids == '\0');
  return {paints ? colour::on : colour::off, width_of(stream)};
}

std::string wrap(std::string_view text, unsigned width, unsigned indent) {
  std::string wrapped;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    unsigned column = 0;
    bool starts = true;
    while (!line.empty()) {
      const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
      const std::size_t word_end = std::min(line.find(' ', blanks), line.size());
      const std::string_view word = line.substr(blanks, word_end - blanks);
      const unsigned columns = columns_of(word);
      if (!starts && column + blanks + columns > width && indent + columns < column + blanks + columns) {
        wrapped += '\n' + std::string(indent, ' ');
        column = indent;
      } else {
        wrapped.append(blanks, ' ');
        column += static_cast<unsigned>(blanks);
      }
      wrapped += word;
      column += columns;
      starts = false;
      line.remove_prefix(word_end);
    }
    if (end != std::string_view::npos) wrapped += '\n';
  }
  return wrapped;
}

}  // namespace tilehash::app
