# SPDX-License-Identifier: Apache-2.0
"""Relabels the edges of a graph with dense ids, as graph libraries need them, counts degrees, and finds paths of two edges.

usage: python edges.py [EDGES]      EDGES random edges between nodes with 64-bit names; default: a million
"""

import sys

import numpy as np

import tilehash as th

edges = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
rng = np.random.default_rng(1)
names = rng.integers(0, 2**63, edges // 4)
source, target = names[rng.integers(0, len(names), (2, edges))]

# 1. Names to ids 0, 1, 2, ...; an edge that comes twice is kept once.
nodes = th.Index()
pairs = np.stack([nodes.add(source), nodes.add(target)], axis=1)
pairs = th.unique(pairs)
print(f"{len(nodes)} nodes, {len(pairs)} different edges of {edges}")

# 2. Degrees, and the nodes of the largest.
ids, degrees = th.value_counts(pairs.ravel(), sort=True)
for node, degree in list(zip(nodes.keys_of(ids), degrees))[:3]:
    print(f"node {node}: {degree} edges")

# 3. Paths of two edges: the target of one is the source of the other.
first, second = th.join(pairs[:, 1], pairs[:, 0])
print(f"{len(first)} paths of two edges, the first from node {nodes.keys_of(pairs[first[0], 0])}")
