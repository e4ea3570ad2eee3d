// SPDX-License-Identifier: Apache-2.0
// Columns of numbers of any type, read on a GPU. The type is chosen at run time, so kernels are compiled once.
#pragma once

#include <cuda_fp16.h>

#include <tilehash/space/cuda.cuh>

#include "calls.hpp"

namespace tilehash::python {

using i64 = std::int64_t;

enum class number_type : u8 { i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64 };

inline number_type type_of(const gpu_column& c) {
  const bool is_float = c.kind == 'f', is_signed = c.kind == 'i';
  switch (c.bytes) {
    case 1:
      if (!is_float) return is_signed ? number_type::i8 : number_type::u8;
      break;
    case 2:
      return is_float ? number_type::f16 : is_signed ? number_type::i16 : number_type::u16;
    case 4:
      return is_float ? number_type::f32 : is_signed ? number_type::i32 : number_type::u32;
    case 8:
      return is_float ? number_type::f64 : is_signed ? number_type::i64 : number_type::u64;
    default:
      break;
  }
  throw invalid_argument("a column on a GPU has numbers of 1, 2, 4 or 8 bytes");
}

class column_view {
 public:
  column_view() = default;
  explicit column_view(const gpu_column& c)
      : data_(static_cast<const char*>(c.data)), stride_(c.stride), type_(type_of(c)) {}

  bool is_float() const { return type_ >= number_type::f16; }
  // A float as double, else an integer with its sign.
  __device__ double number(u64 i) const {
    switch (type_) {
      case number_type::f16:
        return static_cast<double>(__half2float(at<__half>(i)));
      case number_type::f32:
        return static_cast<double>(at<float>(i));
      case number_type::f64:
        return at<double>(i);
      case number_type::u8:
      case number_type::u16:
      case number_type::u32:
      case number_type::u64:
        return static_cast<double>(integer(i));
      default:
        return static_cast<double>(static_cast<i64>(integer(i)));
    }
  }
  __device__ u64 integer(u64 i) const {
    switch (type_) {
      case number_type::i8:
        return extended(at<signed char>(i));
      case number_type::i16:
        return extended(at<short>(i));
      case number_type::i32:
        return extended(at<int>(i));
      case number_type::u8:
        return at<unsigned char>(i);
      case number_type::u16:
        return at<unsigned short>(i);
      case number_type::u32:
        return at<unsigned>(i);
      default:
        return at<unsigned long long>(i);
    }
  }
  __device__ bool is_missing(u64 i) const {
    if (type_ < number_type::f16) return false;
    const double x = number(i);
    return x != x;
  }
  // A word with the order of the number. The words 0 and ~0 are those of no float.
  __device__ u64 ordered(u64 i) const {
    constexpr u64 sign = u64(1) << 63;
    if (type_ >= number_type::f16) {
      const u64 bits = static_cast<u64>(__double_as_longlong(number(i) + 0.0));
      return (bits & sign) != 0 ? ~bits : bits | sign;
    }
    return type_ >= number_type::u8 ? integer(i) : integer(i) ^ sign;
  }
  // Writes the number of an ordered word to out[to]; NaN for a float's word that is no number's.
  __device__ void write_ordered(void* out, u64 to, u64 word) const {
    constexpr u64 sign = u64(1) << 63;
    if (type_ >= number_type::f16) {
      const u64 bits = (word & sign) != 0 ? word ^ sign : ~word;
      const double x = __longlong_as_double(static_cast<long long>(bits));
      write_float(out, to, word == 0 || word == ~u64(0) ? __longlong_as_double(~0LL) : x);
      return;
    }
    write_integer(out, to, type_ >= number_type::u8 ? word : word ^ sign);
  }
  // Writes the row's number to out[to], or NaN if there is no row.
  __device__ void write_row(void* out, u64 to, u64 row, bool any) const {
    if (type_ >= number_type::f16)
      write_float(out, to, any ? number(row) : __longlong_as_double(~0LL));
    else
      write_integer(out, to, any ? integer(row) : 0);
  }
  // Writes the row's number plus a sum, which is a double's bits for floats.
  __device__ void write_sum(void* out, u64 to, u64 sum, u64 row) const {
    if (type_ >= number_type::f16)
      write_float(out, to, number(row) + __longlong_as_double(static_cast<long long>(sum)));
    else
      write_integer(out, to, integer(row) + sum);
  }
  __device__ void write_zero(void* out, u64 to) const {
    if (type_ >= number_type::f16)
      write_float(out, to, 0);
    else
      write_integer(out, to, 0);
  }

 private:
  template <class T>
  __device__ T at(u64 i) const {
    return *reinterpret_cast<const T*>(data_ + static_cast<i64>(i) * stride_);
  }
  template <class T>
  __device__ static u64 extended(T x) {
    return static_cast<u64>(static_cast<i64>(x));
  }
  __device__ void write_float(void* out, u64 to, double x) const {
    if (type_ == number_type::f64)
      static_cast<double*>(out)[to] = x;
    else if (type_ == number_type::f32)
      static_cast<float*>(out)[to] = static_cast<float>(x);
    else
      static_cast<__half*>(out)[to] = __float2half(static_cast<float>(x));
  }
  __device__ void write_integer(void* out, u64 to, u64 x) const {
    switch (type_) {
      case number_type::i8:
      case number_type::u8:
        static_cast<unsigned char*>(out)[to] = static_cast<unsigned char>(x);
        break;
      case number_type::i16:
      case number_type::u16:
        static_cast<unsigned short*>(out)[to] = static_cast<unsigned short>(x);
        break;
      case number_type::i32:
      case number_type::u32:
        static_cast<unsigned*>(out)[to] = static_cast<unsigned>(x);
        break;
      default:
        static_cast<unsigned long long*>(out)[to] = x;
        break;
    }
  }

  const char* data_ = nullptr;
  i64 stride_ = 0;
  number_type type_ = number_type::i64;
};

}  // namespace tilehash::python
