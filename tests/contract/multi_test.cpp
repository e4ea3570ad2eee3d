#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct multi_space : cpu {
  multi_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/multi.hpp>
