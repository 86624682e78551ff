#include "cli/plugins.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "log/log.h"

namespace berth::cli {
namespace {

bool IsPowerOfTen(uint64_t n) {
  while (n % 10 == 0) n /= 10;
  return n == 1;
}

Result<Plugins> Load(const std::vector<std::string>& paths, PluginReports::Say say) {
  Plugins plugins;
  plugins.reports = std::make_unique<PluginReports>(std::move(say));
  auto loaded = loader::LoadPlugins(paths, *plugins.reports);
  if (!loaded) return Fail(loaded.error());
  plugins.extra = std::move(*loaded);
  return plugins;
}

}  // namespace

void PluginReports::Faulted(const loader::Fault& fault) {
  if (count_) count_(fault);
  uint64_t times = 0;
  {
    const std::lock_guard lock(mutex_);
    times = ++seen_[{std::string(fault.plugin), std::string(fault.point), fault.kind}];
  }
  if (!IsPowerOfTen(times)) return;
  std::string line =
      fmt::format("{}: {}: {}", fault.point, loader::KindName(fault.kind), fault.message);
  if (times > 1) line += fmt::format(" ({} times so far)", times);
  say_(true, fault.plugin, line);
}

void PluginReports::Logged(std::string_view plugin, const std::string& message) {
  say_(false, plugin, message);
}

void PluginReports::Entered(const void* call, std::string_view plugin, std::string_view point) {
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  calls_[call] = {plugin, point, now};
}

void PluginReports::Left(const void* call) {
  const std::lock_guard lock(mutex_);
  calls_.erase(call);
}

void PluginReports::LookForHanging(Clock::time_point now) {
  std::vector<std::pair<std::string, std::string>> hang;  // copies: a call may end meanwhile
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, call] : calls_) {
      if (call.told || now - call.began < kHangs) continue;
      call.told = true;
      hang.emplace_back(call.plugin, call.point);
    }
  }
  for (const auto& [plugin, point] : hang) {
    Faulted({plugin, point, loader::Fault::Kind::kHang,
             fmt::format("has not returned for {} s; no pod is scheduled until it does",
                         kHangs.count())});
  }
}

config::ResolveOptions Plugins::Resolve(const config::Behaviour& behaviour) const {
  config::ResolveOptions options;
  options.behaviour = behaviour;
  options.out_of_tree = berth::scheduler::OutOfTree(extra);
  return options;
}

Result<Plugins> LoadPlugins(const std::vector<std::string>& paths, std::string_view command) {
  return Load(paths, [command = std::string(command)](bool, std::string_view plugin,
                                                      const std::string& line) {
    fmt::print(stderr, "{}: plugin {}: {}\n", command, plugin, line);
  });
}

Result<Plugins> LoadPlugins(const std::vector<std::string>& paths) {
  auto plugins = Load(paths, [](bool is_fault, std::string_view plugin, const std::string& line) {
    if (is_fault) {
      log::Error(line, "Plugin misbehaved", {{"plugin", plugin}});
    } else {
      log::Info(0, line, {{"plugin", plugin}});
    }
  });
  if (!plugins) return plugins;
  for (const auto& plugin : plugins->extra) {
    log::Info(0, "Plugin loaded", {{"plugin", plugin.row.name}});
  }
  return plugins;
}

}  // namespace berth::cli
