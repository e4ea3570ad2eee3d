// SPDX-License-Identifier: Apache-2.0
// All questions, and their registration as GoogleTest tests:
// <design>_<key>_<value>_<space>.<question>_<test>
#pragma once

#include <gtest/gtest.h>

#include <tuple>

#include <contract/duplicates.hpp>
#include <contract/erase.hpp>
#include <contract/every_key.hpp>
#include <contract/failure.hpp>
#include <contract/floats.hpp>
#include <contract/insert.hpp>
#include <contract/lookup.hpp>
#include <contract/multivalue.hpp>
#include <contract/random_calls.hpp>
#include <contract/reports.hpp>
#include <contract/resize.hpp>
#include <contract/sizes.hpp>
#include <contract/throwing.hpp>
#include <contract/turnover.hpp>
#include <contract/types.hpp>
#include <contract/updates.hpp>

namespace tilehash::contract {

template <class T>
struct named {
  const char* name;
};
inline constexpr std::tuple type_names{
    named<void>{"void"},        named<u8>{"u8"},         named<u16>{"u16"},
    named<u32>{"u32"},          named<u64>{"u64"},       named<std::int64_t>{"i64"},
    named<float>{"float"},      named<double>{"double"}, named<bitwise<float>>{"bitwise_float"},
    named<ivec3>{"ivec3"},      named<ivec4>{"ivec4"},   named<wide_key>{"wide32"},
    named<wide_value>{"wide84"}};
template <class T>
constexpr const char* type_name = std::get<named<T>>(type_names).name;

// A failed assertion ends its test at once, in helpers of any depth.
class stop_at_failure : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (result.fatally_failed()) throw ::testing::AssertionException(result);
  }
};

class contract_test : public ::testing::Test {
 public:
  explicit contract_test(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override {
    SCOPED_TRACE("repeat it with TILEHASH_SEED=" + std::to_string(run_seed()));
    body_();
  }

 private:
  std::function<void()> body_;
};

template <template <class, class> class Question, class Key, class Value>
void ask(const maker<Key, Value>& make) {
  using question = Question<Key, Value>;
  const std::string suite = make.design + "_" + type_name<Key> + "_" + type_name<Value> + "_" + make.space;
  for (const auto& test : question::tests) {
    if (!test.is_of_types || !make.can.offer(question::needs) || !make.can.offer(test.needs)) continue;
    ::testing::RegisterTest(suite.c_str(), (std::string(question::name) + "_" + test.name).c_str(), nullptr,
                            nullptr, __FILE__, __LINE__, [make, body = test.body]() -> ::testing::Test* {
                              return new contract_test([make, body] {
                                this_test_is_small = make.small;
                                body(make);
                              });
                            });
  }
}

template <class Key, class Value>
void ask_all(const maker<Key, Value>& make) {
  [[maybe_unused]] static const bool listens = [] {
    static bool once = false;
    if (!std::exchange(once, true))
      ::testing::UnitTest::GetInstance()->listeners().Append(new stop_at_failure);
    return true;
  }();
  ask<lookup>(make);
  ask<insertion>(make);
  ask<erasure>(make);
  ask<duplicates>(make);
  ask<sizes>(make);
  ask<every_key>(make);
  ask<resizing>(make);
  ask<reports>(make);
  ask<multivalues>(make);
  ask<floats>(make);
  ask<updates>(make);
  ask<failure>(make);
  ask<throwing_ops>(make);
  ask<throwing_callbacks>(make);
  ask<random_calls>(make);
  ask<turnover>(make);
}

}  // namespace tilehash::contract
