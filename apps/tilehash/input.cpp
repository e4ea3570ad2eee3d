// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "file.hpp"
#include "file_keys.hpp"
#include "input_spec.hpp"
#include "random_keys.hpp"

namespace tilehash::app {
namespace {

struct loader {
  unsigned key_bits;
  std::uint64_t seed;
  const tell_share& tell;

  dataset operator()(const data_set_spec& spec) const {
    dataset data;
    data.key_bits = key_bits == 0 ? 32 : key_bits;
    data.keys = data_set_keys(spec, data.key_bits, seed, tell);
    return data;
  }
  dataset operator()(const random_spec& spec) const {
    dataset data;
    data.key_bits = key_bits == 0 ? 32 : key_bits;
    data.keys = random_keys(spec, data.key_bits, seed);
    return data;
  }
  dataset operator()(const fasta_spec& spec) const {
    return sequence_keys(read_file(spec.path), spec.path, spec.k, {spec.order, seed});
  }
  dataset operator()(const lines_spec& spec) const {
    return line_keys(read_file(spec.path), spec.path, seeded_line_hash(seed), {spec.order, seed});
  }
  dataset operator()(const binary_spec& spec) const {
    // The size decides, so a file that its size refuses is not read.
    if (const auto bytes = plain_size(spec.path)) check_binary_size(*bytes, spec.path, spec.key_bits);
    return binary_keys(read_file(spec.path), spec.path, spec.key_bits, {spec.order, seed});
  }
};

// About how many items, from a file's size: a base or so a byte, words of 8, numbers of their width.
struct estimate {
  double operator()(const random_spec& spec) const { return static_cast<double>(spec.n); }
  double operator()(const data_set_spec& spec) const { return static_cast<double>(spec.n); }
  double operator()(const fasta_spec& spec) const { return of_file(spec.path, 1); }
  double operator()(const lines_spec& spec) const { return of_file(spec.path, 8); }
  double operator()(const binary_spec& spec) const { return of_file(spec.path, spec.key_bits / 8.0); }
  double operator()(const auto& /*other*/) const { return 0; }

  static double of_file(const std::string& path, double bytes_each) {
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(path, unknown);
    if (unknown) return 0;
    const bool packed =
        path.ends_with(".gz") || path.ends_with(".zst");  // a guess; what is unpacked goes by content
    return static_cast<double>(bytes) * (packed ? 3.5 : 1) / bytes_each;
  }
};

}  // namespace

double expected_items(const std::string& spec) { return std::visit(estimate{}, parse_spec(spec)); }

dataset load_input(const std::string& spec, unsigned key_bits, std::uint64_t seed, const tell_share& tell) {
  dataset data = std::visit(loader{key_bits, seed, tell}, parse_spec(spec));
  data.name = spec;
  if (key_bits == 32 && data.key_bits == 64) {
    const auto wide = std::find_if(data.keys.begin(), data.keys.end(),
                                   [](auto key) { return key > std::numeric_limits<std::uint32_t>::max(); });
    if (wide != data.keys.end()) {
      throw input_error(
          fmt::format("--input '{}': key 0x{:x} does not fit in 32 bits; use --key-bits 64", spec, *wide));
    }
  }
  if (key_bits != 0) data.key_bits = key_bits;
  return data;
}

}  // namespace tilehash::app
