#include "config/args/gpu_args.h"

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "config/config.h"
#include "config/field_error.h"

namespace berth::config {
namespace {

constexpr size_t kMaxExpected = 1024;

// The members that T inherits, in front of its own.
template <class T>
api::Describe<T>& WithGpus(api::Describe<T>& describe) {
  return describe
      .Field(0, "gpuResource", static_cast<std::string T::*>(&GpuResourcesSpec::gpu_resource))
      .Field(0, "shareResource", static_cast<std::string T::*>(&GpuResourcesSpec::share_resource))
      .Field(0, "sharesPerGPU", static_cast<int64_t T::*>(&GpuResourcesSpec::shares_per_gpu));
}

void CheckWatts(const std::string& path, double watts, std::vector<std::string>& errors) {
  if (watts >= 0 && watts <= 1e9) return;
  errors.push_back(fmt::format("{}: Invalid value: {}: must be watts from 0 to 1e9", path, watts));
}

}  // namespace

void GpuResourcesSpec::SetGpuDefaults() {
  if (gpu_resource.empty()) gpu_resource = "nvidia.com/gpu";
  if (share_resource.empty()) share_resource = "berth.dev/gpu-milli";
  if (shares_per_gpu == 0) shares_per_gpu = 1000;
}

void GpuResourcesSpec::ValidateGpus(std::vector<std::string>& errors) const {
  if (shares_per_gpu < 1 || shares_per_gpu > 1'000'000) {
    errors.push_back(
        fmt::format("sharesPerGPU: Invalid value: {}: must be from 1 to 1000000", shares_per_gpu));
  }
  if (gpu_resource == share_resource) {
    errors.push_back(api::InvalidString("shareResource", share_resource,
                                        "must be another resource than gpuResource"));
  }
}

// --- GpuFragmentation

const api::TypeInfo& ExpectedPods::Type() {
  using T = ExpectedPods;
  static const api::TypeInfo type = api::Describe<T>("ExpectedPods")
                                        .Field(0, "requests", &T::requests)
                                        .Field(0, "weight", &T::weight)
                                        .Build();
  return type;
}

const api::TypeInfo& GpuFragmentationArgs::Type() {
  using T = GpuFragmentationArgs;
  static const api::TypeInfo type = [] {
    api::Describe<T> describe("GpuFragmentationArgs");
    return WithGpus(describe)
        .Object(kApiVersion, "GpuFragmentationArgs")
        .Field(0, "workload", &T::workload)
        .Field(0, "lookahead", &T::lookahead)
        .Build();
  }();
  return type;
}

void GpuFragmentationArgs::Validate(std::vector<std::string>& errors) const {
  ValidateGpus(errors);
  if (workload.size() > kMaxExpected) {
    errors.push_back(fmt::format("workload: Too many: {}: must have at most {} items",
                                 workload.size(), kMaxExpected));
  }
  if (!(lookahead >= 0 && lookahead <= 1000)) {
    errors.push_back(
        fmt::format("lookahead: Invalid value: {}: must be from 0 to 1000", lookahead));
  }
  for (size_t i = 0; i < workload.size(); ++i) {
    if (workload[i].weight > 0 && workload[i].weight <= 1e12) continue;
    errors.push_back(fmt::format("workload[{}].weight: Invalid value: {}: must be above 0", i,
                                 workload[i].weight));
  }
}

// --- EnergyAware

const api::TypeInfo& CpuPowerSpec::Type() {
  using T = CpuPowerSpec;
  static const api::TypeInfo type = api::Describe<T>("CpuPower")
                                        .Field(0, "idleWatts", &T::idle_watts)
                                        .Field(0, "maxWatts", &T::max_watts)
                                        .Field(0, "coresPerPackage", &T::cores_per_package)
                                        .Field(0, "threadsPerCore", &T::threads_per_core)
                                        .Field(0, "curve", &T::curve)
                                        .Build();
  return type;
}

const api::TypeInfo& GpuPowerSpec::Type() {
  using T = GpuPowerSpec;
  static const api::TypeInfo type = api::Describe<T>("GpuPower")
                                        .Field(0, "idleWatts", &T::idle_watts)
                                        .Field(0, "maxWatts", &T::max_watts)
                                        .Build();
  return type;
}

const api::TypeInfo& NodePowerSpec::Type() {
  using T = NodePowerSpec;
  static const api::TypeInfo type = api::Describe<T>("NodePower")
                                        .Field(0, "class", &T::node_class)
                                        .Field(0, "baseWatts", &T::base_watts)
                                        .Field(0, "sleepWatts", &T::sleep_watts)
                                        .Field(0, "cpu", &T::cpu)
                                        .Field(0, "gpu", &T::gpu)
                                        .Build();
  return type;
}

const api::TypeInfo& EnergyAwareArgs::Type() {
  using T = EnergyAwareArgs;
  static const api::TypeInfo type = [] {
    api::Describe<T> describe("EnergyAwareArgs");
    return WithGpus(describe)
        .Object(kApiVersion, "EnergyAwareArgs")
        .Field(0, "classLabel", &T::class_label)
        .Field(0, "models", &T::models)
        .Field(0, "zoneLabel", &T::zone_label)
        .Field(0, "zoneMultipliers", &T::zone_multipliers)
        .Build();
  }();
  return type;
}

void EnergyAwareArgs::SetDefaults() {
  SetGpuDefaults();
  if (class_label.empty()) class_label = "berth.dev/power-class";
  if (zone_label.empty()) zone_label = "topology.kubernetes.io/zone";
  for (NodePowerSpec& model : models) {
    if (model.cpu.threads_per_core == 0) model.cpu.threads_per_core = 2;
    if (model.cpu.curve.empty()) model.cpu.curve = "Linear";
  }
}

void EnergyAwareArgs::Validate(std::vector<std::string>& errors) const {
  ValidateGpus(errors);
  if (models.empty()) errors.emplace_back("models: Required value: at least one class of nodes");
  std::set<std::string> classes;
  for (size_t i = 0; i < models.size(); ++i) {
    const NodePowerSpec& model = models[i];
    const std::string path = Item("models", i);
    if (!classes.insert(model.node_class).second) {
      errors.push_back(fmt::format("{}.class: Duplicate value: \"{}\"", path, model.node_class));
    }
    CheckWatts(path + ".baseWatts", model.base_watts, errors);
    CheckWatts(path + ".sleepWatts", model.sleep_watts.value_or(0), errors);
    CheckWatts(path + ".cpu.idleWatts", model.cpu.idle_watts, errors);
    CheckWatts(path + ".cpu.maxWatts", model.cpu.max_watts, errors);
    CheckWatts(path + ".gpu.idleWatts", model.gpu.idle_watts, errors);
    CheckWatts(path + ".gpu.maxWatts", model.gpu.max_watts, errors);
    if (model.cpu.cores_per_package < 0 || model.cpu.cores_per_package > 100'000) {
      errors.push_back(
          fmt::format("{}.cpu.coresPerPackage: Invalid value: {}: must be from 0 to "
                      "100000",
                      path, model.cpu.cores_per_package));
    }
    if (model.cpu.threads_per_core < 1 || model.cpu.threads_per_core > 64) {
      errors.push_back(fmt::format("{}.cpu.threadsPerCore: Invalid value: {}: must be from 1 to 64",
                                   path, model.cpu.threads_per_core));
    }
    if (model.cpu.curve != "Package" && model.cpu.curve != "Linear") {
      errors.push_back(fmt::format(
          "{}.cpu.curve: Unsupported value: \"{}\": supported values: \"Linear\", \"Package\"",
          path, model.cpu.curve));
    }
  }
  for (const auto& [zone, factor] : zone_multipliers) {
    if (factor >= 0 && factor <= 1e6) continue;
    errors.push_back(
        fmt::format("zoneMultipliers[{}]: Invalid value: {}: must be from 0 to 1e6", zone, factor));
  }
}

}  // namespace berth::config
