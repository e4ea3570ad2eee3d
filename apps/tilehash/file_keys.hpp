// Keys from the text of a file. `name` is the file's, for messages; all throw input_error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "dataset.hpp"

namespace tilehash::app {

// The canonical k-mers of every record: the smaller of a window and its reverse complement, 2 bits a base (A
// 0, C 1, G 2, T 3), sorted, with how often each occurs. Windows that hold another letter are left out.
dataset fasta_keys(std::string_view text, const std::string& name, unsigned k);

// The distinct lines in the order in which they first occur, with how often each does. Two different lines of
// one hash are an error, never one key.
using line_hash = std::function<std::uint64_t(std::string_view)>;
dataset line_keys(std::string_view text, const std::string& name, const line_hash& hash);
line_hash seeded_line_hash(std::uint64_t seed);

// An array of little-endian numbers.
dataset binary_keys(std::string_view bytes, const std::string& name, unsigned bits_in_file);

}  // namespace tilehash::app
