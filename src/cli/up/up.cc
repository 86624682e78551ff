#include "cli/up/up.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "apiserver/cluster.h"
#include "cli/behaviour_flags.h"
#include "cli/config_file.h"
#include "cli/explain/what_if.h"
#include "cli/plan/plan_request.h"
#include "cli/plugins.h"
#include "cli/recording.h"
#include "cli/scheduler/stop_signal.h"
#include "cli/up/access.h"
#include "cli/up/demo.h"
#include "cli/up/view.h"
#include "config/config.h"
#include "files/read.h"
#include "kube/client/rest_client.h"
#include "kube/host/scheduler_host.h"
#include "server/dashboard/dashboard.h"
#include "server/explain/explain_api.h"
#include "server/http/host_guard.h"
#include "server/metrics/registry.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kAbout =
    "Starts a local cluster in one process: API server, simulated nodes, the usual controllers "
    "and\n"
    "the scheduler. Writes a kubeconfig for kubectl. Containers are not run; pods only pass "
    "through\n"
    "their lifecycle.\n"
    "\n"
    "usage: berth up [flags]\n"
    "\n"
    "flags:\n";

struct UpOptions {
  int64_t nodes = 50;
  std::vector<std::string> nodes_files;
  int64_t port = 8001;
  std::string bind_address = "127.0.0.1";
  std::vector<std::string> accept_hosts;
  std::string data_dir;
  std::string kubeconfig_out = "berth.kubeconfig";
  std::string config;
  std::vector<std::string> plugin_paths;
  std::string speed = "1x";
  std::string event_ttl = "1h";
  int64_t max_events = 20000;
  RecordingOptions recording;
  bool no_scheduler = false;
  bool adaptive_sampling = false;
  bool demo = false;
  bool help = false;
  BehaviourFlags behaviour;
};

Result<double> ParseSpeed(const std::string& text) {
  if (text == "max") return 0;
  char* end = nullptr;
  const double speed = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || std::string_view(end) != "x" || !(speed > 0)) {
    return Fail(fmt::format("--speed is \"1x\", \"10x\" or \"max\", not \"{}\"", text));
  }
  return speed;
}

void AddFlags(term::Flags& flags, UpOptions& options) {
  flags.AddNumber("nodes", "N", "number of simulated nodes (50)", 0, 100000, &options.nodes);
  flags.AddList("nodes-file", "FILE",
                "manifest with the nodes, instead of --nodes; its other objects are created too",
                &options.nodes_files);
  flags.AddNumber("port", "PORT", "port of the API server; 0: any free port (8001)", 0, 65535,
                  &options.port);
  flags.AddText(
      "bind-address", "IP",
      "address to listen on (127.0.0.1); beyond loopback: TLS, and the kubeconfig's token",
      &options.bind_address);
  flags.AddList("accept-hosts", "NAME",
                "further name of the server: NAME, *.SUFFIX or *; may be repeated",
                &options.accept_hosts);
  flags.AddText("data-dir", "DIR", "keep all objects here, across restarts and crashes",
                &options.data_dir);
  flags.AddText("kubeconfig-out", "FILE", "kubeconfig file to write (berth.kubeconfig)",
                &options.kubeconfig_out);
  flags.AddText("config", "FILE", "KubeSchedulerConfiguration to use", &options.config);
  options.behaviour.Add(flags);
  flags.AddList("plugin-path", "FILE|DIR",
                "shared objects with plugins that the configuration may enable; may be repeated",
                &options.plugin_paths);
  flags.AddText("speed", "FACTOR", "speed of kubelets and jobs: 1x, 10x, max (1x)", &options.speed);
  flags.AddText("event-ttl", "DURATION", "lifetime of an event after its last change (1h)",
                &options.event_ttl);
  flags.AddNumber("max-events", "N", "number of events to keep, the latest (20000)", 1, 10000000,
                  &options.max_events);
  flags.AddText("record-dir", "DIR",
                "record everything the scheduler decides on here, for berth replay",
                &options.recording.dir);
  flags.Add("record-max-bytes", "SIZE", "size of all files in --record-dir (2Gi)",
            [&options](const std::string& text) -> Result<void> {
              const auto bytes = ParseRecordBytes(text);
              if (!bytes) return Fail(bytes.error());
              options.recording.max_bytes = static_cast<uint64_t>(*bytes);
              return {};
            });
  flags.AddSwitch("record-redact",
                  "replace names, labels, images and so on in --record-dir by pseudonyms",
                  &options.recording.redact);
  flags.AddSwitch("demo",
                  "pools of nodes and workloads to look at, some pending; instead of --nodes",
                  &options.demo);
  flags.AddSwitch("adaptive-sampling",
                  "with percentageOfNodesToScore 0, score as few nodes as kube-scheduler does",
                  &options.adaptive_sampling);
  flags.AddSwitch("no-scheduler", "do not start the scheduler; use another one",
                  &options.no_scheduler);
  flags.AddSwitch("h,help", "print this help", &options.help);
}

