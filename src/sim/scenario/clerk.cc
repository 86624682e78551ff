#include "sim/scenario/clerk.h"

#include <utility>

#include <fmt/format.h>

#include "sim/workloads.h"

namespace berth::sim {

std::string Describe(const api::Object& object) {
  const api::ObjectMeta* metadata = api::MetadataOf(object);
  if (metadata == nullptr) return std::string(api::KindOf(object));
  const std::string& ns = metadata->namespace_;
  return fmt::format("{} {}{}{}", api::KindOf(object), ns, ns.empty() ? "" : "/",
                     metadata->name.empty() ? metadata->generate_name : metadata->name);
}

void Clerk::Learn(const std::vector<api::Object>& objects) {
  for (const api::Object& object : objects) admission_.Learn(object);
}

Result<ApiAnswer> Clerk::Create(api::Object object) {
  if (auto ok = admission_.Apply(object); !ok) return Fail(ok.error().In(Describe(object)));
  return api_.Create(std::move(object));
}

Result<void> Clerk::Apply(api::Object object) {
  api::ObjectMeta& metadata = *api::MetadataOf(object);
  if (metadata.name.empty()) {
    metadata.name =
        fmt::format("{}{}", metadata.generate_name, ++generated_[metadata.generate_name]);
  }
  admission_.Learn(object);
  if (auto ok = admission_.Apply(object); !ok) return Fail(ok.error().In(Describe(object)));
  for (api::Pod& pod : Expand(object, {}, 1).pods) {
    api::Object probe(std::move(pod));
    if (auto ok = admission_.Apply(probe); !ok) return Fail(ok.error().In(Describe(object)));
  }
  const ObjectPtr current = api_.Get(api::KindOf(object), ModelApi::KeyOf(object));
  if (current == nullptr) {
    const ApiAnswer answer = api_.Create(std::move(object));
    return answer.Ok() ? Result<void>() : Fail(answer.message);
  }
  if (auto* pod = std::get_if<api::Pod>(&object)) {
    const auto& now = std::get<api::Pod>(*current);
    pod->spec.node_name = now.spec.node_name;
    pod->status = now.status;
    if (!(pod->spec == now.spec)) {
      return Fail(fmt::format("{}: the spec of a pod cannot be changed", Describe(object)));
    }
    pod->metadata.deletion_timestamp = now.metadata.deletion_timestamp;
  }
  const std::string ns = metadata.namespace_;
  const std::string name = metadata.name;
  std::visit(
      [&]<class T>(T& value) {
        if constexpr (requires {
                        T::kKind;
                        value.metadata.labels;
                      }) {
          api_.Modify<T>(ns, name, [&](T& stored) { stored = std::move(value); });
        }
      },
      object);
  return {};
}

}  // namespace berth::sim
