// Process: see process.h.
#include "cli/scheduler/process.h"

#include <csignal>
#include <future>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/build_info.h"
#include "cli/plugins.h"
#include "cli/recording.h"
#include "cli/scheduler/serving.h"
#include "cli/scheduler/sharing.h"
#include "cli/scheduler/stop_signal.h"
#include "cli/scheduler/version.h"
#include "kube/client/fence.h"
#include "kube/client/rest_client.h"
#include "kube/election/leader_elector.h"
#include "kube/election/lease_times.h"
#include "kube/election/release.h"
#include "kube/host/cache_debugger.h"
#include "kube/host/scheduler_host.h"
#include "kube/host/version_follower.h"
#include "log/log.h"
#include "server/endpoints/configz.h"
#include "threads/worker_pool.h"

namespace berth::cli::scheduler {
namespace {

// Of the loop, while the API server is behind with many requests.
constexpr net::Nanoseconds kLongestPause = std::chrono::milliseconds(50);
// How long bindings under way may hold up the behaviour of another Kubernetes minor.
constexpr net::Nanoseconds kUpgradePatience = std::chrono::seconds(5);
constexpr net::Nanoseconds kReleaseTimeout = std::chrono::seconds(5);
// For an answer to arrive after the API server has given a request up.
constexpr net::Nanoseconds kAnswerGrace = std::chrono::seconds(1);
// For the event that says the Lease was lost to be sent.
constexpr std::chrono::milliseconds kLastWords(100);

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "localhost";
  return name;
}

// "vm_a322311d-24f0-491d-99cf-51595c5a7341": never the same twice.
std::string Identity(const std::string& host_name) {
  std::random_device random;
  uint32_t words[4] = {random(), random(), random(), random()};
  words[1] = (words[1] & 0xffff0fffu) | 0x00004000u;  // a random (version 4) uuid
  words[2] = (words[2] & 0x3fffffffu) | 0x80000000u;
  return fmt::format("{}_{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", host_name, words[0],
                     words[1] >> 16, words[1] & 0xffff, words[2] >> 16, words[2] & 0xffff,
                     words[3]);
}

berth::scheduler::EngineOptions EngineOptionsOf(const SchedulerOptions& options) {
  berth::scheduler::EngineOptions engine;
  engine.algorithm.adaptive_sampling = options.adaptive_sampling;
  engine.algorithm.seed = options.seed != 0 ? options.seed : std::random_device()();
  engine.max_in_unschedulable_ns = options.pod_max_in_unschedulable_pods_ns;
  engine.behaviour = options.behaviour;
  return engine;
}

void LogExtenders(const config::KubeSchedulerConfiguration& config) {
  if (!log::V(2)) return;
  for (const config::Extender& extender : config.extenders) {
    const std::string text = server::ExtenderText(extender);
    log::Info(2, "Creating extender", {{"extender", log::Raw{text}}});
  }
}

Result<void> CheckLock(const std::string& lock) {
  if (lock == "leases") return {};
  for (const char* removed : {"endpoints", "configmaps", "endpointsleases", "configmapsleases"}) {
    if (lock == removed) return Fail(lock + " lock is removed, migrate to leases");
  }
  return Fail("Invalid lock-type " + lock);
}

class RunningProcess final : public Process {
 public:
  RunningProcess(SchedulerOptions options, Remake remake)
      : options_(std::move(options)),
        remake_(std::move(remake)),
        host_name_(HostName()),
        identity_(Identity(host_name_)) {
    stop_.On(SIGHUP, [this] { Reload(); });
    stop_.On(SIGUSR2, [this] {
      if (debugger_) debugger_->Run();
    });
  }

  ~RunningProcess() override {
    if (serving_) serving_->Stop();
    if (host_) host_->Stop();
    StopLoop();
  }

