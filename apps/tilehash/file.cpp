#include "file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "dataset.hpp"

namespace tilehash::app {
namespace {

std::string read_plain(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(fmt::format("{}: cannot open it: {}", path, std::strerror(errno)));
  std::string text;
  std::vector<char> chunk(1 << 20);
  // In chunks and not by the file's size: pipes have none.
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad())
    throw input_error(fmt::format("{}: cannot read byte {}: {}", path, text.size(), std::strerror(errno)));
  return text;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::string text = path.ends_with(".gz") ? gunzip(path) : read_plain(path);
  if (text.empty())
    throw input_error(fmt::format("{}: the file is empty; give one with at least one key", path));
  return text;
}

}  // namespace tilehash::app
