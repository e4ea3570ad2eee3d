// SPDX-License-Identifier: Apache-2.0
// Codes of key columns, and finders of keys.
#include <tilehash/analysis/join_by_codes.hpp>

#include "rows.hpp"

namespace tilehash::python {
namespace {

namespace codes = tilehash::analysis::detail;
using codes::missing_rows, codes::no_code;

missing_rows how(bool missing_is_key) {
  return missing_is_key ? missing_rows::are_a_key : missing_rows::excluded;
}

template <class Word, class T>
void take(rows& r, const any_in& a, const std::uint8_t* valid, bool time) {
  const char* data = static_cast<const char*>(a.data());
  const i64 stride = a.size() == 0 ? i64(sizeof(T)) : a.stride(0) * i64(sizeof(T));
  if constexpr (std::is_floating_point_v<T>)
    r.of = rows_of<Word, T, number_kind::floating>(data, stride, valid);
  else if constexpr (std::is_same_v<T, i64>)
    r.of = time ? rows_of<Word, T, number_kind::time>(data, stride, valid)
                : rows_of<Word, T>(data, stride, valid);
  else
    r.of = rows_of<Word, T>(data, stride, valid);
}

rows numbers(const any_in& a, const mask_in& valid, bool time, const std::string& type) {
  rows r;
  r.n = a.size();
  r.type = type;
  const std::uint8_t* mask = bytes_of_mask(valid, r.n);
  r.kept = std::make_shared<std::pair<std::decay_t<decltype(a)>, mask_in>>(a, valid);
  const auto is = [&]<class T>(T) { return a.dtype() == nb::dtype<T>(); };
  if (is(i64{}))
    take<u64, i64>(r, a, mask, time);
  else if (is(u64{}))
    take<u64, u64>(r, a, mask, time);
  else if (is(double{}))
    take<u64, double>(r, a, mask, time);
  else if (is(std::int32_t{}))
    take<u32, std::int32_t>(r, a, mask, time);
  else if (is(u32{}))
    take<u32, u32>(r, a, mask, time);
  else if (is(float{}))
    take<u32, float>(r, a, mask, time);
  else if (is(std::int16_t{}))
    take<u32, std::int16_t>(r, a, mask, time);
  else if (is(u16{}))
    take<u32, u16>(r, a, mask, time);
  else if (is(std::int8_t{}))
    take<u32, std::int8_t>(r, a, mask, time);
  else if (is(u8{}))
    take<u32, u8>(r, a, mask, time);
  else
    throw nb::type_error("tilehash: keys are integers or floating-point numbers of up to 8 bytes");
  return r;
}

rows fixed_bytes(const vector_in<u8>& a, i64 width, i64 n, const mask_in& valid, const std::string& type) {
  rows r;
  r.n = static_cast<u64>(n);
  r.type = type;
  text_rows text{reinterpret_cast<const char*>(a.data()), width, width};
  text.valid = bytes_of_mask(valid, r.n);
  r.of = text;
  r.kept = std::make_shared<std::pair<std::decay_t<decltype(a)>, mask_in>>(a, valid);
  return r;
}
rows text(const vector_in<u8>& a, const vector_in<i64>& offsets, const mask_in& valid) {
  rows r;
  r.n = offsets.size() == 0 ? 0 : offsets.size() - 1;
  r.type = "str";
  text_rows text{reinterpret_cast<const char*>(a.data())};
  text.offsets = offsets.data();
  text.valid = bytes_of_mask(valid, r.n);
  r.of = text;
  r.kept = std::make_shared<std::tuple<vector_in<u8>, vector_in<i64>, mask_in>>(a, offsets, valid);
  return r;
}

template <class Code>
nb::tuple factorize(const rows& keys, bool missing_is_key, int threads) {
  if (keys.n >= no_code) throw nb::value_error("tilehash: a call takes at most 2**32 - 2 rows");
  cpu& space = space_of(threads);
  buffer<Code, cpu> found;
  buffer<u32, cpu> first_rows;
  {
    nb::gil_scoped_release release;
    found = buffer<Code, cpu>(space, keys.n);
    if (keys.n != 0)
      first_rows = std::visit(
          [&](auto of) {
            if constexpr (requires { of.seed; }) of.seed = tilehash::detail::drawn_seed();
            return codes::code_rows(space, of, keys.n, found.data(), how(missing_is_key));
          },
          keys.of);
  }
  return nb::make_tuple(to_numpy(std::move(found)), to_numpy(std::move(first_rows)));
}

// The keys of one column, to be found in others.
class finder {
  template <class Rows>
  using of = std::unique_ptr<codes::key_finder<Rows>>;

 public:
  finder(const rows& keys, bool missing_is_key, int threads) : keys_(keys), space_(&space_of(threads)) {
    if (keys.n >= no_code) throw nb::value_error("tilehash: a call takes at most 2**32 - 2 rows");
    nb::gil_scoped_release release;
    if (text_rows* text = std::get_if<text_rows>(&keys_.of)) text->seed = tilehash::detail::drawn_seed();
    std::visit(
        [&]<class Rows>(const Rows& r) {
          found_ = std::make_unique<codes::key_finder<Rows>>(*space_, r, keys_.n, how(missing_is_key));
        },
        keys_.of);
  }
  array_out<u32> codes_of() const {
    return copied([](const auto& f) -> const buffer<u32, cpu>& { return f.codes(); });
  }
  array_out<u32> first_rows() const {
    return copied([](const auto& f) -> const buffer<u32, cpu>& { return f.first_rows(); });
  }
  array_out<u32> find(const rows& keys) const {
    buffer<u32, cpu> out(*space_, keys.n);
    probe(keys, [&](u64 row, u32 code) { out.data()[row] = code; });
    return to_numpy(std::move(out));
  }
  array_out<bool> contains(const rows& keys) const {
    buffer<bool, cpu> out(*space_, keys.n);
    probe(keys, [&](u64 row, u32 code) { out.data()[row] = code != no_code; });
    return to_numpy(std::move(out));
  }

