#include "kube/watch/taint_sink.h"

#include <set>
#include <utility>
#include <variant>

namespace berth::kube {
namespace {

using api::DeviceClass;
using api::DeviceTaintRule;
using api::ResourceSlice;

// Those of `names` that are no longer among the objects.
std::vector<std::string> Gone(std::vector<std::string> names,
                              const std::vector<api::Object>& objects) {
  std::set<std::string_view> there;
  for (const api::Object& object : objects) {
    if (const api::ObjectMeta* metadata = api::MetadataOf(object)) there.insert(metadata->name);
  }
  std::erase_if(names, [&](const std::string& name) { return there.contains(name); });
  return names;
}

}  // namespace

void TaintSink::Replaced(std::string_view kind, std::vector<api::Object> objects) {
  if (kind == ResourceSlice::kKind) return ReplaceSlices(std::move(objects));
  if (kind == DeviceTaintRule::kKind) return ReplaceRules(std::move(objects));
  if (kind == DeviceClass::kKind) return ReplaceClasses(std::move(objects));
  next_.Replaced(kind, std::move(objects));
}

void TaintSink::Listed(std::string_view kind, std::vector<api::Object> objects,
                       scheduler::ListPart part, Taken taken) {
  next_.Listed(kind, std::move(objects), part, std::move(taken));
}

// Of what rules are about, all is looked at together.
bool TaintSink::TakesParts(std::string_view kind) const {
  const bool ours =
      kind == ResourceSlice::kKind || kind == DeviceTaintRule::kKind || kind == DeviceClass::kKind;
  return !ours && next_.TakesParts(kind);
}

void TaintSink::ReplaceSlices(std::vector<api::Object> objects) {
  for (const std::string& name : Gone(rules_.SliceNames(), objects)) rules_.RemoveSlice(name);
  std::vector<api::Object> tainted;
  tainted.reserve(objects.size());
  for (api::Object& object : objects) {
    auto* slice = std::get_if<ResourceSlice>(&object);
    if (slice == nullptr) continue;
    if (auto with_taints = rules_.SetSlice(std::move(*slice))) {
      tainted.emplace_back(std::move(*with_taints));
    }
  }
  next_.Replaced(ResourceSlice::kKind, std::move(tainted));
}

void TaintSink::ReplaceRules(std::vector<api::Object> objects) {
  for (const std::string& name : Gone(rules_.RuleNames(), objects)) {
    Tell(rules_.RemoveRule(name));
  }
  for (api::Object& object : objects) {
    if (auto* rule = std::get_if<DeviceTaintRule>(&object)) Tell(rules_.SetRule(std::move(*rule)));
  }
  next_.Replaced(DeviceTaintRule::kKind, {});
}

void TaintSink::ReplaceClasses(std::vector<api::Object> objects) {
  for (const std::string& name : Gone(rules_.ClassNames(), objects)) rules_.RemoveClass(name);
  for (const api::Object& object : objects) {
    const auto* device_class = std::get_if<DeviceClass>(&object);
    if (device_class != nullptr) Tell(rules_.SetClass(*device_class));
  }
  next_.Replaced(DeviceClass::kKind, std::move(objects));
}

void TaintSink::Changed(api::Object&& object) {
  if (auto* slice = std::get_if<ResourceSlice>(&object)) {
    if (auto tainted = rules_.SetSlice(std::move(*slice))) next_.Changed(std::move(*tainted));
  } else if (auto* rule = std::get_if<DeviceTaintRule>(&object)) {
    Tell(rules_.SetRule(std::move(*rule)));
  } else {
    if (const auto* device_class = std::get_if<DeviceClass>(&object)) {
      Tell(rules_.SetClass(*device_class));
    }
    next_.Changed(std::move(object));
  }
}

void TaintSink::Removed(api::Object&& object) {
  if (const auto* rule = std::get_if<DeviceTaintRule>(&object)) {
    Tell(rules_.RemoveRule(rule->metadata.name));
    return;
  }
  if (const auto* slice = std::get_if<ResourceSlice>(&object)) {
    rules_.RemoveSlice(slice->metadata.name);
  } else if (const auto* device_class = std::get_if<DeviceClass>(&object)) {
    rules_.RemoveClass(device_class->metadata.name);
  }
  next_.Removed(std::move(object));
}

void TaintSink::Tell(Rules::Slices slices) {
  for (ResourceSlice& slice : slices) next_.Changed(std::move(slice));
}

}  // namespace berth::kube
