#include "plugins/volume_binding/storage_use.h"

#include <algorithm>

#include "base/wrap.h"
#include "plugins/common/volume_claims.h"

namespace berth::plugins::volume_binding {
namespace {

template <class Amounts>
int64_t StorageOf(const Amounts& amounts) {
  const auto it = amounts.find("storage");
  return it == amounts.end() ? 0 : it->second.Value();
}

}  // namespace

StorageUse::Class& StorageUse::Find(std::string_view name) {
  for (Class& known : classes_) {
    if (known.name == name) return known;
  }
  return classes_.emplace_back(Class{name});
}

void StorageUse::Add(const Decision& decision) {
  for (const Decision::Binding& binding : decision.bindings) {
    Class& used = Find(binding.volume->spec.storage_class_name);
    used.requested = WrapAdd(used.requested, StorageOf(binding.claim->spec.resources.requests));
    used.capacity = WrapAdd(used.capacity, StorageOf(binding.volume->spec.capacity));
  }
  if (!decision.bindings.empty()) return;
  for (const Decision::Provision& provision : decision.provisions) {
    if (!provision.capacity) continue;
    Class& used = Find(ClassOf(*provision.claim));
    used.requested = WrapAdd(used.requested, StorageOf(provision.claim->spec.resources.requests));
    used.capacity = *provision.capacity;  // of the same pool for all of them
  }
}

int64_t StorageUse::Score(const UtilizationScores& scores) const {
  int64_t sum = 0;
  for (const Class& used : classes_) {
    const bool full = used.capacity == 0 || used.requested > used.capacity;
    const int64_t percent = full ? 100 : WrapDiv(WrapMul(used.requested, 100), used.capacity);
    sum += scores[static_cast<size_t>(std::clamp<int64_t>(percent, 0, 100))];
  }
  const auto count = static_cast<int64_t>(classes_.size());
  return (2 * sum + count) / (2 * count);  // halves are rounded up
}

}  // namespace berth::plugins::volume_binding
