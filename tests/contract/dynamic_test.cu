#include <contract/faulty.cuh>
#include <contract/growth_memory.hpp>
#include <tilehash/space/cuda.cuh>

namespace tilehash::contract {
using dynamic_space = counted<cuda>;
class own_stream {
 public:
  own_stream() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
  ~own_stream() { cudaStreamDestroy(stream_); }
  own_stream(const own_stream&) = delete;
  own_stream& operator=(const own_stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};
struct dynamic_beside {
  own_stream stream;
  dynamic_space space{stream};
};
struct dynamic_faulty : ground<cuda, faulty_device> {
  dynamic_faulty() : ground(cudaStream_t()) {}
};
}  // namespace tilehash::contract

#include <contract/dynamic.hpp>
