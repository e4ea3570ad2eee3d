// The SPEC of --input, parsed:
//
//   random:n=N[,unique=1][,dist=uniform|normal|zipf:S|sequential]
//   fasta:FILE[.gz][,k=21]
//   lines:FILE[.gz]
//   binary:FILE[.gz],key=u32|u64
//   tw|re|com|line|rand[:n=N]             the data sets of a paper (data_sets.hpp), of its size unless told
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "data_sets.hpp"

namespace tilehash::app {

enum class distribution { uniform, normal, zipf, sequential };

struct random_spec {
  std::uint64_t n = 0;
  bool unique = false;  // sequential keys are unique anyway
  distribution shape = distribution::uniform;
  double skew = 0;  // the s of zipf: the k-th most frequent key has a probability proportional to k^-s
};

struct fasta_spec {
  std::string path;
  unsigned k = 21;
};

struct lines_spec {
  std::string path;
};

struct binary_spec {
  std::string path;
  unsigned key_bits = 32;
};

using input_spec = std::variant<random_spec, fasta_spec, lines_spec, binary_spec, data_set_spec>;

input_spec parse_spec(std::string_view text);  // throws input_error

}  // namespace tilehash::app