// The scheduler, over HTTP like any other client.
class SchedulerPart {
 public:
  static Result<std::unique_ptr<SchedulerPart>> Make(const std::string& server,
                                                     const up::Access& access,
                                                     config::KubeSchedulerConfiguration config,
                                                     const config::FeatureGates& gates,
                                                     const Plugins& plugins,
                                                     const RecordingOptions& recording,
                                                     bool adaptive, up::Decisions* decisions) {
    const config::Behaviour behaviour(gates);
    auto part = std::make_unique<SchedulerPart>();
    part->loop_ = net::MakeSystemLoop();
    kube::ClientConfig client;
    client.server = server;
    client.token = access.token;
    if (access.certificate) client.tls.ca_pem = access.certificate->authority;
    auto credentials = kube::MakeCredentials(*part->loop_, client);
    if (!credentials) return Fail(credentials.error());
    kube::RestClientOptions rest;
    rest.user_agent = fmt::format("berth-up/v{} (linux/amd64)", behaviour.kubernetes_version);
    rest.qps = -1;
    // Without TLS there is no HTTP/2; but this server answers requests that come together.
    rest.max_connections = 8;
    rest.pipeline = 64;
    auto made = kube::MakeRestClient(*part->loop_, client, *credentials, rest);
    if (!made) return Fail(made.error());
    part->server_ = client;
    part->client_ = std::move(*made);
    kube::SchedulerHostOptions host;
    host.engine.behaviour = behaviour;
    host.engine.algorithm.adaptive_sampling = adaptive;
    host.engine.algorithm.seed = std::random_device()();
    host.engine.extra_plugins = plugins.extra;
    part->plugins_ = plugins.extra;
    part->config_ = config;
    part->behaviour_ = behaviour;
    host.config = std::move(config);
    host.host_name = "berth-up";
    host.make_http_client = [loop = part->loop_.get()](net::HttpClientOptions http) {
      return net::MakeHttpClient(*loop, std::move(http));
    };
    host.observer = decisions;
    if (!recording.dir.empty()) {
      auto opened = Recording::Open(recording, gates, part->metrics_);
      if (!opened) return Fail(opened.error().In("--record-dir"));
      part->recording_ = std::move(*opened);
      host.tap = &part->recording_->Tap();
    }
    auto host_made = kube::SchedulerHost::Make(*part->loop_, *part->client_, std::move(host));
    if (!host_made) return Fail(host_made.error());
    part->host_ = std::move(*host_made);
    return part;
  }

  ~SchedulerPart() { Stop(); }

  void Start() {
    thread_ = std::thread([this] { loop_->Run(); });
    host_->Start();
    host_->StartScheduling();
    if (recording_) loop_->Post([this] { recording_->Follow(*loop_, [this] { host_->Renew(); }); });
  }

  void Stop() {
    if (!thread_.joinable()) return;
    host_->Stop();
    loop_->Stop();
    thread_.join();
  }

  // What explanations need of the scheduler, which outlives them.
  server::ExplainOptions Explaining() {
    server::ExplainOptions options;
    options.on_engine = [this](auto task) { host_->Do(std::move(task)); };
    options.ready = [this] { return host_->Synced(); };
    options.config = [this] { return config_; };
    options.behaviour = behaviour_;
    options.plugins = plugins_;
    options.what_if = [this](const auto& copy, const auto& config, const auto& request) {
      return AnswerWhatIf(copy, config, behaviour_, request, plugins_);
    };
    options.what_if_groups = [this](const auto& copy, const auto& config, const auto& request) {
      return AnswerGroupWhatIf(copy, config, behaviour_, request, plugins_);
    };
    options.plan = [this](const auto& config, const std::string& body) {
      return AnswerPlanRequest(server_, config, behaviour_, body);
    };
    return options;
  }

