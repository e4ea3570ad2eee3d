// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zstd.h>

#include <memory>
#include <vector>

#include "dataset.hpp"
#include "file.hpp"

namespace tilehash::app {

std::string unpack_zstd(std::string_view bytes, const std::string& name) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  if (!stream) throw std::bad_alloc();
  std::string text;
  std::vector<char> chunk(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  // 0 at the end of a frame, of which there may be several.
  std::size_t left = 0;
  bool full = false;  // then there may be more of what was read
  while (in.pos < in.size || full) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0)
      throw input_error(
          fmt::format("{}: the compressed data are damaged near byte {} ({}); fetch the file again", name,
                      in.pos, ZSTD_getErrorName(left)));
    text.append(chunk.data(), out.pos);
    full = out.pos == out.size && left != 0;
  }
  if (left != 0)
    throw input_error(
        fmt::format("{}: the compressed data end too early, at byte {}; fetch the file again", name, in.pos));
  return text;
}

}  // namespace tilehash::app
