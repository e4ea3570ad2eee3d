#include "input.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    return fasta_keys(read_file(spec.path), spec.path, spec.k);
  }
  dataset operator()(const lines_spec& spec) const {
    return line_keys(read_file(spec.path), spec.path, seeded_line_hash(seed));
  }
  dataset operator()(const binary_spec& spec) const {
    return binary_keys(read_file(spec.path), spec.path, spec.key_bits);
  }
};

}  // namespace

dataset load_input(const std::string& spec, unsigned key_bits, std::uint64_t seed, const tell_share& tell) {
  dataset data = std::visit(loader{key_bits, seed, tell}, parse_spec(spec));
  data.name = spec;
  if (key_bits == 32 && data.key_bits == 64) {
    const auto wide = std::find_if(data.keys.begin(), data.keys.end(),
                                   [](auto key) { return key > std::numeric_limits<std::uint32_t>::max(); });
    if (wide != data.keys.end()) {
      throw input_error(
          fmt::format("--input '{}': key {} (0x{:x}) does not fit in 32 bits; use --key-bits 64", spec,
                      wide - data.keys.begin(), *wide));
    }
  }
  if (key_bits != 0) data.key_bits = key_bits;
  return data;
}

}  // namespace tilehash::app