  Result<void> Init() {
    loop_ = net::MakeSystemLoop();
    auto serving = Serving::Make(options_, *loop_);
    if (!serving) return Fail(serving.error());
    serving_ = std::move(*serving);
    const auto& connection = options_.config.client_connection;
    auto client = kube::LoadClientConfig(connection.kubeconfig, options_.master);
    if (!client) return Fail(client.error());
    auto credentials = kube::MakeCredentials(*loop_, *client);
    if (!credentials) return Fail(credentials.error());

    kube::RestClientOptions rest;
    rest.user_agent = UserAgent(options_.version, "scheduler");
    rest.accept = connection.accept_content_types;
    rest.content_type = connection.content_type;
    rest.qps = static_cast<float>(connection.qps);
    rest.burst = connection.burst;
    rest.observer = &serving_->Requests();
    rest.fence = &fence_;
    if (options_.config.leader_election.leader_elect) {
      rest.server_write_timeout = LeaseTimes().WriteTimeout();
    }
    auto scheduler_client = kube::MakeRestClient(*loop_, *client, *credentials, rest);
    if (!scheduler_client) return Fail(scheduler_client.error());
    client_ = std::move(*scheduler_client);

    if (options_.shares_work) {
      auto sharing =
          Sharing::Make(options_, identity_, *loop_, *client, *credentials, rest, *serving_);
      if (!sharing) return Fail(sharing.error().In("--replicas-share-work"));
      sharing_ = std::move(*sharing);
    }
    if (auto made = MakeHost(); !made) return Fail(made.error());
    return options_.config.leader_election.leader_elect ? MakeElector(*client, *credentials, rest)
                                                        : Result<void>();
  }

  const config::KubeSchedulerConfiguration& EffectiveConfig() const override { return effective_; }

  Result<int> Run() override {
    log::Info(0, "Starting Kubernetes Scheduler",
              {{"version", options_.version},
               {"implementation", "berth"},
               {"berthVersion", kBerthVersion},
               {"commit", BuildCommit()}});
    loop_thread_ = std::thread([this] { loop_->Run(); });
    auto served = serving_->Start(*host_, elector_.get(), effective_, plugins_.extra);
    if (!served) return Fail(served.error());
    if (!DelaysCache()) host_->Start();
    if (sharing_) loop_->Post([this] { sharing_->Work().Start(); });
    if (!options_.config_file.empty()) MakeReloader();
    if (options_.follows_server) loop_->Post([this] { FollowServer(); });
    if (recording_) loop_->Post([this] { recording_->Follow(*loop_, [this] { host_->Renew(); }); });
    if (!plugins_.extra.empty()) loop_->Post([this] { WatchPlugins(); });
    if (elector_) {
      loop_->Post([this] { DelaysCache() ? elector_->Start() : ElectWhenSynced(); });
    } else {
      host_->StartScheduling();
    }
    if (stop_.Wait() == StopSignal::Reason::kAsked) return Terminate();
    return LeaseLost();
  }

 private:
  Result<void> LoadPluginsOfFlags() {
    auto plugins = LoadPlugins(options_.plugin_paths);
    if (!plugins) return Fail(plugins.error());
    plugins_ = std::move(*plugins);
    if (plugins_.extra.empty()) return {};
    server::CounterFamily& faults = serving_->Metrics().AddCounter(
        {"berth_plugin_faults_total",
         "Number of calls of plugins in shared objects that failed, answered nonsense or overran",
         server::Stability::kNone,
         {"plugin", "extension_point", "kind"}});
    plugins_.reports->set_count([&faults](const loader::Fault& fault) {
      faults.With({fault.plugin, fault.point, loader::KindName(fault.kind)})->Add();
    });
    return {};
  }

  Result<void> MakeHost() {
    if (auto loaded = LoadPluginsOfFlags(); !loaded) return loaded;
    auto resolved = config::Resolve(options_.config, plugins_.Resolve(options_.behaviour));
    if (!resolved) return Fail(resolved.error());
    effective_ = resolved->effective;
    LogPlugins(*resolved);
    LogExtenders(effective_);
    const size_t threads =
        options_.threads > 0 ? options_.threads : std::thread::hardware_concurrency();
    if (threads > 1) pool_ = std::make_unique<threads::WorkerPool>(threads);
    kube::SchedulerHostOptions host;
    host.config = options_.config;
    host.engine = EngineOptionsOf(options_);
    host.engine.extra_plugins = plugins_.extra;
    host.host_name = host_name_;
    host.longest_pause = kLongestPause;
    host.marks_bindings = options_.fences_bindings && options_.config.leader_election.leader_elect;
    host.work = sharing_ ? &sharing_->Work() : nullptr;
    host.traces_latency = options_.traces_latency;
    host.make_http_client = [this](net::HttpClientOptions http) {
      return net::MakeHttpClient(*loop_, std::move(http));
    };
    if (!options_.recording.dir.empty()) {
      auto opened = Recording::Open(options_.recording, options_.gates, serving_->Metrics());
      if (!opened) return Fail(opened.error().In("--record-dir"));
      recording_ = std::move(*opened);
      host.tap = &recording_->Tap();
    }
    server::CounterFamily& polls = serving_->Metrics().AddCounter(
        {"berth_node_load_polls_total",
         "Number of times that a source of metrics was asked for the load of nodes, by result",
         server::Stability::kNone,
         {"source", "result"}});
    host.load_polled = [&polls](std::string_view source, std::string_view error) {
      polls.With({source, error.empty() ? "success" : "error"})->Add();
    };
    host.executor = pool_.get();
    host.fence = &fence_;
    host.observer = &serving_->Observer();
    host.reconnected = [this] {
      if (version_) version_->Reconnected();
    };
    auto made = kube::SchedulerHost::Make(*loop_, *client_, std::move(host));
    if (!made) return Fail(made.error());
    host_ = std::move(*made);
    debugger_ = std::make_unique<kube::CacheDebugger>(*loop_, *client_, *host_);
    return {};
  }

