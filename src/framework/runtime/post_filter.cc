#include "framework/runtime/post_filter.h"

#include <utility>

namespace berth::framework {

namespace {

// While it lives, a plugin may filter again and again: that is part of its own time, and no step of
// the cycle.
class Unwatched {
 public:
  explicit Unwatched(Cycle& cycle)
      : cycle_(cycle), watch_(cycle.watch()), plugins_(cycle.plugin_watch() != nullptr) {
    cycle_.set_watch(nullptr, false);
  }
  ~Unwatched() { cycle_.set_watch(watch_, plugins_); }

 private:
  Cycle& cycle_;
  CycleWatch* watch_;
  bool plugins_;
};

void TellBegan(const Cycle& cycle) {
  if (CycleWatch* watch = cycle.plugin_watch()) watch->PluginBegan();
}

void TellEnded(const Cycle& cycle, std::string_view plugin, const Status& status) {
  if (CycleWatch* watch = cycle.plugin_watch()) {
    watch->PluginEnded(Point::kPostFilter, plugin, status.code());
  }
}

Status Ask(PostFilterPlugin& plugin, Cycle& cycle, cluster::Cluster& cluster,
           const Diagnosis& diagnosis, PostFilterResult* result) {
  TellBegan(cycle);
  Status status;
  {
    const Unwatched unwatched(cycle);
    status = plugin.PostFilter(cycle, cluster, diagnosis, result);
  }
  TellEnded(cycle, plugin.Name(), status);
  return status;
}

// Combines a plugin's status with the earlier ones. True: the run is over, and `status` is final.
bool TakeAnswer(Status& status, PostFilterResult own, std::string_view plugin,
                std::vector<std::string>* reasons, std::string_view* first,
                PostFilterResult* result) {
  status.set_plugin(plugin);
  // What one plugin deallocates is deallocated, whatever the others say.
  const PostFilterResult& deallocates = own.deallocated_claim ? own : *result;
  const auto deallocated = deallocates.deallocated_claim;
  const bool deletes = deallocates.deletes_claim;
  const bool final_word = status.Ok() || status.code() == Code::kUnschedulableAndUnresolvable;
  if (final_word || own.nomination != PostFilterResult::Nomination::kKeep) {
    *result = std::move(own);
  }
  const bool failed = !final_word && !IsRejected(status.code());
  if (failed) *result = PostFilterResult();
  result->deallocated_claim = deallocated;
  result->deletes_claim = deletes;
  if (final_word || failed) return true;
  reasons->insert(reasons->end(), status.reasons().begin(), status.reasons().end());
  if (first->empty()) *first = plugin;
  return false;
}

Status NobodyHelped(std::vector<std::string> reasons, std::string_view first) {
  Status status(Code::kUnschedulable, std::move(reasons));
  status.set_plugin(first);
  return status;
}

Status AskAll(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis,
              PostFilterResult* result) {
  std::vector<std::string> reasons;
  std::string_view first;
  for (const auto& [plugin, index] : cycle.profile().post_filter) {
    PostFilterResult own;
    ++cycle.mutable_calls(index).post_filter;
    Status status = Ask(*plugin, cycle, cluster, diagnosis, &own);
    if (TakeAnswer(status, std::move(own), plugin->Name(), &reasons, &first, result)) return status;
  }
  return NobodyHelped(std::move(reasons), first);
}

}  // namespace

Status RunPostFilter(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis,
                     PostFilterResult* result) {
  WatchedPoint point(cycle.watch(), Point::kPostFilter);
  Status status = AskAll(cycle, cluster, diagnosis, result);
  point.End(status.code());
  return status;
}

// --- With a review of candidates

bool ReviewedPostFilter::Run() {
  point_.emplace(cycle_.watch(), Point::kPostFilter);
  return Next();
}

bool ReviewedPostFilter::Next() {
  const auto& plugins = cycle_.profile().post_filter;
  for (; at_ < plugins.size(); ++at_) {
    const auto& [plugin, index] = plugins[at_];
    ++cycle_.mutable_calls(index).post_filter;
    own_ = PostFilterResult();
    reviewed_ = dynamic_cast<PreemptionPlugin*>(plugin);
    Status status;
    if (reviewed_ != nullptr) {
      candidates_.clear();
      TellBegan(cycle_);
      {
        const Unwatched unwatched(cycle_);
        status = reviewed_->FindCandidates(cycle_, cluster_, diagnosis_, &candidates_, &own_);
      }
      if (status.Ok()) return false;
      TellEnded(cycle_, plugin->Name(), status);
    } else {
      status = Ask(*plugin, cycle_, cluster_, diagnosis_, &own_);
    }
    if (Take(std::move(status), std::move(own_))) return true;
  }
  End(NobodyHelped(std::move(reasons_), first_));
  return true;
}

bool ReviewedPostFilter::Resume(std::vector<PreemptionCandidate> candidates) {
  candidates_ = std::move(candidates);
  Status status = reviewed_->PickCandidate(cluster_, candidates_, &own_);
  return Reviewed(std::move(status), std::move(own_));
}

bool ReviewedPostFilter::ResumeFailed(std::string_view why) {
  return Reviewed(reviewed_->ReviewFailed(why), PostFilterResult());
}

bool ReviewedPostFilter::Reviewed(Status status, PostFilterResult own) {
  TellEnded(cycle_, cycle_.profile().post_filter[at_].plugin->Name(), status);
  if (Take(std::move(status), std::move(own))) return true;
  ++at_;
  return Next();
}

bool ReviewedPostFilter::Take(Status status, PostFilterResult own) {
  const std::string_view plugin = cycle_.profile().post_filter[at_].plugin->Name();
  if (!TakeAnswer(status, std::move(own), plugin, &reasons_, &first_, &result_)) return false;
  End(std::move(status));
  return true;
}

void ReviewedPostFilter::End(Status status) {
  status_ = std::move(status);
  point_->End(status_.code());
}

}  // namespace berth::framework
