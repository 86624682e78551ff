#include "plugins/dynamic_resources/taint_rules.h"

#include <utility>

namespace berth::plugins::dynamic_resources {
namespace {

// More are compiled again when they are needed again.
constexpr size_t kMaxPrograms = 1024;

template <class Map>
std::vector<std::string> Keys(const Map& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

bool SameTaints(const api::ResourceSlice& a, const api::ResourceSlice& b) {
  if (a.spec.devices.size() != b.spec.devices.size()) return false;
  for (size_t i = 0; i < a.spec.devices.size(); ++i) {
    if (a.spec.devices[i].taints != b.spec.devices[i].taints) return false;
  }
  return true;
}

std::vector<const std::string*> ExpressionsOf(const std::vector<api::DeviceSelector>& selectors) {
  std::vector<const std::string*> expressions;
  for (const api::DeviceSelector& selector : selectors) {
    if (selector.cel) expressions.push_back(&selector.cel->expression);
  }
  return expressions;
}

}  // namespace

bool MayConcern(const config::DraFeatures& features, const api::DeviceTaintRule& rule,
                const api::ResourceSliceSpec& slice) {
  if (!rule.spec.device_selector) return !features.rule_without_selector_matches_none;
  const api::DeviceTaintSelector& selector = *rule.spec.device_selector;
  return (!selector.driver || *selector.driver == slice.driver) &&
         (!selector.pool || *selector.pool == slice.pool.name);
}

TaintRules::SlicePtr TaintRules::SetSlice(const std::string& key, SlicePtr slice) {
  Kept& kept = slices_[key];
  kept.given = std::move(slice);
  if (SlicePtr now = Evaluate(kept.given)) kept.tainted = std::move(now);
  return kept.tainted;
}

std::vector<TaintRules::KeyedSlice> TaintRules::SetRule(const std::string& key, RulePtr rule) {
  const auto it = rules_.find(key);
  const RulePtr before = it == rules_.end() ? nullptr : it->second;
  if (rule != nullptr) {
    rules_[key] = rule;
  } else {
    rules_.erase(key);
  }
  if (before == nullptr && rule == nullptr) return {};
  return RefreshAll(before.get(), rule.get());
}

std::vector<TaintRules::KeyedSlice> TaintRules::SetClass(const std::string& key,
                                                         ClassPtr device_class) {
  if (device_class == nullptr) {
    classes_.erase(key);
    return {};
  }
  classes_[key] = std::move(device_class);
  return RefreshAll(nullptr, nullptr);
}

std::vector<std::string> TaintRules::RuleKeys() const { return Keys(rules_); }
std::vector<std::string> TaintRules::ClassKeys() const { return Keys(classes_); }

// Those that one of the two rules may concern; all of them without rules.
std::vector<TaintRules::KeyedSlice> TaintRules::RefreshAll(const api::DeviceTaintRule* before,
                                                           const api::DeviceTaintRule* after) {
  std::vector<KeyedSlice> changed;
  for (auto& [key, kept] : slices_) {
    const api::ResourceSliceSpec& spec = kept.given->spec;
    const bool concerned = (before == nullptr && after == nullptr) ||
                           (before != nullptr && MayConcern(features_, *before, spec)) ||
                           (after != nullptr && MayConcern(features_, *after, spec));
    const SlicePtr now = concerned ? Evaluate(kept.given) : nullptr;
    if (now == nullptr || (kept.tainted && SameTaints(*kept.tainted, *now))) continue;
    kept.tainted = now;
    changed.push_back({key, now});
  }
  return changed;
}

TaintRules::SlicePtr TaintRules::Evaluate(const SlicePtr& given) {
  std::optional<api::ResourceSlice> tainted;
  for (const auto& [key, rule] : rules_) {
    if (!Apply(*rule, *given, &tainted)) return nullptr;
  }
  if (!tainted) return given;
  return std::make_shared<const api::ResourceSlice>(std::move(*tainted));
}

bool TaintRules::Apply(const api::DeviceTaintRule& rule, const api::ResourceSlice& given,
                       std::optional<api::ResourceSlice>* tainted) {
  if (!MayConcern(features_, rule, given.spec)) return true;
  const std::string* device_name = nullptr;
  Expressions expressions;
  if (rule.spec.device_selector) {
    const api::DeviceTaintSelector& selector = *rule.spec.device_selector;
    if (selector.device) device_name = &*selector.device;
    if (selector.device_class_name) {
      const auto it = classes_.find("/" + *selector.device_class_name);
      if (it == classes_.end()) return true;
      expressions = ExpressionsOf(it->second->spec.selectors);
    }
    const Expressions own = ExpressionsOf(selector.selectors);
    expressions.insert(expressions.end(), own.begin(), own.end());
  }
  for (size_t i = 0; i < given.spec.devices.size(); ++i) {
    const api::Device& device = given.spec.devices[i];
    if (device_name != nullptr && *device_name != device.name) continue;
    const std::optional<bool> matches = Matches(expressions, given.spec.driver, device);
    if (!matches) return false;
    if (!*matches) continue;
    if (!*tainted) *tainted = given;
    (*tainted)->spec.devices[i].taints.push_back(rule.spec.taint);
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
