#include "base/function_ref.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace berth {
namespace {

int CallTwice(FunctionRef<int(int)> f, int x) { return f(f(x)); }

TEST(FunctionRef, CallsWhatItWasMadeFrom) {
  EXPECT_EQ(CallTwice([](int x) { return 3 * x; }, 2), 18);
}

TEST(FunctionRef, ChangesTheStateOfTheOriginalNotOfACopy) {
  int calls = 0;
  auto counter = [calls, &total = calls](int x) mutable {
    total = ++calls + 10;
    return x;
  };
  CallTwice(counter, 1);
  EXPECT_EQ(calls, 12) << "the lambda's own count went on from call to call";
}

TEST(FunctionRef, ConstCallablesAndCopiesOfTheReference) {
  const auto add = [](int a, const std::string& b) { return a + static_cast<int>(b.size()); };
  const FunctionRef<int(int, const std::string&)> f = add;
  const FunctionRef<int(int, const std::string&)> copy = f;
  EXPECT_EQ(copy(1, "four"), 5);
}

TEST(FunctionRef, PassesMoveOnlyArgumentsAndReferences) {
  auto take = [](std::unique_ptr<int> p, int& out) { out = *p; };
  const FunctionRef<void(std::unique_ptr<int>, int&)> f = take;
  int out = 0;
  f(std::make_unique<int>(42), out);
  EXPECT_EQ(out, 42);
}

}  // namespace
}  // namespace berth
