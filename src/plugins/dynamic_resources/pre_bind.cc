#include "plugins/dynamic_resources/pre_bind.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "api/go/go_text.h"
#include "cluster/objects/object_store.h"
#include "framework/points/device_claims.h"
#include "plugins/common/resource_version.h"
#include "plugins/dynamic_resources/binding_conditions.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/extended_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace berth::plugins::dynamic_resources {
namespace {

using framework::ApiWrite;
using framework::PreBindStep;
using framework::Status;
using framework::WriteResult;
using Kind = PreBindStep::Kind;

// A write that conflicts this many times fails.
constexpr int kMaxConflicts = 5;
// How often to look whether the store has the version that a write conflicted with.
constexpr int kMaxWaits = 10;
// How often to look whether the store has a claim that was created.
constexpr int kMaxWaitsForStore = 120;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kLookAtClockNs = 5 * kSecond;

// By release.
using ByRelease = std::array<bool, 4>;
bool In(const ByRelease& releases, const BindingRules& rules) {
  return releases.at(static_cast<size_t>(rules.release));
}
// The error of a claim that could not be created has the namespace, where the name would follow.
constexpr ByRelease kNamesNamespace{false, true, true, true};
// A claim that has lost its allocation is not written when its devices may have conditions.
constexpr ByRelease kChecksDeallocation{false, false, true, true};

std::string KeyOf(const api::ResourceClaim& claim) {
  return claim.metadata.namespace_ + "/" + claim.metadata.name;
}

bool HasFinalizer(const api::ResourceClaim& claim) {
  const auto& finalizers = claim.metadata.finalizers;
  return std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
}

// A claim that only we know of.
bool IsUnborn(const ClaimToBind& own) {
  return own.create && own.claim.metadata.name == kExtendedClaimName;
}

// The same claim in the store; null when it is gone, or another one has its name.
const api::ResourceClaim* FindStored(const cluster::Cluster& cluster,
                                     const api::ResourceClaim& claim) {
  const api::ObjectMeta& meta = claim.metadata;
  const auto* stored = cluster.Objects().resource_claims.Find(meta.namespace_, meta.name);
  return stored != nullptr && stored->metadata.uid == meta.uid ? stored : nullptr;
}

// Can a write of `known` be tried again with `stored`?
bool IsOtherVersion(const api::ResourceClaim& stored, const api::ResourceClaim& known) {
  const std::string& a = stored.metadata.resource_version;
  const std::string& b = known.metadata.resource_version;
  return ParseVersion(a) && ParseVersion(b) ? IsNewerVersion(stored, known) : a != b;
}

// Three fields more than twenty: the pod's claims, the write in flight, and the wait for
// conditions.
class Task final : public framework::PodPreBindTask {
 public:
  Task(cluster::Cluster& cluster, std::vector<ClaimToBind> claims, PodToBind pod)
      : cluster_(cluster),
        claims_(std::move(claims)),
        pod_uid_(std::move(pod.uid)),
        pod_name_(std::move(pod.name)),
        node_to_wait_for_(std::move(pod.node_to_wait_for)),
        rules_(pod.rules) {}
  ~Task() override { ReleaseAll(); }

  PreBindStep Next(cluster::Cluster& cluster, const api::Time& now,
                   std::span<const WriteResult> results) override {
    now_ = now;
    if (patching_ || sent_) {
      if (results.empty()) return Failed("the write to the API was not carried out");
      const bool learnt = std::exchange(patching_, false) ? LearnPatched(results.front())
                                                          : Learn(cluster, results.front());
      if (!learnt) return Failed(std::move(error_));
    }
    while (at_ < claims_.size()) {
      if (std::optional<PreBindStep> step = Advance(cluster)) return std::move(*step);
      FinishClaim();
    }
    return node_to_wait_for_.empty() ? PreBindStep{} : AwaitConditions(cluster);
  }

