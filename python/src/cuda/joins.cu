// SPDX-License-Identifier: Apache-2.0
// Joins by codes, and ids of keys.
#include <tilehash/analysis/join_rows.hpp>
#include <tilehash/space/cuda_algorithms.cuh>

#include "lease.cuh"

namespace tilehash::python {
namespace {

namespace joins = tilehash::analysis::detail;
using analysis::join_kind, analysis::no_row;

join_kind kind_of(const std::string& name) {
  if (name == "inner") return join_kind::inner;
  if (name == "left") return join_kind::left;
  if (name == "outer") return join_kind::outer;
  if (name == "semi") return join_kind::semi;
  if (name == "anti") return join_kind::anti;
  throw invalid_argument("join: no such kind");
}

struct widen_rows {
  const u32* from;
  std::int64_t* to;
  __device__ void operator()(u64 i) const {
    to[i] = from[i] == no_row ? -1 : static_cast<std::int64_t>(from[i]);
  }
};
__device__ void copy_key(char* to, u64 at, const char* from, u64 row, int bytes) {
  if (bytes == 4)
    reinterpret_cast<u32*>(to)[at] = reinterpret_cast<const u32*>(from)[row];
  else
    reinterpret_cast<u64*>(to)[at] = reinterpret_cast<const u64*>(from)[row];
}

class joined_of final : public gpu_joined {
 public:
  joined_of(gpu_place at, const u32* left, u64 n, const u32* right, u64 m, u64 number, join_kind kind)
      : space_(at) {
    rows_ = joins::join_by_codes(*space_, std::span(left, n), std::span(right, m), number, kind);
  }
  u64 size() const override { return rows_.size(); }
  void left(std::int64_t* out) const override {
    (*space_).for_each(rows_.left.size(), widen_rows{rows_.left.data(), out});
  }
  void right(std::int64_t* out) const override {
    (*space_).for_each(rows_.right.size(), widen_rows{rows_.right.data(), out});
  }

 private:
  leased_space space_;  // outlives the buffers
  analysis::joined_rows<cuda> rows_;
};

// A table of ids, and the keys by id.
class index_of final : public gpu_index {
 public:
  index_of(gpu_place at, int key_bytes)
      : device_(at.device),
        key_bytes_(key_bytes),
        space_(stream_of(at.stream), {}, at.device),
        table_(key_bytes == 4 ? table_on_gpu<u32, u32>(at, 0, true) : table_on_gpu<u64, u32>(at, 0, true)) {}
  ~index_of() override { space_.exchange_stream(cudaStreamPerThread); }
  u64 size() const override { return size_; }

  void add(std::uintptr_t stream, const void* keys, u64 n, std::int64_t* ids) override {
    const std::lock_guard guard(lock_);
    if (n == 0) return;
    if (size_ + n >= analysis::no_code)
      throw invalid_argument("Index: the keys of a call and of the index are at most 2^32 - 2");
    space_.exchange_stream(stream_of(stream));
    const gpu_place at{device_, stream};
    buffer<u32, cuda> codes(space_, n);
    const auto found = key_bytes_ == 4 ? factorize_on_gpu<u32>(at, keys, n, false, codes.data())
                                       : factorize_on_gpu<u64>(at, keys, n, false, codes.data());
    // The keys of the call once, by first appearance; those that are new get the next ids.
    const u64 many = found->size();
    buffer<u64, cuda> keys_once(space_, many);
    buffer<u32, cuda> of_keys(space_, many), places(space_, many + 1);
    found->values(keys_once.data());
    u32 *const id = of_keys.data(), *const place = places.data();
    table_->find(stream, keys_once.data(), many, id, ~u64(0));
    space_.fill(place + many, 1, u32(0));
    space_.for_each(many, [=] __device__(u64 i) { place[i] = id[i] == analysis::no_code ? 1 : 0; });
    space_.exclusive_scan(place, place, many + 1);
    const u64 more = read_one(space_, place + many);
    provide(size_ + more);
    char* const all = keys_.data();
    const char* const given = reinterpret_cast<const char*>(keys_once.data());
    const u32* const code = codes.data();
    const u32 before = static_cast<u32>(size_);
    const int bytes = key_bytes_;
    space_.for_each(many, [=] __device__(u64 i) {
      if (id[i] != analysis::no_code) return;
      id[i] = before + place[i];
      copy_key(all, id[i], given, i, bytes);
    });
    if (more != 0 && table_->insert(stream, keys_once.data(), id, many).refused != 0)
      throw out_of_memory("Index: the GPU has no memory for all keys");
    space_.for_each(n, [=] __device__(u64 i) { ids[i] = id[code[i]]; });
    size_ += more;
    space_.synchronize();
  }
  void find(std::uintptr_t stream, const void* keys, u64 n, std::int64_t* ids,
            std::int64_t missing) override {
    const std::lock_guard guard(lock_);
    space_.exchange_stream(stream_of(stream));
    buffer<u32, cuda> found(space_, n);
    u32* const code = found.data();
    table_->find(stream, keys, n, code, ~u64(0));
    space_.for_each(n, [=] __device__(u64 i) {
      ids[i] = code[i] == analysis::no_code ? missing : static_cast<std::int64_t>(code[i]);
    });
  }
  bool keys_of(std::uintptr_t stream, const std::int64_t* ids, u64 n, void* keys) override {
    const std::lock_guard guard(lock_);
    space_.exchange_stream(stream_of(stream));
    buffer<u32, cuda> wrong(space_, 1);
    space_.fill(wrong.data(), 1, u32(0));
    u32* const flag = wrong.data();
    const char* const all = keys_.data();
    char* const out = static_cast<char*>(keys);
    const u64 size = size_;
    const int bytes = key_bytes_;
    space_.for_each(n, [=] __device__(u64 i) {
      if (static_cast<u64>(ids[i]) < size)
        copy_key(out, i, all, static_cast<u64>(ids[i]), bytes);
      else
        *flag = 1;
    });
    return read_one(space_, flag) == 0;
  }

 private:
  void provide(u64 keys) {
    const u64 bytes = keys * static_cast<u64>(key_bytes_), used = size_ * static_cast<u64>(key_bytes_);
    if (bytes <= keys_.size()) return;
    buffer<char, cuda> more(space_, std::max<u64>(bytes, 2 * keys_.size()));
    if (used != 0) space_.copy(more.data(), keys_.data(), used);
    keys_ = std::move(more);
  }

  std::mutex lock_;
  int device_, key_bytes_;
  cuda space_;
  std::unique_ptr<gpu_table> table_;
  buffer<char, cuda> keys_;
  u64 size_ = 0;
};

}  // namespace

std::unique_ptr<gpu_joined> join_on_gpu(gpu_place at, const u32* left, u64 n, const u32* right, u64 m,
                                        u64 number, const std::string& kind) {
  return std::make_unique<joined_of>(at, left, n, right, m, number, kind_of(kind));
}
std::unique_ptr<gpu_index> index_on_gpu(gpu_place at, int key_bytes) {
  return std::make_unique<index_of>(at, key_bytes);
}

}  // namespace tilehash::python
