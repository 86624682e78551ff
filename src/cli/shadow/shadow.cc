#include "cli/shadow/shadow.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "base/visible.h"
#include "cli/observe/cluster_feed.h"
#include "cli/observe/observed_cluster.h"
#include "cli/observe/serving.h"
#include "cli/plugins.h"
#include "cli/scheduler/stop_signal.h"
#include "cli/shadow/api.h"
#include "cli/shadow/board.h"
#include "cli/shadow/options.h"
#include "cli/shadow/report.h"
#include "server/dashboard/dashboard.h"
#include "shadow/shadow.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

namespace cmd = berth::cli::scheduler;

constexpr int kEqual = 0;
constexpr int kDifferent = 1;
constexpr int kUnusable = 2;

constexpr std::chrono::seconds kListPatience(90);
constexpr std::chrono::milliseconds kTick(200);
constexpr int kTicksPerFrame = 5;
constexpr size_t kLatestKept = 8;

int Complain(const std::string& what) {
  fmt::print(stderr, "berth shadow: {}\n", Visible(what, "\n"));
  return kUnusable;
}

Screen ScreenOf(FILE* out) {
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {.rows = size.ws_row, .columns = std::max<size_t>(40, size.ws_col)};
}

// Passes on what is read to a Shadow.
class ShadowSink final : public FeedSink {
 public:
  explicit ShadowSink(shadow::Shadow& shadow) : shadow_(shadow) {}

  void AdvanceTo(const api::Time& now) override { shadow_.AdvanceTo(now); }
  void Replace(std::string_view kind, std::vector<api::Object> objects) override {
    shadow_.Replace(kind, std::move(objects));
  }
  void Upsert(api::Object&& object) override { shadow_.Upsert(std::move(object)); }
  void Delete(const api::Object& object) override { shadow_.Delete(object); }
  void Start() override { shadow_.Start(); }

 private:
  shadow::Shadow& shadow_;
};

// Reads the cluster and prints what comes of it, until it is stopped.
class Run {
 public:
  Run(const ShadowFlags& flags, const ObservedCluster& cluster)
      : flags_(flags),
        board_(cluster.client.server, cluster.options.behaviour.kubernetes_version,
               static_cast<double>(flags.lag_ns) / 1e9) {}
  ~Run() { StopLoop(); }

  Result<void> Init(const ObservedCluster& cluster) {
    const cmd::SchedulerOptions& options = cluster.options;
    auto plugins = LoadPlugins(options.plugin_paths, "berth shadow");
    if (!plugins) return Fail(plugins.error());
    plugins_ = std::move(*plugins);
    shadow::ShadowOptions shadowed;
    shadowed.behaviour = options.behaviour;
    shadowed.lag_ns = flags_.lag_ns;
    shadowed.extra_plugins = plugins_.extra;
    auto made = shadow::Shadow::Make(options.config, shadowed);
    if (!made) return Fail(made.error());
    shadow_ = std::move(*made);
    const auto inputs =
        berth::scheduler::InputsOf(options.config, options.behaviour, plugins_.extra);
    if (!inputs) return Fail(inputs.error());
    loop_ = net::MakeSystemLoop();
    auto reader = MakeReader(*loop_, cluster.client, options.version, "shadow");
    if (!reader) return Fail(reader.error());
    client_ = std::move(*reader);
    sink_ = std::make_unique<ShadowSink>(*shadow_);
    feed_ = std::make_unique<ClusterFeed>(*loop_, *client_, *sink_, options.behaviour, *inputs);
    status_ = board_.Look().status;
    return Serve(cluster);
  }

  int Go() {
    loop_thread_ = std::thread([this] { loop_->Run(); });
    if (serving_) serving_->Start();
    loop_->Post([this] {
      start_ = loop_->Now();
      feed_->Start();
      Tick();
    });
    stop_.Wait();
    WaitForWindows();
    if (serving_) serving_->Stop();
    StopLoop();
    if (!failure_.empty()) return Complain(failure_);
    shadow_->Finish();
    Collect();
    return Conclude();
  }

 private:
  Result<void> Serve(const ObservedCluster& cluster) {
    board_.Count(metrics_);
    std::vector<server::Mount> mounts = {ShadowMount(board_)};
    if (cluster.options.dashboard) mounts.push_back(server::DashboardMount({"shadow"}));
    auto serving = ObserverServing::Make(cluster, *loop_, metrics_, std::move(mounts),
                                         [this]() -> Result<void> {
                                           if (!board_.Look().status.synced)
                                             return Fail("not all objects are known yet");
                                           return {};
                                         });
    if (!serving) return Fail(serving.error());
    serving_ = std::move(*serving);
    if (!serving_) return {};
    fmt::print(stderr, "berth shadow: serving on port {}{}\n", serving_->Port(),
               cluster.options.dashboard ? ", /dashboard/" : "");
    return {};
  }

