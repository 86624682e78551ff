// FreeGpus and ExpectedWorkload against models that follow the definitions word by word.
#include "plugins/common/gpu_fragmentation.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::plugins {
namespace {

FreeGpus Of(std::vector<int32_t> free) {
  FreeGpus gpus;
  std::sort(free.begin(), free.end());
  gpus.free.assign(free.begin(), free.end());
  return gpus;
}

// --- Definitions

bool NaiveFits(std::vector<int32_t> free, const GpuDemand& demand) {
  for (int64_t i = 0; i < demand.whole; ++i) {
    const auto whole = std::find(free.begin(), free.end(), 1000);
    if (whole == free.end()) return false;
    free.erase(whole);
  }
  return demand.share == 0 ||
         std::any_of(free.begin(), free.end(), [&](int32_t f) { return f >= demand.share; });
}

std::vector<int32_t> NaiveTake(std::vector<int32_t> free, const GpuDemand& demand) {
  for (int64_t i = 0; i < demand.whole; ++i) *std::find(free.begin(), free.end(), 1000) = 0;
  if (demand.share > 0) {
    int32_t* best = nullptr;
    for (int32_t& f : free) {
      if (f >= demand.share && (best == nullptr || f < *best)) best = &f;
    }
    *best -= static_cast<int32_t>(demand.share);
  }
  return free;
}

double NaiveFragment(const std::vector<ExpectedPod>& kinds, const FreeNode& node) {
  double sum = 0;
  double fragment = 0;
  double total = 0;
  const std::vector<int32_t> free(node.gpus.free.begin(), node.gpus.free.end());
  for (const int32_t f : free) total += f;
  for (const ExpectedPod& kind : kinds) {
    sum += kind.weight;
    const bool fits = kind.milli_cpu <= node.milli_cpu && kind.memory <= node.memory &&
                      NaiveFits(free, kind.gpus);
    if (!kind.gpus.Any() || !fits) {
      fragment += kind.weight * total;
      continue;
    }
    for (const int32_t f : free) {
      const bool useful =
          (kind.gpus.whole > 0 && f == 1000) || (kind.gpus.share > 0 && f >= kind.gpus.share);
      if (!useful) fragment += kind.weight * f;
    }
  }
  return sum == 0 ? 0 : fragment / sum;
}

// --- Random values

GpuDemand SomeDemand(Random& random) {
  switch (random.Below(5)) {
    case 0:
      return {};
    case 1:
      return {static_cast<int64_t>(1 + random.Below(4)), 0};
    case 2:
      return {static_cast<int64_t>(random.Below(2)), static_cast<int64_t>(100 * random.Below(11))};
    default:
      return {0, static_cast<int64_t>(50 * (1 + random.Below(20)))};
  }
}

TEST(FreeGpus, TakesAsTheModelDoes) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int32_t> free(random.Below(9), 1000);
    FreeGpus gpus = Of(free);
    for (int i = 0; i < 20; ++i) {
      const GpuDemand demand = SomeDemand(random);
      const bool fits = NaiveFits(free, demand);
      ASSERT_EQ(gpus.Fits(demand), fits);
      if (!fits) continue;
      free = NaiveTake(free, demand);
      gpus.Take(demand);
      ASSERT_EQ(gpus.free, Of(free).free) << demand.whole << " and " << demand.share;
    }
  }
}

TEST(FreeGpus, WhatDoesNotFitTakesWhatThereIs) {
  FreeGpus gpus = Of({1000, 300});
  gpus.Take({3, 0});
  EXPECT_EQ(gpus.Total(), 0);
  gpus.Take({0, 500});
  EXPECT_EQ(gpus.Total(), 0);
  FreeGpus none;
  none.Take({1, 1});
  EXPECT_FALSE(none.Fits({0, 1}));
  EXPECT_TRUE(none.Fits({}));
}

TEST(ExpectedWorkload, FragmentsFollowTheDefinition) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    std::vector<ExpectedPod> kinds;
    for (uint64_t i = random.Below(30); i > 0; --i) {
      kinds.push_back({static_cast<int64_t>(random.Below(8)) * 1000,
                       static_cast<int64_t>(random.Below(8)), SomeDemand(random),
                       static_cast<double>(1 + random.Below(10))});
    }
    const ExpectedWorkload workload(kinds);
    for (int i = 0; i < 20; ++i) {
      std::vector<int32_t> free;
      for (uint64_t g = random.Below(9); g > 0; --g) {
        free.push_back(random.Below(2) == 0 ? 1000 : static_cast<int32_t>(random.Below(1000)));
      }
      const FreeNode node{static_cast<int64_t>(random.Below(9)) * 1000 - 500,
                          static_cast<int64_t>(random.Below(9)), Of(free)};
      const double fragment = workload.FragmentOf(node);
      ASSERT_NEAR(fragment, NaiveFragment(kinds, node), 1e-6);
      ASSERT_GE(fragment, 0);
      ASSERT_LE(fragment, static_cast<double>(node.gpus.Total()) + 1e-6);
    }
  }
}

TEST(ExpectedWorkload, WithoutKindsNothingIsAFragment) {
  EXPECT_EQ(ExpectedWorkload().FragmentOf({1000, 1000, Of({500, 1000})}), 0);
  EXPECT_TRUE(ExpectedWorkload({{1, 1, {1, 0}, 0}}).Empty()) << "a weight of 0";
}

TEST(ExpectedWorkload, AHalfGpuIsOfNoUseToPodsThatTakeWholeOnes) {
  const ExpectedWorkload workload({{1000, 0, {1, 0}, 3}, {1000, 0, {0, 500}, 1}});
  EXPECT_EQ(workload.FragmentOf({4000, 0, Of({500, 1000})}), 0.75 * 500);
  EXPECT_EQ(workload.FragmentOf({500, 0, Of({500, 1000})}), 1500) << "no CPU for any of them";
}

}  // namespace
}  // namespace berth::plugins
