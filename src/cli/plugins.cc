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

config::ResolveOptions Plugins::Resolve() const {
  config::ResolveOptions options;
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
