#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct indexing_space : cpu {
  indexing_space() : cpu(2) {}
};
}  // namespace tilehash::contract

#include <contract/index.hpp>
