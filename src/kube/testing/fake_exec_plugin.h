// FakePlugin: a credential plugin that a test answers by hand.
#pragma once

#include <utility>

#include "kube/auth/process_runner.h"

namespace berth::kube {

class FakePlugin final : public ProcessRunner {
 public:
  struct State {
    int runs = 0;
    Callback done;  // of the last run
  };
  // `state` outlives the plugin.
  explicit FakePlugin(State& state) : state_(state) {}
  void Run(ProcessSpec, Callback done) override {
    ++state_.runs;
    state_.done = std::move(done);
  }

 private:
  State& state_;
};

}  // namespace berth::kube
