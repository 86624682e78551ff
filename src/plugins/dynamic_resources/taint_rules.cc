#include "plugins/dynamic_resources/taint_rules.h"

#include <utility>

namespace berth::plugins::dynamic_resources {
namespace {

// More are compiled again when they are needed again.
constexpr size_t kMaxPrograms = 1024;

template <class Map>
std::vector<std::string> Names(const Map& map) {
  std::vector<std::string> names;
  names.reserve(map.size());
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

bool SameTaints(const api::ResourceSlice& a, const api::ResourceSlice& b) {
  if (a.spec.devices.size() != b.spec.devices.size()) return false;
  for (size_t i = 0; i < a.spec.devices.size(); ++i) {
    if (a.spec.devices[i].taints != b.spec.devices[i].taints) return false;
  }
  return true;
}

// As far as names say.
bool MayConcern(const api::DeviceTaintRule& rule, const api::ResourceSliceSpec& slice) {
  if (!rule.spec.device_selector) return true;
  const api::DeviceTaintSelector& selector = *rule.spec.device_selector;
  return (!selector.driver || *selector.driver == slice.driver) &&
         (!selector.pool || *selector.pool == slice.pool.name);
}

std::vector<const std::string*> ExpressionsOf(const std::vector<api::DeviceSelector>& selectors) {
  std::vector<const std::string*> expressions;
  for (const api::DeviceSelector& selector : selectors) {
    if (selector.cel) expressions.push_back(&selector.cel->expression);
  }
  return expressions;
}

}  // namespace

std::optional<api::ResourceSlice> TaintRules::SetSlice(api::ResourceSlice slice) {
  Kept& kept = slices_[slice.metadata.name];
  kept.given = std::move(slice);
  Refresh(&kept);
  return kept.tainted;
}

void TaintRules::RemoveSlice(std::string_view name) {
  if (const auto it = slices_.find(name); it != slices_.end()) slices_.erase(it);
}

TaintRules::Slices TaintRules::SetRule(api::DeviceTaintRule rule) {
  api::DeviceTaintRule& now = rules_[rule.metadata.name];
  const api::DeviceTaintRule before = std::exchange(now, std::move(rule));
  const bool is_new = before.metadata.name.empty();
  return RefreshAll(is_new ? nullptr : &before, &now);
}

TaintRules::Slices TaintRules::RemoveRule(std::string_view name) {
  const auto it = rules_.find(name);
  if (it == rules_.end()) return {};
  const api::DeviceTaintRule before = std::move(it->second);
  rules_.erase(it);
  return RefreshAll(&before, nullptr);
}

TaintRules::Slices TaintRules::SetClass(api::DeviceClass device_class) {
  std::string name = device_class.metadata.name;
  classes_.insert_or_assign(std::move(name), std::move(device_class));
  return RefreshAll(nullptr, nullptr);
}

void TaintRules::RemoveClass(std::string_view name) {
  if (const auto it = classes_.find(name); it != classes_.end()) classes_.erase(it);
}

std::vector<std::string> TaintRules::SliceNames() const { return Names(slices_); }
std::vector<std::string> TaintRules::RuleNames() const { return Names(rules_); }
std::vector<std::string> TaintRules::ClassNames() const { return Names(classes_); }

// Those that one of the two rules may concern; all of them without rules.
TaintRules::Slices TaintRules::RefreshAll(const api::DeviceTaintRule* before,
                                          const api::DeviceTaintRule* after) {
  Slices changed;
  for (auto& [name, kept] : slices_) {
    const bool concerned = (before == nullptr && after == nullptr) ||
                           (before != nullptr && MayConcern(*before, kept.given.spec)) ||
                           (after != nullptr && MayConcern(*after, kept.given.spec));
    if (concerned && Refresh(&kept)) changed.push_back(*kept.tainted);
  }
  return changed;
}

bool TaintRules::Refresh(Kept* kept) {
  api::ResourceSlice tainted = kept->given;
  for (const auto& [name, rule] : rules_) {
    if (!Apply(rule, kept->given, &tainted)) return false;
  }
  const bool changed = !kept->tainted || !SameTaints(*kept->tainted, tainted);
  kept->tainted = std::move(tainted);
  return changed;
}

bool TaintRules::Apply(const api::DeviceTaintRule& rule, const api::ResourceSlice& given,
                       api::ResourceSlice* tainted) {
  if (!MayConcern(rule, given.spec)) return true;
  const std::string* device_name = nullptr;
  Expressions expressions;
  if (rule.spec.device_selector) {
    const api::DeviceTaintSelector& selector = *rule.spec.device_selector;
    if (selector.device) device_name = &*selector.device;
    if (selector.device_class_name) {
      const auto it = classes_.find(*selector.device_class_name);
      if (it == classes_.end()) return true;
      expressions = ExpressionsOf(it->second.spec.selectors);
    }
    const Expressions own = ExpressionsOf(selector.selectors);
    expressions.insert(expressions.end(), own.begin(), own.end());
  }
  for (size_t i = 0; i < given.spec.devices.size(); ++i) {
    const api::Device& device = given.spec.devices[i];
    if (device_name != nullptr && *device_name != device.name) continue;
    const std::optional<bool> matches = Matches(expressions, given.spec.driver, device);
    if (!matches) return false;
    if (*matches) tainted->spec.devices[i].taints.push_back(rule.spec.taint);
  }
  return true;
}

std::optional<bool> TaintRules::Matches(const Expressions& expressions, std::string_view driver,
                                        const api::Device& device) {
  if (expressions.empty()) return true;
  // As in kube-scheduler, rules never see that a device may be shared.
  api::Device seen;
  seen.attributes = device.attributes;
  seen.capacity = device.capacity;
  const Result<cel::Value> value = cel::MakeDevice(driver, seen);
  for (const std::string* expression : expressions) {
    cel::Program* program = Compiled(*expression);
    if (program == nullptr) return std::nullopt;
    if (!value) return false;
    const Result<bool> matches = program->Matches(*value);
    if (!matches || !*matches) return false;
  }
  return true;
}

cel::Program* TaintRules::Compiled(const std::string& expression) {
  if (const auto it = programs_.find(expression); it != programs_.end()) return it->second.get();
  if (programs_.size() >= kMaxPrograms) programs_.clear();
  auto program = cel::Program::Compile(expression);
  auto& slot = programs_[expression];
  if (program) slot = std::move(*program);
  return slot.get();
}

}  // namespace berth::plugins::dynamic_resources
