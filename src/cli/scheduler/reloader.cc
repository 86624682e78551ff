// Reloader: see reloader.h.
#include "cli/scheduler/reloader.h"

#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "files/read.h"

namespace berth::cli::scheduler {
namespace {

constexpr std::chrono::seconds kPeriod(5);
// How long bindings under way may hold up the new configuration.
constexpr std::chrono::seconds kPatience(5);

}  // namespace

std::vector<std::string> NeedsRestart(const config::KubeSchedulerConfiguration& running,
                                      const config::KubeSchedulerConfiguration& wanted) {
  std::vector<std::string> fields;
  if (!(running.leader_election == wanted.leader_election)) fields.push_back("leaderElection");
  if (!(running.client_connection == wanted.client_connection)) {
    fields.push_back("clientConnection");
  }
  if (running.enable_profiling != wanted.enable_profiling) fields.push_back("enableProfiling");
  if (running.enable_contention_profiling != wanted.enable_contention_profiling) {
    fields.push_back("enableContentionProfiling");
  }
  if (running.delay_cache_until_active != wanted.delay_cache_until_active) {
    fields.push_back("delayCacheUntilActive");
  }
  if (running.parallelism != wanted.parallelism) fields.push_back("parallelism");
  return fields;
}

Reloader::Reloader(net::Loop& loop, kube::SchedulerHost& host, server::Registry& registry,
                   std::string file, config::KubeSchedulerConfiguration running,
                   config::ResolveOptions resolve, Load load, Taken taken)
    : loop_(loop),
      host_(host),
      reloads_(
          registry.AddCounter({"berth_config_reloads_total",
                               "Number of times a changed configuration was taken up or refused",
                               server::Stability::kNone,
                               {"result"}})),
      file_(std::move(file)),
      started_(running),
      running_(std::move(running)),
      resolve_(std::move(resolve)),
      load_(std::move(load)),
      taken_(std::move(taken)) {
  // There from the start: what is not there at first cannot be seen to rise.
  for (const char* result : {"success", "error"}) reloads_.With({result});
  if (auto read = files::ReadFile(file_)) contents_ = std::move(*read);
}

// The file may have changed between the start of the process and now.
void Reloader::Start() {
  if (const auto loaded = load_(); loaded && !(*loaded == running_)) Reload();
  LookSoon();
}

void Reloader::LookSoon() {
  loop_.After(kPeriod, [this] {
    LookForChange();
    LookSoon();
  });
}

// A file that cannot be read is on its way to be replaced.
void Reloader::LookForChange() {
  auto read = files::ReadFile(file_);
  if (!read || *read == contents_) return;
  Reload();
}

void Reloader::Reload() {
  if (auto read = files::ReadFile(file_)) contents_ = std::move(*read);
  auto taken = TakeUp();
  reloads_.With({taken ? "success" : "error"})->Add();
  if (!taken) {
    log::Error(taken.error().Message(),
               "Configuration was not taken up, the running one stays in force", {{"file", file_}});
  }
}

Result<void> Reloader::TakeUp() {
  auto wanted = load_();
  if (!wanted) return Fail(wanted.error());
  auto resolved = config::Resolve(*wanted, resolve_);
  if (!resolved) return Fail(resolved.error());
  auto engine = host_.MakeEngine(*wanted, resolve_.behaviour);
  if (!engine) return Fail(engine.error());
  const std::vector<std::string> late = NeedsRestart(started_, *wanted);
  if (!late.empty()) {
    log::WarningLine(fmt::format("{}: a change of {} takes effect at the next start", file_,
                                 fmt::join(late, ", ")));
  }
  host_.Replace(std::move(*engine), kPatience);
  running_ = *wanted;
  taken_(resolved->effective);
  log::Info(0, "Configuration taken up", {{"file", file_}});
  return {};
}

}  // namespace berth::cli::scheduler
