#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "dataset.hpp"
#include "file.hpp"

namespace tilehash::app {

std::string gunzip(const std::string& path) {
  const auto fail = [&](std::string_view why) { throw input_error(fmt::format("{}: {}", path, why)); };

  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), &gzclose);
  if (!file) fail(fmt::format("cannot open it: {}", std::strerror(errno)));
  std::string text;
  std::vector<char> chunk(1 << 20);
  int got = 0;
  while ((got = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()))) > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }

  int code = Z_OK;
  const std::string_view detail = gzerror(file.get(), &code);
  const auto place = gzoffset(file.get());
  if (code == Z_ERRNO) fail(fmt::format("cannot read byte {}: {}", place, std::strerror(errno)));
  // zlib hands out what precedes a cut and only then says that the end is missing.
  if (code == Z_BUF_ERROR)
    fail(fmt::format("the compressed data end too early, at byte {}; fetch the file again", place));
  if (code != Z_OK)
    fail(fmt::format("the compressed data are damaged near byte {} ({}); fetch it again", place, detail));
  // A file that only calls itself .gz is passed through as it is.
  if (!text.empty() && gzdirect(file.get()) != 0)
    fail("byte 0: this is not gzip data; rename the file without .gz");
  return text;
}

}  // namespace tilehash::app
