// SPDX-License-Identifier: Apache-2.0
// Host memory for the space `cpu`: in huge pages, and never more than is available. Linux overcommits memory
// and kills processes when it runs out. So large allocations first ask the system and the control groups how
// much is available. They subtract memory that is allocated but not touched yet, and a margin.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>
#include <tilehash/space/tuning.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

// Reads the number after `word` in a file of words and numbers; if `word` is null, from a file of one number.
// Returns `missing` if the file has none.
inline u64 number_in(const std::string& path, const char* word, u64 missing) {
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return missing;
  char line[256];
  const std::size_t length = word == nullptr ? 0 : std::strlen(word);
  u64 number = missing;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (length != 0 &&
        (std::strncmp(line, word, length) != 0 || (line[length] != ' ' && line[length] != ':')))
      continue;
    const char* from = line + length;
    from += std::strspn(from, ": \t");
    char* end = nullptr;
    const u64 read = std::strtoull(from, &end, 10);
    if (end != from) number = read;  // (a limit may be the word "max")
    break;
  }
  std::fclose(file);
  return number;
}

// Bytes that the control groups of this process leave it: the least of each group's limit minus the memory
// that it uses and cannot drop. Reads version 2, and version 1, which has a separate tree for memory.
inline u64 left_by_groups(const std::string& root = "/sys/fs/cgroup",
                          const std::string& own = "/proc/self/cgroup") {
  constexpr u64 none = ~u64(0);
  std::FILE* const file = std::fopen(own.c_str(), "r");
  if (file == nullptr) return none;
  u64 least = none;
  const auto ask = [&](std::string group, const std::string& tree, const char* limit_file,
                       const char* used_file, const std::string& of_all) {
    if (group == "/") group.clear();
    for (;;) {  // the group and its ancestors
      const std::string at = tree + group + "/memory.";
      const u64 limit = number_in(at + limit_file, nullptr, none);
      if (limit != none) {
        const u64 files = number_in(at + "stat", (of_all + "inactive_file").c_str(), 0) +
                          number_in(at + "stat", (of_all + "active_file").c_str(), 0);
        const u64 used = number_in(at + used_file, nullptr, 0), kept = used > files ? used - files : 0;
        const u64 left = limit > kept ? limit - kept : 0;
        least = left < least ? left : least;
      }
      if (group.empty()) return;
      group.resize(group.rfind('/'));
    }
  };
  char line[4096];
  while (std::fgets(line, sizeof line, file) != nullptr) {  // number:controllers:/group
    line[std::strcspn(line, "\n")] = 0;
    const char* const controllers = std::strchr(line, ':');
    const char* const group = controllers == nullptr ? nullptr : std::strchr(controllers + 1, ':');
    if (group == nullptr || group[1] != '/') continue;
    std::string names(controllers, group);  // with the colon, so that each name has a comma on both sides
    names.front() = ',';
    names += ',';
    if (std::strncmp(line, "0::", 3) == 0)
      ask(group + 1, root, "max", "current", "");
    else if (names.find(",memory,") != std::string::npos)
      ask(group + 1, root + "/memory", "limit_in_bytes", "usage_in_bytes", "total_");
  }
  std::fclose(file);
  return least;
}

// The files in which the system reports these numbers.
struct memory_files {
  std::string meminfo = "/proc/meminfo", statm = "/proc/self/statm", own_groups = "/proc/self/cgroup",
              groups = "/sys/fs/cgroup";
};

inline u64 available_memory(const memory_files& files = {}) {
  const u64 kibibytes = number_in(files.meminfo, "MemAvailable", ~u64(0) >> 10);
  const u64 bytes = kibibytes >= ~u64(0) >> 10 ? ~u64(0) : kibibytes << 10;
  const u64 group = left_by_groups(files.groups, files.own_groups);
  return group < bytes ? group : bytes;
}
// Bytes that stay free for other uses.
inline u64 memory_margin(u64 available) {
  constexpr u64 most_at_least = u64(64) << 20;
  return available / 32 + (available / 8 < most_at_least ? available / 8 : most_at_least);
}
// Bytes of this process's resident pages.
inline u64 resident_memory(const memory_files& files = {}) {
  std::FILE* const file = std::fopen(files.statm.c_str(), "r");
  if (file == nullptr) return ~u64(0);
  unsigned long long all = 0, resident = 0;
  const bool read = std::fscanf(file, "%llu %llu", &all, &resident) == 2;
  std::fclose(file);
  return read ? resident * u64(sysconf(_SC_PAGESIZE)) : ~u64(0);
}
// Bytes that the process may allocate if it holds `promised` bytes already. The system counts those that it
// has not touched yet as free.
inline u64 usable_memory(u64 promised, const memory_files& files = {}) {
  const u64 available = available_memory(files);
  if (available == ~u64(0)) return available;
  const u64 resident = resident_memory(files);
  const u64 kept = memory_margin(available) + (promised > resident ? promised - resident : 0);
  return available > kept ? available - kept : 0;
}
// Bytes of all large allocations.
inline std::atomic<u64> promised_host_memory{0};

}  // namespace detail

