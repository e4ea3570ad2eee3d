// What a failure says: one line, what went wrong and what to do. Every call that throws leaves its table
// as it was.
#pragma once

#include <tilehash/core/config.hpp>

#include <stdexcept>
#include <string>

namespace tilehash {

// The base of everything the library throws.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An argument that cannot be served: spans of different lengths, a load factor out of range, memory of
// another space.
class invalid_argument : public error {
 public:
  using error::error;
};

// A space could not give the memory a table asked for.
class out_of_memory : public error {
 public:
  using error::error;
};

// The CUDA runtime reported an error.
class cuda_error : public error {
 public:
  using error::error;
};

}  // namespace tilehash

namespace tilehash::inline TILEHASH_ABI::detail {

[[noreturn]] inline void refuse(const std::string& what) { throw invalid_argument("tilehash: " + what); }

inline void require(bool holds, const char* what) {
  if (!holds) refuse(what);
}

}  // namespace tilehash::inline TILEHASH_ABI::detail
