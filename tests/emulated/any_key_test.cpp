#include "emulated.hpp"

namespace tilehash::contract {
struct key_space : emulated {
  key_space() : emulated({.seed = 1, .preempt = true}) {}
};
}  // namespace tilehash::contract

#include <contract/any_key.hpp>