  Result<void> MakeElector(const kube::ClientConfig& client,
                           std::shared_ptr<kube::Credentials> credentials,
                           kube::RestClientOptions rest) {
    const auto& config = options_.config.leader_election;
    if (auto known = CheckLock(config.resource_lock); !known) {
      return Fail(known.error().In("couldn't create resource lock"));
    }
    rest.user_agent = UserAgent(options_.version, "leader-election");
    rest.timeout = net::Nanoseconds(config.renew_deadline.ns / 2);
    rest.fence = nullptr;
    rest.server_write_timeout = net::Nanoseconds(0);
    auto lease_client = kube::MakeRestClient(*loop_, client, std::move(credentials), rest);
    if (!lease_client) return Fail(lease_client.error());
    lease_client_ = std::move(*lease_client);

    kube::LeaderCallbacks callbacks;
    callbacks.started_leading = [this](const kube::Succession& succession) {
      serving_->SetLeading(succession.epoch);
      if (DelaysCache()) host_->Start();
      host_->StartScheduling(succession);
    };
    callbacks.stopped_leading = [this] { stop_.Tell(); };
    callbacks.held_until = [this](net::Nanoseconds until) { MoveFence(until); };
    callbacks.is_silent = [this] { return host_->Outstanding() == 0; };
    callbacks.new_leader = [](std::string_view) {};
    callbacks.record = [this, config](std::string_view uid, std::string_view version,
                                      std::string_view message) {
      host_->Events().RecordLeaderElection(config.resource_namespace, config.resource_name, uid,
                                           version, message);
    };
    if (sharing_) sharing_->Add(callbacks);
    auto elector =
        kube::LeaderElector::Make(*loop_, *lease_client_, config, identity_, std::move(callbacks));
    if (!elector) return Fail("couldn't create leader elector: " + elector.error().Message());
    elector_ = std::move(*elector);
    if (sharing_) sharing_->SetElector(*elector_);
    fence_.Move(net::Nanoseconds(0));  // nothing is written before the Lease is held
    return {};
  }

  // Decisions that were held back at the renew deadline go on.
  void MoveFence(net::Nanoseconds until) {
    const bool held_back = fence_.Passed(loop_->Steady());
    fence_.Move(until);
    if (held_back) host_->Do([](berth::scheduler::Engine&) {});
  }

  void MakeReloader() {
    reloader_ = std::make_unique<Reloader>(
        *loop_, *host_, serving_->Metrics(), options_.config_file, options_.config,
        plugins_.Resolve(options_.behaviour), [this] { return Load(); },
        [this](const config::KubeSchedulerConfiguration& taken) {
          LogExtenders(taken);
          serving_->SetConfig(taken);
        });
    loop_->Post([this] { reloader_->Start(); });
  }

  Result<config::KubeSchedulerConfiguration> Load() {
    auto again = remake_(options_.gates.Minor());
    if (!again) return Fail(again.error());
    return std::move(again->config);
  }

  // --- On the loop's thread: --kubernetes-version=auto
  void FollowServer() {
    std::optional<int> minor;
    if (options_.server_answered) minor = options_.gates.Minor();
    version_ = std::make_unique<kube::VersionFollower>(
        *loop_, *client_, minor, [this](const kube::ServerVersion& server) { Upgrade(server); });
    version_->Start();
  }

  void Upgrade(const kube::ServerVersion& server) {
    if (const std::string far = kube::DistanceWarning(server); !far.empty()) log::WarningLine(far);
    const int minor = kube::NearestKubernetes(server);
    if (minor == options_.gates.Minor()) return;  // it has only now said what was assumed
    if (auto taken = TakeUp(minor); !taken) {
      log::Error(
          taken.error().Message(),
          "The API server's version was not taken up, the running one stays in force",
          {{"server", server.git_version}, {"kubernetes", options_.behaviour.kubernetes_version}});
    }
  }

