// LoadPoller: asks the sources of a configuration for the load of nodes, now and then.
//
//   metrics.k8s.io   GET /apis/metrics.k8s.io/v1beta1/nodes of the API server
//   Prometheus       GET ADDRESS/api/v1/query, one request per query
//   load-watcher     GET ADDRESS/watcher
//
// A source that fails is asked again after its period, and logged once per reason. What it said
// before stays in force with its time; when that is older than the source allows it is withdrawn,
// so that nodes count as not measured. On the loop's thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/metrics_sources.h"
#include "kube/client/api_client.h"
#include "kube/extender/extender_caller.h"
#include "kube/metrics/load_answers.h"
#include "net/loop.h"

namespace berth::kube {

using MeasuredNodes = std::vector<std::pair<std::string, cluster::NodeMetrics>>;

// The outcome of one poll. An empty error: it succeeded.
using LoadPolled = std::function<void(std::string_view source, std::string_view error)>;

class LoadPoller {
 public:
  static constexpr std::chrono::seconds kTimeout{10};
  static constexpr size_t kMaxAnswerBytes = size_t{64} << 20;

  // Nodes whose load is known now, or not any more: those have no values.
  using Taken = std::function<void(MeasuredNodes)>;

  // All outlive the poller; `polled` may be null, and so may `make_client` where no source has an
  // address.
  LoadPoller(net::Loop& loop, ApiClient& client, HttpClientFactory make_client,
             const NodeCapacities& nodes, Taken taken, LoadPolled polled);
  ~LoadPoller();

  // From now on these are asked, at once for the first time. Answers of others are dropped, and
  // what is known is reported again: the receiver may be a new one.
  void Use(std::vector<config::MetricsSource> sources);

 private:
  struct Polled;

  void Poll(Polled& source);
  void AskApiServer(Polled& source);
  void AskHttp(Polled& source, const std::string& path,
               std::function<void(const std::string& body)> read);
  void AskPrometheus(Polled& source, size_t query);
  void Finish(Polled& source, Result<LoadByNode> loads);
  void Log(Polled& source, const std::string& error);
  void Publish();

  net::Loop& loop_;
  ApiClient& client_;
  const HttpClientFactory make_client_;
  const NodeCapacities& nodes_;
  const Taken taken_;
  const LoadPolled polled_;
  std::vector<std::unique_ptr<Polled>> sources_;
  std::map<std::string, cluster::NodeMetrics, std::less<>> published_;
};

// Whether the source could be asked: its address and its files are fit for use.
Result<void> CheckMetricsSources(const std::vector<config::MetricsSource>& sources);

}  // namespace berth::kube