  // Also claims that were reserved for the pod before this cycle are given back, and what was
  // written although the API server did not say so.
  std::vector<ApiWrite> Undo(cluster::Cluster& cluster) override {
    ReleaseAll();
    if (deadline_ && !waited_) StopWaiting("error");  // the binding was given up meanwhile
    std::vector<ApiWrite> writes;
    for (const ClaimToBind& own : claims_) {
      if (own.create) {
        if (IsUnborn(own)) continue;
        writes.push_back({own.claim, ApiWrite::Verb::kDelete});
        continue;
      }
      const api::ResourceClaim* stored = FindStored(cluster, own.claim);
      if (stored == nullptr) continue;
      api::ResourceClaim claim = IsNewerVersion(own.claim, *stored) ? own.claim : *stored;
      if (!claim.status.allocation || !IsReservedFor(claim, pod_uid_)) continue;
      std::erase_if(claim.status.reserved_for, [&](const auto& u) { return u.uid == pod_uid_; });
      writes.push_back({std::move(claim), ApiWrite::Verb::kUpdateStatus});
    }
    return writes;
  }

 private:
  // The next step for the claim; nothing: it has all it needs.
  std::optional<PreBindStep> Advance(cluster::Cluster& cluster) {
    ClaimToBind& own = claims_[at_];
    if (IsUnborn(own)) return Create(own);
    if (written_) return AfterCreated(cluster, own);
    const api::ResourceClaim* stored = FindStored(cluster, own.claim);
    if (!conflict_.empty()) {
      if (stored == nullptr && !own.create) {
        return Failed("get updated claim " + KeyOf(own.claim) +
                      " after conflict: resourceclaims.resource.k8s.io " +
                      api::GoQuote(own.claim.metadata.name) + " not found");
      }
      if (stored == nullptr || !IsOtherVersion(*stored, own.claim)) {
        if (++waits_ > kMaxWaits) return Failed(std::move(conflict_));
        return PreBindStep{.kind = Kind::kWait};
      }
      own.claim = *stored;
      conflict_.clear();
      waits_ = 0;
    } else if (stored != nullptr && IsNewerVersion(*stored, own.claim)) {
      own.claim = *stored;
    }
    std::optional<PreBindStep> write = WriteFor(own);
    return write || !own.create ? std::move(write) : AfterCreated(cluster, own);
  }

  PreBindStep Create(const ClaimToBind& own) {
    sent_ = own.claim;
    sent_->metadata.name.clear();
    sent_->metadata.uid.clear();
    PreBindStep step{.kind = Kind::kWrite};
    step.writes.push_back({*sent_, ApiWrite::Verb::kCreate});
    return step;
  }

  // The claim is written: the pod is told of it, and the store must have it before it is no longer
  // in flight.
  std::optional<PreBindStep> AfterCreated(cluster::Cluster& cluster, const ClaimToBind& own) {
    if (!patched_) {
      pod_status_ = {own.mappings, own.claim.metadata.name};
      patching_ = true;
      return PreBindStep{.kind = Kind::kWrite};
    }
    if (FindStored(cluster, own.claim) == nullptr && ++waits_ <= kMaxWaitsForStore) {
      return PreBindStep{.kind = Kind::kWait};
    }
    Store(cluster, own.claim);
    return std::nullopt;
  }
  bool LearnPatched(const WriteResult& result) {
    patched_ = true;
    error_ = "update pod " + claims_[at_].claim.metadata.namespace_ + "/" + pod_name_ +
             " ExtendedResourceClaimStatus: " + result.message;
    return result.code == WriteResult::Code::kOk;
  }

  // The API server keeps whole seconds.
  void Stamp(api::Box<api::AllocationResult>& allocation) const {
    if (node_to_wait_for_.empty() || !allocation || allocation->allocation_timestamp) return;
    allocation->allocation_timestamp = api::Time::FromUnixNano(now_.UnixNano() / kSecond * kSecond);
  }

  // All claims are written.
  PreBindStep AwaitConditions(const cluster::Cluster& cluster) {
    PreBindStep step{.kind = Kind::kWait};
    if (!deadline_) {
      const bool any = std::any_of(claims_.begin(), claims_.end(), [](const ClaimToBind& own) {
        return HasBindingConditions(own.claim);
      });
      if (!any) return {};
      deadline_ = now_.UnixNano() + rules_.timeout_ns;
      began_waiting_ = now_.UnixNano();
      next_look_ = now_.UnixNano();
      event_ = {"BindingConditionsPending",
                "waiting for binding conditions for device on node " + node_to_wait_for_};
    }
    // kube-scheduler looks at the clock less often than we look at the claims.
    const bool look_at_clock = now_.UnixNano() >= next_look_;
    if (look_at_clock) next_look_ += kLookAtClockNs;
    const Readiness found = now_.UnixNano() >= *deadline_
                                ? Readiness{"timeout", OverdueMessage(rules_)}
                                : AreReady(cluster, look_at_clock);
    if (found.result.empty()) return step;
    StopWaiting(found.result);
    if (!found.error.empty()) return Failed(found.error);
    return {};
  }

