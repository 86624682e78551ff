#include "kube/host/version_follower.h"

#include <utility>

#include "log/log.h"

namespace berth::kube {

VersionFollower::~VersionFollower() {
  client_.Cancel(request_);
  loop_.Cancel(timer_);
}

void VersionFollower::Start() { AskIn(minor_ ? kPeriod : kSoon); }

void VersionFollower::Reconnected() {
  if (request_ == 0) AskIn(kSoon);
}

void VersionFollower::AskIn(net::Nanoseconds delay) {
  loop_.Cancel(timer_);
  timer_ = loop_.After(delay, [this] {
    timer_ = 0;
    Ask();
  });
}

void VersionFollower::Ask() {
  request_ = client_.Send(VersionRequest(), [this](const ApiResponse& response) {
    request_ = 0;
    OnAnswer(response);
  });
}

void VersionFollower::OnAnswer(const ApiResponse& response) {
  const auto server = ReadServerVersion(response);
  if (!server) {
    log::Info(4, "Could not read the API server's version", {{"err", server.error().Message()}});
    return AskIn(minor_ ? kPeriod : kConfirm);
  }
  const int answered = NearestKubernetes(*server);
  const bool sure = !minor_ || candidate_ == answered;
  if (minor_ == answered) {
    candidate_.reset();
  } else if (sure) {
    Take(*server);
  } else {
    candidate_ = answered;
    return AskIn(kConfirm);
  }
  AskIn(kPeriod);
}

void VersionFollower::Take(const ServerVersion& server) {
  minor_ = NearestKubernetes(server);
  candidate_.reset();
  changed_(server);
}

}  // namespace berth::kube
