#include "kube/write/core_correlator.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace berth::kube {

namespace {

constexpr double kBurst = 25;
constexpr double kTokensPerSecond = 1.0 / 300;
constexpr size_t kMaxMessages = 10;
constexpr net::Nanoseconds kSimilarFor = std::chrono::seconds(600);

std::string Join(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (std::string_view part : parts) {
    key += part;
    key += '\0';
  }
  return key;
}

std::string ObjectKey(const CoreEvent& event) {
  const api::ObjectReference& object = event.involved_object;
  return Join({event.source.component, event.source.host, object.kind, object.namespace_,
               object.name, object.uid, object.api_version, event.type});
}

std::string ReasonKey(const CoreEvent& event) { return ObjectKey(event) + Join({event.reason}); }

}  // namespace

CoreCorrelator::Action CoreCorrelator::Observe(CoreEvent& event, net::Nanoseconds now) {
  const std::string key = Combine(event, now);
  auto [known, fresh] = known_.Get(key);
  if (fresh) {
    known = {event.metadata.name, event.first_timestamp, 0};
  } else {
    event.metadata.name = known.name;
    event.first_timestamp = known.first;
  }
  event.count = ++known.count;
  if (!Allowed(event, now)) return Action::kSkip;
  return event.count > 1 ? Action::kCount : Action::kCreate;
}

bool CoreCorrelator::Allowed(const CoreEvent& event, net::Nanoseconds now) {
  auto [allowance, fresh] = allowances_.Get(ObjectKey(event));
  const double seconds = std::chrono::duration<double>(now - allowance.since).count();
  allowance.tokens =
      fresh ? kBurst : std::min(kBurst, allowance.tokens + seconds * kTokensPerSecond);
  allowance.since = now;
  if (allowance.tokens < 1) return false;
  allowance.tokens -= 1;
  return true;
}

std::string CoreCorrelator::Combine(CoreEvent& event, net::Nanoseconds now) {
  const std::string reason = ReasonKey(event);
  auto [similar, fresh] = similar_.Get(reason);
  if (fresh || now - similar.last > kSimilarFor) similar.messages.clear();
  similar.messages.insert(event.message);
  similar.last = now;
  if (similar.messages.size() < kMaxMessages) return reason + event.message;
  similar.messages.erase(similar.messages.begin());  // no more than the limit is remembered
  event.message = "(combined from similar events): " + event.message;
  event.reporting_component.clear();
  return reason;
}

}  // namespace berth::kube
