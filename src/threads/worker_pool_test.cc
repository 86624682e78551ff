#include "threads/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace berth::threads {
namespace {

TEST(WorkerPool, RunsEveryPartOnceCallAfterCall) {
  for (const size_t width : {size_t{1}, size_t{2}, size_t{5}}) {
    WorkerPool pool(width);
    EXPECT_EQ(pool.Width(), width);
    for (size_t call = 0; call < 2000; ++call) {
      const size_t count = call % 40;
      std::vector<std::atomic<int>> runs(count);
      pool.Run(count, [&](size_t i) { runs.at(i).fetch_add(1); });
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(runs[i].load(), 1) << "width " << width << ", call " << call << ", part " << i;
      }
    }
  }
}

TEST(WorkerPool, WhatPartsWroteIsSeenByTheCaller) {
  WorkerPool pool(4);
  std::vector<size_t> squares(1000);
  for (int call = 0; call < 50; ++call) {
    std::fill(squares.begin(), squares.end(), 0);
    pool.Run(squares.size(), [&](size_t i) { squares[i] = i * i; });
    for (size_t i = 0; i < squares.size(); ++i) ASSERT_EQ(squares[i], i * i);
  }
}

TEST(WorkerPool, EndsWithoutEverHavingRun) {
  for (int i = 0; i < 20; ++i) WorkerPool pool(4);
}

}  // namespace
}  // namespace berth::threads
