#include "server/explain/explain_events.h"

#include <condition_variable>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::server {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using explain::Rejection;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;

TEST(ExplainNote, NamesPluginsReasonsAndWhatWouldHelp) {
  EXPECT_EQ(ExplainNote(5,
                        {{"NodeResourcesFit", "Insufficient cpu", "Unschedulable", 3, {}},
                         {"", "odd.", "Unschedulable", 0, {}}},
                        "fits on 2 nodes if its cpu request ≤ 1"),
            "0/5 nodes fit. NodeResourcesFit: 3 Insufficient cpu. odd. Would help: fits on 2 nodes "
            "if its cpu request ≤ 1.");
  EXPECT_EQ(ExplainNote(0, {}, ""), "0/0 nodes fit.");
}

TEST(ExplainNote, NeverLongerThanTheServerTakes) {
  const std::vector<Rejection> many(400, {"NodeAffinity", "didn't match", "Unschedulable", 1, {}});
  std::string note = ExplainNote(400, many, "fits on 1 node if …");
  EXPECT_THAT(note, SizeIs(Le(kMaxNote)));
  EXPECT_THAT(note, HasSubstr(" more reasons. Would help: fits on 1 node if …."));
  // One reason, and a suggestion, longer than all of the note; no letter is cut in half.
  std::string umlauts;
  for (int i = 0; i < 3000; ++i) umlauts += "ä";
  note = ExplainNote(1, {{"Mine", umlauts, "Unschedulable", 1, {}}}, umlauts);
  EXPECT_THAT(note, SizeIs(Le(kMaxNote)));
  EXPECT_THAT(note, HasSubstr("Mine: 1 ä"));
  EXPECT_THAT(note, EndsWith("ä."));
}

// Events about an engine that is asked at once.
class ExplainEventsTest : public testing::Test {
 protected:
  ExplainEventsTest() {
    engine_ =
        std::move(*scheduler::Engine::Make(config::Default(), {}, api::Time::FromUnixNano(1)));
    PutNode(MakeNode("a").Cpu("2"));
  }
  ~ExplainEventsTest() override { events_.reset(); }

  void Start() {
    events_ = std::make_unique<ExplainEvents>(
        ExplainEventsOptions{.on_engine =
                                 [this](auto task) {
                                   const std::lock_guard lock(mutex_);
                                   task(*engine_);
                                   ++looks_;
                                   changed_.notify_all();
                                 },
                             .ready = [] { return true; },
                             .config = [] { return config::Default(); },
                             .record =
                                 [this](const scheduler::RecordEvent& event) {
                                   const std::lock_guard lock(mutex_);
                                   told_.push_back(event);
                                 },
                             .period = std::chrono::milliseconds(1)});
  }
  void PutNode(api::Node node) {
    node.metadata.resource_version = std::to_string(++version_);
    engine_->Upsert(std::move(node));
  }
  void PutPod(api::Pod pod) {
    pod.metadata.resource_version = std::to_string(++version_);
    engine_->Upsert(std::move(pod));
  }
  void Run() {
    while (engine_->Step()) {
    }
  }
  // What was told once nothing more comes of what there is.
  std::vector<scheduler::RecordEvent> Told() {
    std::unique_lock lock(mutex_);
    for (int more = 3; more > 0; --more) {  // a look, what it tells, and one that finds nothing
      const int before = looks_;
      changed_.wait(lock, [&] { return looks_ > before; });
    }
    return told_;
  }

  int64_t version_ = 0;
  std::unique_ptr<scheduler::Engine> engine_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int looks_ = 0;
  std::vector<scheduler::RecordEvent> told_;
  std::unique_ptr<ExplainEvents> events_;
};

TEST_F(ExplainEventsTest, APodThatWaitsIsToldAboutOnceUntilSomethingElseIsTrue) {
  PutPod(MakePod("small").Requests("cpu", "1"));
  PutPod(MakePod("huge").Requests("cpu", "8"));
  Run();
  Start();
  auto told = Told();
  ASSERT_THAT(told, SizeIs(1)) << "about the one that waits";
  EXPECT_EQ(told[0].regarding.name, "huge");
  EXPECT_EQ(told[0].reason, "SchedulingExplained");
  EXPECT_EQ(told[0].reporting_controller, "default-scheduler");
  EXPECT_THAT(told[0].note, HasSubstr("0/1 nodes fit. NodeResourcesFit: 1 Insufficient cpu."));
  EXPECT_THAT(told[0].note, HasSubstr("Would help: "));
  EXPECT_THAT(told[0].note, HasSubstr("cpu request ≤ 1"));
  {
    const std::lock_guard lock(mutex_);
    PutNode(MakeNode("b").Cpu("10").Cordoned());
    engine_->AdvanceTo(api::Time::FromUnixNano(600'000'000'000));
    Run();  // tried again, and there are two nodes now
  }
  told = Told();
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_THAT(told[1].note, HasSubstr("0/2 nodes fit."));
  {
    const std::lock_guard lock(mutex_);
    engine_->AdvanceTo(api::Time::FromUnixNano(1'200'000'000'000));
    Run();  // the same again
  }
  EXPECT_THAT(Told(), SizeIs(2));
}

TEST_F(ExplainEventsTest, ManyPodsGetTheirTurnOneLookAfterTheOther) {
  constexpr size_t kPods = 3 * ExplainEvents::kPodsPerLook + 1;
  for (size_t i = 0; i < kPods; ++i) {
    PutPod(MakePod("p" + std::to_string(i)).Requests("cpu", "8"));
  }
  Run();
  Start();
  Told();
  EXPECT_THAT(Told(), SizeIs(kPods));
}

}  // namespace
}  // namespace berth::server