  struct Readiness {
    std::string_view result;  // as in DeviceWait; empty: not ready yet
    std::string error;
  };
  Readiness AreReady(const cluster::Cluster& cluster, bool look_at_clock) {
    for (ClaimToBind& own : claims_) {
      const api::ObjectMeta& meta = own.claim.metadata;
      const auto* stored = cluster.Objects().resource_claims.Find(meta.namespace_, meta.name);
      if (stored == nullptr) {
        return {"error", "could not find ResourceClaim \"" + KeyOf(own.claim) + "\""};
      }
      own.claim = *stored;
      const Result<bool> ready = IsReadyForBinding(own.claim, rules_);
      if (!ready) return {"failure", ready.error().Message()};
      if (*ready) continue;
      if (look_at_clock && IsBindingOverdue(own.claim, rules_, now_)) {
        return {"timeout", OverdueMessage(own.claim, rules_)};
      }
      return {};
    }
    return {"success", ""};
  }

  void StopWaiting(std::string_view result) {
    waited_ = true;
    wait_ = framework::DeviceWait{result, now_.UnixNano() - began_waiting_, {}};
    for (const ClaimToBind& own : claims_) {
      if (!own.claim.status.allocation) continue;
      for (const auto& device : own.claim.status.allocation->devices.results) {
        wait_->devices.push_back({device.driver, !device.binding_conditions.empty()});
      }
    }
  }

  std::optional<PreBindStep> WriteFor(ClaimToBind& own) {
    const api::ResourceClaim& claim = own.claim;
    if (claim.metadata.deletion_timestamp) {
      return Failed("claim " + KeyOf(claim) + " got deleted in the meantime");
    }
    const bool allocated = !own.allocation || claim.status.allocation == own.allocation;
    if (allocated && IsReservedFor(claim, pod_uid_)) return std::nullopt;
    if (own.allocation && claim.status.allocation) {
      return Failed("claim " + KeyOf(claim) + " got allocated elsewhere in the meantime");
    }
    if (!own.allocation && !claim.status.allocation && !node_to_wait_for_.empty() &&
        In(kChecksDeallocation, rules_)) {
      return Failed("claim " + KeyOf(claim) + " got deallocated elsewhere in the meantime");
    }
    api::ResourceClaim changed = claim;
    status_ = !own.allocation || HasFinalizer(claim) || protected_;
    if (status_) {
      if (own.allocation) {
        Stamp(own.allocation);
        changed.status.allocation = own.allocation;
      } else {
        Stamp(changed.status.allocation);
      }
      changed.status.reserved_for.push_back(PodReference(pod_uid_, pod_name_));
    } else {
      changed.metadata.finalizers.emplace_back(kFinalizer);
    }
    sent_ = changed;
    PreBindStep step{.kind = Kind::kWrite};
    step.writes.push_back(
        {std::move(changed), status_ ? ApiWrite::Verb::kUpdateStatus : ApiWrite::Verb::kUpdate});
    return step;
  }

  // False: it failed for good, and error_ says how.
  bool Learn(cluster::Cluster& cluster, const WriteResult& result) {
    ClaimToBind& own = claims_[at_];
    const api::ResourceClaim sent = std::move(*std::exchange(sent_, std::nullopt));
    if (IsUnborn(own)) return LearnCreated(result);
    if (result.code == WriteResult::Code::kOk) {
      const auto* written =
          result.written ? std::get_if<api::ResourceClaim>(&*result.written) : nullptr;
      own.claim = written != nullptr ? *written : sent;
      written_ = status_ && own.create;
      if (written_) return true;
      if (status_) {
        Store(cluster, own.claim);
        FinishClaim();
      } else {
        protected_ = true;
      }
      return true;
    }
    error_ = (!status_         ? "add finalizer to claim "
              : own.allocation ? "add allocation and reservation to claim "
                               : "add reservation to claim ") +
             KeyOf(own.claim) + ": " + result.message;
    if (result.code != WriteResult::Code::kConflict || ++conflicts_ >= kMaxConflicts) return false;
    conflict_ = std::move(error_);
    protected_ = false;
    return true;
  }

