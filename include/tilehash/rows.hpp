// SPDX-License-Identifier: Apache-2.0
// Tables of rows, which keep repeated keys: table<hash_graph<K, V>, Space>, and those of `chained` and
// `dynamic_hash_graph`.
#pragma once

#include <tilehash/designs/chained.hpp>
#include <tilehash/designs/dynamic_hash_graph.hpp>
#include <tilehash/designs/hash_graph.hpp>
#include <tilehash/engine/built_once.hpp>
#include <tilehash/engine/rows.hpp>
#include <tilehash/table.hpp>