  // --- On the loop's thread
  void Tick() {
    shadow_->AdvanceTo(loop_->Now());
    Collect();
    Note();
    if (++ticks_ % kTicksPerFrame == 0) Draw();
    const int64_t passed = loop_->Now().UnixNano() - start_.UnixNano();
    if (auto followed = feed_->Followed(); !followed) {
      failure_ = followed.error().Message();
    } else if (!feed_->Synced() && passed > std::chrono::nanoseconds(kListPatience).count()) {
      failure_ = "not every kind could be listed";
    }
    if (!failure_.empty()) stop_.Tell();
    if (drained_ && (shadow_->Open() == 0 || !failure_.empty())) return windows_over_.set_value();
    if (flags_.duration_ns > 0 && passed >= flags_.duration_ns && !drained_) stop_.Tell();
    loop_->After(kTick, [this] { Tick(); });
  }

  void Collect() {
    for (shadow::Comparison& comparison : shadow_->TakeComparisons()) {
      board_.Add(comparison);
      const bool differs = !IsExplained(comparison.outcome);
      if (flags_.output == "json") {
        fmt::print("{}\n", api::ToJson(comparison));
      } else if (!live_ && (differs || comparison.outcome == shadow::Outcome::kRace)) {
        fmt::print("{}\n", Line(comparison));
      }
    }
    board_.SetUnseen(shadow_->Unseen());
    std::fflush(stdout);
  }

  void Note() {
    status_.seconds = (loop_->Now().UnixNano() - start_.UnixNano()) / 1'000'000'000;
    status_.nodes = static_cast<int64_t>(shadow_->GetCluster().NodeCount());
    status_.pending = static_cast<int64_t>(shadow_->PendingPods());
    status_.open = static_cast<int64_t>(shadow_->Open());
    status_.synced = feed_->Synced();
    board_.SetStatus(status_);
  }

  void Draw() {
    if (!live_) return;
    const std::string table = LiveTable(status_, board_.Look().summary, board_.Latest(kLatestKept),
                                        ScreenOf(stdout), term::UsesColour(stdout));
    if (drawn_ > 0) fmt::print("\x1b[{}A\x1b[J", drawn_);
    std::fputs(table.c_str(), stdout);
    std::fflush(stdout);
    drawn_ = std::count(table.begin(), table.end(), '\n');
  }

  // --- On the main thread
  // No more decisions are compared, but those that differ get the time of their window.
  void WaitForWindows() {
    loop_->Post([this] {
      shadow_->Drain();
      drained_ = true;
    });
    windows_over_.get_future().wait();
  }

  void StopLoop() {
    if (!loop_thread_.joinable()) return;
    loop_->Stop();
    loop_thread_.join();
  }

  int Conclude() {
    const std::string end =
        api::Time::FromUnixNano(std::chrono::system_clock::now().time_since_epoch() /
                                std::chrono::nanoseconds(1))
            .Format();
    const shadow::Summary summary = board_.Conclude(start_.Format(), end);
    if (flags_.output == "json") {
      fmt::print("{}\n", api::ToJson(summary));
    } else {
      std::fputs(Conclusion(summary, term::UsesColour(stdout)).c_str(), stdout);
    }
    if (!flags_.report.empty()) {
      std::ofstream file(flags_.report, std::ios::trunc);
      file << (flags_.report.ends_with(".json") ? api::ToJson(summary) + "\n"
                                                : ToMarkdown(summary));
      file.close();
      if (!file) return Complain("--report: cannot write " + flags_.report);
    }
    const int64_t races = summary.Count(shadow::Outcome::kRace);
    if (flags_.fail_on == FailOn::kNever) return kEqual;
    const bool fails = summary.unexplained > 0 || (flags_.fail_on == FailOn::kRace && races > 0);
    return fails ? kDifferent : kEqual;
  }

  const ShadowFlags flags_;
  const bool live_ = flags_.output == "text" && isatty(STDOUT_FILENO) != 0;
  cmd::StopSignal stop_;  // before any thread
  std::promise<void> windows_over_;
  Plugins plugins_;
  server::Registry metrics_;
  Board board_;
  std::unique_ptr<shadow::Shadow> shadow_;
  std::unique_ptr<net::SystemLoop> loop_;
  std::unique_ptr<kube::ReadOnlyClient> client_;
  std::unique_ptr<ShadowSink> sink_;
  std::unique_ptr<ClusterFeed> feed_;
  std::unique_ptr<ObserverServing> serving_;
  std::thread loop_thread_;

  // The loop's, and the main thread's once the loop has stopped.
  ShadowStatus status_;
  api::Time start_;
  int64_t ticks_ = 0;
  int64_t drawn_ = 0;  // lines
  bool drained_ = false;
  std::string failure_;
};

}  // namespace

int Shadow(const std::vector<std::string>& args) {
  auto own = ParseShadowFlags(args);
  if (!own) return Complain(own.error().Message());
  if (own->help) {
    std::fputs(ShadowHelp().c_str(), stdout);
    return kEqual;
  }
  const auto cluster = FindObservedCluster("berth shadow", own->rest);
  if (!cluster) return cluster.error();
  Run run(*own, *cluster);
  if (auto made = run.Init(*cluster); !made) return Complain(made.error().Message());
  return run.Go();
}

}  // namespace berth::cli
