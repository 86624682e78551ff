// Metrics that every Kubernetes component has: the process, its version, its gates, its lease.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/behaviour.h"
#include "kube/client/request_observer.h"
#include "server/metrics/registry.h"
#include "server/metrics/series_cache.h"

namespace berth::server {

// What the operating system reports about this process. Unavailable fields are negative.
struct ProcessStats {
  double cpu_seconds = -1;
  double open_fds = -1;
  double max_fds = -1;
  double virtual_bytes = -1;
  double virtual_max_bytes = -1;
  double resident_bytes = -1;
  double start_time_seconds = -1;  // since 1970
  double received_bytes = -1;
  double sent_bytes = -1;
};
ProcessStats ReadProcessStats();

// process_*: read at every scrape.
void AddProcessMetrics(Registry& registry);
// registered_metrics_total and its siblings: metrics about the registry.
void AddRegistryMetrics(Registry& registry);

struct FeatureValue {
  std::string name;
  std::string stage;  // "ALPHA", "BETA", "" (GA), "DEPRECATED"
  bool enabled = false;
};

struct ComponentInfo {
  std::string git_version;  // "v1.34.10"
  std::string git_commit;   // of the build
  std::string build_date = "1970-01-01T00:00:00Z";
  std::string compiler;  // the compiler and its version
  std::string compiler_version;
  std::string platform = "linux/amd64";
  std::string binary_version = "1.34";
  std::string emulation_version = "1.34";
  std::string min_compat_version = "1.33";
  std::string berth_version;  // berth's own
  std::string berth_commit;
  config::Release release = config::Release::k1_34;
  std::vector<FeatureValue> features;
};
// kubernetes_build_info, berth_build_info, version_info, kubernetes_feature_enabled.
class ComponentMetrics {
 public:
  explicit ComponentMetrics(Registry& registry);
  // Replaces what was set before: the process may take on another version.
  void Set(const ComponentInfo& info);

 private:
  GaugeFamily& build_;
  GaugeFamily& berth_;
  GaugeFamily& version_;
  GaugeFamily& features_;
};

// leader_election_master_status, leader_election_slowpath_total and berth_leader_epoch. From any
// thread.
class LeaderMetrics {
 public:
  LeaderMetrics(Registry& registry, std::string_view lease_name);
  // A process that has led ends when it no longer does.
  void SetLeading(int64_t epoch) {
    leading_->Set(1);
    epoch_.With({lease_name_})->Set(static_cast<double>(epoch));
  }
  void CountSlowPath() { slow_path_.With({lease_name_})->Add(); }

 private:
  std::string lease_name_;
  Gauge* leading_;
  GaugeFamily& epoch_;
  CounterFamily& slow_path_;
};

// rest_client_*: requests to the API server. For clients of one loop.
class ClientMetrics final : public kube::RequestObserver {
 public:
  explicit ClientMetrics(Registry& registry);

  void Answered(std::string_view method, std::string_view host, std::string_view code,
                size_t request_bytes) override;
  void Finished(std::string_view method, std::string_view host, double seconds,
                size_t response_bytes) override;
  void HeldBack(std::string_view method, std::string_view host, double seconds) override;
  void Retried(std::string_view method, std::string_view host, std::string_view code) override;

 private:
  SeriesCache<Counter> requests_;         // code, method, host
  SeriesCache<Counter> retries_;          // code, verb, host
  SeriesCache<Histogram> duration_;       // verb, host
  SeriesCache<Histogram> request_size_;   // verb, host
  SeriesCache<Histogram> response_size_;  // verb, host
  SeriesCache<Histogram> held_back_;      // verb, host
};

}  // namespace berth::server
