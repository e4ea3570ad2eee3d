// SPDX-License-Identifier: Apache-2.0
// The module tilehash._core. Its functions take arrays that the package's Python files have checked.
#include <new>

#include <tilehash/core/error.hpp>

#include "arrays.hpp"

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  nb::set_leak_warnings(false);  // an interpreter may end while arrays live
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const tilehash::out_of_memory& e) {
      PyErr_SetString(PyExc_MemoryError, e.what());
    } catch (const tilehash::invalid_argument& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const tilehash::error& e) {
      PyErr_SetString(PyExc_RuntimeError, e.what());
    }
  });
  tilehash::python::bind_codes(m);
  tilehash::python::bind_reductions(m);
  tilehash::python::bind_stored(m);
  tilehash::python::bind_tables(m);
}
