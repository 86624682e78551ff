// Observer callbacks about devices: claims that are created, and waiting for binding conditions.
#include <span>

#include <fmt/format.h>

#include "framework/points/device_claims.h"
#include "scheduler/testing/engine.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using framework::PreBindStep;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kName = "Creator";

// Creates a claim, then waits a second for the conditions of its device.
class CreatorTask final : public framework::PodPreBindTask {
 public:
  PreBindStep Next(cluster::Cluster&, const api::Time&,
                   std::span<const framework::WriteResult> results) override {
    if (waits_) {
      wait_ = framework::DeviceWait{"success", kSecond, {{"gpu", true}}};
      waits_ = false;
      return {};
    }
    if (results.empty()) {
      return {.kind = PreBindStep::Kind::kWrite,
              .writes = {{api::ResourceClaim(), framework::ApiWrite::Verb::kCreate}}};
    }
    if (results.front().code != framework::WriteResult::Code::kOk) {
      return {.kind = PreBindStep::Kind::kFail, .failure = framework::Status::Error("refused")};
    }
    waits_ = true;
    return {.kind = PreBindStep::Kind::kWait};
  }
  std::vector<framework::ApiWrite> Undo(cluster::Cluster&) override {
    if (waits_) wait_ = framework::DeviceWait{"error", 0, {{"gpu", true}}};
    return {};
  }

 private:
  bool waits_ = false;
};

class Creator final : public framework::PreBindPlugin {
 public:
  std::string_view Name() const override { return kName; }
  std::unique_ptr<framework::PreBindTask> PreparePreBind(const framework::CycleContext&,
                                                         framework::PluginState*,
                                                         framework::NodeIndex) override {
    return std::make_unique<CreatorTask>();
  }
};

class DeviceObserver final : public EngineObserver {
 public:
  void ClaimCreated(bool created) override {
    calls.emplace_back(created ? "created" : "not created");
  }
  void DevicesAwaited(std::string_view profile, const framework::DeviceWait& wait) override {
    calls.push_back(fmt::format("{}: {} after {} s, {}", profile, wait.result,
                                wait.waited_ns / kSecond, wait.devices[0].driver));
  }
  std::vector<std::string> calls;
};

class BindingsDevicesTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.check_inputs = true;
    options.extra_plugins = {{{kName,
                               [](const config::PluginArgs&, const framework::PluginHandle&)
                                   -> Result<std::unique_ptr<framework::Plugin>> {
                                 return std::make_unique<Creator>();
                               }},
                              {config::ExtensionPoint::kPreBind}}};
    engine_ = std::move(*Engine::Make(config::Default(), options, Now(), nullptr, &observer_));
    PutNode(MakeNode("a").Cpu("1"));
    PutPod(Small("p"));
    EXPECT_THAT(Run(), ElementsAre("write"));
    EXPECT_THAT(observer_.calls, IsEmpty());
  }

  DeviceObserver observer_;
};

TEST_F(BindingsDevicesTest, AClaimThatIsCreatedAndItsConditionsAreReported) {
  Answer("write");
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_THAT(observer_.calls, ElementsAre("created"));
  Sleep(1);
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
  EXPECT_THAT(observer_.calls, ElementsAre("created", "default-scheduler: success after 1 s, gpu"));
}

TEST_F(BindingsDevicesTest, AClaimThatIsRefusedIsReported) {
  Answer("write", EffectResult::Code::kError);
  Run();
  EXPECT_THAT(observer_.calls, ElementsAre("not created"));
}

TEST_F(BindingsDevicesTest, WaitingThatIsCutShortIsReported) {
  Answer("write");
  Run();
  api::Pod pod = Small("p");
  pod.metadata.resource_version = std::to_string(++version_);
  engine_->Delete(pod);
  Run();
  Sleep(1);
  Run();
  ASSERT_EQ(observer_.calls.size(), 2u);
  EXPECT_EQ(observer_.calls[0], "created");
}

}  // namespace
}  // namespace berth::scheduler
