#include "cli/record/record.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "api/time.h"
#include "base/visible.h"
#include "cli/observe/cluster_feed.h"
#include "cli/observe/observed_cluster.h"
#include "cli/observe/own_flags.h"
#include "cli/observe/serving.h"
#include "cli/plugins.h"
#include "cli/record/observer.h"
#include "cli/recording.h"
#include "cli/scheduler/stop_signal.h"
#include "log/log.h"

namespace berth::cli {
namespace {

namespace cmd = berth::cli::scheduler;

constexpr int kDone = 0;
constexpr int kEnded = 1;
constexpr int kUnusable = 2;

constexpr std::chrono::seconds kListPatience(90);
constexpr std::chrono::seconds kTick(1);

constexpr std::string_view kIntro =
    "Records what the scheduler of a cluster sees and decides, without scheduling. The cluster is\n"
    "only read: get, list and watch are all the rights that are needed. 'berth replay' and 'berth\n"
    "explain --recording' work on the recording, offline and with other rules too.\n"
    "\n"
    "usage: berth record --kubeconfig FILE --record-dir DIR [--config FILE] [flags of "
    "kube-scheduler]\n"
    "\n"
    "Give the flags and the --config of the running kube-scheduler, and a --kubeconfig of a user\n"
    "who may read. Flags about leader election have no effect. --secure-port has the metrics.\n"
    "\n"
    "flags:\n";

// What 'berth scheduler --help' says of them, in one line each.
constexpr std::string_view kSharedFlags =
    "      --record-dir DIR           where the recording goes; needed\n"
    "      --record-max-bytes SIZE    size of all files in DIR (default 2Gi)\n"
    "      --record-redact            replace names, labels, images and other words of the "
    "cluster\n"
    "      --secure-port PORT         serve /metrics, on 127.0.0.1 unless --bind-address is "
    "given\n";

constexpr std::string_view kEnd =
    "\n'berth scheduler --help' lists the flags of kube-scheduler.\n"
    "\n"
    "exit code: 0 stopped by a signal or --duration, 1 the recording ended before its time,\n"
    "2 bad flags or no cluster\n";

int Complain(const std::string& what) {
  fmt::print(stderr, "berth record: {}\n", Visible(what, "\n"));
  return kUnusable;
}

class Run {
 public:
  explicit Run(int64_t duration_ns) : duration_ns_(duration_ns) {}
  ~Run() { StopLoop(); }

  Result<void> Init(const ObservedCluster& cluster) {
    const cmd::SchedulerOptions& options = cluster.options;
    auto plugins = LoadPlugins(options.plugin_paths, "berth record");
    if (!plugins) return Fail(plugins.error());
    plugins_ = std::move(*plugins);
    behaviour_ = options.behaviour;
    auto inputs = berth::scheduler::InputsOf(options.config, behaviour_, plugins_.extra);
    if (!inputs) return Fail(inputs.error());
    inputs_ = std::move(*inputs);
    loop_ = net::MakeSystemLoop();
    auto reader = MakeReader(*loop_, cluster.client, options.version, "record");
    if (!reader) return Fail(reader.error());
    client_ = std::move(*reader);
    auto serving = ObserverServing::Make(cluster, *loop_, metrics_, {}, [this] { return Ready(); });
    if (!serving) return Fail(serving.error());
    serving_ = std::move(*serving);
    RecordingOptions recording = options.recording;
    recording.observed = true;
    dir_ = recording.dir;
    auto opened = Recording::Open(recording, options.gates, metrics_);
    if (!opened) return Fail(opened.error().In("--record-dir"));
    recording_ = std::move(*opened);
    berth::scheduler::EngineOptions engine;
    engine.behaviour = behaviour_;
    engine.algorithm.adaptive_sampling = options.adaptive_sampling;
    engine.algorithm.seed = options.seed;
    engine.max_in_unschedulable_ns = options.pod_max_in_unschedulable_pods_ns;
    engine.extra_plugins = plugins_.extra;
    observer_ = std::make_unique<RecordingObserver>(recording_->Recorder(), options.config,
                                                    std::move(engine));
    return {};
  }

