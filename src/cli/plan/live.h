// Live: the objects of a running cluster, read through its API server.
//
// Lists and nothing else: every request is a GET, and nothing is watched.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/manifest.h"
#include "base/error.h"
#include "config/behaviour.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client/api_client.h"
#include "kube/kinds.h"

namespace berth::cli {

// What a plan reads: what the scheduler reads, the controllers that replace pods, and what pods are
// admitted by.
std::vector<kube::Kind> PlannedKinds(const config::Behaviour& behaviour);

// Lists kinds one after the other, page by page. `client` and `consume` outlive it.
class LiveReader {
 public:
  using Done = std::function<void(Result<void>)>;

  LiveReader(kube::ApiClient& client, std::vector<kube::Kind> kinds,
             const api::ObjectConsumer& consume);

  // `done` is called once: after the last object, or with what went wrong.
  void Start(Done done);

  // What could not be read and is not needed: kinds beside scheduling that the user may not list.
  const std::vector<std::string>& Notes() const { return notes_; }

 private:
  void AskNext();
  void Take(const kube::ApiResponse& response);
  void NextKind();
  Result<void> TakeList(const kube::ApiResponse& response);

  kube::ApiClient& client_;
  const std::vector<kube::Kind> kinds_;
  const api::ObjectConsumer& consume_;
  Done done_;
  size_t kind_ = 0;
  std::string continue_;
  std::vector<std::string> notes_;
};

// Reads the cluster of an API server. `notes` get what could not be read.
Result<void> ReadLive(const kube::ClientConfig& server, const config::Behaviour& behaviour,
                      const api::ObjectConsumer& consume, std::vector<std::string>* notes);
// Reads the cluster of a context ("": the current one) of a kubeconfig ("": kubectl's own). `notes`
// get what could not be read.
Result<void> ReadLive(const std::string& kubeconfig, const std::string& context,
                      const config::Behaviour& behaviour, const api::ObjectConsumer& consume,
                      std::vector<std::string>* notes);

}  // namespace berth::cli
