// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "dataset.hpp"
#include "file.hpp"

namespace tilehash::app {
namespace {

struct inflater {
  z_stream stream{};
  inflater() {
    constexpr int largest_window = 15, gzip_alone = 16;
    if (inflateInit2(&stream, largest_window + gzip_alone) != Z_OK) throw std::bad_alloc();
  }
  ~inflater() { inflateEnd(&stream); }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;
};

}  // namespace

std::string unpack_gzip(std::string_view bytes, const std::string& name) {
  inflater its;
  std::string text;
  std::vector<char> chunk(1 << 20);
  std::size_t at = 0;  // of `bytes`, what was handed over
  int status = Z_OK;
  while (true) {
    z_stream& stream = its.stream;
    if (stream.avail_in == 0) {
      const std::size_t more = std::min<std::size_t>(bytes.size() - at, std::numeric_limits<uInt>::max() / 2);
      // zlib reads what it calls non-const.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + at));
      stream.avail_in = static_cast<uInt>(more);
      at += more;
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(chunk.data(), chunk.size() - stream.avail_out);
    const std::size_t position = at - stream.avail_in;
    if (status == Z_STREAM_END) {
      // Files of several members, one behind the other, as bgzip and cat make them; zeros behind are padding.
      const std::string_view rest = bytes.substr(position);
      if (rest.find_first_not_of('\0') == std::string_view::npos) return text;
      if (!rest.starts_with("\x1f\x8b"))
        throw input_error(fmt::format("{}: from byte {} on it is no gzip data any more; fetch the file again",
                                      name, position));
      inflateReset(&stream);
      continue;
    }
    if (status == Z_BUF_ERROR || (status == Z_OK && position == bytes.size() && stream.avail_out != 0))
      throw input_error(fmt::format("{}: the compressed data end too early, at byte {}; fetch the file again",
                                    name, position));
    if (status != Z_OK)
      throw input_error(
          fmt::format("{}: the compressed data are damaged near byte {} ({}); fetch the file again", name,
                      position, stream.msg == nullptr ? "no detail" : stream.msg));
  }
}

}  // namespace tilehash::app
