// SPDX-License-Identifier: Apache-2.0
// Reads a DLPack capsule, versioned or not: https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

namespace tilehash::python {

namespace dlpack {

struct tensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t dimensions;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct managed {
  tensor array;
  void* context;
  void (*deleter)(managed*);
};
struct managed_versioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(managed_versioned*);
  std::uint64_t flags;
  tensor array;
};

}  // namespace dlpack

// (address, shape, strides or None, type code, bits, device type, device, keeper). The keeper, a capsule, frees the
// memory. Throws TypeError for another object, BufferError for a version that this one does not know.
inline nanobind::tuple imported(nanobind::handle capsule) {
  namespace nb = nanobind;
  using namespace dlpack;
  const auto take = [&]<class Managed>(Managed* m, const char* used) {
    PyCapsule_SetName(capsule.ptr(), used);
    PyCapsule_SetDestructor(capsule.ptr(), nullptr);
    nb::capsule keeper(m, [](void* p) noexcept {
      auto* const of = static_cast<Managed*>(p);
      if (of->deleter != nullptr) of->deleter(of);
    });
    const tensor& t = m->array;
    nb::list shape, strides;
    for (std::int32_t i = 0; i < t.dimensions; ++i) {
      shape.append(t.shape[i]);
      if (t.strides != nullptr) strides.append(t.strides[i]);
    }
    const nb::object steps = t.strides != nullptr ? nb::object(nb::tuple(strides)) : nb::object(nb::none());
    return nb::make_tuple(reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset, nb::tuple(shape), steps,
                          int(t.code), int(t.bits) * int(t.lanes), t.device_type, t.device_id, keeper);
  };
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto* const m =
        static_cast<managed_versioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (m->major != 1) throw nb::buffer_error("tilehash: a DLPack capsule of a version other than 1");
    return take(m, "used_dltensor_versioned");
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor"))
    return take(static_cast<managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor")), "used_dltensor");
  throw nb::type_error("tilehash: __dlpack__ gave no DLPack capsule");
}

}  // namespace tilehash::python
