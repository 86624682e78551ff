#include "plugins/dynamic_resources/capacity.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "api/go/go_text.h"
#include "base/wrap.h"

namespace berth::plugins::dynamic_resources {
namespace {

using api::Quantity;

using Range = api::CapacityRequestPolicyRange;

// By how much `value` exceeds the last valid amount, which are `step` apart from `min` on. Zero
// where there is no step: validation allows none.
int64_t PastStep(int64_t value, int64_t min, int64_t step) {
  return step == 0 || step == -1 ? 0 : WrapSub(value, min) % step;
}

int64_t PastStep(int64_t value, const Range& range) {
  return PastStep(value, range.min ? range.min->Value() : 0, range.step->Value());
}

// The amount in thousandths, if it is a whole number of them.
std::optional<int64_t> AsMilli(const Quantity& amount) {
  const int64_t milli = amount.MilliValue();
  if (amount != Quantity::FromMilli(milli)) return std::nullopt;
  return milli;
}

// Thousandths are counted where all parts of the range can be. Until then whole numbers are.
bool CountsMilli(const Range& range, const config::DraFeatures& features) {
  if (!features.fractional_range) return false;
  for (const auto* part : {&range.min, &range.max, &range.step}) {
    if (*part && !AsMilli(**part)) return false;
  }
  return range.step && *AsMilli(*range.step) >= 1;
}

std::string NotRepresentable(const Quantity& asked, std::string_view why, std::string_view end) {
  return "capacity request cannot be represented in the device's range arithmetic: " +
         std::string(why) + asked.String() + std::string(end);
}

constexpr std::string_view kRounding = "rounding request ";

// Since 1.37: neither the amount nor what it is rounded up to may overflow.
Quantity RoundUpOrFail(const Quantity& asked, const Range& range, bool in_milli,
                       std::string* error) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Quantity::Format format = range.step->format();
  const int64_t step = in_milli ? range.step->MilliValue() : range.step->Value();
  const int64_t min = in_milli ? range.min->MilliValue() : range.min->Value();
  int64_t value = 0;
  if (in_milli) {
    const auto milli = AsMilli(asked);
    if (!milli) {
      *error = NotRepresentable(asked, "request ", " is not a representable milli value");
      return asked;
    }
    value = *milli;
  } else {
    if (asked > Quantity::FromInt(kMost)) {
      *error = NotRepresentable(asked, "request ", " exceeds MaxInt64");
      return asked;
    }
    value = asked.Value();
  }
  const int64_t past = PastStep(value, min, step);
  if (past != 0) {
    const int64_t steps = WrapSub(value, min) / step + 1;
    if ((in_milli || min >= 0) && steps > WrapSub(kMost, min) / step) {
      *error = NotRepresentable(asked, kRounding,
                                in_milli ? " up to the next step passes the milli-value range"
                                         : " up to the next step passes MaxInt64");
      return asked;
    }
    value = WrapAdd(WrapSub(value, past), step);
  }
  if (!in_milli) return Quantity::FromInt(value, format);
  return value % 1000 == 0 ? Quantity::FromInt(value / 1000, format)
                           : Quantity::FromMilli(value, format);
}

Quantity RoundUpToRange(const Quantity& asked, const Range& range,
                        const config::DraFeatures& features, std::string* error) {
  if (asked < *range.min) return *range.min;
  if (!range.step) return asked;
  if (features.capacity_errors_fail) {
    return RoundUpOrFail(asked, range, CountsMilli(range, features), error);
  }
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

Quantity Consumed(const api::DeviceCapacity& capacity, const Quantity* asked,
                  const config::DraFeatures& features, std::string* error) {
  const api::CapacityRequestPolicy* policy =
      capacity.request_policy ? &*capacity.request_policy : nullptr;
  if (asked == nullptr) return policy && policy->default_ ? *policy->default_ : capacity.value;
  if (policy == nullptr) return *asked;
  if (policy->valid_range && policy->valid_range->min) {
    return RoundUpToRange(*asked, *policy->valid_range, features, error);
  }
  return policy->valid_values.empty() ? *asked : RoundUpToValues(*asked, policy->valid_values);
}

bool IsInRange(const Quantity& amount, const Range& range, const config::DraFeatures& features) {
  if (range.max && amount > *range.max) return false;
  if (!range.step) return true;
  if (!CountsMilli(range, features)) return PastStep(amount.Value(), range) == 0;
  const auto milli = AsMilli(amount);
  return milli &&
         PastStep(*milli, range.min ? range.min->MilliValue() : 0, range.step->MilliValue()) == 0;
}

bool IsValid(const Quantity& amount, const api::CapacityRequestPolicy& policy,
             const config::DraFeatures& features) {
  if (policy.default_ && amount == *policy.default_) return true;
  if (policy.valid_range) return IsInRange(amount, *policy.valid_range, features);
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
                                   const api::CapacityRequirements* request,
                                   const config::DraFeatures& features) {
  api::ResourceList consumed;
  std::string error;
  for (const auto& [name, capacity] : device.capacity) {
    consumed.emplace(name, Consumed(capacity, Asked(request, name), features, &error));
  }
  return consumed;
}

bool HasCapacityFor(const api::Device& device, const api::CapacityRequirements* request,
                    const api::ResourceList* consumed, const api::ResourceList* reserved,
                    const config::DraFeatures& features, std::string* error) {
  if (request != nullptr) {
    for (const auto& [name, amount] : request->requests) {
      if (device.capacity.find(name) == device.capacity.end()) return false;
    }
  }
  bool fits = true;
  for (const auto& [name, capacity] : device.capacity) {
    std::string wrong;
    Quantity sum = Consumed(capacity, Asked(request, name), features, &wrong);
    if (features.capacity_errors_fail && wrong.empty() && sum.Sign() < 0) {
      wrong = "capacity value is negative";
    }
    if (!wrong.empty()) {
      *error = "capacity " + api::GoQuote(name) + ": " + wrong;
      return false;
    }
    if (!fits) continue;  // an error of another capacity comes first
    fits = !capacity.request_policy || IsValid(sum, *capacity.request_policy, features);
    AddOf(consumed, name, &sum);
    AddOf(reserved, name, &sum);
    fits = fits && sum <= capacity.value;
    if (!fits && !features.capacity_errors_fail) return false;
  }
  return fits;
}

void AddCapacity(const api::ResourceList& amounts, api::ResourceList* to) {
  for (const auto& [name, amount] : amounts) (*to)[name].Add(amount);
}

void SubtractCapacity(const api::ResourceList& amounts, api::ResourceList* from) {
  for (const auto& [name, amount] : amounts) (*from)[name].Sub(amount);
}

}  // namespace berth::plugins::dynamic_resources
