// Serving: the secure port of the scheduler command: who may ask, what is answered.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "cli/scheduler/decision_log.h"
#include "cli/scheduler/options.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client/api_client.h"
#include "kube/election/leader_elector.h"
#include "kube/host/scheduler_host.h"
#include "net/loop.h"
#include "server/explain/explain_api.h"
#include "server/explain/explain_events.h"
#include "server/http/served_certificate.h"
#include "server/metrics/process_metrics.h"
#include "server/metrics/scheduler_metrics.h"
#include "server/server.h"

namespace berth::cli::scheduler {

// More than twenty fields: it owns one object per thing that is served, in the order in which they
// are made and ended.
class Serving {
 public:
  // Reads or makes certificates and opens the port. `loop` outlives the serving.
  static Result<std::unique_ptr<Serving>> Make(const SchedulerOptions& options,
                                               net::SystemLoop& loop);
  ~Serving();

  // Tells the engine's story; for SchedulerHostOptions::observer.
  berth::scheduler::EngineObserver& Observer() { return *decisions_; }
  // For RestClientOptions::observer of clients on the loop.
  kube::RequestObserver& Requests() { return *requests_; }
  server::Registry& Metrics() { return registry_; }
  // This replica leads. `epoch`: the Lease's leaseTransitions.
  void SetLeading(int64_t epoch);
  // For /configz. From any thread.
  void SetConfig(const config::KubeSchedulerConfiguration& effective);
  // Metrics, pages and explanations are those of another Kubernetes minor from now on. On the
  // loop's thread, after Start.
  void SetBehaviour(const SchedulerOptions& options);
  // Adds a path to those that are served. Before Start.
  void Add(server::Mount mount) { server_options_.endpoints.mounts.push_back(std::move(mount)); }
  // What the secure port shows. After Start; empty without a port.
  server::ServedCertificate Certificate() const;
  // /readyz says so from now on.
  void ShuttingDown() { shutting_down_ = true; }

  // Starts to answer. `elector` may be null; both outlive Stop. `plugins`: those of the engine that
  // are not in-tree.
  Result<void> Start(kube::SchedulerHost& host, kube::LeaderElector* elector,
                     const config::KubeSchedulerConfiguration& effective,
                     std::vector<berth::scheduler::ExtraPlugin> plugins);
  void Stop();

 private:
  Serving(net::SystemLoop& loop, server::RegistryOptions metrics)
      : loop_(loop), registry_(std::move(metrics)) {}
  Result<void> MakeAuth(const SchedulerOptions& options);
  void MakeMetrics(const SchedulerOptions& options);
  server::ExplainOptions Explaining();
  void StartExplainEvents();
  // Asks the elector, which lives on the loop's thread.
  Result<void> CheckElector() const;

  net::SystemLoop& loop_;
  server::Registry registry_;
  std::unique_ptr<server::SchedulerMetrics> metrics_;
  std::unique_ptr<DecisionLog> decisions_;
  std::unique_ptr<server::ClientMetrics> requests_;
  std::unique_ptr<server::LeaderMetrics> leader_;
  std::unique_ptr<server::ComponentMetrics> component_;
  std::unique_ptr<kube::ApiClient> authentication_;
  std::unique_ptr<kube::ApiClient> authorization_;
  server::ServerOptions server_options_;
  std::unique_ptr<server::Server> server_;
  kube::SchedulerHost* host_ = nullptr;
  kube::LeaderElector* elector_ = nullptr;
  std::mutex configz_mutex_;
  std::string configz_;
  config::KubeSchedulerConfiguration config_;  // under configz_mutex_, too
  std::vector<berth::scheduler::ExtraPlugin> plugins_;
  std::function<Result<kube::ClientConfig>()> api_server_;  // for plans, which read the cluster
  server::ExplainApi explain_;
  bool explains_in_events_ = false;
  config::Behaviour behaviour_;  // under configz_mutex_, as config_
  server::ZPages pages_;         // likewise
  std::unique_ptr<server::ExplainEvents> explain_events_;
  std::atomic<bool> leading_ = false;
  std::atomic<bool> shutting_down_ = false;
};

}  // namespace berth::cli::scheduler
