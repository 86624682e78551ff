// VersionFollower: notices that the API server was upgraded.
//
// Asks /version every half minute, and soon after a connection that was lost is there again. While
// several servers behind one address are upgraded one after the other, answers alternate; so a
// minor other than the last one counts when two answers in a row, some seconds apart, have it. On
// the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "kube/client/server_version.h"
#include "net/loop.h"

namespace berth::kube {

class VersionFollower {
 public:
  static constexpr std::chrono::seconds kPeriod{30};
  static constexpr std::chrono::seconds kSoon{1};
  static constexpr std::chrono::seconds kConfirm{3};

  using Changed = std::function<void(const ServerVersion&)>;

  // `minor`: what NearestKubernetes gave for the last answer. None: there was no answer yet, and
  // the first one counts. `changed` is called when it would give something else. All outlive the
  // follower.
  VersionFollower(net::Loop& loop, ApiClient& client, std::optional<int> minor, Changed changed)
      : loop_(loop), client_(client), minor_(minor), changed_(std::move(changed)) {}
  ~VersionFollower();

  void Start();
  // The server may be another one.
  void Reconnected();

 private:
  void AskIn(net::Nanoseconds delay);
  void Ask();
  void OnAnswer(const ApiResponse& response);
  void Take(const ServerVersion& server);

  net::Loop& loop_;
  ApiClient& client_;
  std::optional<int> minor_;
  const Changed changed_;
  std::optional<int> candidate_;  // answered once
  ApiClient::Id request_ = 0;
  net::Loop::TimerId timer_ = 0;
};

}  // namespace berth::kube
