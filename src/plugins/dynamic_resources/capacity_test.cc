#include "plugins/dynamic_resources/capacity.h"

#include <gtest/gtest.h>

namespace berth::plugins::dynamic_resources {
namespace {

using api::Quantity;

const config::DraFeatures kBefore137 = {.consumable_capacity = true};
const config::DraFeatures kWholeNumbers = {.consumable_capacity = true,
                                           .capacity_errors_fail = true};
const config::DraFeatures kThousandths = {
    .consumable_capacity = true, .fractional_range = true, .capacity_errors_fail = true};

struct Case {
  const char* min;
  const char* step;
  const char* asked;
};

// What a device of 8Ei gives for it, or why nothing; "" for a misfit.
std::string Answer(const Case& row, const config::DraFeatures& features, const char* max = "1Pi") {
  const auto amount = [](const char* text) { return *Quantity::Parse(text); };
  api::Device device;
  api::DeviceCapacity& capacity = device.capacity["memory"];
  capacity.value = amount("8Ei");
  capacity.request_policy.emplace();
  capacity.request_policy->valid_range.emplace();
  auto& range = *capacity.request_policy->valid_range;
  range.min = amount(row.min);
  range.max = amount(max);
  range.step = amount(row.step);
  api::CapacityRequirements request;
  request.requests.emplace("memory", amount(row.asked));
  std::string error;
  if (!HasCapacityFor(device, &request, nullptr, nullptr, features, &error)) return error;
  return ConsumedCapacity(device, &request, features).at("memory").String();
}

TEST(CapacityTest, AmountsAreRoundedUpToTheNextStep) {
  EXPECT_EQ(Answer({"1Gi", "2Gi", "4Gi"}, kBefore137), "5Gi");
  EXPECT_EQ(Answer({"1Gi", "2Gi", "4Gi"}, kThousandths), "5Gi");
  EXPECT_EQ(Answer({"1Gi", "2Gi", "5Gi"}, kThousandths), "5Gi");
  EXPECT_EQ(Answer({"1Gi", "2Gi", "1"}, kThousandths), "1Gi");
  EXPECT_EQ(Answer({"1", "1", "1048575"}, kBefore137), "1048575");
  EXPECT_EQ(Answer({"1G", "1G", "1500M"}, kWholeNumbers), "2G") << "in the format of the step";
}

TEST(CapacityTest, FractionsCountFrom137On) {
  const Case row = {"100m", "250m", "400m"};
  EXPECT_EQ(Answer(row, kThousandths), "600m");
  EXPECT_EQ(Answer(row, kWholeNumbers), "1") << "the gate is off: parts are whole numbers";
  EXPECT_EQ(Answer(row, kBefore137), "1");
  EXPECT_EQ(Answer({"500m", "500m", "1200m"}, kThousandths), "1500m");
  EXPECT_EQ(Answer({"500m", "500m", "1700m"}, kThousandths), "2") << "whole again";
}

TEST(CapacityTest, AmountsThatCannotBeRoundedAreErrorsFrom137On) {
  const std::string cannot =
      "capacity \"memory\": capacity request cannot be represented in the device's range "
      "arithmetic: ";
  EXPECT_EQ(Answer({"1", "1", "100u"}, kThousandths), "1") << "less than the minimum";
  EXPECT_EQ(Answer({"1", "1", "1000100u"}, kThousandths),
            cannot + "request 1000100u is not a representable milli value");
  EXPECT_EQ(Answer({"1", "1", "1000100u"}, kWholeNumbers), "2");
  EXPECT_EQ(
      Answer({"0", "9223372036854775", "9223372036854775001m"}, kThousandths, "9223372036854775"),
      cannot +
          "rounding request 9223372036854775001m up to the next step passes the "
          "milli-value range");
  EXPECT_EQ(Answer({"1", "1Ei", "8100P"}, kWholeNumbers, "8Ei"),
            cannot + "rounding request 8100P up to the next step passes MaxInt64");
  EXPECT_EQ(Answer({"1", "1", "10E"}, kWholeNumbers, "20E"),
            cannot + "request 10E exceeds MaxInt64");
}

TEST(CapacityTest, NegativeAmountsAreErrorsFrom137On) {
  api::Device device;
  device.capacity["a"].value = *Quantity::Parse("1");
  device.capacity["b"].value = *Quantity::Parse("1");
  api::CapacityRequirements request;
  request.requests.emplace("a", *Quantity::Parse("2"));
  request.requests.emplace("b", *Quantity::Parse("-1"));
  std::string error;
  EXPECT_FALSE(HasCapacityFor(device, &request, nullptr, nullptr, kBefore137, &error));
  EXPECT_EQ(error, "") << "a asks for too much, which is no error";
  EXPECT_FALSE(HasCapacityFor(device, &request, nullptr, nullptr, kThousandths, &error));
  EXPECT_EQ(error, "capacity \"b\": capacity value is negative");
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
