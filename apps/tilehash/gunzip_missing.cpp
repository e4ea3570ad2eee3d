#include <fmt/format.h>

#include "dataset.hpp"
#include "file.hpp"

namespace tilehash::app {

std::string gunzip(const std::string& path) {
  throw input_error(
      fmt::format("{}: this program was built without zlib; unpack the file with gunzip first", path));
}

}  // namespace tilehash::app
