// SPDX-License-Identifier: Apache-2.0
// Group and aggregate: for every sensor how often it reported, and the mean and the greatest of what it said.
// Some sensors report all the time, so that many threads change the same value; every report counts once.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tilehash/tilehash.hpp>

int main() {
  constexpr std::uint32_t reports = 1'000'000, sensors = 1'000;
  std::vector<std::uint32_t> sensor(reports);
  std::vector<float> reading(reports);
  for (std::uint32_t i = 0; i < reports; ++i) {
    sensor[i] = i % 3 == 0 ? 7 : i % sensors;  // a third of the reports come from sensor 7
    reading[i] = static_cast<float>(i % 16);
  }

  tilehash::cpu space;
  // [aggregate-begin]
  tilehash::map<std::uint32_t, std::uint32_t, tilehash::cpu> times(space, sensors);
  tilehash::map<std::uint32_t, float, tilehash::cpu> greatest(space, sensors);
  tilehash::map<std::uint32_t, tilehash::op::mean_of<double>, tilehash::cpu> average(space, sensors);
  const std::vector<double> exact(reading.begin(), reading.end());

  const tilehash::insert_report calls[] = {
      times.insert_or_apply(space, sensor, tilehash::op::count{}),  // keys alone
      greatest.insert_or_apply(space, sensor, reading, tilehash::op::maximum{}),
      average.insert_or_apply(space, sensor, exact,
                              tilehash::op::mean{})};  // total and number; .value() is the mean
  // [aggregate-end]

  std::vector<std::uint32_t> asked(sensors), counted(sensors), truth(sensors, 0);
  for (std::uint32_t s = 0; s < sensors; ++s) asked[s] = s;
  std::vector<float> top(sensors), true_top(sensors, -1);
  std::vector<tilehash::op::mean_of<double>> means(sensors);
  std::vector<double> totals(sensors, 0);
  times.find(space, asked, counted);
  greatest.find(space, asked, top);
  average.find(space, asked, means);
  for (std::uint32_t i = 0; i < reports; ++i) {
    ++truth[sensor[i]];
    totals[sensor[i]] += exact[i];
    true_top[sensor[i]] = std::max(true_top[sensor[i]], reading[i]);
  }
  bool right = counted == truth && top == true_top;
  for (const auto& report : calls) right &= report.refused == 0;
  for (std::uint32_t s = 0; s < sensors; ++s) right &= means[s].value() == totals[s] / truth[s];
  std::printf("sensor 7: %u reports, on average %.3f\n", counted[7], means[7].value());
  return right ? 0 : 1;
}