// Bytes that this process can still allocate without swapping; 2^64 - 1 if the system does not report them.
// Linux overcommits memory and kills the process when it runs out. So tables leave 1/32 of it, and up to
// 64 MiB more.
inline u64 available_host_memory() { return detail::available_memory(); }

namespace detail {

inline constexpr u64 host_alignment = 64;  // a cache line

inline constexpr u64 huge_page = u64(2) << 20;
// From this size on, an allocation has its own pages, and the system is first asked whether it has them. (For
// smaller ones the check takes longer than it is worth.)
inline constexpr u64 host_pages_from = tuning::cpu::mapped_from;

[[noreturn]] inline void refuse_host_memory(u64 bytes, u64 usable) {
  throw out_of_memory("tilehash: the host has no " + std::to_string(bytes) + " bytes free" +
                      (usable == ~u64(0) ? "" : " (" + std::to_string(usable) + " are, beyond a margin)") +
                      "; use a smaller table");
}

inline u64 whole_pages(u64 bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }
// Maps `bytes` bytes (whole pages), aligned to huge pages; null if that fails. `protection` as for mmap.
inline char* map_host(u64 bytes, int protection) {
  void* const p =
      mmap(nullptr, bytes + huge_page, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  char* const from = static_cast<char*>(p);
  const u64 before = whole_pages(reinterpret_cast<u64>(from)) - reinterpret_cast<u64>(from);
  if (before != 0) munmap(from, before);
  munmap(from + before + bytes, huge_page - before);
  return from + before;
}

// Cache-line aligned; blocks of 2 MiB and more are aligned to and advised as huge pages.
inline void* allocate_host(u64 bytes) {
  const u64 alignment = bytes >= huge_page ? huge_page : host_alignment;
  const u64 rounded = (bytes + alignment - 1) / alignment * alignment;
  const u64 usable = bytes >= host_pages_from ? usable_memory(promised_host_memory) : ~u64(0);
  void* p = nullptr;
  if (rounded >= bytes && rounded <= usable)
    p = bytes >= host_pages_from ? map_host(rounded, PROT_READ | PROT_WRITE)
                                 : std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (p == nullptr) refuse_host_memory(bytes, usable);
  if (bytes >= host_pages_from) promised_host_memory += rounded;
  if (bytes >= huge_page) madvise(p, rounded, MADV_HUGEPAGE);
  return p;
}
// Frees memory from allocate_host(bytes), or of resize_host() to `bytes`.
inline void free_host(void* p, u64 bytes) noexcept {
  if (bytes >= host_pages_from) {
    munmap(p, whole_pages(bytes));
    promised_host_memory -= whole_pages(bytes);
  } else {
    std::free(p);
  }
}

// Can resize_host() change memory from allocate_host(bytes) to `new_bytes` without a copy?
inline bool host_resizes(u64 bytes, u64 new_bytes) {
  return bytes >= host_pages_from && new_bytes >= host_pages_from;
}
// Changes the size. Returns the address, which may be another one: the pages move. Throws out_of_memory;
// nothing has changed then.
inline void* resize_host(void* p, u64 bytes, u64 new_bytes) {
  const u64 old_pages = whole_pages(bytes), new_pages = whole_pages(new_bytes);
  if (new_pages < old_pages) munmap(static_cast<char*>(p) + new_pages, old_pages - new_pages);
  if (new_pages <= old_pages) {
    promised_host_memory -= old_pages - new_pages;
    return p;
  }
  const u64 usable = usable_memory(promised_host_memory);
  // The addresses are chosen here, since a huge page stays one only if its alignment is kept.
  void* const to = new_pages - old_pages <= usable ? map_host(new_pages, PROT_NONE) : nullptr;
  if (to == nullptr) refuse_host_memory(new_bytes - bytes, usable);
  void* const moved = mremap(p, old_pages, new_pages, MREMAP_MAYMOVE | MREMAP_FIXED, to);
  if (moved == MAP_FAILED) {
    munmap(to, new_pages);
    refuse_host_memory(new_bytes - bytes, usable);
  }
  promised_host_memory += new_pages - old_pages;
  return moved;
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