 private:
  config::KubeSchedulerConfiguration config_;
  config::Behaviour behaviour_;
  std::vector<berth::scheduler::ExtraPlugin> plugins_;
  kube::ClientConfig server_;
  std::unique_ptr<net::SystemLoop> loop_;
  std::unique_ptr<kube::ApiClient> client_;
  server::Registry metrics_;  // of the recording; no endpoint shows them
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<kube::SchedulerHost> host_;
  std::thread thread_;
};

up::Snapshot Look(apiserver::Registry& registry, const apiserver::ApiServer& server) {
  up::Snapshot snapshot;
  const apiserver::Catalog& catalog = registry.Resources();
  const apiserver::Store& store = registry.Objects();
  for (const auto& [key, node] : store.All(catalog.Core("nodes").storage_id)) {
    ++snapshot.nodes;
    snapshot.ready_nodes += node->ready;
  }
  const apiserver::Resource& pods = catalog.Core("pods");
  const auto phase = std::find(pods.selectable.begin(), pods.selectable.end(), "status.phase");
  const size_t place = static_cast<size_t>(phase - pods.selectable.begin());
  for (const auto& [key, pod] : store.All(pods.storage_id)) {
    ++snapshot.pods;
    snapshot.pending += pod->fields[place] == "Pending";
    snapshot.running += pod->fields[place] == "Running";
  }
  snapshot.requests = server.Requests();
  return snapshot;
}

// Shows how the cluster is, until told to end.
class Display {
 public:
  Display(apiserver::Cluster& cluster, const up::Decisions& decisions)
      : cluster_(cluster),
        decisions_(decisions),
        terminal_(isatty(STDOUT_FILENO) != 0),
        view_(stdout, terminal_),
        thread_([this] { Run(); }) {}
  ~Display() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  void Run() {
    auto last = Clock::now();
    const auto period = std::chrono::seconds(terminal_ ? 1 : 5);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, period, [this] { return stopping_; })) {
      // Shared: the answer may come after we have stopped waiting for it.
      const auto snapshot = std::make_shared<std::promise<up::Snapshot>>();
      cluster_.Do([snapshot](apiserver::Registry& registry, apiserver::ApiServer& server) {
        snapshot->set_value(Look(registry, server));
      });
      auto answer = snapshot->get_future();
      if (answer.wait_for(std::chrono::seconds(5)) != std::future_status::ready) continue;
      const auto now = Clock::now();
      view_.Show(answer.get(), decisions_.Take(),
                 std::chrono::duration<double>(now - last).count());
      last = now;
    }
  }

  apiserver::Cluster& cluster_;
  const up::Decisions& decisions_;
  bool terminal_;
  up::View view_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

Result<apiserver::ClusterOptions> MakeClusterOptions(const UpOptions& options, double speed,
                                                     const up::Access& access) {
  apiserver::ClusterOptions cluster;
  cluster.bind_address = options.bind_address;
  cluster.port = static_cast<int>(options.port);
  cluster.any_port = options.port == 0;
  cluster.data_dir = options.data_dir;
  cluster.nodes =
      options.nodes_files.empty() && !options.demo ? static_cast<size_t>(options.nodes) : 0;
  if (options.demo) cluster.manifests.push_back({"--demo", up::DemoManifest()});
  for (const std::string& path : options.nodes_files) {
    auto text = files::ReadFile(path);
    if (!text) return Fail(text.error());
    cluster.manifests.push_back({path, std::move(*text)});
  }
  cluster.world.speed = speed;
  cluster.server.token = access.token;
  cluster.server.accept_hosts = options.accept_hosts;
  cluster.certificate = access.certificate;
  const auto lifetime = api::Duration::Parse(options.event_ttl);
  if (!lifetime || lifetime->ns <= 0) {
    return Fail(
        fmt::format("--event-ttl is \"1h\", \"90s\" and the like, not \"{}\"", options.event_ttl));
  }
  cluster.events.lifetime = std::chrono::nanoseconds(lifetime->ns);
  cluster.events.most = static_cast<size_t>(options.max_events);
  cluster.server.mounts.push_back(server::DashboardMount());
  std::random_device random;
  cluster.seed = (static_cast<uint64_t>(random()) << 32) | random();
  return cluster;
}

