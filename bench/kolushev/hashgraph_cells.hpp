// SPDX-License-Identifier: Apache-2.0
// Sets of the cells of tetrahedral meshes, the numbers of four corners each (Kolushev, chapter 4): how long
// it takes to build one, to ask it for its cells, and for as many absent ones.
#pragma once

#include <tilehash/core/config.hpp>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "measure.hpp"

namespace tilehash::bench {

using cell = std::array<int, 4>;

// The thesis' tables, and on one thread of a CPU what people use instead.
inline const std::vector<std::string> cell_designs = {
    "hash_graph",                 // by the builder that it takes
    "hash_graph_v1",              // HashGraphV1
    "hash_graph_v2",              // HashGraphV2
    "hash_graph_bins",            // HashGraphV2 with 32 000 bins, as its authors advise
    "hash_graph_original",        // by the steps of its authors' program
    "hash_graph_segments",        // HashGraphS
    "indexed_cuckoo",             // CuckooHash
    "indexed_cuckoo_4",           // with 4 hash functions, as its authors advise; the thesis has 6
    "std::unordered_set",         // on one thread, as the next
    "boost::unordered_flat_set",  // where it is installed
};

// How a hash_graph of cells and their numbers is asked for many.
inline const std::vector<std::string> cell_probes = {
    "contains",        // Probe-Standard: each cell walks its row
    "join_standard",   // the same as a semijoin, which lists those that are present
    "join_intersect",  // Probe-New as a semijoin: the rows of a graph of the queries meet the table's
};

// A question, and the design that answers it.
struct cells_case {
  std::string data;                             // "random", or the name of a mesh
  std::span<const cell> cells{};                // of the mesh; random ones are made where they are used
  u64 n = 0, queries = 0;                       // cells, and how many of them are asked for
  double load = 1;                              // items a row; indexed_cuckoo has 0.8 items a slot
  unsigned repeat = 1;                          // times, after one to warm up
  int threads = 0;                              // of a CPU; 0: all
  measured_clock clock = measured_clock::wall;  // the thesis measures the processor's time (4.2.2)
};

struct cells_measurement {
  std::string design, space;
  int threads = 0;  // that ran; of a GPU 0
  cells_case what;
  double bytes = 0;                      // of the table, a cell; 0: not known
  spread build{}, found{}, not_found{};  // seconds for all cells, and for all queries
  u64 lost = 0, wrong = 0;               // cells that did not get in; answers that are not so
  std::string obstacle{};                // what kept it from being measured: memory; empty: nothing
};

using tell_cells = std::function<void(const cells_measurement&)>;

// Those of the designs, or probes, that run there; they take turns. An absent cell is a present one,
// with a negative first number: its complement, as a mesh may count from 0.
void cpu_cells(const cells_case& the_case, const std::vector<std::string>& designs, const tell_cells& tell);
void cuda_cells(const cells_case& the_case, const std::vector<std::string>& designs, const tell_cells& tell);

}  // namespace tilehash::bench
