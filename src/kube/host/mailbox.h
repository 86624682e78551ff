// Mailbox: what the loop's thread has for the engine's thread.
//
// Many may put in, one takes everything at once. Nothing is dropped: a list of all pods is one
// entry, and watches arrive no faster than they are decoded.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/object.h"
#include "scheduler/engine.h"

namespace berth::kube {

struct ReplacedObjects {
  std::string_view kind;
  std::vector<api::Object> objects;
  scheduler::ListPart part = scheduler::ListPart::kWhole;
  std::function<void()> taken = nullptr;  // of a part: for the loop to call
};
struct RemovedObject {
  std::unique_ptr<api::Object> object;
};
// As ObjectSink::StatusChanged tells it.
struct StatusOfPod {
  std::unique_ptr<api::Pod> pod;
};
// The load of nodes, by name.
struct LoadOfNodes {
  std::vector<std::pair<std::string, cluster::NodeMetrics>> nodes;
};
// Anything else to be done between two cycles.
using EngineTask = std::function<void(scheduler::Engine&)>;

// Objects and results are large: what is gathered is moved about, so that they are kept elsewhere.
using Input =
    std::variant<ReplacedObjects, std::unique_ptr<api::Object>, StatusOfPod, RemovedObject,
                 std::unique_ptr<scheduler::EffectResult>, LoadOfNodes, EngineTask>;

class Mailbox {
 public:
  using Clock = std::chrono::steady_clock;

  void Put(Input input) {
    {
      const std::lock_guard lock(mutex_);
      inputs_.push_back(std::move(input));
    }
    changed_.notify_one();
  }
  // All of them at once; leaves `inputs` empty.
  void PutAll(std::vector<Input>& inputs) {
    {
      const std::lock_guard lock(mutex_);
      if (inputs_.empty()) {
        inputs_.swap(inputs);
      } else {
        std::move(inputs.begin(), inputs.end(), std::back_inserter(inputs_));
      }
    }
    inputs.clear();
    changed_.notify_one();
  }
  // Take returns false from now on, once what is inside has been taken.
  void Close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_one();
  }
  // Replaces `inputs` with all there is. Waits for something until `deadline`; none: forever, the
  // earliest there is: not at all. False: closed and empty.
  bool Take(std::vector<Input>* inputs, std::optional<Clock::time_point> deadline) {
    inputs->clear();
    std::unique_lock lock(mutex_);
    const auto ready = [this] { return closed_ || !inputs_.empty(); };
    if (!deadline) {
      changed_.wait(lock, ready);
    } else if (*deadline != Clock::time_point::min()) {
      changed_.wait_until(lock, *deadline, ready);
    }
    inputs->swap(inputs_);
    return !closed_ || !inputs->empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Input> inputs_;
  bool closed_ = false;
};

}  // namespace berth::kube
