#include "config/args/node_resources_allocatable_args.h"

#include "config/config.h"
#include "config/field_error.h"

namespace berth::config {

const api::TypeInfo& NodeResourcesAllocatableArgs::Type() {
  using T = NodeResourcesAllocatableArgs;
  static const api::TypeInfo type = api::Describe<T>("NodeResourcesAllocatableArgs")
                                        .Object(kApiVersion, "NodeResourcesAllocatableArgs")
                                        .Field(0, "resources", &T::resources)
                                        .Field(0, "mode", &T::mode)
                                        .Build();
  return type;
}

// A millicore weighs as much as a mebibyte.
void NodeResourcesAllocatableArgs::SetDefaults() {
  if (resources.empty()) resources = {{"cpu", 1 << 20}, {"memory", 1}};
  if (mode.empty()) mode = "Least";
}

void NodeResourcesAllocatableArgs::Validate(std::vector<std::string>& errors) const {
  for (size_t i = 0; i < resources.size(); ++i) {
    const ResourceSpec& resource = resources[i];
    if (resource.weight > 0) continue;
    errors.push_back(
        Invalid(Child(Item("resources", i), "weight"), resource.weight,
                fmt::format("resource weight of {} should be a positive value, got :{}",
                            resource.name, resource.weight)));
  }
  if (mode != "Least" && mode != "Most") {
    errors.push_back(api::InvalidString("mode", mode, "invalid support ModeType"));
  }
}

}  // namespace berth::config
