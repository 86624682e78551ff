// TaintSink: stands before another sink and puts the taints of DeviceTaintRules on the devices of
// resource slices. The rules themselves go no further; only that they have been listed does.
#pragma once

#include <utility>

#include "kube/watch/object_sink.h"
#include "plugins/dynamic_resources/taint_rules.h"

namespace berth::kube {

class TaintSink final : public ObjectSink {
 public:
  // `next` outlives the sink.
  explicit TaintSink(ObjectSink& next) : next_(next) {}

  void Replaced(std::string_view kind, std::vector<api::Object> objects) override;
  void Listed(std::string_view kind, std::vector<api::Object> objects, scheduler::ListPart part,
              Taken taken) override;
  bool TakesParts(std::string_view kind) const override;
  void Changed(api::Object&& object) override;
  void StatusChanged(api::Pod&& pod) override { next_.StatusChanged(std::move(pod)); }
  void Removed(api::Object&& object) override;
  void Reconnected() override { next_.Reconnected(); }

 private:
  using Rules = plugins::dynamic_resources::TaintRules;

  void ReplaceSlices(std::vector<api::Object> objects);
  void ReplaceRules(std::vector<api::Object> objects);
  void ReplaceClasses(std::vector<api::Object> objects);
  void Tell(Rules::Slices slices);

  ObjectSink& next_;
  Rules rules_;
};

}  // namespace berth::kube
