#include "plugins/common/node_power.h"

#include <algorithm>

namespace berth::plugins {
namespace {

int64_t DivideUp(int64_t a, int64_t b) { return a <= 0 ? 0 : (a - 1) / b + 1; }

double CpuWatts(const config::CpuPowerSpec& cpu, const NodeUse& use) {
  const int64_t per_core = 1000 * std::max<int64_t>(1, cpu.threads_per_core);
  const int64_t cores = DivideUp(use.milli_cpu_allocatable, per_core);
  if (cores == 0) return 0;
  const int64_t per_package = cpu.cores_per_package > 0 ? cpu.cores_per_package : cores;
  const int64_t packages = DivideUp(cores, per_package);
  if (cpu.curve == "Package") {
    const int64_t free =
        std::max<int64_t>(0, use.milli_cpu_allocatable - std::max<int64_t>(0, use.milli_cpu_used));
    const int64_t working = std::max<int64_t>(0, cores - free / per_core);
    const int64_t active = std::min(packages, DivideUp(working, per_package));
    return cpu.max_watts * static_cast<double>(active) +
           cpu.idle_watts * static_cast<double>(packages - active);
  }
  const double share = std::clamp(
      static_cast<double>(use.milli_cpu_used) / static_cast<double>(use.milli_cpu_allocatable), 0.0,
      1.0);
  return static_cast<double>(packages) *
         (cpu.idle_watts + (cpu.max_watts - cpu.idle_watts) * share);
}

}  // namespace

double WattsOf(const config::NodePowerSpec& model, const NodeUse& use) {
  if (!use.has_pods && model.sleep_watts) return *model.sleep_watts;
  return model.base_watts + CpuWatts(model.cpu, use) +
         model.gpu.max_watts * static_cast<double>(use.gpus_used) +
         model.gpu.idle_watts * static_cast<double>(use.gpus - use.gpus_used);
}

}  // namespace berth::plugins
