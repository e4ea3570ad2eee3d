// The host's own memory, for the space `cpu`: in huge pages, and never more than there is.
#pragma once

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

namespace tilehash::inline TILEHASH_ABI {

namespace detail {

// The number in a file of one number, or after a word in one of words and numbers; `missing` if neither is
// there.
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

// What the control groups (version 2) of this process leave it: of each, its limit less what it uses and
// cannot drop.
inline u64 left_by_groups(const std::string& root = "/sys/fs/cgroup",
                          const std::string& own = "/proc/self/cgroup") {
  constexpr u64 none = ~u64(0);
  std::FILE* const file = std::fopen(own.c_str(), "r");
  if (file == nullptr) return none;
  char line[4096];
  std::string group;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "0::/", 4) == 0) group.assign(line + 3, std::strcspn(line + 3, "\n"));
  }
  std::fclose(file);
  if (group == "/") group.clear();
  u64 least = none;
  for (;;) {  // the group and those it is in
    const std::string at = root + group + "/memory.";
    const u64 limit = number_in(at + "max", nullptr, none);
    if (limit != none) {
      const u64 files = number_in(at + "stat", "inactive_file", 0) + number_in(at + "stat", "active_file", 0);
      const u64 used = number_in(at + "current", nullptr, 0), kept = used > files ? used - files : 0;
      const u64 left = limit > kept ? limit - kept : 0;
      least = left < least ? left : least;
    }
    if (group.empty()) return least;
    group.resize(group.rfind('/'));
  }
}

}  // namespace detail

// Bytes that this process can still have without swapping; 2^64 - 1 where the system does not say. Linux
// promises more than it has, and ends the process when the promise falls due.
inline u64 available_host_memory() {
  const u64 kibibytes = detail::number_in("/proc/meminfo", "MemAvailable", ~u64(0) >> 10);
  const u64 bytes = kibibytes >= ~u64(0) >> 10 ? ~u64(0) : kibibytes << 10, group = detail::left_by_groups();
  return group < bytes ? group : bytes;
}

namespace detail {

inline constexpr u64 host_alignment = 64;  // a cache line

inline constexpr u64 huge_page = u64(2) << 20;
// From so many bytes on, memory is pages of its own, and the system is asked first whether it has them. (For
// less, asking takes longer than it is worth.)
inline constexpr u64 host_pages_from = u64(64) << 20;

[[noreturn]] inline void refuse_host_memory(u64 bytes, u64 available) {
  throw out_of_memory("tilehash: the host has no " + std::to_string(bytes) + " bytes free" +
                      (available == ~u64(0) ? "" : " (" + std::to_string(available) + " are)") +
                      "; use a smaller table");
}

inline u64 whole_pages(u64 bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }
// Addresses for so many bytes (whole pages), aligned to huge pages; null where there are none. `protection`
// as for mmap.
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
  const u64 available = bytes >= host_pages_from ? available_host_memory() : ~u64(0);
  void* p = nullptr;
  if (rounded >= bytes && rounded <= available)
    p = bytes >= host_pages_from ? map_host(rounded, PROT_READ | PROT_WRITE)
                                 : std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (p == nullptr) refuse_host_memory(bytes, available);
  if (bytes >= huge_page) madvise(p, rounded, MADV_HUGEPAGE);
  return p;
}
// Takes back what allocate_host(bytes) or resize_host() to so many gave.
inline void free_host(void* p, u64 bytes) noexcept {
  if (bytes >= host_pages_from)
    munmap(p, whole_pages(bytes));
  else
    std::free(p);
}

// Can what allocate_host(bytes) gave have so many bytes instead, without a copy?
inline bool host_resizes(u64 bytes, u64 new_bytes) {
  return bytes >= host_pages_from && new_bytes >= host_pages_from;
}
// Gives it so many, at another address perhaps: the pages move there. Throws out_of_memory; then it is as it
// was.
inline void* resize_host(void* p, u64 bytes, u64 new_bytes) {
  const u64 old_pages = whole_pages(bytes), new_pages = whole_pages(new_bytes);
  if (new_pages < old_pages) munmap(static_cast<char*>(p) + new_pages, old_pages - new_pages);
  if (new_pages <= old_pages) return p;
  const u64 available = available_host_memory();
  // Addresses of our own choice, since a huge page stays one only where it is aligned as before.
  void* const to = new_pages - old_pages <= available ? map_host(new_pages, PROT_NONE) : nullptr;
  if (to == nullptr) refuse_host_memory(new_bytes - bytes, available);
  void* const moved = mremap(p, old_pages, new_pages, MREMAP_MAYMOVE | MREMAP_FIXED, to);
  if (moved == MAP_FAILED) {
    munmap(to, new_pages);
    refuse_host_memory(new_bytes - bytes, available);
  }
  return moved;
}

}  // namespace detail
}  // namespace tilehash::inline TILEHASH_ABI
