// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>
#include <vector>

#include "dataset.hpp"
#include "memory_guard.hpp"

namespace tilehash::app {
namespace {

std::string read_stream(std::istream& in, const std::string& name) {
  std::string text;
  std::vector<char> chunk(1 << 20);
  // In chunks and not by the file's size: pipes have none.
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad())
    throw input_error(fmt::format("{}: cannot read byte {}: {}", name, text.size(), std::strerror(errno)));
  return text;
}

std::string read_plain(const std::string& path) {
  if (path == "-") return read_stream(std::cin, "standard input");
  std::error_code unknown;  // of a pipe, say
  if (const auto bytes = std::filesystem::file_size(path, unknown); !unknown) require_memory(bytes, path);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw input_error(fmt::format("{}: cannot open it: {}", path, std::strerror(errno)));
  return read_stream(in, path);
}

using namespace std::string_view_literals;

struct kind {
  std::string_view begin, what;
};
// Kinds of files by their first bytes.
constexpr kind kinds[] = {{"\x1f\x8b"sv, "gzip data"},
                          {"\x28\xb5\x2f\xfd"sv, "zstd data"},
                          {"BZh"sv, "bzip2 data; unpack it first"},
                          {"\xfd"
                           "7zXZ\0"sv,
                           "xz data; unpack it first"},
                          {"PK\x03\x04"sv, "a zip archive; unpack it first"},
                          {"BAM\1"sv, "BAM alignments; samtools fasta makes sequences of them"},
                          {"CRAM"sv, "CRAM alignments; samtools fasta makes sequences of them"},
                          {"\x1a\x45\xdf\xa3"sv, "a Matroska film"},
                          {"\x89PNG"sv, "a PNG picture"},
                          {"\xff\xd8\xff"sv, "a JPEG picture"},
                          {"%PDF"sv, "a PDF document"},
                          {"\x7f"
                           "ELF"sv,
                           "a program"},
                          {"SQLite format 3"sv, "a SQLite database"}};

bool is(std::string_view bytes, std::string_view what) {
  return std::ranges::any_of(kinds,
                             [&](const kind& k) { return k.what == what && bytes.starts_with(k.begin); });
}

bool is_packed(std::string_view bytes) { return is(bytes, "gzip data") || is(bytes, "zstd data"); }

}  // namespace

std::optional<std::uint64_t> plain_size(const std::string& path) {
  std::error_code unknown;
  if (path == "-" || !std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
  const std::uint64_t bytes = std::filesystem::file_size(path, unknown);
  std::array<char, 4> begin{};
  std::ifstream in(path, std::ios::binary);
  in.read(begin.data(), begin.size());
  if (unknown || is_packed({begin.data(), static_cast<std::size_t>(in.gcount())})) return std::nullopt;
  return bytes;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

bool ends_lines_with_returns(std::string_view text) {
  return text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos;
}

std::string describe_binary(std::string_view bytes) {
  for (const kind& k : kinds) {
    if (bytes.starts_with(k.begin)) return std::string(k.what);
  }
  // Text has no control characters but these, in any encoding that is in use for it.
  for (std::size_t at = 0; at < std::min<std::size_t>(bytes.size(), 1 << 16); ++at) {
    const auto c = static_cast<unsigned char>(bytes[at]);
    if (c < 32 && (c < 7 || c > 13) && c != 27)
      return fmt::format("binary data (byte 0x{:02x} at {})", c, at);
  }
  return {};
}

std::string unpack(std::string bytes, const std::string& name) {
  // (The third byte of gzip's is the method, of which there is one.)
  if (is(bytes, "gzip data") && (bytes.size() < 3 || bytes[2] == 8)) return unpack_gzip(bytes, name);
  if (is(bytes, "zstd data")) return unpack_zstd(bytes, name);
  return bytes;
}

std::string read_file(const std::string& path) {
  const std::string name = path == "-" ? "standard input" : path;
  std::string text = unpack(read_plain(path), name);
  if (text.empty())
    throw input_error(fmt::format("{}: the file is empty; give one with at least one key", name));
  return text;
}

}  // namespace tilehash::app
