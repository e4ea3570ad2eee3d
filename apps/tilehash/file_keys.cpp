// SPDX-License-Identifier: Apache-2.0
#include "file_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "file.hpp"
#include "oracle.hpp"
#include "parallel.hpp"
#include "scramble.hpp"

namespace tilehash::app {
namespace {

// All lines, without their newlines and the carriage returns before these. A byte order mark is no part of
// the first.
std::vector<std::string_view> lines_of(std::string_view text) {
  text = without_byte_order_mark(text);
  const char newline = ends_lines_with_returns(text) ? '\r' : '\n';
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(newline), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

line_hash seeded_line_hash(std::uint64_t seed) {
  // FNV-1a, which spreads its last bytes badly, and a scramble that does not.
  return [scrambled = scramble(64, seed)](std::string_view line) {
    std::uint64_t hash = 0xcbf29ce484222325 ^ scrambled(0);
    for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return scrambled(hash);
  };
}

dataset line_keys(std::string_view text, const std::string& name, const line_hash& hash, arrangement how) {
  if (const std::string what = describe_binary(text); !what.empty())
    throw input_error(
        fmt::format("{}: this is {} and no text; give lines, or binary:FILE,key=u32|u64", name, what));
  const std::vector<std::string_view> lines = lines_of(text);
  require_countable(lines.size(), name);
  std::vector<std::uint64_t> raw(lines.size());
  in_parallel(lines.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) raw[i] = hash(lines[i]);
  });
  // Lines of one hash must be one line: each is compared with the first of its hash.
  const oracle groups(raw);
  std::atomic<std::size_t> differs = lines.size();
  in_parallel(lines.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (lines[i] == lines[groups.find(raw[i]).item]) continue;
      for (std::size_t known = differs; i < known && !differs.compare_exchange_weak(known, i);) {
      }
    }
  });
  if (differs < lines.size()) {
    throw input_error(
        fmt::format("{}:{}: hashes to the same 64 bits as the different line {}; use another --seed", name,
                    differs + 1, groups.find(raw[differs]).item + 1));
  }
  return counted(std::move(raw), how.order, how.seed);
}

void check_binary_size(std::uint64_t bytes, const std::string& name, unsigned bits_in_file,
                       const std::string& looks_like) {
  const std::size_t width = bits_in_file / 8, other = 12 - width;
  if (bytes % width == 0) return require_countable(bytes / width, name);
  const std::string advice = bytes % other == 0
                                 ? fmt::format("of {} bytes they are; is it key=u{}?", other, 8 * other)
                                 : fmt::format("nor of {} bytes", other);
  throw input_error(fmt::format("{}: its {} bytes are no whole number of keys of {} bytes; {}{}", name, bytes,
                                width, advice,
                                looks_like.empty() ? "" : fmt::format(" (it looks like {})", looks_like)));
}

dataset binary_keys(std::string_view bytes, const std::string& name, unsigned bits_in_file, arrangement how) {
  const std::size_t width = bits_in_file / 8;
  const std::string what = describe_binary(bytes);
  check_binary_size(bytes.size(), name, bits_in_file, what.starts_with("binary") ? "" : what);
  dataset data;
  data.key_bits = bits_in_file;
  data.keys.resize(bytes.size() / width);
  in_parallel(data.keys.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t byte = 0; byte < width; ++byte)
        data.keys[i] |= std::uint64_t{static_cast<unsigned char>(bytes[i * width + byte])} << (8 * byte);
    }
  });
  if (how.order == key_order::shuffled) data.keys = shuffled(data.keys, how.seed);
  return data;
}

}  // namespace tilehash::app
