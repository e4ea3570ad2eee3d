// SPDX-License-Identifier: Apache-2.0
// Exceptions. A message is one line: the failure, and what to do. A call that throws leaves its table
// unchanged, unless an op of the user throws (docs/adr/0026).
#pragma once

#include <tilehash/core/config.hpp>

#include <exception>
#include <stdexcept>
#include <string>

namespace tilehash {

/// The base class of all exceptions of the library.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument that is not valid: spans of different lengths, a load factor out of range, memory of
/// another space.
class invalid_argument : public error {
 public:
  using error::error;
};

/// A space could not allocate the memory that a table requested.
class out_of_memory : public error {
 public:
  using error::error;
};

/// The CUDA runtime reported an error.
class cuda_error : public error {
 public:
  using error::error;
};

}  // namespace tilehash

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// (Not inline, as every verb has several.)
[[noreturn]] TILEHASH_COLD inline void refuse(const std::string& what) {
  throw invalid_argument("tilehash: " + what);
}
[[noreturn]] TILEHASH_COLD inline void refuse(const char* what) { refuse(std::string(what)); }
[[noreturn]] TILEHASH_COLD inline void refuse_null(const char* what) {
  refuse(std::string(what) + " are at a null pointer");
}

inline void require(bool holds, const char* what) {
  if (!holds) refuse(what);
}

// Carries an exception of a user's function to the verb that called it, so that no handler in between
// mistakes an op's out_of_memory for the table's.
struct user_exception {
  std::exception_ptr what;
};
// Runs call() and marks all its exceptions as the user's.
template <class Call>
void mark_user_exceptions(const Call& call) {
  try {
    call();
  } catch (...) {
    throw user_exception{std::current_exception()};
  }
}
// Runs call() and rethrows a marked exception as the user threw it.
template <class Call>
auto unmark_user_exceptions(const Call& call) {
  try {
    return call();
  } catch (const user_exception& thrown) {
    std::rethrow_exception(thrown.what);
  }
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
