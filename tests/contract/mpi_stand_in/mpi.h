// SPDX-License-Identifier: Apache-2.0
// A stand-in for MPI with one rank, as far as several/mpi.hpp calls it. A request that fails is chosen by a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

using MPI_Comm = int;
using MPI_Datatype = std::size_t;  // bytes
using MPI_Errhandler = int;
struct MPI_Request {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};
struct MPI_Status {};
inline constexpr MPI_Comm MPI_COMM_NULL = 0, MPI_COMM_WORLD = 1;
inline constexpr MPI_Datatype MPI_BYTE = 1, MPI_UINT64_T = 8;
inline constexpr MPI_Errhandler MPI_ERRORS_RETURN = 0;
inline constexpr int MPI_SUCCESS = 0, MPI_MAX_ERROR_STRING = 64;
inline constexpr MPI_Status* MPI_STATUSES_IGNORE = nullptr;

namespace mpi_stand_in {
inline bool initialized = true, fails = false;
inline int duplicates = 0;
}  // namespace mpi_stand_in

inline int MPI_Initialized(int* ready) { return *ready = mpi_stand_in::initialized ? 1 : 0, MPI_SUCCESS; }
inline int MPI_Finalized(int* ended) { return *ended = 0, MPI_SUCCESS; }
inline int MPI_Comm_dup(MPI_Comm from, MPI_Comm* to) { return ++mpi_stand_in::duplicates, *to = from + 1, 0; }
inline int MPI_Comm_free(MPI_Comm* comm) { return --mpi_stand_in::duplicates, *comm = MPI_COMM_NULL, 0; }
inline int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }
inline int MPI_Comm_rank(MPI_Comm, int* rank) { return *rank = 0, MPI_SUCCESS; }
inline int MPI_Comm_size(MPI_Comm, int* size) { return *size = 1, MPI_SUCCESS; }
inline int MPI_Allgather(const void* from, int n, MPI_Datatype type, void* to, int, MPI_Datatype, MPI_Comm) {
  if (n != 0) std::memcpy(to, from, static_cast<std::size_t>(n) * type);
  return MPI_SUCCESS;
}
inline int MPI_Irecv(void* to, int n, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  *request = {to, nullptr, static_cast<std::size_t>(n)};
  return mpi_stand_in::fails ? 1 : MPI_SUCCESS;
}
inline int MPI_Isend(const void* from, int n, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  *request = {nullptr, from, static_cast<std::size_t>(n)};
  return MPI_SUCCESS;
}
// Half of the requests receive what the others send.
inline int MPI_Waitall(int n, MPI_Request* requests, MPI_Status*) {
  for (int i = 0; i < n / 2; ++i) std::memcpy(requests[i].to, requests[n / 2 + i].from, requests[i].bytes);
  return MPI_SUCCESS;
}
inline int MPI_Error_string(int, char* text, int* length) {
  std::strcpy(text, "no link");
  return *length = 7, MPI_SUCCESS;
}
