// SPDX-License-Identifier: Apache-2.0
#include "kolushev/mesh_cells.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dataset.hpp"
#include "file.hpp"

namespace tilehash::bench {
namespace {

class reader {
 public:
  explicit reader(const std::string& path) : path_(path), text_(app::read_file(path)), rest_(text_) {}

  std::vector<cell> cells() {
    const bool is_tetgens = path_.ends_with(".ele") || path_.ends_with(".ele.gz");
    const std::uint64_t announced = is_tetgens ? head() : 0;
    std::vector<cell> all;
    while (next_line()) {
      if (is_tetgens) number<std::int64_t>();  // the cell's own
      cell& its = all.emplace_back();
      for (int& corner : its) {
        corner = number<int>();
        if (corner < 0) fail(fmt::format("corner {} is below 0", corner));
      }
      skip_blanks();
      if (!is_tetgens && !line_.empty()) fail("a cell has more than four corners; give tetrahedra");
    }
    if (all.empty())
      throw app::input_error(fmt::format("{}: the mesh has no cells; give a volume mesh", path_));
    if (is_tetgens && all.size() != announced) {
      throw app::input_error(
          fmt::format("{}: has {} cells, and its head says {}; is it whole?", path_, all.size(), announced));
    }
    return all;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw app::input_error(fmt::format("{}:{}: {}", path_, number_, why));
  }

  // The next line that has something to say, without its comment.
  bool next_line() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      line_ = line_.substr(0, line_.find('#'));
      skip_blanks();
      if (!line_.empty()) return true;
    }
    return false;
  }
  void skip_blanks() { line_.remove_prefix(std::min(line_.find_first_not_of(" \t\r,"), line_.size())); }

  template <class Number>
  Number number() {
    skip_blanks();
    if (line_.empty()) fail("the line ends before the cell's four corners; give tetrahedra");
    Number n{};
    const auto [end, error] = std::from_chars(line_.data(), line_.data() + line_.size(), n);
    const std::string_view word = line_.substr(0, line_.find_first_of(" \t\r,"));
    if (error != std::errc{} || end != word.data() + word.size())
      fail(fmt::format("'{}' is no number of a corner", word));
    line_.remove_prefix(word.size());
    return n;
  }

  // How many cells there are to be.
  std::uint64_t head() {
    if (!next_line()) return 0;
    const auto cells = number<std::uint64_t>();
    const auto corners = number<int>();
    if (corners != 4) fail(fmt::format("its cells have {} corners; give tetrahedra, of four", corners));
    return cells;
  }

  const std::string& path_;
  std::string text_;
  std::string_view rest_, line_;
  std::size_t number_ = 0;
};

}  // namespace

std::vector<cell> read_cells(const std::string& path) { return reader(path).cells(); }

}  // namespace tilehash::bench
