// Sharing: this process's part in sharing the leader's work, with its clients and metrics.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "cli/scheduler/options.h"
#include "cli/scheduler/serving.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client/fence.h"
#include "kube/client/rest_client.h"
#include "kube/election/leader_elector.h"
#include "kube/hands/work_sharing.h"
#include "net/loop.h"

namespace berth::cli::scheduler {

class Sharing {
 public:
  // `rest`: the options of the client that schedules, whose limits hold for the work of other
  // leaders too. All references outlive the object. Adds the path of the secure port to `serving`.
  static Result<std::unique_ptr<Sharing>> Make(const SchedulerOptions& options,
                                               const std::string& identity, net::SystemLoop& loop,
                                               const kube::ClientConfig& client,
                                               std::shared_ptr<kube::Credentials> credentials,
                                               const kube::RestClientOptions& rest,
                                               Serving& serving);

  kube::WorkSharing& Work() { return *work_; }
  // Sets what the elector is to tell; adds to callbacks that are there.
  void Add(kube::LeaderCallbacks& callbacks);
  void SetElector(kube::LeaderElector& elector) { elector_ = &elector; }
  // Ends this replica's part: its Lease is removed and its work under way finished, for two seconds
  // at most. From another thread than the loop's.
  void Leave();

 private:
  Sharing(const SchedulerOptions& options, net::SystemLoop& loop, const kube::ClientConfig& client,
          Serving& serving);
  Result<void> MakeClients(std::shared_ptr<kube::Credentials> credentials,
                           const kube::RestClientOptions& rest);
  Result<std::unique_ptr<kube::ApiClient>> Connect(const kube::ReplicaRecord& record) const;
  kube::ReplicaRecord Describe() const;
  void Show(const kube::SharingStatus& status);
  void AwaitIdle(net::Nanoseconds until, std::function<void()> done);

  net::SystemLoop& loop_;
  Serving& serving_;
  const kube::ClientConfig client_;
  const std::string address_;
  const std::string version_;
  kube::Fence fence_;  // of work for other leaders
  std::unique_ptr<kube::ApiClient> lease_client_;
  std::unique_ptr<kube::ApiClient> hand_client_;
  kube::LeaderElector* elector_ = nullptr;
  server::GaugeFamily& role_;
  server::GaugeFamily& epoch_;
  server::GaugeFamily& waiting_;
  server::GaugeFamily& log_;
  server::GaugeFamily& in_sync_;
  server::GaugeFamily& lag_;
  server::GaugeFamily& hand_waiting_;
  server::CounterFamily& tasks_;
  server::CounterFamily& drops_;
  std::set<std::string> shown_;  // hands
  std::unique_ptr<kube::WorkSharing> work_;
};

}  // namespace berth::cli::scheduler
