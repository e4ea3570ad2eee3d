#pragma once

#include <cstdint>
#include <string_view>

namespace tilehash::app {

// Throws input_error when this machine has not so many bytes free: Linux promises more than it has, and ends
// the program when the promise falls due.
void require_memory(std::uint64_t bytes, std::string_view purpose);

}  // namespace tilehash::app
