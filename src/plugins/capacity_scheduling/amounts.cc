#include "plugins/capacity_scheduling/amounts.h"

#include "api/rules/resource_name.h"

namespace berth::plugins::capacity_scheduling {
namespace {

void RaiseTo(Amounts& to, const Amounts& other) {
  to.cpu = std::max(to.cpu, other.cpu);
  to.memory = std::max(to.memory, other.memory);
  to.ephemeral_storage = std::max(to.ephemeral_storage, other.ephemeral_storage);
  for (const auto& [id, amount] : other.scalars) {
    int64_t& own = ScalarOf(to, id);
    own = std::max(own, amount);
  }
}

}  // namespace

bool IsOver(const Amounts& request, const Amounts& used, const Amounts& bound, int64_t otherwise) {
  if (WrapAdd(request.cpu, used.cpu) > bound.cpu) return true;
  if (WrapAdd(request.memory, used.memory) > bound.memory) return true;
  if (WrapAdd(request.ephemeral_storage, used.ephemeral_storage) > bound.ephemeral_storage) {
    return true;
  }
  for (const auto& [id, amount] : request.scalars) {
    const auto limit =
        std::find_if(bound.scalars.begin(), bound.scalars.end(),
                     [want = id](const auto& scalar) { return scalar.first == want; });
    const int64_t most = limit == bound.scalars.end() ? otherwise : limit->second;
    if (WrapAdd(amount, used.Get(id)) > most) return true;
  }
  return false;
}

Amounts AmountsOf(const api::ResourceList& list, cluster::ResourceNames& names) {
  Amounts amounts;
  for (const auto& [name, quantity] : list) {
    if (name == "cpu") {
      amounts.cpu = quantity.MilliValue();
    } else if (name == "memory") {
      amounts.memory = quantity.Value();
    } else if (name == "ephemeral-storage") {
      amounts.ephemeral_storage = quantity.Value();
    } else if (api::IsScalarResource(name)) {
      amounts.scalars.emplace_back(names.Intern(name), quantity.Value());
    }
  }
  return amounts;
}

Amounts RequestOf(const api::Pod& pod, cluster::ResourceNames& names) {
  Amounts total;
  for (const api::Container& container : pod.spec.containers) {
    Add(total, AmountsOf(container.resources.requests, names));
  }
  for (const api::Container& container : pod.spec.init_containers) {
    RaiseTo(total, AmountsOf(container.resources.requests, names));
  }
  Add(total, AmountsOf(pod.spec.overhead, names));
  return total;
}

}  // namespace berth::plugins::capacity_scheduling
