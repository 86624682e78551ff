// Serving: see serving.h.
#include "cli/scheduler/serving.h"

#include <future>

#include <fmt/format.h>

#include "cli/build_info.h"
#include "cli/explain/what_if.h"
#include "cli/plan/plan_request.h"
#include "cli/scheduler/serving_options.h"
#include "cli/scheduler/version.h"
#include "server/dashboard/dashboard.h"
#include "server/endpoints/configz.h"
#include "server/metrics/pod_resources.h"

namespace berth::cli::scheduler {
namespace {

// How long the renew deadline may have passed before /healthz says so.
constexpr net::Nanoseconds kElectionTolerance = std::chrono::seconds(20);
// A loop that does not answer within this time is not healthy.
constexpr std::chrono::seconds kLoopPatience(2);

// "1.34.10" of "v1.34.10".
std::string BinaryVersion(const std::string& version) {
  return version.starts_with('v') ? version.substr(1) : version;
}

server::ComponentInfo Component(const SchedulerOptions& options) {
  server::ComponentInfo info;
  info.git_version = options.version;
  info.git_commit = "berth";
  info.berth_version = kBerthVersion;
  info.berth_commit = BuildCommit();
  info.binary_version = BinaryVersion(options.version);
  info.emulation_version = fmt::format("1.{}", options.gates.Emulated());
  info.min_compat_version = fmt::format("1.{}", options.gates.MinCompatibility());
  info.release = options.behaviour.release;
  info.compiler = "gcc";
  info.compiler_version = __VERSION__;
  for (const auto& gate : options.gates.All()) {
    info.features.push_back(
        {std::string(gate.name), std::string(config::StageName(gate.spec.stage)), gate.enabled});
  }
  return info;
}

server::ZPages PagesOf(const SchedulerOptions& options) {
  server::ZPages pages;
  pages.statusz = options.behaviour.statusz;
  pages.flagz = options.behaviour.flagz;
  pages.release = options.behaviour.release;
  pages.binary_version = BinaryVersion(options.version);
  pages.emulation_version = fmt::format("1.{}", options.gates.Emulated());
  pages.paths = {"/configz", "/healthz", "/livez", "/metrics", "/readyz"};
  if (pages.flagz) pages.paths.insert(pages.paths.begin() + 1, "/flagz");
  return pages;
}

}  // namespace

Result<std::unique_ptr<Serving>> Serving::Make(const SchedulerOptions& options,
                                               net::SystemLoop& loop) {
  server::RegistryOptions registry;
  registry.disabled.insert(options.metrics.disabled.begin(), options.metrics.disabled.end());
  registry.allowed_labels.insert(options.metrics.allowed_labels.begin(),
                                 options.metrics.allowed_labels.end());
  std::unique_ptr<Serving> serving(new Serving(loop, std::move(registry)));
  serving->MakeMetrics(options);
  if (auto made = serving->MakeAuth(options); !made) return Fail(made.error());
  server::ServerOptions& server = serving->server_options_;
  server.serving = ListenerOptions(options.serving);
  server.endpoints.profiling = options.config.enable_profiling;
  serving->pages_ = PagesOf(options);
  server.endpoints.zpages = [self = serving.get()] {
    const std::lock_guard lock(self->configz_mutex_);
    return self->pages_;
  };
  server.endpoints.flags = options.flags;
  server.endpoints.metrics = &serving->registry_;
  serving->explains_in_events_ = options.explain_events;
  serving->behaviour_ = options.behaviour;
  serving->api_server_ = [kubeconfig = options.config.client_connection.kubeconfig,
                          master = options.master] {
    return kube::LoadClientConfig(kubeconfig, master);
  };
  if (options.dashboard) server.endpoints.mounts.push_back(server::DashboardMount());
  return serving;
}

Serving::~Serving() { Stop(); }

void Serving::MakeMetrics(const SchedulerOptions& options) {
  server::SchedulerMetricsOptions metrics;
  metrics.profiles.clear();
  for (const auto& profile : options.config.profiles) {
    metrics.profiles.push_back(profile.scheduler_name);
  }
  metrics.behaviour = options.behaviour;
  metrics_ = std::make_unique<server::SchedulerMetrics>(registry_, metrics);
  decisions_ = std::make_unique<DecisionLog>(*metrics_);
  decisions_->Follow(options.behaviour);
  decisions_->CountSlowCycles(registry_.AddCounter(
      {"berth_slow_cycles_total",
       "Number of scheduling cycles that took 100 ms or more, by the namespace of the pod",
       server::Stability::kNone,
       {"namespace"}}));
  requests_ = std::make_unique<server::ClientMetrics>(registry_);
  leader_ = std::make_unique<server::LeaderMetrics>(registry_,
                                                    options.config.leader_election.resource_name);
  server::AddProcessMetrics(registry_);
  server::AddRegistryMetrics(registry_);
  component_ = std::make_unique<server::ComponentMetrics>(registry_);
  component_->Set(Component(options));
}

Result<void> Serving::MakeAuth(const SchedulerOptions& options) {
  if (options.serving.port == 0) return {};  // nobody to let in
  auto authentication = ReviewClient(options.authentication.kubeconfig, "authentication",
                                     options.version, loop_, *requests_);
  if (!authentication) return Fail(authentication.error());
  authentication_ = std::move(*authentication);
  auto authorization = ReviewClient(options.authorization.kubeconfig, "authorization",
                                    options.version, loop_, *requests_);
  if (!authorization) return Fail(authorization.error());
  authorization_ = std::move(*authorization);

  server::AuthOptions& auth = server_options_.auth;
  auth = AuthOptionsOf(options);
  auth.loop = &loop_;
  auth.authentication = authentication_.get();
  auth.authorization = authorization_.get();
  return {};
}

void Serving::SetLeading(int64_t epoch) {
  leading_ = true;
  leader_->SetLeading(epoch);
}

void Serving::SetConfig(const config::KubeSchedulerConfiguration& effective) {
  const std::lock_guard lock(configz_mutex_);
  configz_ = server::ConfigzText(effective, behaviour_);
  config_ = effective;
}

void Serving::SetBehaviour(const SchedulerOptions& options) {
  {
    const std::lock_guard lock(configz_mutex_);
    behaviour_ = options.behaviour;
    pages_ = PagesOf(options);
  }
  component_->Set(Component(options));
  host_->Do([this, behaviour = options.behaviour](berth::scheduler::Engine&) {
    metrics_->Follow(behaviour);
    decisions_->Follow(behaviour);
  });
  explain_.Attach(Explaining());
  if (!explain_events_) return;
  explain_events_->Stop();
  StartExplainEvents();
}

Result<void> Serving::CheckElector() const {
  // Shared: the answer may come when nobody waits for it any more.
  auto answer = std::make_shared<std::promise<Result<void>>>();
  auto checked = answer->get_future();
  loop_.Post([this, answer] { answer->set_value(elector_->Check(kElectionTolerance)); });
  if (checked.wait_for(kLoopPatience) != std::future_status::ready) {
    return Fail("no answer from the thread that renews the lease");
  }
  return checked.get();
}

Result<void> Serving::Start(kube::SchedulerHost& host, kube::LeaderElector* elector,
                            const config::KubeSchedulerConfiguration& effective,
                            std::vector<berth::scheduler::ExtraPlugin> plugins) {
  host_ = &host;
  plugins_ = std::move(plugins);
  elector_ = elector;
  SetConfig(effective);
  server::EndpointOptions& endpoints = server_options_.endpoints;
  if (elector != nullptr) {
    const server::HealthCheck election{"leaderElection", [this] { return CheckElector(); }};
    endpoints.healthz.push_back(election);
    endpoints.readyz.push_back(election);
  }
  endpoints.readyz.push_back({"shutdown", [this]() -> Result<void> {
                                if (shutting_down_) return Fail("process is shutting down");
                                return {};
                              }});
  endpoints.readyz.push_back({"sched-handler-sync", [this]() -> Result<void> {
                                if (!host_->Synced()) return Fail("not all objects are known yet");
                                return host_->Followed();
                              }});
  endpoints.configz = [this] {
    const std::lock_guard lock(configz_mutex_);
    return configz_;
  };
  endpoints.refresh_metrics = [this](std::function<void()> done) {
    host_->Do([this, done = std::move(done)](berth::scheduler::Engine& engine) {
      metrics_->Refresh(engine);
      done();
    });
  };
  endpoints.verbosity_changed = [this] {
    host_->Do([this](berth::scheduler::Engine&) { decisions_->FollowVerbosity(); });
  };
  endpoints.pod_resources = [this](auto done) {
    if (elector_ != nullptr && !leading_) return done(nullptr);
    host_->Do([this, done = std::move(done)](berth::scheduler::Engine& engine) {
      done(server::CollectPodResources(engine.GetCluster(), host_->Others()));
    });
  };
  explain_.Attach(Explaining());
  endpoints.mounts.push_back(explain_.MakeMount());
  auto server = server::Server::Make(std::move(server_options_));
  if (!server) return Fail(server.error());
  server_ = std::move(*server);
  server_->Start();
  if (explains_in_events_) StartExplainEvents();
  return {};
}

void Serving::StartExplainEvents() {
  const server::ExplainOptions explaining = Explaining();
  server::ExplainEventsOptions options;
  options.on_engine = explaining.on_engine;
  options.ready = explaining.ready;
  options.config = explaining.config;
  options.behaviour = explaining.behaviour;
  options.plugins = explaining.plugins;
  options.record = [this](const berth::scheduler::RecordEvent& event) {
    loop_.Post([this, event] { host_->Events().Record(event); });
  };
  explain_events_ = std::make_unique<server::ExplainEvents>(std::move(options));
}

server::ExplainOptions Serving::Explaining() {
  server::ExplainOptions options;
  options.on_engine = [this](auto task) { host_->Do(std::move(task)); };
  options.ready = [this] { return host_->Synced() && (elector_ == nullptr || leading_); };
  options.config = [this] {
    const std::lock_guard lock(configz_mutex_);
    return config_;
  };
  {
    const std::lock_guard lock(configz_mutex_);
    options.behaviour = behaviour_;
  }
  options.plugins = plugins_;
  options.what_if = [this, behaviour = options.behaviour](const auto& copy, const auto& config,
                                                          const auto& request) {
    return AnswerWhatIf(copy, config, behaviour, request, plugins_);
  };
  options.what_if_groups = [this, behaviour = options.behaviour](
                               const auto& copy, const auto& config, const auto& request) {
    return AnswerGroupWhatIf(copy, config, behaviour, request, plugins_);
  };
  options.plan = [this, behaviour = options.behaviour](
                     const auto& config, const std::string& body) -> Result<std::string> {
    const auto server = api_server_();
    if (!server) return Fail(server.error());
    return AnswerPlanRequest(*server, config, behaviour, body);
  };
  return options;
}

server::ServedCertificate Serving::Certificate() const {
  return server_ ? server::CertificateOf(*server_) : server::ServedCertificate();
}

void Serving::Stop() {
  explain_.Stop();
  if (explain_events_) explain_events_->Stop();
  if (server_) server_->Stop();
}

}  // namespace berth::cli::scheduler
