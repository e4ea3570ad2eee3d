// SPDX-License-Identifier: Apache-2.0
// Returns the message of the exception that a call throws.
#pragma once

#include <string>

namespace tilehash::contract {

template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace tilehash::contract
