// What tests of the engine as a whole share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "scheduler/engine.h"

namespace berth::scheduler {

inline constexpr int64_t kSecond = 1'000'000'000;
inline constexpr int64_t kStart = 1'700'000'000 * kSecond;

// An engine with a clock, an API server's memory of versions, and words for effects.
class EngineTest : public ::testing::Test {
 protected:
  void Make(EngineOptions options = {}) {
    options.check_inputs = true;
    auto engine = Engine::Make(config::Default(), options, Now());
    ASSERT_TRUE(engine.has_value()) << engine.error().Message();
    engine_ = std::move(*engine);
  }
  void SetUp() override { Make(); }

  api::Time Now() const { return api::Time::FromUnixNano(now_); }
  void Sleep(double seconds) {
    now_ += static_cast<int64_t>(seconds * kSecond);
    engine_->AdvanceTo(Now());
  }
  template <class T>
  void Put(T object) {
    object.metadata.resource_version = std::to_string(++version_);
    engine_->Upsert(std::move(object));
  }
  void PutPod(const api::Pod& pod) { Put(pod); }
  // As a host tells it that knows nothing else to have changed.
  void PutStatus(api::Pod pod) {
    pod.metadata.resource_version = std::to_string(++version_);
    const std::string node = pod.spec.node_name;
    pod.spec = {};
    pod.spec.node_name = node;
    engine_->UpdateStatus(std::move(pod));
  }
  void PutNode(const api::Node& node) { Put(node); }

  // All effects since the last call, in words; they are remembered for Answer.
  std::vector<std::string> Run() {
    while (engine_->Step()) {
    }
    std::vector<std::string> words;
    for (Effect& effect : engine_->TakeEffects()) {
      words.push_back(Words(effect.action));
      sent_.push_back(std::move(effect));
    }
    EXPECT_THAT(engine_->Invariants(), ::testing::IsEmpty());
    return words;
  }
  static std::string Words(const EffectAction& action) {
    struct Visitor {
      std::string operator()(const BindPod& e) { return "bind " + e.pod.name + " to " + e.node; }
      std::string operator()(const PatchPodStatus& e) {
        std::string text = "patch " + e.pod.name;
        if (e.condition) {
          text += " " + e.condition->type + "=" + e.condition->status + "/" + e.condition->reason;
        }
        if (e.nominated_node_name) text += " nominated=" + *e.nominated_node_name;
        return text;
      }
      std::string operator()(const PatchPodGroupStatus& e) {
        return "patch group " + e.group.name + " " + e.condition.type + "=" + e.condition.status +
               "/" + e.condition.reason + ": " + e.condition.message;
      }
      std::string operator()(const DeletePod& e) { return "delete " + e.pod.name; }
      std::string operator()(const ReadPod& e) { return "read " + e.pod.name; }
      std::string operator()(const WriteObject&) { return "write"; }
      std::string operator()(const CallExtender& e) { return "ask about " + e.pod.name; }
      std::string operator()(const RecordEvent& e) {
        return "event " + e.regarding.name + " " + e.reason + ": " + e.note;
      }
    };
    return std::visit(Visitor(), action);
  }
  // Reports on the latest effect whose words begin with `prefix`.
  void Answer(std::string_view prefix, EffectResult::Code code = EffectResult::Code::kOk,
              std::optional<api::Pod> pod = std::nullopt) {
    for (size_t i = sent_.size(); i-- > 0;) {
      if (!Words(sent_[i].action).starts_with(prefix)) continue;
      EffectResult result;
      result.id = sent_[i].id;
      result.code = code;
      result.message = "the server said no";
      result.pod = std::move(pod);
      engine_->Complete(std::move(result));
      return;
    }
    FAIL() << "no effect " << prefix;
  }

  int64_t now_ = kStart;
  int64_t version_ = 0;
  std::unique_ptr<Engine> engine_;
  std::vector<Effect> sent_;
};

inline cluster::MakePod Small(const std::string& name) {
  return cluster::MakePod(name).Requests("cpu", "1");
}

}  // namespace berth::scheduler
