// SPDX-License-Identifier: Apache-2.0
// The source of a space's memory: a reference to a user's object, of any type that has the required
// functions.
//
// `cpu` requires those of std::pmr::memory_resource. `cuda` requires those of CCCL and RMM, in any of their
// three forms (detail::allocate_from), so that their resources fit without a wrapper. Everything a space
// allocates comes from its resource: tables, buffers, scratch, CUB's memory. A resource that also has
// resize() (basic_resource_ref) lets tables grow in place.
//
//   std::pmr::synchronized_pool_resource pool;   tilehash::cpu space(0, pool);
//   rmm::mr::cuda_async_memory_resource pool;    tilehash::cuda space(stream, pool);
#pragma once

#include <concepts>
#include <exception>
#include <string>
#include <type_traits>

#include <tilehash/core/config.hpp>
#include <tilehash/core/error.hpp>

struct CUstream_st;  ///< a cudaStream_t points to it

namespace tilehash {
TILEHASH_BEGIN_ABI_NAMESPACE

namespace detail {

// Host memory.
template <class Resource>
  requires requires(Resource& r, void* p, std::size_t n) { r.deallocate(r.allocate(n, n), n, n); }
void* allocate_from(Resource& r, u64 bytes, u64 alignment) {
  return r.allocate(bytes, alignment);
}
template <class Resource>
void deallocate_to(Resource& r, void* p, u64 bytes, u64 alignment) {
  r.deallocate(p, bytes, alignment);
}

// Stream-ordered device memory: the forms of CCCL since 3.1, of its predecessors, and of the oldest RMM.
template <class Resource>
concept takes_stream_first =
    requires(Resource& r, CUstream_st* s, std::size_t n) { r.deallocate(s, r.allocate(s, n, n), n, n); };
template <class Resource>
concept has_async_names = requires(Resource& r, CUstream_st* s, std::size_t n) {
  r.deallocate_async(r.allocate_async(n, n, s), n, n, s);
};

template <class Resource>
  requires(takes_stream_first<Resource> || has_async_names<Resource> ||
           requires(Resource& r, CUstream_st* s, std::size_t n) { r.deallocate(r.allocate(n, s), n, s); })
void* allocate_from(Resource& r, u64 bytes, u64 alignment, CUstream_st* stream) {
  if constexpr (takes_stream_first<Resource>)
    return r.allocate(stream, bytes, alignment);
  else if constexpr (has_async_names<Resource>)
    return r.allocate_async(bytes, alignment, stream);
  else
    return r.allocate(bytes, stream);
}
template <class Resource>
void deallocate_to(Resource& r, void* p, u64 bytes, u64 alignment, CUstream_st* stream) {
  if constexpr (takes_stream_first<Resource>)
    r.deallocate(stream, p, bytes, alignment);
  else if constexpr (has_async_names<Resource>)
    r.deallocate_async(p, bytes, alignment, stream);
  else
    r.deallocate(p, bytes, stream);
}

}  // namespace detail

/// A reference to a memory resource, which must outlive it and all memory allocated through it. A
/// default-constructed one means the space's own memory.
template <class... Stream>
class basic_resource_ref {
 public:
  /// Refers to the space's own memory.
  basic_resource_ref() = default;