Result<int> Run(const UpOptions& options) {
  const auto start = Clock::now();
  const auto speed = ParseSpeed(options.speed);
  if (!speed) return Fail(speed.error());
  const auto gates = options.behaviour.Gates("berth up");
  if (!gates) return Fail(gates.error());
  const config::Behaviour behaviour(*gates);
  auto config = ReadConfig(options.config, behaviour, "berth up");
  if (!config) return Fail(config.error());
  const auto plugins = LoadPlugins(options.plugin_paths, "berth up");
  if (!plugins) return Fail(plugins.error());
  RecordingOptions recording = options.recording;
  recording.out_of_tree = !options.plugin_paths.empty();
  for (const std::string& host : options.accept_hosts) {
    if (auto ok = server::HostGuard::CheckPattern(host); !ok) {
      return Fail(ok.error().In("--accept-hosts"));
    }
  }
  scheduler::StopSignal stop;  // before any thread
  up::RaiseFileLimit();
  const auto access = up::MakeAccess(options.bind_address, options.accept_hosts);
  if (!access) return Fail(access.error());
  auto cluster_options = MakeClusterOptions(options, *speed, *access);
  if (!cluster_options) return Fail(cluster_options.error());
  cluster_options->gates = *gates;
  server::ExplainApi explain;
  cluster_options->server.mounts.push_back(explain.MakeMount());
  auto cluster = apiserver::Cluster::Make(std::move(*cluster_options));
  if (!cluster) {
    std::string why = cluster.error().Message();
    if (why.find("already in use") != std::string::npos) {
      why += "; choose another port with --port, or --port 0 for any";
    }
    return Fail(why);
  }
  (*cluster)->OnFailure([&stop, dir = options.data_dir](const std::string& why) {
    fmt::print(stderr, "berth up: {} can no longer be written: {}\n", dir, why);
    stop.Tell();
  });
  (*cluster)->Start();
  const std::string server = up::ServerUrl(options.bind_address, (*cluster)->Port(), *access);
  const std::string kubeconfig = up::KubeconfigText(server, *access);
  if (auto ok = up::WriteKubeconfig(options.kubeconfig_out, kubeconfig); !ok) {
    return Fail(ok.error());
  }
  up::Decisions decisions;
  std::unique_ptr<SchedulerPart> part;
  if (!options.no_scheduler) {
    auto made = SchedulerPart::Make(server, *access, std::move(*config), *gates, *plugins,
                                    recording, options.adaptive_sampling, &decisions);
    if (!made) return Fail(made.error());
    part = std::move(*made);
    part->Start();
    explain.Attach(part->Explaining());
  }
  const double took = std::chrono::duration<double>(Clock::now() - start).count();
  fmt::print(
      "berth up: API server at {}, ready in {:.2f} s. Stop with Ctrl-C.\n"
      "\n"
      "  dashboard: {}/dashboard/{}\n"
      "\n"
      "  export KUBECONFIG={}\n"
      "  kubectl get nodes\n"
      "  kubectl create deployment web --image=nginx --replicas=20\n"
      "  kubectl get pods -o wide --watch\n"
      "\n",
      server, took, server, access->token.empty() ? "" : " (it wants the token of the kubeconfig)",
      std::filesystem::absolute(options.kubeconfig_out).string());
  std::fflush(stdout);
  scheduler::StopSignal::Reason reason;
  {
    const Display display(**cluster, decisions);
    reason = stop.Wait();
  }
  explain.Stop();
  if (part) part->Stop();
  (*cluster)->Stop();
  fmt::print("\nberth up: stopped; {}\n",
             options.data_dir.empty()
                 ? "nothing was kept (--data-dir DIR keeps all objects)"
                 : fmt::format("all objects are kept in {}", options.data_dir));
  return reason == scheduler::StopSignal::Reason::kAsked ? 0 : 1;
}

}  // namespace

int Up(const std::vector<std::string>& args) {
  UpOptions options;
  term::Flags flags;
  AddFlags(flags, options);
  std::vector<std::string> rest;
  const auto complain = [](std::string_view message) {
    fmt::print(stderr, "berth up: {}\nTry 'berth up --help'.\n", message);
    return 2;
  };
  if (auto ok = flags.Parse(args, &rest); !ok) return complain(ok.error().Message());
  if (options.help) {
    fmt::print("{}{}", kAbout, flags.Help());
    return 0;
  }
  if (!rest.empty()) return complain("unexpected argument " + rest[0]);
  if (const auto speed = ParseSpeed(options.speed); !speed)
    return complain(speed.error().Message());
  const auto code = Run(options);
  if (!code) {
    fmt::print(stderr, "berth up: {}\n", code.error().Message());
    return 1;
  }
  return *code;
}

}  // namespace berth::cli
