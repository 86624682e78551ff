// Plugins: those of --plugin-path, and what is told about them while they run.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "config/config.h"
#include "loader/faults.h"
#include "loader/loader.h"
#include "scheduler/profile_set.h"

namespace berth::cli {

// Tells of faults by plugin, extension point and kind: of the first, the tenth, the hundredth and
// so on, so that a plugin that fails for every node does not drown everything else.
class PluginReports final : public loader::PluginWatch {
 public:
  // Takes a line about `plugin`. Called from any thread.
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kHangs{5};
  using Say = std::function<void(bool is_fault, std::string_view plugin, const std::string& line)>;
  explicit PluginReports(Say say) : say_(std::move(say)) {}

  // Told of every fault; set before any plugin runs.
  void set_count(std::function<void(const loader::Fault&)> count) { count_ = std::move(count); }

  void Faulted(const loader::Fault& fault) override;
  void Logged(std::string_view plugin, const std::string& message) override;
  void Entered(const void* call, std::string_view plugin, std::string_view point) override;
  void Left(const void* call) override;

  // Tells, once, of each call that has not returned for kHangs. A plugin that never returns cannot
  // tell itself.
  void LookForHanging(Clock::time_point now);

 private:
  struct Call {
    std::string_view plugin;
    std::string_view point;
    Clock::time_point began;
    bool told = false;
  };

  const Say say_;
  std::function<void(const loader::Fault&)> count_;
  std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, loader::Fault::Kind>, uint64_t> seen_;
  std::map<const void*, Call> calls_;  // under way
};

// Must outlive everything made from it.
struct Plugins {
  std::unique_ptr<PluginReports> reports;
  std::vector<berth::scheduler::ExtraPlugin> extra;

  // With what Resolve must know of them.
  config::ResolveOptions Resolve(const config::Behaviour& behaviour = {}) const;
};

// For a command: faults go to standard error behind its name.
Result<Plugins> LoadPlugins(const std::vector<std::string>& paths, std::string_view command);
// For a server: faults go to the log.
Result<Plugins> LoadPlugins(const std::vector<std::string>& paths);

}  // namespace berth::cli
