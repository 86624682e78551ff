#include "bench/perf/churn.h"

#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace berth::bench {
namespace {

class Churner : public std::enable_shared_from_this<Churner> {
 public:
  Churner(PerfHost& host, ChurnPlan plan) : host_(host), plan_(std::move(plan)) {
    if (!plan_.recreates) return;
    made_.assign(plan_.templates.size(),
                 std::vector<scheduler::PodRef>(static_cast<size_t>(plan_.number)));
  }

  void Arm() {
    host_.Loop().After(plan_.interval, [self = shared_from_this()] {
      self->Tick();
      if (self->plan_.recreates || self->plan_.number == 0 || self->ticks_ < self->plan_.number) {
        self->Arm();
      }
    });
  }

 private:
  void Tick() {
    for (size_t i = 0; i < plan_.templates.size(); ++i) {
      if (!plan_.recreates) {
        Create(i);
        continue;
      }
      scheduler::PodRef& slot = made_[i][static_cast<size_t>(ticks_ % plan_.number)];
      if (slot.name.empty()) {
        slot = Create(i);
      } else {
        Delete(i, std::exchange(slot, {}));
      }
    }
    ++ticks_;
  }

  // An object whose name is taken is left alone, as in the suite.
  scheduler::PodRef Create(size_t i) {
    api::Object object = plan_.templates[i];
    api::ObjectMeta& metadata = *api::MetadataOf(object);
    if (!IsClusterScoped(object)) metadata.namespace_ = plan_.namespace_;
    const std::string namespace_ = metadata.namespace_;
    const auto name = host_.Create(std::move(object));
    return name ? scheduler::PodRef{namespace_, *name, ""} : scheduler::PodRef{};
  }

  void Delete(size_t i, const scheduler::PodRef& ref) {
    if (std::holds_alternative<api::Pod>(plan_.templates[i])) {
      host_.DeletePod(ref);
    } else {
      host_.Api().Delete(api::KindOf(plan_.templates[i]), ref.namespace_, ref.name);
    }
  }

  PerfHost& host_;
  ChurnPlan plan_;
  int64_t ticks_ = 0;
  std::vector<std::vector<scheduler::PodRef>> made_;  // per template, the slots to recreate
};

}  // namespace

void StartChurn(PerfHost& host, ChurnPlan plan) {
  std::make_shared<Churner>(host, std::move(plan))->Arm();
}

bool IsClusterScoped(const api::Object& object) {
  static const std::set<std::string_view> kinds = {
      "Node",      "Namespace",        "PersistentVolume", "StorageClass",  "CSINode",
      "CSIDriver", "VolumeAttachment", "PriorityClass",    "ResourceSlice", "DeviceClass"};
  return kinds.contains(api::KindOf(object));
}

}  // namespace berth::bench
