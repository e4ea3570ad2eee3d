// SPDX-License-Identifier: Apache-2.0
// Templates that a program may specialize, in both ways that the language has: by the qualified name, and inside
// `namespace tilehash::keys {`. It is compiled as a user compiles it, without TILEHASH_ALL_NAMES.
#include <tilehash/map.hpp>
#include <tilehash/set.hpp>
#include <tilehash/space/cpu.hpp>

namespace {
struct edge {
  int from;
  char kind;
  float weight;
};
struct corner {
  char kind;
  int number;
};
struct node {};
struct leaf {};
}  // namespace

template <>
struct tilehash::keys::members_of<edge> : tilehash::keys::members<&edge::from, &edge::kind, &edge::weight> {};
template <>
inline constexpr bool tilehash::keys::compared_by_address<const node*> = true;

namespace tilehash::keys {
template <>
struct members_of<corner> : members<&corner::kind, &corner::number> {};
template <>
inline constexpr bool compared_by_address<const leaf*> = true;
}  // namespace tilehash::keys

int main() {
  tilehash::cpu space;
  const tilehash::map<edge, int, tilehash::cpu> edges(space, 1);
  const tilehash::map<corner, int, tilehash::cpu> corners(space, 1);
  const tilehash::set<const node*, tilehash::cpu> nodes(space, 1);
  const tilehash::set<const leaf*, tilehash::cpu> leaves(space, 1);
  return static_cast<int>(edges.size() + corners.size() + nodes.size() + leaves.size());
}
