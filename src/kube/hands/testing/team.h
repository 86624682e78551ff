// Team: replicas that share work, on one loop in virtual time, for tests. Messages go from one to
// the other at once unless they are cut off; requests to the API server are answered by the test.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/client/fence.h"
#include "kube/hands/testing/lease_server.h"
#include "kube/hands/work_sharing.h"
#include "kube/testing/fake_api_client.h"
#include "kube/write/event_recorder.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {

class Team;

// A client of another replica's port.
class PeerClient final : public ApiClient {
 public:
  PeerClient(Team& team, std::string to) : team_(team), to_(std::move(to)) {}
  Id Send(ApiRequest request, Callback done) override;
  Id Watch(ApiRequest, WatchSink*) override { return ++last_; }
  void Cancel(Id id) override { open_->erase(id); }
  std::string_view ContentType() const override { return kProtobuf; }

 private:
  Team& team_;
  const std::string to_;
  Id last_ = 0;
  std::shared_ptr<std::set<Id>> open_ = std::make_shared<std::set<Id>>();
};

class Team {
 public:
  struct Replica {
    explicit Replica(Team& team, const std::string& its_name)
        : name(its_name),
          events(team.loop, writes, "host"),
          work(team.loop, team.leases, writes, fence,
               {.lease_namespace = "kube-system",
                .lease_name = "kube-scheduler",
                .identity = its_name,
                .write_timeout = std::chrono::milliseconds(2500)},
               {.connect =
                    [&team](const ReplicaRecord& record) -> Result<std::unique_ptr<ApiClient>> {
                  return std::make_unique<PeerClient>(team, record.identity);
                },
                .set_in_sync = [this](const std::string& ids) { in_sync = ids; },
                .describe =
                    [this] {
                      return ReplicaRecord{.identity = "",
                                           .address = name + ":10259",
                                           .server_name = "localhost",
                                           .certificate = "PEM of " + name,
                                           .version = "1"};
                    },
                .status = nullptr}) {
      work.Attach({.carry_out = [this](auto&& effect) { carried_out.push_back(effect); },
                   .tell = [this](auto&& result) { results.push_back(result); },
                   .adopt = [this](auto&& pod) { adopted.push_back(pod); },
                   .list =
                       [this](auto& kinds) {
                         kinds.insert("Pod");
                         ++lists;
                       },
                   .events = &events});
    }

    std::string name;
    FakeApiClient writes;  // of other leaders' work, and events
    Fence fence;
    EventRecorder events;
    std::string in_sync;
    std::vector<scheduler::Effect> carried_out;
    std::vector<scheduler::EffectResult> results;
    std::vector<api::Pod> adopted;
    int lists = 0;
    WorkSharing work;
  };

  explicit Team(const std::vector<std::string>& names) : leases(loop) {
    for (const std::string& name : names) {
      replicas[name] = std::make_unique<Replica>(*this, name);
      replicas[name]->work.Start();
    }
    loop.RunPosted();
  }
  Replica& operator[](const std::string& name) { return *replicas.at(name); }

  // All see that `leader` holds the Lease; it leads.
  void Lead(const std::string& leader, int32_t epoch) {
    Announce(leader, epoch);
    Replica& replica = *replicas.at(leader);
    replica.work.SetFence(loop.Steady() + std::chrono::hours(1));
    EXPECT_FALSE(replica.work.Lead({.epoch = epoch}, nullptr));
  }
  void Announce(const std::string& leader, int32_t epoch) {
    for (auto& [name, replica] : replicas) replica->work.Observed(leader, epoch);
  }
  // The leader's wishes are written into the Lease, and hands list, until nothing changes.
  void Settle(const std::string& leader) {
    Replica& replica = *replicas.at(leader);
    for (int i = 0; i < 12; ++i) {
      loop.Advance(std::chrono::milliseconds(200));
      for (auto& [name, other] : replicas) {
        if (lists) other->work.Listed("Pod");
      }
      replica.work.InSyncWritten(replica.in_sync);
    }
  }

  net::FakeLoop loop;
  LeaseServer leases;
  std::map<std::string, std::unique_ptr<Replica>> replicas;
  std::set<std::string> silent;  // neither answer nor refuse
  bool lists = true;
};

inline ApiClient::Id PeerClient::Send(ApiRequest request, Callback done) {
  const Id id = ++last_;
  open_->insert(id);
  const auto answer = [open = open_, id, done = std::move(done)](ApiResponse response) {
    if (open->erase(id) > 0) done(std::move(response));
  };
  team_.loop.After(request.timeout, [answer] {
    answer(FakeApiClient::Broken(net::HttpError::Kind::kTimeout, "no answer in time"));
  });
  team_.loop.Post([this, answer, request = std::move(request)] {
    const auto found = team_.replicas.find(to_);
    if (team_.silent.contains(to_) || found == team_.replicas.end()) return;
    found->second->work.Serve(
        request.path == kPollsPath, request.body,
        [&loop = team_.loop, answer](const Result<std::string>& bytes) {
          loop.Post([answer, bytes] {
            answer(bytes ? FakeApiClient::Success(*bytes, "application/octet-stream")
                         : FakeApiClient::Failure(409, "Conflict", bytes.error().Message()));
          });
        });
  });
  return id;
}

}  // namespace berth::kube
