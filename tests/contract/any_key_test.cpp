#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct key_space : cpu {
  key_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/any_key.hpp>