 private:
  template <class Get>
  array_out<u32> copied(const Get& get) const {
    buffer<u32, cpu> copy =
        std::visit([&](const auto& f) { return tilehash::detail::copy_of(get(*f), *space_); }, found_);
    return to_numpy(std::move(copy));
  }
  template <class Use>
  void probe(const rows& keys, const Use& use) const {
    if (keys.of.index() != keys_.of.index())
      throw nb::type_error(
          ("tilehash: keys of " + keys.type + " cannot be among keys of " + keys_.type).c_str());
    nb::gil_scoped_release release;
    std::visit(
        [&]<class Rows>(const of<Rows>& f) {
          Rows probing = std::get<Rows>(keys.of);
          if constexpr (requires { probing.others; }) {
            probing.others = &std::get<Rows>(keys_.of);
            probing.seed = probing.others->seed;
          }
          f->find(*space_, probing, keys.n, f->missing_code(), use);
        },
        found_);
  }

  rows keys_;
  cpu* space_;
  std::variant<of<number_rows<u32>>, of<number_rows<u64>>, of<text_rows>> found_;
};

// The rows of a join, by the codes that both sides have among the right keys.
nb::tuple join(const vector_in<u32>& left, const vector_in<u32>& right, u64 number, bool keep_left,
               bool keep_right, int threads) {
  cpu& space = space_of(threads);
  codes::joined_pairs<i64> pairs;
  {
    nb::gil_scoped_release release;
    const codes::rows_by_code by_code(space, right.data(), right.size(), number);
    const auto kept = [](bool yes) {
      return yes ? codes::unmatched_rows::kept : codes::unmatched_rows::dropped;
    };
    pairs = codes::join_codes<i64>(space, left.data(), left.size(), by_code, number, right.data(),
                                   right.size(), kept(keep_left), kept(keep_right));
  }
  return nb::make_tuple(to_numpy(std::move(pairs.columns[0])), to_numpy(std::move(pairs.columns[1])));
}

// Keys that get ids as they come.
class id_table {
 public:
  explicit id_table() : table_(space_of(1), tilehash::detail::drawn_seed()) {}
  // The ids of all keys; new keys get the next ids, in the order of the rows.
  array_out<i64> add(const rows& keys) {
    const auto& of = as_words(keys);
    buffer<i64, cpu> ids(space_of(1), keys.n);
    {
      nb::gil_scoped_release release;
      const std::unique_lock guard(lock_);
      const auto found = [](u64) {};
      for (u64 at = 0; (at = table_.code<false>(of, at, keys.n, ids.data(), false, {}, found)) < keys.n;)
        table_.provide();
    }
    return to_numpy(std::move(ids));
  }
  array_out<i64> find(const rows& keys, i64 missing, int threads) {
    const auto& of = as_words(keys);
    cpu& space = space_of(threads);
    buffer<i64, cpu> ids(space, keys.n);
    {
      nb::gil_scoped_release release;
      const std::unique_lock guard(lock_);
      space.for_each_share(
          keys.n,
          [&](u64 first, u64 end) {
            table_.find(of, first, end, no_code,
                        [&](u64 row, u32 id) { ids.data()[row] = id == no_code ? missing : i64(id); });
          },
          u64(1) << 16);
    }
    return to_numpy(std::move(ids));
  }
  u64 size() const { return table_.size(); }

 private:
  static const number_rows<u64>& as_words(const rows& keys) {
    if (keys.n >= no_code) throw nb::value_error("tilehash: a call takes at most 2**32 - 2 rows");
    return std::get<number_rows<u64>>(keys.of);
  }
  std::mutex lock_;
  codes::code_table<number_rows<u64>> table_;
};

}  // namespace

void bind_codes(nb::module_& m) {
  nb::class_<rows>(m, "Rows").def_ro("size", &rows::n).def_ro("type", &rows::type);
  m.def("numbers", &numbers, nb::arg("array"), nb::arg("valid").none(), nb::arg("time"), nb::arg("type"));
  m.def("fixed_bytes", &fixed_bytes, nb::arg("array"), nb::arg("width"), nb::arg("n"),
        nb::arg("valid").none(), nb::arg("type"));
  m.def("text", &text, nb::arg("array"), nb::arg("offsets"), nb::arg("valid").none());
  m.def("factorize", &factorize<i64>, nb::arg("keys"), nb::arg("missing_is_key"), nb::arg("threads"));
  m.def("codes", &factorize<u32>, nb::arg("keys"), nb::arg("missing_is_key"), nb::arg("threads"));
  m.def("join", &join, nb::arg("left"), nb::arg("right"), nb::arg("number"), nb::arg("keep_left"),
        nb::arg("keep_right"), nb::arg("threads"));
  nb::class_<finder>(m, "Finder")
      .def(nb::init<const rows&, bool, int>(), nb::arg("keys"), nb::arg("missing_is_key"), nb::arg("threads"))
      .def("codes", &finder::codes_of)
      .def("first_rows", &finder::first_rows)
      .def("find", &finder::find, nb::arg("keys"))
      .def("contains", &finder::contains, nb::arg("keys"));
  nb::class_<id_table>(m, "Ids")
      .def(nb::init<>())
      .def("add", &id_table::add, nb::arg("keys"))
      .def("find", &id_table::find, nb::arg("keys"), nb::arg("missing"), nb::arg("threads"))
      .def_prop_ro("size", &id_table::size);
}

}  // namespace tilehash::python
