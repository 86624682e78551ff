#include "plugins/coscheduling/resource_gap.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/go/go_int.h"
#include "base/wrap.h"
#include "plugins/coscheduling/pod_group.h"

namespace berth::plugins::coscheduling {
namespace {

constexpr std::string_view kDecimalSuffixes = "num kMGTPE";  // from 10^-9 on, in steps of 10^3
constexpr size_t kOne = 3;                                   // the one that is none

__extension__ using Wide = __int128;

int64_t Clamp(Wide value) {
  using Limits = std::numeric_limits<int64_t>;
  return static_cast<int64_t>(std::clamp<Wide>(value, Limits::min(), Limits::max()));
}

Wide TimesPowerOfTen(int64_t value, int32_t power) {
  Wide scaled = value;
  for (; power > 0; --power) {
    scaled *= 10;
    if (scaled > std::numeric_limits<int64_t>::max()) break;
    if (scaled < std::numeric_limits<int64_t>::min()) break;
  }
  return scaled;
}

}  // namespace

// Integers and decimal fractions with a decimal suffix, and integers with a binary one, are kept as
// Go keeps them. Anything else is rare: it is kept in thousandths.
ScaledAmount::ScaledAmount(const api::Quantity& quantity)
    : value_(quantity.MilliValue()), scale_(-3), text_(quantity.String()) {
  using Format = api::Quantity::Format;
  format_ = quantity.format() == Format::kBinarySI    ? "BinarySI"
            : quantity.format() == Format::kDecimalSI ? "DecimalSI"
                                                      : "DecimalExponent";
  const size_t end = std::min(text_.find_first_not_of("+-.0123456789"), text_.size());
  std::string digits = text_.substr(0, end);
  const std::string suffix = text_.substr(end);
  int32_t fraction = 0;
  if (const size_t point = digits.find('.'); point != std::string::npos) {
    fraction = static_cast<int32_t>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  const auto number = api::ParseGoInt(digits);
  if (!number) return;
  if (quantity.format() == Format::kDecimalSI) {
    const size_t step = suffix.empty() ? kOne : kDecimalSuffixes.find(suffix[0]);
    value_ = *number;
    scale_ = (static_cast<int32_t>(step) - static_cast<int32_t>(kOne)) * 3 - fraction;
  } else if (quantity.format() == Format::kBinarySI && fraction == 0 && !suffix.empty()) {
    value_ = quantity.Value();
    scale_ = 0;
  }
}

void ScaledAmount::Subtract(int64_t value, int32_t scale) {
  text_.clear();
  if (value == 0) return;
  if (value_ == 0) {
    value_ = Clamp(-Wide{value});
    scale_ = scale;
    return;
  }
  const int32_t finer = std::min(scale_, scale);
  value_ = Clamp(TimesPowerOfTen(value_, scale_ - finer) - TimesPowerOfTen(value, scale - finer));
  scale_ = finer;
}

std::string ScaledAmount::GoText() const {
  return fmt::format("{{{{{} {}}} {{<nil>}} {} {}}}", value_, scale_, text_, format_);
}

namespace {

// What the pods of the group take on one node.
struct Taken {
  cluster::Amounts amounts;
  int64_t pods = 0;
};

Taken TakenBy(const cluster::Cluster& cluster, cluster::NodeIndex n, std::string_view namespace_,
              std::string_view group) {
  Taken taken;
  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::PodShape& shape = *cluster.GetPod(id).shape;
    const std::string* own = GroupOf(shape);
    if (own == nullptr || *own != group || shape.namespace_ != namespace_) continue;
    ++taken.pods;
    taken.amounts.cpu = WrapAdd(taken.amounts.cpu, shape.on_node.cpu);
    taken.amounts.memory = WrapAdd(taken.amounts.memory, shape.on_node.memory);
    taken.amounts.ephemeral_storage =
        WrapAdd(taken.amounts.ephemeral_storage, shape.on_node.ephemeral_storage);
    for (const auto& [resource, amount] : shape.on_node.scalars) {
      taken.amounts.scalars.emplace_back(resource, amount);
    }
  }
  return taken;
}

int64_t FreeOf(const cluster::Cluster& cluster, cluster::NodeIndex n, std::string_view name,
               const Taken& taken) {
  if (name == "pods") {
    return cluster.AllowedPods()[n] - cluster.PodCount()[n] + taken.pods;
  }
  const cluster::ResourceId id = cluster.Resources().Find(name);
  if (id == cluster::kNoResource) return 0;
  int64_t free = 0;
  if (id >= cluster::kFirstScalar) {
    // What a node does not offer is not missing there, though a pod may have been put on it.
    const auto& offered = cluster.Record(n).scalar_allocatable;
    const auto it = std::find_if(offered.begin(), offered.end(),
                                 [id](const auto& scalar) { return scalar.first == id; });
    if (it == offered.end()) return 0;
    free = it->second;
  }
  if (const cluster::ResourceColumn* column = cluster.Resource(id)) {
    free = WrapSub(column->allocatable[n], column->requested[n]);
  }
  if (id < cluster::kFirstScalar) return WrapAdd(free, taken.amounts.Get(id));
  for (const auto& [scalar, amount] : taken.amounts.scalars) {
    if (scalar == id) free = WrapAdd(free, amount);
  }
  return free;
}

}  // namespace

std::string ResourceGap(const cluster::Cluster& cluster, const api::ResourceList& wanted,
                        int64_t pods, std::string_view namespace_, std::string_view group) {
  std::map<std::string, ScaledAmount, std::less<>> missing;
  for (const auto& [name, quantity] : wanted) missing.emplace(name, ScaledAmount(quantity));
  missing.insert_or_assign("pods", ScaledAmount(pods, 0));
  for (const cluster::NodeIndex n : cluster.NodeOrder()) {
    const Taken taken = TakenBy(cluster, n, namespace_, group);
    for (auto it = missing.begin(); it != missing.end();) {
      it->second.Subtract(FreeOf(cluster, n, it->first, taken), it->first == "cpu" ? -3 : 0);
      it = it->second.IsPositive() ? std::next(it) : missing.erase(it);
    }
    if (missing.empty()) return "";
  }
  std::string text;
  for (const auto& [name, amount] : missing) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name, amount.GoText());
  }
  return fmt::format("resource gap: map[{}]", text);
}

}  // namespace berth::plugins::coscheduling
