// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "dataset.hpp"
#include "file.hpp"

namespace tilehash::app {

std::string unpack_gzip(std::string_view /*bytes*/, const std::string& name) {
  throw input_error(
      fmt::format("{}: this program was built without zlib; unpack the file with gunzip first", name));
}

}  // namespace tilehash::app
