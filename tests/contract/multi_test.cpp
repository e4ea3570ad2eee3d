#include <contract/faulty.hpp>
#include <tilehash/space/cpu.hpp>

namespace tilehash::contract {
struct multi_ground : ground<cpu, faulty_host> {
  multi_ground() : ground(2) {}
};
}  // namespace tilehash::contract

#include <contract/multi.hpp>
