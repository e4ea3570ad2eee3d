// SPDX-License-Identifier: Apache-2.0
// A report that a test helper has checked already. Unlike other reports it may be dropped.
#pragma once

#include <tilehash/core/result.hpp>

namespace tilehash::contract {

struct judged : insert_report {};

}  // namespace tilehash::contract
