// SPDX-License-Identifier: Apache-2.0
// The SPEC of --input, parsed:
//
//   random:n=N[,unique=1][,dist=uniform|normal|zipf:S|sequential]
//   fasta:FILE[,k=21][,order=file]          FASTA or FASTQ
//   lines:FILE[,order=file]
//   binary:FILE,key=u32|u64[,order=file]
//   tw|re|com|line|rand[:n=N]             the data sets of a paper (data_sets.hpp), of its size by default
//
// FILE may be packed by gzip or zstd, and is standard input where it is "-".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "data_sets.hpp"
#include "dataset.hpp"

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
  key_order order = key_order::shuffled;
};

struct lines_spec {
  std::string path;
  key_order order = key_order::shuffled;
};

struct binary_spec {
  std::string path;
  unsigned key_bits = 32;
  key_order order = key_order::shuffled;
};

using input_spec = std::variant<random_spec, fasta_spec, lines_spec, binary_spec, data_set_spec>;

input_spec parse_spec(std::string_view text);  // throws input_error

}  // namespace tilehash::app
