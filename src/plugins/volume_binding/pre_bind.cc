#include "plugins/volume_binding/pre_bind.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include <boost/unordered/unordered_flat_set.hpp>

#include "plugins/volume_binding/bind_progress.h"

namespace berth::plugins::volume_binding {
namespace {

using framework::ApiWrite;
using framework::PreBindStep;
using framework::Status;
using framework::WriteResult;
using Kind = PreBindStep::Kind;

PreBindStep Failed(std::string why) {
  return {.kind = Kind::kFail, .failure = Status::Error(std::move(why))};
}

class Task final : public framework::PreBindTask {
 public:
  Task(VolumeBinding& plugin, const ReservedVolumes& reserved, std::string pod_uid,
       std::string pod_name)
      : plugin_(plugin),
        volumes_(reserved),
        pod_uid_(std::move(pod_uid)),
        pod_name_(std::move(pod_name)) {
    DropRepeated();
  }

  PreBindStep Next(cluster::Cluster& cluster, const api::Time& now,
                   std::span<const WriteResult> results) override {
    if (asked_ > 0) {
      if (results.empty()) return Failed("the writes to the API were not carried out");
      for (const WriteResult& result : results.first(std::min(results.size(), asked_))) {
        if (result.code != WriteResult::Code::kOk) return Failed(result.message);
        Learn(result);
      }
      asked_ = 0;
    }
    if (written_ < Count()) return Write();
    return Wait(cluster, now);
  }

 private:
  size_t Count() const { return volumes_.bindings.size() + volumes_.provisions.size(); }

  // A claim that the pod uses twice was decided about twice. The second write would find the first.
  void DropRepeated() {
    boost::unordered_flat_set<std::string> seen;
    std::erase_if(volumes_.provisions, [&](const auto& claim) {
      return !seen.insert(claim->metadata.namespace_ + "/" + claim->metadata.name).second;
    });
  }

  PreBindStep Write() {
    PreBindStep step{.kind = Kind::kWrite};
    const size_t bindings = volumes_.bindings.size();
    for (size_t i = written_; i < Count(); ++i) {
      if (i < bindings) {
        step.writes.push_back({*volumes_.bindings[i].volume});
      } else {
        step.writes.push_back({*volumes_.provisions[i - bindings]});
      }
    }
    asked_ = step.writes.size();
    return step;
  }

  // The answer is kept to know which objects of the watch are older. What is assumed stays: the
  // watch will replace it.
  void Learn(const WriteResult& result) {
    const size_t i = written_++;
    if (!result.written) return;
    if (i < volumes_.bindings.size()) {
      if (const auto* volume = std::get_if<api::PersistentVolume>(&*result.written)) {
        volumes_.bindings[i].volume = std::make_shared<api::PersistentVolume>(*volume);
      }
    } else if (const auto* claim = std::get_if<api::PersistentVolumeClaim>(&*result.written)) {
      volumes_.provisions[i - volumes_.bindings.size()] =
          std::make_shared<api::PersistentVolumeClaim>(*claim);
    }
  }

  PreBindStep Wait(const cluster::Cluster& cluster, const api::Time& now) {
    const bool first = !waiting_since_;
    if (first) waiting_since_ = now;
    // While a pod is being bound, nothing that happens to it is taken up but its end.
    const cluster::PodId pod = cluster.FindPod(pod_uid_);
    const bool pod_exists = pod != cluster::kNoPod && !cluster.GetPod(pod).terminating;
    const BindProgress progress =
        CheckBindings(cluster, volumes_, pod_name_, pod_exists, plugin_.Rules());
    if (progress.step == BindProgress::Step::kDone) {
      plugin_.Release(pod_uid_);
      return {};
    }
    // kube-scheduler gives the watch a second before it believes that something went wrong.
    if (!first && progress.step == BindProgress::Step::kFailed) {
      return Failed("binding volumes: " + progress.error);
    }
    if (IsOver(now)) return Failed("binding volumes: context deadline exceeded");
    return {.kind = Kind::kWait};
  }

  bool IsOver(const api::Time& now) const {
    const int64_t seconds = now.seconds - waiting_since_->seconds;
    const int64_t timeout = plugin_.BindTimeoutSeconds();
    return seconds != timeout ? seconds > timeout : now.nanos >= waiting_since_->nanos;
  }

  VolumeBinding& plugin_;
  ReservedVolumes volumes_;  // with the API server's answers, as far as it was written
  const std::string pod_uid_;
  const std::string pod_name_;
  size_t written_ = 0;  // of the bindings and, after them, of the provisions
  size_t asked_ = 0;    // writes of the step before
  std::optional<api::Time> waiting_since_;
};

}  // namespace

std::unique_ptr<framework::PreBindTask> MakePreBindTask(VolumeBinding& plugin,
                                                        const ReservedVolumes& reserved,
                                                        std::string pod_uid, std::string pod_name) {
  return std::make_unique<Task>(plugin, reserved, std::move(pod_uid), std::move(pod_name));
}

}  // namespace berth::plugins::volume_binding
