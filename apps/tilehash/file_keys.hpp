// SPDX-License-Identifier: Apache-2.0
// Keys from the text of a file. `name` is the file's, for messages; all throw input_error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset.hpp"

namespace tilehash::app {

// How a data set is made of what a file holds.
struct arrangement {
  key_order order = key_order::shuffled;
  std::uint64_t seed = 1;
};

// The canonical k-mers of every record of FASTA or FASTQ: the smaller of a window and its reverse complement,
// 2 bits a base (A 0, C 1, G 2, T and U 3); `counts` has how often each occurs. Windows that hold another
// letter are left out, which the note says. N, X and gaps are unknown bases; where more than half of the
// other letters are no bases, that is an error. Blanks in sequence lines are skipped. In sequences_kseq.cpp,
// or sequences_missing.cpp.
dataset sequence_keys(std::string_view text, const std::string& name, unsigned k, arrangement how = {});
// The same k-mers as they come, none left out.
struct kmer_list {
  std::vector<std::uint64_t> kmers{};
  std::uint64_t letters = 0, skipped = 0;  // skipped: no A, C, G, T or U
};
kmer_list read_kmers(std::string_view text, const std::string& name, unsigned k);

// The distinct lines, with how often each occurs; a carriage return before the newline is no part of it. Two
// different lines of one hash are an error, never one key.
using line_hash = std::function<std::uint64_t(std::string_view)>;
dataset line_keys(std::string_view text, const std::string& name, const line_hash& hash,
                  arrangement how = {});
line_hash seeded_line_hash(std::uint64_t seed);

// Throws where a file of so many bytes is no array of such keys, or has more than 2^32.
void check_binary_size(std::uint64_t bytes, const std::string& name, unsigned bits_in_file,
                       const std::string& looks_like = {});
// An array of little-endian numbers.
dataset binary_keys(std::string_view bytes, const std::string& name, unsigned bits_in_file,
                    arrangement how = {});

}  // namespace tilehash::app