  Result<void> TakeUp(int minor) {
    auto next = remake_(minor);
    if (!next) return Fail(next.error());
    auto resolve = plugins_.Resolve(next->behaviour);
    auto resolved = config::Resolve(next->config, resolve);
    if (!resolved) return Fail(resolved.error());
    auto engine = host_->MakeEngine(next->config, next->behaviour);
    if (!engine) return Fail(engine.error());
    if (recording_) recording_->Allow(next->gates);
    host_->Replace(std::move(*engine), kUpgradePatience);
    if (reloader_) reloader_->Took(next->config, std::move(resolve));
    serving_->SetBehaviour(*next);
    serving_->SetConfig(resolved->effective);
    log::Info(0, "Kubernetes version changed",
              {{"from", options_.behaviour.kubernetes_version},
               {"to", next->behaviour.kubernetes_version},
               {"version", next->version}});
    options_ = std::move(*next);
    return {};
  }

  void WatchPlugins() {
    plugins_.reports->LookForHanging(std::chrono::steady_clock::now());
    loop_->After(std::chrono::seconds(1), [this] { WatchPlugins(); });
  }

  // SIGHUP.
  void Reload() {
    if (reloader_) {
      loop_->Post([this] { reloader_->Reload(); });
    } else {
      log::Info(0, "Nothing to reload: no --config was given");
    }
  }

  // delayCacheUntilActive: a standby watches nothing, and takes longer to take over.
  bool DelaysCache() const { return elector_ && options_.config.delay_cache_until_active; }

  // A standby that does not know the cluster would be a bad leader.
  void ElectWhenSynced() {
    if (host_->Synced()) {
      log::Info(3, "Handlers synced");
      elector_->Start();
    } else {
      loop_->After(std::chrono::milliseconds(20), [this] { ElectWhenSynced(); });
    }
  }

  // SIGTERM: the Lease is given up, so that another can take over at once.
  Result<int> Terminate() {
    serving_->ShuttingDown();
    host_->Stop();
    log::Info(2, "Scheduling queue is closed");
    if (elector_) Release();
    if (sharing_) sharing_->Leave();
    serving_->Stop();
    StopLoop();
    if (!elector_) return Fail("finished without leader elect");
    log::Info(0, "Requested to terminate, exiting");
    return 0;
  }

  int LeaseLost() {
    host_->Stop();
    std::this_thread::sleep_for(kLastWords);
    serving_->Stop();
    StopLoop();
    log::Error("", "Leaderelection lost");
    return 1;
  }

  void Release() {
    std::promise<void> released;
    auto done = released.get_future();
    const net::Nanoseconds patience = LeaseTimes().WriteTimeout() + kAnswerGrace;
    loop_->Post([&, patience] {
      kube::ReleaseWhenSilent(
          *loop_, *elector_, fence_, [this] { return host_->Outstanding() == 0; },
          loop_->Steady() + patience, [&] { released.set_value(); });
    });
    if (done.wait_for(patience + kReleaseTimeout) != std::future_status::ready) {
      log::Error("timed out", "Failed to release lock");
      _exit(0);  // the loop still refers to what is here
    }
  }

  kube::LeaseTimes LeaseTimes() const {
    return kube::LeaseTimes::Of(options_.config.leader_election);
  }

  void StopLoop() {
    if (!loop_thread_.joinable()) return;
    loop_->Stop();
    loop_thread_.join();
  }

  SchedulerOptions options_;
  const Remake remake_;
  const std::string host_name_;
  const std::string identity_;
  config::KubeSchedulerConfiguration effective_;
  StopSignal stop_;  // before any thread
  kube::Fence fence_;
  std::unique_ptr<net::SystemLoop> loop_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<kube::ApiClient> lease_client_;
  std::unique_ptr<Serving> serving_;
  std::unique_ptr<Recording> recording_;
  Plugins plugins_;
  std::unique_ptr<threads::WorkerPool> pool_;
  std::unique_ptr<Sharing> sharing_;
  std::unique_ptr<kube::SchedulerHost> host_;
  std::unique_ptr<kube::CacheDebugger> debugger_;
  std::unique_ptr<kube::LeaderElector> elector_;
  std::unique_ptr<Reloader> reloader_;
  std::unique_ptr<kube::VersionFollower> version_;
  std::thread loop_thread_;
};

}  // namespace

Result<std::unique_ptr<Process>> Process::Make(SchedulerOptions options, Remake remake) {
  auto process = std::make_unique<RunningProcess>(std::move(options), std::move(remake));
  if (auto made = process->Init(); !made) return Fail(made.error());
  return process;
}

}  // namespace berth::cli::scheduler
