// A report that a helper of the tests has judged already: unlike others it may be dropped.
#pragma once

#include <tilehash/core/result.hpp>

namespace tilehash::contract {

struct judged : insert_report {};

}  // namespace tilehash::contract
