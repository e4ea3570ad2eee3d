// SPDX-License-Identifier: Apache-2.0
// The module tilehash._cuda. Its functions take addresses that the package's Python files have checked.
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <tilehash/core/error.hpp>

#include "calls.hpp"
#include "dlpack.hpp"
#include "memory.hpp"

namespace tilehash::python {
namespace {

namespace nb = nanobind;
using address = std::uintptr_t;
using std::uint32_t, std::uint64_t;

template <class T = void>
T* at(address p) {
  return reinterpret_cast<T*>(p);  // NOLINT(performance-no-int-to-ptr)
}

// Calls call.operator()<Key>() for the key type of that name.
template <class Call>
auto with_key(const std::string& name, const Call& call) {
  if (name == "u32") return call.template operator()<uint32_t>();
  if (name == "u64") return call.template operator()<uint64_t>();
  if (name == "f32") return call.template operator()<float>();
  if (name == "f64") return call.template operator()<double>();
  throw nb::type_error("tilehash: keys on a GPU are integers or floating-point numbers of 4 or 8 bytes");
}

std::unique_ptr<gpu_factors> factorize(const std::string& type, int device, address stream, address keys,
                                       uint64_t n, bool missing_is_key, address codes) {
  const nb::gil_scoped_release release;
  return with_key(type, [&]<class Key>() {
    return factorize_on_gpu<Key>({device, stream}, at(keys), n, missing_is_key, at<uint32_t>(codes));
  });
}
// (address, stride in bytes, kind, bytes), as Python gives a column.
using given_column = std::tuple<address, std::int64_t, std::string, int>;
gpu_column column_of(const given_column& c) {
  return {at(std::get<0>(c)), std::get<1>(c), std::get<2>(c).at(0), std::get<3>(c)};
}
std::vector<gpu_column> columns_of(const std::vector<given_column>& given) {
  std::vector<gpu_column> columns;
  for (const auto& c : given) columns.push_back(column_of(c));
  return columns;
}
std::unique_ptr<gpu_factors> unique(const std::string& type, int device, address stream, address keys,
                                    uint64_t n) {
  const nb::gil_scoped_release release;
  return with_key(type, [&]<class Key>() { return unique_on_gpu<Key>({device, stream}, at(keys), n); });
}
void isin(const std::string& type, int device, address stream, address keys, uint64_t n, address wanted,
          uint64_t m, address out) {
  const nb::gil_scoped_release release;
  with_key(type, [&]<class Key>() {
    isin_on_gpu<Key>({device, stream}, at(keys), n, at(wanted), m, at<bool>(out));
  });
}
std::unique_ptr<gpu_table> make_table(int key_bytes, int value_bytes, int device, address stream,
                                      uint64_t capacity, bool grow) {
  const nb::gil_scoped_release release;
  const gpu_place place{device, stream};
  if (key_bytes == 4) {
    if (value_bytes == 0) return table_on_gpu<uint32_t, void>(place, capacity, grow);
    if (value_bytes == 4) return table_on_gpu<uint32_t, uint32_t>(place, capacity, grow);
    return table_on_gpu<uint32_t, uint64_t>(place, capacity, grow);
  }
  if (value_bytes == 0) return table_on_gpu<uint64_t, void>(place, capacity, grow);
  if (value_bytes == 4) return table_on_gpu<uint64_t, uint32_t>(place, capacity, grow);
  return table_on_gpu<uint64_t, uint64_t>(place, capacity, grow);
}

nb::tuple as_tuple(const gpu_report& r) { return nb::make_tuple(r.inserted, r.present, r.refused); }

// Errors of the library as Python's.
void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const tilehash::out_of_memory& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const tilehash::invalid_argument& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const tilehash::error& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

using no_gil = nb::call_guard<nb::gil_scoped_release>;

void bind_table(nb::module_& m) {
  nb::class_<gpu_table>(m, "Table")
      .def_prop_ro("size", &gpu_table::size)
      .def("insert",
           [](gpu_table& t, address stream, address keys, address values, uint64_t n) {
             gpu_report r;
             {
               const nb::gil_scoped_release release;
               r = t.insert(stream, at(keys), at(values), n);
             }
             return as_tuple(r);
           })
      .def("assign",
           [](gpu_table& t, address stream, address keys, address values, uint64_t n) {
             gpu_report r;
             {
               const nb::gil_scoped_release release;
               r = t.assign(stream, at(keys), at(values), n);
             }
             return as_tuple(r);
           })
      .def("update",
           [](gpu_table& t, int device, address stream, int key_bytes, address keys,
              const given_column& values, uint64_t n, const std::string& op) {
             gpu_report r;
             {
               const nb::gil_scoped_release release;
               r = update_on_gpu({device, stream}, t, key_bytes, at(keys), column_of(values), n, op);
             }
             return as_tuple(r);
           })
      .def(
          "find",
          [](gpu_table& t, address stream, address keys, uint64_t n, address values, uint64_t missing) {
            t.find(stream, at(keys), n, at(values), missing);
          },
          no_gil())
      .def(
          "contains",
          [](gpu_table& t, address stream, address keys, uint64_t n, address out) {
            t.contains(stream, at(keys), n, at<bool>(out));
          },
          no_gil())
      .def(
          "erase",
          [](gpu_table& t, address stream, address keys, uint64_t n) { return t.erase(stream, at(keys), n); },
          no_gil())
      .def(
          "items",
          [](gpu_table& t, address stream, address keys, address values) {
            t.items(stream, at(keys), at(values));
          },
          no_gil());
}

void bind_index(nb::module_& m) {
  nb::class_<gpu_index>(m, "Index")
      .def_prop_ro("size", &gpu_index::size)
      .def(
          "add",
          [](gpu_index& x, address stream, address keys, uint64_t n, address ids) {
            x.add(stream, at(keys), n, at<std::int64_t>(ids));
          },
          no_gil())
      .def(
          "find",
          [](gpu_index& x, address stream, address keys, uint64_t n, address ids, std::int64_t missing) {
            x.find(stream, at(keys), n, at<std::int64_t>(ids), missing);
          },
          no_gil())
      .def(
          "keys_of",
          [](gpu_index& x, address stream, address ids, uint64_t n, address keys) {
            return x.keys_of(stream, at<std::int64_t>(ids), n, at(keys));
          },
          no_gil());
  m.def("index", [](int device, address stream, int key_bytes) {
    const nb::gil_scoped_release release;
    return index_on_gpu({device, stream}, key_bytes);
  });
}

// Calls on columns and codes.
void bind_columns(nb::module_& m) {
  m.def("fill", [](int device, address stream, address out, uint64_t n, uint64_t word, int bytes) {
    const nb::gil_scoped_release release;
    fill_on_gpu({device, stream}, at(out), n, word, bytes);
  });
  m.def("widen", [](int device, address stream, const given_column& c, uint64_t n, address out, int bytes) {
    const nb::gil_scoped_release release;
    widen_on_gpu({device, stream}, column_of(c), n, at(out), bytes);
  });
  m.def("gather",
        [](int device, address stream, const given_column& c, address rows, uint64_t n, address out) {
          const nb::gil_scoped_release release;
          gather_on_gpu({device, stream}, column_of(c), at<std::int64_t>(rows), n, at(out));
        });
  m.def("group_columns",
        [](int device, address stream, const std::vector<given_column>& given, uint64_t n, address out) {
          const nb::gil_scoped_release release;
          return group_columns_on_gpu({device, stream}, columns_of(given), n, at<uint32_t>(out));
        });
  m.def("combine", [](int device, address stream, address codes, address more, uint64_t n, uint64_t number,
                      address out) {
    const nb::gil_scoped_release release;
    return combine_on_gpu({device, stream}, at<uint32_t>(codes), at<uint32_t>(more), n, number,
                          at<uint32_t>(out));
  });
  m.def("reduce", [](int device, address stream, address codes, uint64_t n, uint64_t groups,
                     const given_column& c, const std::string& op, double argument, address out) {
    const nb::gil_scoped_release release;
    reduce_on_gpu({device, stream}, at<uint32_t>(codes), n, groups, column_of(c), op, argument, at(out));
  });
  m.def("reduce_many", [](int device, address stream, address codes, uint64_t n, uint64_t groups,
                          const std::vector<given_column>& values, const std::vector<std::string>& ops,
                          const std::vector<address>& out) {
    const nb::gil_scoped_release release;
    std::vector<void*> results;
    for (const address a : out) results.push_back(at(a));
    reduce_many_on_gpu({device, stream}, at<uint32_t>(codes), n, groups, columns_of(values), ops, results);
  });
  nb::class_<gpu_joined>(m, "Joined")
      .def_prop_ro("size", &gpu_joined::size)
      .def("left", [](const gpu_joined& j, address out) { j.left(at<std::int64_t>(out)); })
      .def("right", [](const gpu_joined& j, address out) { j.right(at<std::int64_t>(out)); });
  m.def("join", [](int device, address stream, address left, uint64_t n, address right, uint64_t rows,
                   uint64_t number, const std::string& kind) {
    const nb::gil_scoped_release release;
    return join_on_gpu({device, stream}, at<uint32_t>(left), n, at<uint32_t>(right), rows, number, kind);
  });
}

}  // namespace

NB_MODULE(_cuda, m) {
  nb::set_leak_warnings(false);  // an interpreter may end while tables live
  nb::register_exception_translator(translate);
  nb::class_<gpu_factors>(m, "Factors")
      .def_prop_ro("size", &gpu_factors::size)
      .def("codes", [](const gpu_factors& f, address out) { f.codes(at<std::int64_t>(out)); })
      .def("first_rows", [](const gpu_factors& f, address out) { f.first_rows(at<std::int64_t>(out)); })
      .def("values", [](const gpu_factors& f, address out) { f.values(at(out)); })
      .def("counts", [](const gpu_factors& f, address out) { f.counts(at<std::int64_t>(out)); });
  m.def("factorize", &factorize);
  m.def("unique", &unique);
  m.def("isin", &isin);
  m.def("table", &make_table);
  bind_table(m);
  bind_index(m);
  bind_columns(m);
  nb::class_<gpu_memory>(m, "Memory")
      .def_prop_ro("address", &gpu_memory::address)
      .def("order", &gpu_memory::order);
  m.def("memory", [](int device, address stream, std::int64_t n, const std::string& kind, int bytes) {
    return std::make_shared<gpu_memory>(gpu_place{device, stream}, n, kind.at(0), bytes);
  });
  m.def("capsule", &gpu_memory::capsule);
  m.def("tensor", [](nb::handle capsule) { return imported(capsule); });
}

}  // namespace tilehash::python
