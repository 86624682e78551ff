#include "cli/scheduler/sharing.h"

#include <future>
#include <utility>

#include "cli/build_info.h"
#include "cli/scheduler/version.h"
#include "kube/election/lease_times.h"
#include "server/hands/hands_mount.h"

namespace berth::cli::scheduler {
namespace {

// For work under way when the process ends: a leader takes a second to see that it has left.
constexpr net::Nanoseconds kLeavePatience = std::chrono::seconds(2);
constexpr net::Nanoseconds kPoll = std::chrono::milliseconds(10);
constexpr std::chrono::seconds kLoopPatience(5);
constexpr const char* kRoles[] = {"leader", "hand", "standby"};

server::GaugeFamily& Family(server::Registry& registry, const char* name, const char* help,
                            std::vector<std::string> labels = {}) {
  return registry.AddGauge({name, help, server::Stability::kNone, std::move(labels)});
}

// On one thread.
void RaiseTo(double value, server::Counter& counter) { counter.OwnAdd(value - counter.Value()); }

}  // namespace

Sharing::Sharing(const SchedulerOptions& options, net::SystemLoop& loop,
                 const kube::ClientConfig& client, Serving& serving)
    : loop_(loop),
      serving_(serving),
      client_(client),
      address_(options.replica_address),
      version_(options.version),
      role_(Family(serving.Metrics(), "berth_sharing_role",
                   "1 for what this replica does with the leader's work: leader, hand or standby",
                   {"role"})),
      epoch_(Family(serving.Metrics(), "berth_sharing_epoch",
                    "Epoch of the leader that this replica is or works for; 0 on a standby")),
      waiting_(Family(serving.Metrics(), "berth_sharing_waiting",
                      "Leader: writes without a result. Hand: tasks without a result")),
      log_(Family(serving.Metrics(), "berth_sharing_log_entries",
                  "Hand: decisions of the leader whose outcome its own watch has not shown")),
      in_sync_(Family(serving.Metrics(), "berth_hand_in_sync",
                      "Leader: 1 when the Lease names the replica as in sync", {"replica"})),
      lag_(Family(serving.Metrics(), "berth_hand_lag_entries",
                  "Leader: decisions that the replica has not acknowledged", {"replica"})),
      hand_waiting_(Family(serving.Metrics(), "berth_hand_waiting",
                           "Leader: tasks of the replica without a result", {"replica"})),
      tasks_(serving.Metrics().AddCounter({"berth_hand_tasks_total",
                                           "Leader: number of tasks given to the replica",
                                           server::Stability::kNone,
                                           {"replica"}})),
      drops_(serving.Metrics().AddCounter(
          {"berth_hand_drops_total",
           "Leader: number of times that the replica was left out because it did not answer",
           server::Stability::kNone,
           {"replica"}})) {}

Result<std::unique_ptr<Sharing>> Sharing::Make(const SchedulerOptions& options,
                                               const std::string& identity, net::SystemLoop& loop,
                                               const kube::ClientConfig& client,
                                               std::shared_ptr<kube::Credentials> credentials,
                                               const kube::RestClientOptions& rest,
                                               Serving& serving) {
  std::unique_ptr<Sharing> sharing(new Sharing(options, loop, client, serving));
  if (auto made = sharing->MakeClients(std::move(credentials), rest); !made) {
    return Fail(made.error());
  }
  const config::LeaderElectionConfiguration& election = options.config.leader_election;
  kube::WorkSharingOptions work;
  work.lease_namespace = election.resource_namespace;
  work.lease_name = election.resource_name;
  work.identity = identity;
  work.write_timeout = kube::LeaseTimes::Of(election).WriteTimeout();
  work.marks_bindings = options.fences_bindings;
  Sharing* self = sharing.get();
  kube::WorkSharing::Process process;
  process.connect = [self](const kube::ReplicaRecord& record) { return self->Connect(record); };
  process.set_in_sync = [self](const std::string& in_sync) {
    if (self->elector_ != nullptr) self->elector_->SetInSync(in_sync);
  };
  process.describe = [self] { return self->Describe(); };
  process.status = [self](const kube::SharingStatus& status) { self->Show(status); };
  sharing->work_ =
      std::make_unique<kube::WorkSharing>(loop, *sharing->lease_client_, *sharing->hand_client_,
                                          sharing->fence_, std::move(work), std::move(process));
  serving.Add(server::HandsMount(loop, *sharing->work_));
  return sharing;
}

Result<void> Sharing::MakeClients(std::shared_ptr<kube::Credentials> credentials,
                                  const kube::RestClientOptions& rest) {
  kube::RestClientOptions leases = rest;
  leases.user_agent = UserAgent(version_, "leader-election");
  leases.fence = nullptr;
  leases.server_write_timeout = net::Nanoseconds(0);
  auto lease_client = kube::MakeRestClient(loop_, client_, credentials, leases);
  if (!lease_client) return Fail(lease_client.error());
  lease_client_ = std::move(*lease_client);
  kube::RestClientOptions work = rest;
  work.fence = &fence_;
  auto hand_client = kube::MakeRestClient(loop_, client_, std::move(credentials), work);
  if (!hand_client) return Fail(hand_client.error());
  hand_client_ = std::move(*hand_client);
  return {};
}

// With this replica's credentials, to that certificate and no other.
Result<std::unique_ptr<kube::ApiClient>> Sharing::Connect(const kube::ReplicaRecord& record) const {
  kube::ClientConfig peer = client_;
  peer.server = "https://" + record.address;
  peer.tls.ca_pem = record.certificate;
  peer.tls.server_name = record.server_name;
  peer.tls.insecure = false;
  peer.ca_file.clear();
  auto credentials = kube::MakeCredentials(loop_, peer);
  if (!credentials) return Fail(credentials.error());
  kube::RestClientOptions rest;
  rest.user_agent = UserAgent(version_, "leader");
  rest.qps = -1;
  return kube::MakeRestClient(loop_, peer, std::move(*credentials), rest);
}

kube::ReplicaRecord Sharing::Describe() const {
  const server::ServedCertificate served = serving_.Certificate();
  kube::ReplicaRecord record;
  record.address = address_;
  record.server_name = served.name;
  record.certificate = served.pem;
  record.version = kBerthVersion;
  return record;
}

void Sharing::Show(const kube::SharingStatus& status) {
  for (const char* role : kRoles) role_.With({role})->Set(status.role == role ? 1 : 0);
  epoch_.Only()->Set(static_cast<double>(status.epoch));
  waiting_.Only()->Set(static_cast<double>(status.waiting));
  log_.Only()->Set(static_cast<double>(status.log));
  std::set<std::string> hands;
  for (const kube::HandStatus& hand : status.hands) hands.insert(hand.id);
  if (hands != shown_) {
    for (auto* family : {&in_sync_, &lag_, &hand_waiting_}) family->RemoveSeries();
    for (auto* family : {&tasks_, &drops_}) family->RemoveSeries();
    shown_ = std::move(hands);
  }
  for (const kube::HandStatus& hand : status.hands) {
    in_sync_.With({hand.id})->Set(hand.role == "in sync" ? 1 : 0);
    lag_.With({hand.id})->Set(static_cast<double>(hand.lag));
    hand_waiting_.With({hand.id})->Set(static_cast<double>(hand.waiting));
    RaiseTo(static_cast<double>(hand.tasks), *tasks_.With({hand.id}));
    RaiseTo(static_cast<double>(hand.drops), *drops_.With({hand.id}));
  }
}

void Sharing::Add(kube::LeaderCallbacks& callbacks) {
  callbacks.observed = [this](std::string_view holder, int32_t epoch) {
    work_->Observed(holder, epoch);
  };
  callbacks.in_sync_written = [this](const std::string& in_sync) { work_->InSyncWritten(in_sync); };
  callbacks.held_until = [this, held = std::move(callbacks.held_until)](net::Nanoseconds until) {
    work_->SetFence(until);
    held(until);
  };
}

void Sharing::Leave() {
  auto left = std::make_shared<std::promise<void>>();
  auto done = left->get_future();
  loop_.Post([this, left] {
    work_->Leave([this, left] {
      AwaitIdle(loop_.Steady() + kLeavePatience, [left] { left->set_value(); });
    });
  });
  done.wait_for(kLoopPatience);
}

void Sharing::AwaitIdle(net::Nanoseconds until, std::function<void()> done) {
  if (work_->IsIdle() || loop_.Steady() >= until) return done();
  loop_.After(kPoll, [this, until, done = std::move(done)] { AwaitIdle(until, done); });
}

}  // namespace berth::cli::scheduler
