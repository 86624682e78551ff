// What tests of extenders share: the test is the extender, and reads what it is asked in words.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/engine.h"

namespace berth::scheduler {

inline config::Extender Named(const std::string& name) {
  config::Extender extender;
  extender.url_prefix = "http://" + name;
  extender.node_cache_capable = true;
  extender.weight = 1;
  return extender;
}

inline config::Extender Filter(const std::string& name) {
  config::Extender extender = Named(name);
  extender.filter_verb = "filter";
  return extender;
}

inline ExtenderAnswer Passes(std::vector<std::string> nodes) {
  ExtenderAnswer answer;
  answer.nodes = std::move(nodes);
  return answer;
}

class ExtendersTest : public ::testing::Test {
 protected:
  // An effect other than a call of an extender. What a test does not look at is "other".
  virtual std::string EffectWords(const EffectAction& action) const = 0;

  // What the engine does until it waits, in words.
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
  std::string Words(const EffectAction& action) const {
    const auto* call = std::get_if<CallExtender>(&action);
    if (call == nullptr) return EffectWords(action);
    static constexpr std::string_view kVerbs[] = {"filter", "prioritize", "preempt", "bind"};
    std::string text = fmt::format(
        "{} {} {} [{}]", engine_->Extenders()[call->extender].url_prefix.substr(7),
        kVerbs[static_cast<size_t>(call->verb)], call->pod.name, fmt::join(call->nodes, " "));
    for (const auto& [node, victims] : call->victims) {
      text += " " + node + ":";
      for (const PodRef& pod : victims.pods) text += pod.uid + ",";
      text += std::to_string(victims.pdb_violations);
    }
    return text;
  }
  // Answers the latest effect whose words begin with `prefix`.
  void Answer(std::string_view prefix, EffectResult result) {
    for (size_t i = sent_.size(); i-- > 0;) {
      if (!Words(sent_[i].action).starts_with(prefix)) continue;
      result.id = sent_[i].id;
      engine_->Complete(std::move(result));
      return;
    }
    FAIL() << "no effect " << prefix;
  }
  void Say(std::string_view prefix, ExtenderAnswer answer) {
    EffectResult result;
    result.extender = std::make_shared<const ExtenderAnswer>(std::move(answer));
    Answer(prefix, std::move(result));
  }
  void Error(std::string_view prefix, const std::string& message,
             EffectResult::Code code = EffectResult::Code::kError) {
    EffectResult result;
    result.code = code;
    result.message = message;
    Answer(prefix, std::move(result));
  }

  int64_t now_ = 1'700'000'000'000'000'000;
  int64_t version_ = 0;
  std::unique_ptr<Engine> engine_;
  std::vector<Effect> sent_;
};

}  // namespace berth::scheduler