  /// Refers to any object that has the functions.
  template <class Resource>
    requires(!std::is_same_v<std::remove_cv_t<Resource>, basic_resource_ref> &&
             !std::is_pointer_v<Resource> &&
             requires(Resource& r, Stream... s) { detail::allocate_from(r, u64(), u64(), s...); })
  basic_resource_ref(Resource& resource)  ///< NOLINT(google-explicit-constructor): as std::pmr's are
      : object_(const_cast<void*>(static_cast<const void*>(&resource))),
        allocate_([](void* r, u64 bytes, u64 alignment, Stream... s) {
          return detail::allocate_from(*static_cast<Resource*>(r), bytes, alignment, s...);
        }),
        deallocate_([](void* r, void* p, u64 bytes, u64 alignment, Stream... s) {
          detail::deallocate_to(*static_cast<Resource*>(r), p, bytes, alignment, s...);
        }) {
    // A resource may be able to resize an allocation without a copy. The contents stay; the address may
    // change:
    //   void* resize(void* p, size_t bytes, size_t new_bytes, size_t alignment[, stream])
    // It throws if memory is missing; nothing has changed then. With a stream it is stream-ordered.
    if constexpr (requires(Resource& r, void* p, std::size_t n, Stream... s) {
                    { r.resize(p, n, n, n, s...) } -> std::same_as<void*>;
                  })
      resize_ = [](void* r, void* p, u64 bytes, u64 new_bytes, u64 alignment, Stream... s) {
        return static_cast<Resource*>(r)->resize(p, bytes, new_bytes, alignment, s...);
      };
  }

  /// Refers to an object by address, as std::pmr and RMM do. Throws invalid_argument for a null pointer.
  template <class Resource>
    requires(requires(Resource& r, Stream... s) { detail::allocate_from(r, u64(), u64(), s...); })
  basic_resource_ref(Resource* resource)  ///< NOLINT(google-explicit-constructor)
      : basic_resource_ref(*checked(resource)) {}
  basic_resource_ref(std::nullptr_t) { refuse_null(); }  ///< NOLINT(google-explicit-constructor)

  /// Does it refer to a user's object?
  explicit operator bool() const { return object_ != nullptr; }

  /// Throws out_of_memory, with the resource's message, if the resource throws or returns a null pointer;
  /// but a cuda_error passes. So a call that has begun meets no exception of another kind.
  void* allocate(u64 bytes, u64 alignment, Stream... s) const {
    return given(bytes, [&] { return allocate_(object_, bytes, alignment, s...); });
  }
  /// Can the resource resize its allocations?
  bool resizes() const { return resize_ != nullptr; }
  /// Resizes; the contents stay, up to the smaller size. Throws as allocate(); nothing has changed then.
  void* resize(void* p, u64 bytes, u64 new_bytes, u64 alignment, Stream... s) const {
    return given(new_bytes, [&] { return resize_(object_, p, bytes, new_bytes, alignment, s...); });
  }
  /// Frees memory from allocate() for as many bytes.
  void deallocate(void* p, u64 bytes, u64 alignment, Stream... s) const noexcept {
    deallocate_(object_, p, bytes, alignment, s...);
  }

 private:
  template <class Ask>
  static void* given(u64 bytes, const Ask& ask) {
    void* p = nullptr;
    try {
      p = ask();
    } catch (const out_of_memory&) {
      throw;
    } catch (const cuda_error&) {
      throw;
    } catch (const std::exception& e) {
      refuse_memory(bytes, e.what());
    } catch (...) {
      refuse_memory(bytes, "it threw what is no std::exception");
    }
    if (p == nullptr) refuse_memory(bytes, "it gave a null pointer");
    return p;
  }
  template <class Resource>
  static Resource* checked(Resource* resource) {
    if (resource == nullptr) refuse_null();
    return resource;
  }
  [[noreturn]] static void refuse_null() {
    detail::refuse("the memory resource is a null pointer; give the address of one, or none");
  }
  [[noreturn]] static void refuse_memory(u64 bytes, std::string why) {
    for (char& c : why) c = c == '\n' ? ' ' : c;
    throw out_of_memory("tilehash: the memory resource has no " + std::to_string(bytes) + " bytes: " + why);
  }

  void* object_ = nullptr;
  void* (*allocate_)(void*, u64, u64, Stream...) = nullptr;
  void (*deallocate_)(void*, void*, u64, u64, Stream...) = nullptr;
  void* (*resize_)(void*, void*, u64, u64, u64, Stream...) = nullptr;
};

using host_resource_ref = basic_resource_ref<>;                ///< for `cpu`
using device_resource_ref = basic_resource_ref<CUstream_st*>;  ///< for `cuda`

TILEHASH_END_ABI_NAMESPACE
}  // namespace tilehash
