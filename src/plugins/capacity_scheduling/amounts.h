// Amounts as ElasticQuotas compare them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "api/core/pod.h"
#include "api/values.h"
#include "base/wrap.h"
#include "cluster/table/amounts.h"
#include "cluster/table/resources.h"

namespace berth::plugins::capacity_scheduling {

using cluster::Amounts;

// The amount of a scalar resource, which is added if it is not mentioned.
inline int64_t& ScalarOf(Amounts& amounts, cluster::ResourceId id) {
  for (auto& [known, amount] : amounts.scalars) {
    if (known == id) return amount;
  }
  return amounts.scalars.emplace_back(id, 0).second;
}

inline void Add(Amounts& to, const Amounts& more) {
  to.cpu = WrapAdd(to.cpu, more.cpu);
  to.memory = WrapAdd(to.memory, more.memory);
  to.ephemeral_storage = WrapAdd(to.ephemeral_storage, more.ephemeral_storage);
  for (const auto& [id, amount] : more.scalars) {
    int64_t& own = ScalarOf(to, id);
    own = WrapAdd(own, amount);
  }
}

inline void Subtract(Amounts& from, const Amounts& less) {
  from.cpu = WrapSub(from.cpu, less.cpu);
  from.memory = WrapSub(from.memory, less.memory);
  from.ephemeral_storage = WrapSub(from.ephemeral_storage, less.ephemeral_storage);
  for (const auto& [id, amount] : less.scalars) {
    int64_t& own = ScalarOf(from, id);
    own = WrapSub(own, amount);
  }
}

// Is `request` together with `used` above `bound`? Of scalar resources only those that are
// requested count; one that `bound` does not mention is bound by `otherwise`.
bool IsOver(const Amounts& request, const Amounts& used, const Amounts& bound, int64_t otherwise);

// Resources that are neither cpu, memory, ephemeral-storage nor scalar do not count.
Amounts AmountsOf(const api::ResourceList& list, cluster::ResourceNames& names);

// What a pod takes from its quota: its containers together, or its largest init container if that
// is more, and the overhead. Init containers that stay are not told apart.
Amounts RequestOf(const api::Pod& pod, cluster::ResourceNames& names);

}  // namespace berth::plugins::capacity_scheduling
