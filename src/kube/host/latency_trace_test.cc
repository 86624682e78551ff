#include "kube/host/latency_trace.h"

#include <vector>

#include <gtest/gtest.h>

#include "kube/testing/fake_api_client.h"

namespace berth::kube {
namespace {

class LatencyTraceTest : public ::testing::Test {
 protected:
  LatencyTrace::Hops Only() const {
    EXPECT_EQ(reported_.size(), 1u);
    return reported_.empty() ? LatencyTrace::Hops() : reported_[0];
  }

  int64_t now_ = 0;  // every look at the clock is one later
  std::vector<LatencyTrace::Hops> reported_;
  LatencyTrace trace_{[this] { return ++now_; },
                      [this](const LatencyTrace::Hops& hops) { reported_.push_back(hops); }};
  const scheduler::PodRef pod_{.namespace_ = "ns", .name = "pod", .uid = "uid"};
};

TEST_F(LatencyTraceTest, ReportsEveryHopOnce) {
  trace_.Read();
  trace_.Decoded(pod_);
  trace_.Taken("uid");
  trace_.Decided("uid", 7);
  trace_.Written(7);
  EXPECT_TRUE(reported_.empty());
  trace_.Answered(7);
  trace_.Answered(7);
  const LatencyTrace::Hops hops = Only();
  EXPECT_EQ(hops.pod, "ns/pod");
  EXPECT_EQ(
      std::vector({hops.read, hops.decoded, hops.taken, hops.decided, hops.written, hops.answered}),
      (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST_F(LatencyTraceTest, ALaterEventAboutAPendingPodCounts) {
  trace_.Read();
  trace_.Decoded(pod_);
  trace_.Read();
  trace_.Decoded(pod_);
  trace_.Decided("uid", 7);
  trace_.Answered(7);
  EXPECT_EQ(Only().read, 3);
}

TEST_F(LatencyTraceTest, PodsAndEffectsItDoesNotKnowAreIgnored) {
  trace_.Taken("other");
  trace_.Decided("other", 1);
  trace_.Written(1);
  trace_.Answered(1);
  EXPECT_TRUE(reported_.empty());
}

class CountingSink final : public WatchSink {
 public:
  void OnStarted(std::string_view) override { ++started; }
  void OnFrame(std::string_view) override { ++frames; }
  void OnEnd(const ApiResponse&) override { ++ended; }

  int started = 0, frames = 0, ended = 0;
};

TEST_F(LatencyTraceTest, ATracedClientNotesWhenFramesAreRead) {
  FakeApiClient client;
  const auto traced = MakeTracedClient(client, trace_);
  CountingSink sink;
  traced->Watch({.path = "/api/v1/pods"}, &sink);
  client.Start(0);
  now_ = 100;
  client.SendFrame(0, "frame");
  trace_.Decoded(pod_);
  trace_.Decided("uid", 7);
  trace_.Answered(7);
  EXPECT_EQ(Only().read, 101);
  client.End(0);
  EXPECT_EQ(std::vector({sink.started, sink.frames, sink.ended}), std::vector({1, 1, 1}));

  const ApiClient::Id second = traced->Watch({.path = "/api/v1/pods"}, &sink);
  traced->Cancel(second);
  EXPECT_FALSE(client.At(1).Open());

  bool answered = false;
  traced->Send({}, [&](const ApiResponse&) { answered = true; });
  client.RespondNext(FakeApiClient::Success());
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace berth::kube
