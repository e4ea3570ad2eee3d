// SPDX-License-Identifier: Apache-2.0
// Map and Set: tables of 64-bit keys and values. The Python side turns keys and values into words and back.
#include <bit>
#include <functional>
#include <shared_mutex>

#include <tilehash/map.hpp>
#include <tilehash/set.hpp>

#include "arrays.hpp"

namespace tilehash::python {
namespace {

using words_in = vector_in<u64>;

std::span<const u64> span_of(const words_in& a) { return {a.data(), a.size()}; }

// An op on words that hold numbers of type T.
template <class T, class Op>
struct on_words {
  static constexpr bool is_associative = true;
  u64 operator()(u64 stored, u64 given) const {
    return std::bit_cast<u64>(Op{}(std::bit_cast<T>(stored), std::bit_cast<T>(given)));
  }
};

class word_map {
  using table = map<u64, u64, cpu>;

 public:
  word_map(u64 capacity, bool grow, int threads)
      : space_(space_of(threads)), table_(space_, capacity, {.grow = grow}) {}

  nb::tuple insert(const words_in& keys, const words_in& values) {  // the first of equal keys
    return changed([&] { return table_.insert(space_, span_of(keys), span_of(values), keep::first); });
  }
  nb::tuple assign(const words_in& keys, const words_in& values) {
    return changed([&] { return table_.insert_or_assign(space_, span_of(keys), span_of(values)); });
  }
  nb::tuple update(const words_in& keys, const words_in& values, const std::string& op,
                   const std::string& kind) {
    if (op == "sum") {
      if (kind == "f") return apply<double, op::sum>(keys, values);
      return apply<u64, op::sum>(keys, values);
    }
    return op == "min" ? ordered<op::minimum>(keys, values, kind) : ordered<op::maximum>(keys, values, kind);
  }
  nb::tuple find(const words_in& keys, u64 missing) const {
    buffer<u64, cpu> values(space_, keys.size());
    buffer<bool, cpu> found(space_, keys.size());
    {
      nb::gil_scoped_release release;
      const std::shared_lock guard(lock_);
      table_.find(space_, span_of(keys), values.span(), found.span());
      for (u64 i = 0; i < keys.size(); ++i)
        if (!found.data()[i]) values.data()[i] = missing;
    }
    return nb::make_tuple(to_numpy(std::move(values)), to_numpy(std::move(found)));
  }
  u64 erase(const words_in& keys) {
    nb::gil_scoped_release release;
    const std::unique_lock guard(lock_);
    return table_.erase(space_, span_of(keys));
  }
  nb::tuple items() const {
    buffer<u64, cpu> keys, values;
    {
      nb::gil_scoped_release release;
      const std::shared_lock guard(lock_);
      keys = buffer<u64, cpu>(space_, table_.size());
      values = buffer<u64, cpu>(space_, table_.size());
      static_cast<void>(table_.retrieve_all(space_, keys.span(), values.span()));
    }
    return nb::make_tuple(to_numpy(std::move(keys)), to_numpy(std::move(values)));
  }
  u64 size() const { return table_.size(); }

 private:
  template <class Change>
  nb::tuple changed(const Change& change) {
    insert_report report;
    {
      nb::gil_scoped_release release;
      const std::unique_lock guard(lock_);
      report = change();
    }
    return nb::make_tuple(report.inserted, report.present, report.refused);
  }
  template <class T, class Op>
  nb::tuple apply(const words_in& keys, const words_in& values) {
    return changed(
        [&] { return table_.insert_or_apply(space_, span_of(keys), span_of(values), on_words<T, Op>{}); });
  }
  template <class Op>
  nb::tuple ordered(const words_in& keys, const words_in& values, const std::string& kind) {
    if (kind == "f") return apply<double, Op>(keys, values);
    if (kind == "i") return apply<i64, Op>(keys, values);
    return apply<u64, Op>(keys, values);
  }

  cpu& space_;
  mutable std::shared_mutex lock_;
  table table_;
};

class word_set {
 public:
  word_set(u64 capacity, bool grow, int threads)
      : space_(space_of(threads)), table_(space_, capacity, {.grow = grow}) {}

  nb::tuple insert(const words_in& keys) {
    insert_report report;
    {
      nb::gil_scoped_release release;
      const std::unique_lock guard(lock_);
      report = table_.insert(space_, span_of(keys));
    }
    return nb::make_tuple(report.inserted, report.present, report.refused);
  }
  array_out<bool> contains(const words_in& keys) const {
    buffer<bool, cpu> found(space_, keys.size());
    {
      nb::gil_scoped_release release;
      const std::shared_lock guard(lock_);
      table_.contains(space_, span_of(keys), found.span());
    }
    return to_numpy(std::move(found));
  }
  u64 erase(const words_in& keys) {
    nb::gil_scoped_release release;
    const std::unique_lock guard(lock_);
    return table_.erase(space_, span_of(keys));
  }
  array_out<u64> items() const {
    buffer<u64, cpu> keys;
    {
      nb::gil_scoped_release release;
      const std::shared_lock guard(lock_);
      keys = buffer<u64, cpu>(space_, table_.size());
      static_cast<void>(table_.retrieve_all(space_, keys.span()));
    }
    return to_numpy(std::move(keys));
  }
  u64 size() const { return table_.size(); }

 private:
  cpu& space_;
  mutable std::shared_mutex lock_;
  set<u64, cpu> table_;
};

}  // namespace

void bind_tables(nb::module_& m) {
  nb::class_<word_map>(m, "Map")
      .def(nb::init<u64, bool, int>(), nb::arg("capacity"), nb::arg("grow"), nb::arg("threads"))
      .def("insert", &word_map::insert, nb::arg("keys"), nb::arg("values"))
      .def("assign", &word_map::assign, nb::arg("keys"), nb::arg("values"))
      .def("update", &word_map::update, nb::arg("keys"), nb::arg("values"), nb::arg("op"), nb::arg("kind"))
      .def("find", &word_map::find, nb::arg("keys"), nb::arg("missing"))
      .def("erase", &word_map::erase, nb::arg("keys"))
      .def("items", &word_map::items)
      .def_prop_ro("size", &word_map::size);
  nb::class_<word_set>(m, "Set")
      .def(nb::init<u64, bool, int>(), nb::arg("capacity"), nb::arg("grow"), nb::arg("threads"))
      .def("insert", &word_set::insert, nb::arg("keys"))
      .def("contains", &word_set::contains, nb::arg("keys"))
      .def("erase", &word_set::erase, nb::arg("keys"))
      .def("items", &word_set::items)
      .def_prop_ro("size", &word_set::size);
}

}  // namespace tilehash::python
