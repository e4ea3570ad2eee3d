// SPDX-License-Identifier: Apache-2.0
// A map of words in a folder: tilehash::several::out_of_core.
#include <algorithm>
#include <bit>
#include <mutex>

#include <tilehash/map.hpp>
#include <tilehash/several/out_of_core.hpp>

#include "arrays.hpp"

namespace tilehash::python {
namespace {

// An op chosen at run time: one instantiation of the merge serves all.
struct word_op {
  static constexpr bool is_associative = true;
  enum class which : char { sum, least, most } op;
  char kind;  // of the numbers that the words hold: 'i', 'u' or 'f'

  u64 operator()(u64 stored, u64 given) const {
    if (kind == 'f') return on<double>(stored, given);
    return kind == 'i' && op != which::sum ? on<i64>(stored, given) : on<u64>(stored, given);
  }

 private:
  template <class T>
  u64 on(u64 stored, u64 given) const {
    const T a = std::bit_cast<T>(stored), b = std::bit_cast<T>(given);
    if (op == which::sum) return std::bit_cast<u64>(static_cast<T>(a + b));
    return std::bit_cast<u64>(op == which::least ? std::min(a, b) : std::max(a, b));
  }
};

class word_store {
 public:
  word_store(const std::string& folder, u32 parts, u64 bin_bytes, int threads)
      : table_(space_of(threads), folder, parts, bin_bytes) {}

  void append(const vector_in<u64>& keys, const vector_in<u64>& values) {
    const nb::gil_scoped_release release;
    const std::lock_guard guard(lock_);
    table_.append(span(keys), span(values));
  }
  nb::tuple insert() {
    return merged([&] { return table_.insert(); });
  }
  nb::tuple assign() {
    return merged([&] { return table_.insert_or_assign(); });
  }
  nb::tuple update(const std::string& op, const std::string& kind) {
    using which = word_op::which;
    const word_op apply{op == "sum" ? which::sum : op == "min" ? which::least : which::most, kind.at(0)};
    return merged([&] { return table_.insert_or_apply(apply); });
  }
  array_out<u64> find(const vector_in<u64>& keys, u64 missing) {
    buffer<u64, cpu> values(space_of(1), keys.size());
    {
      const nb::gil_scoped_release release;
      const std::lock_guard guard(lock_);
      table_.find_or(span(keys), values.span(), missing);
    }
    return to_numpy(std::move(values));
  }
  u64 size() const { return table_.size(); }
  u32 parts() const { return table_.parts(); }
  u64 waiting() const { return table_.waiting(); }
  u64 bytes_read() const { return table_.bytes_read(); }
  u64 bytes_written() const { return table_.bytes_written(); }

 private:
  static std::span<const u64> span(const vector_in<u64>& a) { return {a.data(), a.size()}; }
  template <class Merge>
  nb::tuple merged(const Merge& merge) {
    insert_report report;
    {
      const nb::gil_scoped_release release;
      const std::lock_guard guard(lock_);
      report = merge();
    }
    return nb::make_tuple(report.inserted, report.present, report.refused);
  }

  std::mutex lock_;
  several::out_of_core<map<u64, u64, cpu>> table_;
};

}  // namespace

void bind_stored(nb::module_& m) {
  nb::class_<word_store>(m, "Stored")
      .def(nb::init<const std::string&, u32, u64, int>(), nb::arg("folder"), nb::arg("parts"),
           nb::arg("bin_bytes"), nb::arg("threads"))
      .def("append", &word_store::append, nb::arg("keys"), nb::arg("values"))
      .def("insert", &word_store::insert)
      .def("assign", &word_store::assign)
      .def("update", &word_store::update, nb::arg("op"), nb::arg("kind"))
      .def("find", &word_store::find, nb::arg("keys"), nb::arg("missing"))
      .def_prop_ro("size", &word_store::size)
      .def_prop_ro("parts", &word_store::parts)
      .def_prop_ro("waiting", &word_store::waiting)
      .def_prop_ro("bytes_read", &word_store::bytes_read)
      .def_prop_ro("bytes_written", &word_store::bytes_written);
}

}  // namespace tilehash::python
