// SPDX-License-Identifier: Apache-2.0
// The files of a table over several ranks. A shard is their unit, so that any number of ranks can read them.
//
//   FOLDER/table                the current save: the number of its parts, and which save each is of
//   FOLDER/SAVE.PART            a part's shards:  | head | shard ends | checksums | keys, by shard | values, by shard |
//
// A save writes files of new names. Then rank 0 replaces FOLDER/table, which makes the new save the current one.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tilehash/core/error.hpp>
#include <tilehash/several/shards.hpp>

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE
namespace detail {

// A file that is read or written at given offsets. Each failure throws `error`, which names the file.
class shard_file {
 public:
  static shard_file create(const std::string& path) { return {path, O_WRONLY | O_CREAT | O_TRUNC}; }
  // A file without a name, which the system removes when it is closed.
  static shard_file scratch(const std::string& path) {
    shard_file made(path, O_RDWR | O_CREAT | O_TRUNC);
    unlink(path.c_str());
    return made;
  }
  static shard_file open(const std::string& path) { return {path, O_RDONLY}; }
  shard_file(shard_file&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  shard_file& operator=(shard_file&&) = delete;
  ~shard_file() {
    if (file_ >= 0) close(file_);
  }
  void write(u64 offset, const void* from, u64 bytes) const {
    for (u64 done = 0; done < bytes;) {
      const ssize_t n = pwrite(file_, static_cast<const char*>(from) + done, bytes - done,
                               static_cast<off_t>(offset + done));
      if (n < 0 && errno != EINTR) fail("cannot write");
      if (n > 0) done += static_cast<u64>(n);
    }
  }
  void read(u64 offset, void* to, u64 bytes) const {
    for (u64 done = 0; done < bytes;) {
      const ssize_t n =
          pread(file_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno != EINTR) fail("cannot read");
      if (n == 0) damaged(path_);
      if (n > 0) done += static_cast<u64>(n);
    }
  }
  // Waits until the storage device has the bytes.
  void finish() {
    if (fsync(file_) != 0) fail("cannot write");
    if (close(std::exchange(file_, -1)) != 0) fail("cannot write");
  }
  const std::string& path() const { return path_; }
  [[noreturn]] static void damaged(const std::string& path) {
    throw error("tilehash: " + path + " is damaged, or no file of a table; use another folder");
  }

 private:
  shard_file(std::string path, int flags) : path_(std::move(path)) {
    constexpr int readable_by_all = 0644;
    file_ = ::open(path_.c_str(), flags | O_CLOEXEC, readable_by_all);
    if (file_ < 0) fail("cannot open");
  }
  [[noreturn]] void fail(const char* what) const {
    throw error("tilehash: " + std::string(what) + " " + path_ + ": " + std::strerror(errno));
  }

  std::string path_;
  int file_;
};

inline u64 checksum_of(const void* data, u64 bytes, u64 sum) {
  const char* at = static_cast<const char*>(data);
  for (; bytes != 0; at += sizeof(u64), bytes -= bytes < sizeof(u64) ? bytes : sizeof(u64)) {
    u64 word = 0;
    std::memcpy(&word, at, bytes < sizeof word ? bytes : sizeof word);
    sum = rehash(sum ^ word);
  }
  return sum;
}

inline void make_folder(const std::string& path) {
  constexpr int open_to_all = 0755;
  if (mkdir(path.c_str(), open_to_all) != 0 && errno != EEXIST)
    throw error("tilehash: cannot make the folder " + path + ": " + std::strerror(errno));
}
inline bool has_file(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Key and value sizes, as one number.
template <class Key, class Value>
inline constexpr u64 shape_of = sizeof(Key) | u64(sizeof(Value)) << 16;

// The current save of a folder. Its parts may be of several saves: those that a change did not reach keep their files.
struct save_record {
  static constexpr u64 format = 0x32'5345'4C49'4854;  // "THILES2" in the order of bytes
  u64 shape = 0, items = 0;
  std::vector<u64> saves{};  // of each part; 0: the part is empty and has no file

  u32 parts() const { return static_cast<u32>(saves.size()); }
  static std::string path(const std::string& folder) { return folder + "/table"; }
  std::string part_path(const std::string& folder, u32 part) const {
    char name[48];
    std::snprintf(name, sizeof name, "/%016llx.%u", static_cast<unsigned long long>(saves[part]), part);
    return folder + name;
  }
  // Throws error if there is none.
  static save_record read(const std::string& folder) {
    u64 head[words];
    const auto file = shard_file::open(path(folder));
    file.read(0, head, sizeof head);
    if (head[0] != format || head[3] == 0 || head[3] > several::shards) shard_file::damaged(file.path());
    save_record record{head[1], head[2], std::vector<u64>(head[3])};
    file.read(sizeof head, record.saves.data(), record.saves.size() * sizeof(u64));
    if (head[4] != record.checksum()) shard_file::damaged(file.path());
    return record;
  }
  // Makes this the current save, at once.
  void publish(const std::string& folder) const {
    const u64 head[words] = {format, shape, items, saves.size(), checksum()};
    const std::string next = path(folder) + ".next";
    auto file = shard_file::create(next);
    file.write(0, head, sizeof head);
    file.write(sizeof head, saves.data(), saves.size() * sizeof(u64));
    file.finish();
    if (std::rename(next.c_str(), path(folder).c_str()) != 0)
      throw error("tilehash: cannot replace " + path(folder) + ": " + std::strerror(errno));
  }

 private:
  static constexpr u32 words = 5;
  u64 checksum() const {
    const u64 head[] = {shape, items, saves.size()};
    return checksum_of(saves.data(), saves.size() * sizeof(u64), checksum_of(head, sizeof head, format));
  }
};

// The head of a rank's file.
struct part_record {
  u64 magic = save_record::format, save = 0, rank = 0, items = 0, checksum = 0;  // checksum: of what follows

  static u64 shards_of(u32 rank, u32 ranks) {
    return several::first_shard_of(rank + 1, ranks) - several::first_shard_of(rank, ranks);
  }
};

// The items of some shards, in host memory.
template <class Key, class Value>
struct shard_items {
  u32 first = 0, last = 0;       // shards first ... last - 1
  std::vector<u64> ends{};       // of each shard, in items
  std::vector<u64> checksums{};  // of each shard
  std::vector<Key> keys{};       // by shard
  std::vector<Value> values{};   // by shard; empty without values

  u64 count() const { return last - first; }
  u64 begin(u64 shard) const { return shard == 0 ? 0 : ends[shard - 1]; }
  u64 checksum(u64 shard, u64 base) const {
    const u64 at = begin(shard) - base, n = ends[shard] - begin(shard);
    const u64 sum = checksum_of(keys.data() + at, n * sizeof(Key), shard);
    return values.empty() ? sum : checksum_of(values.data() + at, n * sizeof(Value), sum);
  }
  u64 checksum_of_index() const {
    const u64 sum = checksum_of(ends.data(), ends.size() * sizeof(u64), first);
    return checksum_of(checksums.data(), checksums.size() * sizeof(u64), sum);
  }
};

// Brings items into the order of their shards, which are `first` to `last`.
template <class Key, class Value>
shard_items<Key, Value> by_shards(std::span<const Key> keys, std::span<const Value> values, u32 first,
                                  u32 last) {
  shard_items<Key, Value> to{first, last};
  to.ends.resize(last - first);
  to.keys.resize(keys.size());
  to.values.resize(values.size());
  const auto shard = [&](u64 i) {
    const u32 s = several::shard_of(keys[i]);
    require(s >= first && s < last, "save: the rank's table has a key of another rank");
    return s - first;
  };
  for (u64 i = 0; i < keys.size(); ++i) ++to.ends[shard(i)];
  u64 sum = 0;
  for (u64& end : to.ends) sum += std::exchange(end, sum);  // begins, which become ends as items come
  for (u64 i = 0; i < keys.size(); ++i) {
    const u64 at = to.ends[shard(i)]++;
    to.keys[at] = keys[i];
    if (!values.empty()) to.values[at] = values[i];
  }
  for (u64 s = 0; s < to.count(); ++s) to.checksums.push_back(to.checksum(s, 0));
  return to;
}

template <class Key, class Value>
void write_part(const std::string& path, u64 save, u32 rank, const shard_items<Key, Value>& items) {
  auto file = shard_file::create(path);
  u64 at = 0;
  const auto write = [&](const auto& array) {
    file.write(at, array.data(), array.size() * sizeof array[0]);
    at += array.size() * sizeof array[0];
  };
  const part_record head{
      .save = save, .rank = rank, .items = items.keys.size(), .checksum = items.checksum_of_index()};
  write(std::span(&head, 1));
  write(items.ends);
  write(items.checksums);
  write(items.keys);
  write(items.values);
  file.finish();
}

// Adds the items of shards first ... last - 1 of a part to arrays.
template <class Key, class Value>
void read_part(const std::string& folder, const save_record& of, u32 rank, u32 first, u32 last, bool is_set,
               std::vector<Key>& keys, std::vector<Value>& values) {
  if (of.saves[rank] == 0) return;
  const auto file = shard_file::open(of.part_path(folder, rank));
  shard_items<Key, Value> all;
  all.first = several::first_shard_of(rank, of.parts());
  const u64 shards = part_record::shards_of(rank, of.parts()), bytes = shards * sizeof(u64);
  part_record head;
  all.ends.resize(shards);
  all.checksums.resize(shards);
  file.read(0, &head, sizeof head);
  file.read(sizeof head, all.ends.data(), bytes);
  file.read(sizeof head + bytes, all.checksums.data(), bytes);
  if (head.magic != save_record::format || head.save != of.saves[rank] || head.rank != rank ||
      head.checksum != all.checksum_of_index() || all.ends.back() != head.items)
    shard_file::damaged(file.path());
  const u64 from = first > all.first ? first - all.first : 0;
  const u64 to = last - all.first < shards ? last - all.first : shards;
  const u64 base = all.begin(from), n = all.ends[to - 1] - base;
  const u64 keys_at = sizeof head + 2 * bytes, values_at = keys_at + head.items * sizeof(Key);
  all.keys.resize(n);
  file.read(keys_at + base * sizeof(Key), all.keys.data(), n * sizeof(Key));
  if (!is_set) {
    all.values.resize(n);
    file.read(values_at + base * sizeof(Value), all.values.data(), n * sizeof(Value));
  }
  for (u64 s = from; s < to; ++s)
    if (all.checksum(s, base) != all.checksums[s]) shard_file::damaged(file.path());
  keys.insert(keys.end(), all.keys.begin(), all.keys.end());
  values.insert(values.end(), all.values.begin(), all.values.end());
}

}  // namespace detail
TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
