#include "server/metrics/registry.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::server {
namespace {

TEST(Registry, FamiliesAreSortedByNameAndLabelsByTheirs) {
  Registry registry;
  registry.AddGauge({"b_gauge", "Second."}).Only()->Set(1.5);
  CounterFamily& counter =
      registry.AddCounter({"a_total", "First.", Stability::kStable, {"result", "profile"}});
  counter.With({"scheduled", "z"})->Add(2);
  counter.With({"error", "a"})->Add();
  EXPECT_EQ(registry.WriteText(),
            "# HELP a_total [STABLE] First.\n"
            "# TYPE a_total counter\n"
            "a_total{profile=\"a\",result=\"error\"} 1\n"
            "a_total{profile=\"z\",result=\"scheduled\"} 2\n"
            "# HELP b_gauge Second.\n"
            "# TYPE b_gauge gauge\n"
            "b_gauge 1.5\n");
}

TEST(Registry, AFamilyWithLabelsAndNoSeriesIsNotPrinted) {
  Registry registry;
  registry.AddCounter({"a_total", "", Stability::kAlpha, {"x"}});
  EXPECT_EQ(registry.WriteText(), "");
}

TEST(Registry, HistogramsAreCumulativeAndEndWithInf) {
  Registry registry;
  HistogramFamily& family = registry.AddHistogram(
      {"h_seconds", "Time.", Stability::kAlpha, {"event"}}, ExponentialBuckets(0.001, 2, 3));
  Histogram* h = family.With({"NodeAdd"});
  h->Observe(0.001);  // a bound belongs to its bucket
  h->OwnObserve(0.003);
  h->OwnObserve(7, 3);
  EXPECT_EQ(registry.WriteText(),
            "# HELP h_seconds [ALPHA] Time.\n"
            "# TYPE h_seconds histogram\n"
            "h_seconds_bucket{event=\"NodeAdd\",le=\"0.001\"} 1\n"
            "h_seconds_bucket{event=\"NodeAdd\",le=\"0.002\"} 1\n"
            "h_seconds_bucket{event=\"NodeAdd\",le=\"0.004\"} 2\n"
            "h_seconds_bucket{event=\"NodeAdd\",le=\"+Inf\"} 5\n"
            "h_seconds_sum{event=\"NodeAdd\"} 21.004\n"
            "h_seconds_count{event=\"NodeAdd\"} 5\n");
}

TEST(Registry, AnOwnHistogramFindsTheBucketOfEveryValue) {
  const std::vector<double> bounds = ExponentialBuckets(1, 2, 5);
  Histogram own(bounds);
  Histogram shared(bounds);
  for (const double value : {1.0, 1.0, 16.0, 16.5, 99.0, 16.5, 2.0, 2.5, 0.0, -1.0, 99.0, 1.0}) {
    own.OwnObserve(value);
    shared.Observe(value);
  }
  for (size_t i = 0; i <= bounds.size(); ++i) EXPECT_EQ(own.InBucket(i), shared.InBucket(i)) << i;
  EXPECT_EQ(own.Sum(), shared.Sum());
}

TEST(Registry, BoundsReadAsKubeSchedulerPrintsThem) {
  std::string text;
  for (const double bound : ExponentialBuckets(0.00001, 1.5, 20)) {
    AppendSample(text, "b", "", "", bound);
  }
  EXPECT_TRUE(text.starts_with("b 1e-05\nb 1.5000000000000002e-05\nb 2.2500000000000005e-05\n"))
      << text;
  EXPECT_TRUE(text.ends_with("b 0.014778918800354007\nb 0.02216837820053101\n")) << text;
}

TEST(Registry, ValuesAreGosShortestFloats) {
  const struct {
    double value;
    const char* text;
  } kRows[] = {{0, "0"},
               {262144, "262144"},
               {1048576, "1.048576e+06"},
               {6.7108864e+07, "6.7108864e+07"},
               {0.1, "0.1"},
               {1794772678.37, "1.79477267837e+09"},
               {std::numeric_limits<double>::infinity(), "+Inf"}};
  for (const auto& row : kRows) {
    std::string out;
    AppendSample(out, "m", "", "", row.value);
    EXPECT_EQ(out, std::string("m ") + row.text + "\n");
  }
}

TEST(Registry, LabelValuesAndHelpAreEscaped) {
  Registry registry;
  registry.AddGauge({"g", "a\\b\nc \"d\"", Stability::kNone, {"l"}})
      .With({"quote \" back \\ line \n"})
      ->Set(-1);
  EXPECT_EQ(registry.WriteText(),
            "# HELP g a\\\\b\\nc \"d\"\n# TYPE g gauge\n"
            "g{l=\"quote \\\" back \\\\ line \\n\"} -1\n");
}

TEST(Registry, DisabledMetricsAreNotPrinted) {
  RegistryOptions options;
  options.disabled.insert("a_total");
  Registry registry(options);
  registry.AddCounter({"a_total", ""}).Only()->Add();
  EXPECT_EQ(registry.WriteText(), "");
}

TEST(Registry, LabelValuesThatAreNotAllowedBecomeUnexpected) {
  RegistryOptions options;
  options.allowed_labels["a_total,queue"] = {"active", "backoff"};
  Registry registry(options);
  CounterFamily& family = registry.AddCounter({"a_total", "", Stability::kNone, {"queue"}});
  family.With({"active"})->Add();
  family.With({"gated"})->Add();
  EXPECT_NE(registry.WriteText().find("a_total{queue=\"unexpected\"} 1\n"), std::string::npos);
}

TEST(Registry, ResetSetsSeriesWithLabelsToZeroAndLeavesTheRest) {
  Registry registry;
  Counter* labelled = registry.AddCounter({"a_total", "", Stability::kNone, {"l"}}).With({"x"});
  Counter* plain = registry.AddCounter({"b_total", ""}).Only();
  Gauge* gauge = registry.AddGauge({"c", "", Stability::kNone, {"l"}}).With({"x"});
  labelled->Add(3);
  plain->Add(3);
  gauge->Set(3);
  registry.Reset();
  EXPECT_EQ(labelled->Value(), 0);
  EXPECT_EQ(plain->Value(), 3);
  EXPECT_EQ(gauge->Value(), 3);
}

TEST(Registry, CollectorsRunBeforeTheTextIsWritten) {
  Registry registry;
  Gauge* gauge = registry.AddGauge({"g", "G."}).Only();
  registry.OnCollect([gauge] { gauge->Set(7); });
  EXPECT_NE(registry.WriteText().find("g 7\n"), std::string::npos);
}

}  // namespace
}  // namespace berth::server