  int Go() {
    loop_thread_ = std::thread([this] { loop_->Run(); });
    if (serving_) serving_->Start();
    loop_->Post([this] {
      start_ = loop_->Now();
      BeginRun();
      recording_->Follow(*loop_, [this] { BeginRun(); });
      Tick();
    });
    stop_.Wait();
    if (serving_) serving_->Stop();
    StopLoop();
    if (!failure_.empty()) return Complain(failure_);
    return Conclude();
  }

 private:
  // --- On the loop's thread
  // Everything is listed again: a run can be played by itself.
  void BeginRun() {
    if (feed_) feed_->Stop();
    observer_->Begin(loop_->Now());
    feed_ = std::make_unique<ClusterFeed>(*loop_, *client_, *observer_, behaviour_, inputs_);
    feed_->Start();
    listing_since_ = loop_->Now().UnixNano();
  }

  void Tick() {
    recording_->Recorder().Flush();
    const int64_t now = loop_->Now().UnixNano();
    if (auto followed = feed_->Followed(); !followed) {
      failure_ = followed.error().Message();
    } else if (!feed_->Synced() &&
               now - listing_since_ > std::chrono::nanoseconds(kListPatience).count()) {
      failure_ = "not every kind could be listed";
    }
    synced_ = feed_->Synced();
    const int64_t passed = now - start_.UnixNano();
    if (!failure_.empty() || (duration_ns_ > 0 && passed >= duration_ns_)) stop_.Tell();
    Draw(passed / 1'000'000'000);
    loop_->After(kTick, [this] { Tick(); });
  }

  void Draw(int64_t seconds) {
    if (!live_) return;
    fmt::print("\r\x1b[K{:02}:{:02}:{:02}  run {}  {} objects{}, {} changes, {:.1f} MB{}",
               seconds / 3600, seconds / 60 % 60, seconds % 60, recording_->Run(),
               observer_->Objects(), synced_ ? "" : " (listing)", observer_->Changes(),
               static_cast<double>(recording_->WrittenBytes()) / 1e6,
               recording_->Active() ? "" : "  ENDED");
    std::fflush(stdout);
  }

  // --- On the serving thread
  Result<void> Ready() const {
    if (!synced_) return Fail("not all objects are known yet");
    return {};
  }

  // --- On the main thread
  void StopLoop() {
    if (!loop_thread_.joinable()) return;
    loop_->Stop();
    loop_thread_.join();
  }

  int Conclude() {
    const bool active = recording_->Active();
    const uint32_t run = recording_->Run();
    recording_.reset();  // writes what waits
    fmt::print("{}recorded {} objects and {} changes into {}, run {}\n", live_ ? "\r\x1b[K" : "",
               observer_->Objects(), observer_->Changes(), Visible(dir_), run);
    return active ? kDone : kEnded;
  }

  const int64_t duration_ns_;
  const bool live_ = isatty(STDOUT_FILENO) != 0;
  cmd::StopSignal stop_;  // before any thread
  std::string dir_;
  Plugins plugins_;
  config::Behaviour behaviour_;
  cluster::PluginInputs inputs_;
  std::unique_ptr<net::SystemLoop> loop_;
  std::unique_ptr<kube::ReadOnlyClient> client_;
  server::Registry metrics_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<RecordingObserver> observer_;
  std::unique_ptr<ClusterFeed> feed_;
  std::unique_ptr<ObserverServing> serving_;
  std::thread loop_thread_;
  std::atomic<bool> synced_ = false;

  // The loop's, and the main thread's once the loop has stopped.
  api::Time start_;
  int64_t listing_since_ = 0;
  std::string failure_;
};

}  // namespace

int Record(const std::vector<std::string>& args) {
  int64_t duration_ns = 0;
  bool help = false;
  term::Flags flags;
  AddDuration(flags, &duration_ns);
  flags.AddSwitch("h,help", "show this help", &help);
  auto rest = ParseOwn(flags, {"--duration"}, args);
  if (!rest) return Complain(rest.error().Message());
  if (help) {
    fmt::print("{}{}{}{}", kIntro, flags.Help(), kSharedFlags, kEnd);
    return kDone;
  }
  const auto cluster = FindObservedCluster("berth record", std::move(*rest));
  if (!cluster) return cluster.error();
  if (cluster->options.recording.dir.empty()) return Complain("--record-dir DIR is needed");
  Run run(duration_ns);
  if (auto made = run.Init(*cluster); !made) return Complain(made.error().Message());
  return run.Go();
}

}  // namespace berth::cli