  bool LearnCreated(const WriteResult& result) {
    const auto* created =
        result.written ? std::get_if<api::ResourceClaim>(&*result.written) : nullptr;
    const std::string& space = claims_[at_].claim.metadata.namespace_;
    error_ = "create claim for extended resources " +
             (In(kNamesNamespace, rules_) ? space + "/" : "") + ": " + result.message;
    if (result.code != WriteResult::Code::kOk || created == nullptr) return false;
    claims_[at_].claim = *created;
    return true;
  }

  // The next pods see the allocation before the watch shows it.
  void Store(cluster::Cluster& cluster, const api::ResourceClaim& written) const {
    const api::ResourceClaim* stored = FindStored(cluster, written);
    if (stored == nullptr || *stored == written || IsNewerVersion(*stored, written)) return;
    cluster.MutableObjects().resource_claims.Set(written);
  }

  void FinishClaim() {
    const ClaimToBind& own = claims_[at_];
    Release(own);
    released_ = ++at_;
    protected_ = false;
    written_ = false;
    conflicts_ = 0;
    waits_ = 0;
  }

  PreBindStep Failed(std::string why) {
    ReleaseAll();
    return {.kind = Kind::kFail, .failure = Status::Error(std::move(why))};
  }

  void ReleaseAll() {
    for (; released_ < claims_.size(); ++released_) {
      Release(claims_[released_]);
    }
  }
  void Release(const ClaimToBind& own) {
    if (!own.allocation) return;
    api::ObjectMeta in_flight;
    in_flight.namespace_ = own.claim.metadata.namespace_;
    in_flight.name = own.in_flight_name;
    ReleaseInFlight(cluster_, in_flight, pod_uid_);
  }

  cluster::Cluster& cluster_;
  std::vector<ClaimToBind> claims_;  // with the API server's answers, as far as it was written
  const std::string pod_uid_;
  const std::string pod_name_;
  const std::string node_to_wait_for_;
  const BindingRules rules_;
  api::Time now_;
  std::optional<int64_t> deadline_;  // of waiting for binding conditions
  int64_t began_waiting_ = 0;
  bool waited_ = false;  // that has ended
  int64_t next_look_ = 0;
  size_t at_ = 0;        // the claim that is being written
  size_t released_ = 0;  // of the claims before this one nothing is in flight any more
  std::optional<api::ResourceClaim> sent_;  // the write of the step before
  bool status_ = false;                     // it was one of the status
  bool protected_ = false;                  // the finalizer of this claim was written
  bool written_ = false;                    // the claim that was created has its status
  bool patching_ = false;                   // the step before was one of the pod's status
  bool patched_ = false;
  int conflicts_ = 0;  // of this claim
  int waits_ = 0;
  std::string conflict_;  // not empty: wait for a newer claim
  std::string error_;
};

}  // namespace

std::unique_ptr<framework::PreBindTask> MakePreBindTask(cluster::Cluster& cluster,
                                                        std::vector<ClaimToBind> claims,
                                                        PodToBind pod) {
  return std::make_unique<Task>(cluster, std::move(claims), std::move(pod));
}

api::ResourceClaimConsumerReference PodReference(std::string_view pod_uid,
                                                 std::string_view pod_name) {
  return {"", "pods", std::string(pod_name), std::string(pod_uid)};
}

void ReleaseInFlight(cluster::Cluster& cluster, const api::ObjectMeta& claim,
                     std::string_view pod_uid) {
  auto& in_flight = cluster.MutableObjects().in_flight_claims;
  const auto* own = in_flight.Find(claim.namespace_, claim.name);
  if (own != nullptr && IsReservedFor(*own, pod_uid))
    in_flight.Remove(claim.namespace_, claim.name);
}

void ReleaseInFlight(cluster::Cluster& cluster, std::string_view pod_uid) {
  std::vector<api::ObjectMeta> own;
  cluster.Objects().in_flight_claims.ForEach([&](const api::ResourceClaim& claim) {
    if (IsReservedFor(claim, pod_uid)) own.push_back(claim.metadata);
  });
  for (const api::ObjectMeta& claim : own) ReleaseInFlight(cluster, claim, pod_uid);
}

}  // namespace berth::plugins::dynamic_resources
