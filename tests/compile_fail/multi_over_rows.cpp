// expect: tilehash: the table of ids must find keys in buckets, with their values next to them
// SPDX-License-Identifier: Apache-2.0
#define TILEHASH_ALL_NAMES
#include <tilehash/designs/chained.hpp>
#include <tilehash/designs/multi.hpp>

template struct tilehash::multi<unsigned, unsigned, tilehash::chained<unsigned, unsigned>>;
