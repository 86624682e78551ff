#include "plugins/dynamic_resources/capacity.h"

#include <algorithm>

#include "base/wrap.h"

namespace berth::plugins::dynamic_resources {
namespace {

using api::Quantity;

// By how much `value` exceeds the last valid amount, which are `step` apart from `min` on. Zero
// where there is no step: validation allows none.
int64_t PastStep(int64_t value, const api::CapacityRequestPolicyRange& range) {
  const int64_t step = range.step->Value();
  if (step == 0 || step == -1) return 0;
  return WrapSub(value, range.min ? range.min->Value() : 0) % step;
}

Quantity RoundUpToRange(const Quantity& asked, const api::CapacityRequestPolicyRange& range) {
  if (asked < *range.min) return *range.min;
  if (!range.step) return asked;
  const int64_t value = asked.Value();
  const int64_t past = PastStep(value, range);
  const int64_t whole = WrapSub(value, past);
  return Quantity::FromInt(past == 0 ? whole : WrapAdd(whole, range.step->Value()),
                           Quantity::Format::kBinarySI);
}

Quantity RoundUpToValues(const Quantity& asked, const std::vector<Quantity>& values) {
  const auto it =
      std::find_if(values.begin(), values.end(), [&](const Quantity& v) { return asked <= v; });
  return it == values.end() ? asked : *it;
}

Quantity Consumed(const api::DeviceCapacity& capacity, const Quantity* asked) {
  const api::CapacityRequestPolicy* policy =
      capacity.request_policy ? &*capacity.request_policy : nullptr;
  if (asked == nullptr) return policy && policy->default_ ? *policy->default_ : capacity.value;
  if (policy == nullptr) return *asked;
  if (policy->valid_range && policy->valid_range->min) {
    return RoundUpToRange(*asked, *policy->valid_range);
  }
  return policy->valid_values.empty() ? *asked : RoundUpToValues(*asked, policy->valid_values);
}

bool IsValid(const Quantity& amount, const api::CapacityRequestPolicy& policy) {
  if (policy.default_ && amount == *policy.default_) return true;
  if (policy.valid_range) {
    const api::CapacityRequestPolicyRange& range = *policy.valid_range;
    if (range.max && amount > *range.max) return false;
    return !range.step || PastStep(amount.Value(), range) == 0;
  }
  const auto& values = policy.valid_values;
  return values.empty() || std::find(values.begin(), values.end(), amount) != values.end();
}

const Quantity* Asked(const api::CapacityRequirements* request, std::string_view name) {
  if (request == nullptr) return nullptr;
  const auto it = request->requests.find(name);
  return it == request->requests.end() ? nullptr : &it->second;
}

void AddOf(const api::ResourceList* list, std::string_view name, Quantity* sum) {
  if (list == nullptr) return;
  const auto it = list->find(name);
  if (it != list->end()) sum->Add(it->second);
}

}  // namespace

api::ResourceList ConsumedCapacity(const api::Device& device,
                                   const api::CapacityRequirements* request) {
  api::ResourceList consumed;
  for (const auto& [name, capacity] : device.capacity) {
    consumed.emplace(name, Consumed(capacity, Asked(request, name)));
  }
  return consumed;
}

bool HasCapacityFor(const api::Device& device, const api::CapacityRequirements* request,
                    const api::ResourceList* consumed, const api::ResourceList* reserved) {
  if (request != nullptr) {
    for (const auto& [name, amount] : request->requests) {
      if (device.capacity.find(name) == device.capacity.end()) return false;
    }
  }
  for (const auto& [name, capacity] : device.capacity) {
    Quantity sum = Consumed(capacity, Asked(request, name));
    if (capacity.request_policy && !IsValid(sum, *capacity.request_policy)) return false;
    AddOf(consumed, name, &sum);
    AddOf(reserved, name, &sum);
    if (sum > capacity.value) return false;
  }
  return true;
}

void AddCapacity(const api::ResourceList& amounts, api::ResourceList* to) {
  for (const auto& [name, amount] : amounts) (*to)[name].Add(amount);
}

void SubtractCapacity(const api::ResourceList& amounts, api::ResourceList* from) {
  for (const auto& [name, amount] : amounts) (*from)[name].Sub(amount);
}

}  // namespace berth::plugins::dynamic_resources
