#include "verify.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tilehash::app {
namespace {

std::uint64_t differences(words some, words others) {
  std::sort(some.begin(), some.end());
  std::sort(others.begin(), others.end());
  words unmatched;
  std::set_symmetric_difference(some.begin(), some.end(), others.begin(), others.end(),
                                std::back_inserter(unmatched));
  return unmatched.size();
}

bool is_first_of_its_key(const query_set& items, std::size_t item) {
  return items.expected[item].multiplicity > 0 && items.expected[item].item == item;
}

}  // namespace

std::uint64_t wrong_lookups(const workload& work, const query_set& queries, const words& found,
                            const words& values) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const expectation expected = queries.expected[i];
    const bool should_be_found = expected.multiplicity > 0;
    const bool right =
        (found[i] != 0) == should_be_found &&
        (!should_be_found || values.empty() || work.is_right(queries.keys[i], expected, values[i]));
    if (!right) ++wrong;
  }
  return wrong;
}

std::uint64_t wrong_counts(const query_set& queries, const words& counts, bool multivalue) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const std::uint32_t all = queries.expected[i].multiplicity;
    if (counts[i] != (multivalue ? all : std::min(all, 1U))) ++wrong;
  }
  return wrong;
}

std::uint64_t wrong_contents(const workload& work, words keys, words values, bool multivalue) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // A numbered item's value leads back to its key; only a count has to be looked up.
    const expectation expected = work.data.counts.empty() ? expectation{} : work.truth.find(keys[i]);
    if (!work.is_right(keys[i], expected, values[i])) ++wrong;
  }
  words expected_keys, expected_values;
  for (std::size_t item = 0; item < work.items.size(); ++item) {
    if (!multivalue && !is_first_of_its_key(work.items, item)) continue;
    expected_keys.push_back(work.data.keys[item]);
    if (multivalue && !values.empty()) expected_values.push_back(work.data.value(item));
  }
  wrong += differences(std::move(keys), std::move(expected_keys));
  // With several items of one key, each must be there: right values alone could be one of them twice.
  if (multivalue) wrong += differences(std::move(values), std::move(expected_values));
  return wrong;
}

std::uint64_t expected_size(const query_set& items, bool multivalue) {
  std::uint64_t size = 0;
  for (std::size_t item = 0; item < items.size(); ++item) {
    if (multivalue ? items.expected[item].multiplicity > 0 : is_first_of_its_key(items, item)) ++size;
  }
  return size;
}

}  // namespace tilehash::app
