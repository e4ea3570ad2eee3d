// SPDX-License-Identifier: Apache-2.0
// A table in memory of the user's choice: everything a space allocates comes from the resource it is given.
#include <cstdint>
#include <cstdio>
#include <memory_resource>
#include <vector>

#include <tilehash/tilehash.hpp>

namespace {

// Passes requests on and counts the bytes that are out.
class counting : public std::pmr::memory_resource {
 public:
  std::size_t bytes = 0;

 private:
  void* do_allocate(std::size_t n, std::size_t alignment) override {
    bytes += n;
    return std::pmr::new_delete_resource()->allocate(n, alignment);
  }
  void do_deallocate(void* p, std::size_t n, std::size_t alignment) override {
    bytes -= n;
    std::pmr::new_delete_resource()->deallocate(p, n, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

int main() {
  counting upstream;
  const std::vector<std::uint32_t> keys{17, 4, 23}, values{170, 40, 230};
  bool used = false;
  {
    // [memory_resource-begin]
    std::pmr::unsynchronized_pool_resource pool(&upstream);  // outlives the space and all its memory
    tilehash::cpu space(0, pool);  // on a GPU cuda(stream, pool), with a resource of RMM's or CCCL's
    tilehash::map<std::uint32_t, std::uint32_t, tilehash::cpu> map(space, keys.size());
    // [memory_resource-end]
    const auto report = map.insert(space, keys, values);
    used = report.inserted == 3 && upstream.bytes >= map.bytes();
    std::printf("the table has %llu bytes, the resource gave %zu\n",
                static_cast<unsigned long long>(map.bytes()), upstream.bytes);
  }
  return used && upstream.bytes == 0 ? 0 : 1;
}
