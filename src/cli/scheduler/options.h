// SchedulerOptions: what the scheduler command was asked to do, from flags and the file of
// --config.
//
//   auto flags = ParseFlags(args);            // help, bad flags, positional arguments
//   auto choice = ChooseKubernetes(**flags);  // may ask the API server
//   auto options = Complete(**flags, choice); // gates, --version, log, validation, configuration
//   … credentials, serving, profiles …
//   auto written = LogOrWriteConfig(*options, resolved.effective);
//
// in the order kube-scheduler does it, so that of several mistakes the same one is told first.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/recording.h"
#include "cli/scheduler/flags.h"
#include "cli/scheduler/kubernetes_choice.h"
#include "config/config.h"
#include "config/feature_gates.h"
#include "log/log.h"

namespace berth::cli::scheduler {

struct ServingOptions {
  std::string bind_address = "0.0.0.0";
  int port = 10259;  // 0: no server
  std::string cert_dir;
  std::string cert_file;
  std::string key_file;
  std::vector<SniCertKey> sni;
  std::vector<std::string> cipher_suites;  // IANA names; empty: the default ones
  std::vector<int32_t> curve_preferences;  // numbers of key exchanges; empty: the default ones
  std::string min_tls_version;             // as the flag has it
  int min_tls_minor = 2;                   // TLS 1.x, from CheckServing()
  bool reuse_port = false;
  bool reuse_address = false;
  bool http2 = true;
  uint32_t http2_max_streams = 100;  // per connection
};

struct AuthenticationOptions {
  std::string kubeconfig;
  bool skip_lookup = false;
  int64_t token_cache_ttl_ns = 0;
  std::string client_ca_file;
  std::string requestheader_client_ca_file;
  std::vector<std::string> allowed_names;
  std::vector<std::string> username_headers;
  std::vector<std::string> uid_headers;
  std::vector<std::string> group_headers;
  std::vector<std::string> extra_prefixes;
};

struct AuthorizationOptions {
  std::string kubeconfig;
  std::vector<std::string> always_allow_paths;
  int64_t allow_cache_ttl_ns = 0;
  int64_t deny_cache_ttl_ns = 0;
};

struct MetricsOptions {
  std::vector<std::string> disabled;
  std::map<std::string, std::vector<std::string>> allowed_labels;  // "metric,label" to values
};

struct SchedulerOptions {
  config::KubeSchedulerConfiguration config;  // defaulted; validated when from a file
  std::set<std::string> told;                 // warnings, already logged
  config::FeatureGates gates;
  config::Behaviour behaviour;  // from the gates
  bool follows_server = false;  // --kubernetes-version=auto
  bool server_answered = true;  // and it is known what the server is
  std::string master;
  std::string config_file;
  std::string write_config_to;
  std::string version;  // to report: "v1.34.10"
  int64_t pod_max_in_unschedulable_pods_ns = 0;
  ServingOptions serving;
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  MetricsOptions metrics;
  log::Options log;
  std::vector<std::pair<std::string, std::string>> flags;  // sorted: for /flagz
  bool adaptive_sampling = false;
  bool dashboard = false;
  bool explain_events = false;
  std::vector<std::string> plugin_paths;
  int threads = 0;  // 0: one per core
  bool traces_latency = false;
  bool fences_bindings = false;  // marks them with the leader's epoch
  bool shares_work = false;      // with other replicas
  std::string replica_address;   // HOST:PORT of the secure port, for them; from CheckSharing()
  RecordingOptions recording;
  uint64_t seed = 0;  // 0: drawn at start
};

// Everything before the configuration is read. Sets up the log and writes what kube-scheduler
// writes there first: warnings about gates, the FLAG lines; then what berth accepts without acting
// on it.
OrExit<SchedulerOptions> Prepare(const Flags& flags, const KubernetesChoice& choice);

// Fills options.config and logs what is deprecated in it. Deprecated flags count only without
// --config, leader election flags always.
Result<void> LoadConfig(const Flags& flags, SchedulerOptions& options);

// Refuses cipher suites and TLS versions that do not exist, which kube-scheduler does when it
// starts to listen: after the configuration and the credentials.
Result<void> CheckServing(ServingOptions& serving);

// All three.
OrExit<SchedulerOptions> Complete(const Flags& flags, const KubernetesChoice& choice);

// The same options in Kubernetes 1.`minor`: gates, version and configuration are rebuilt, the
// file is read again. Fails when the flags or the file do not suit that minor.
Result<SchedulerOptions> InMinor(const Flags& flags, const SchedulerOptions& running, int minor);

// At -v=2 logs which plugins each profile runs, by extension point.
void LogPlugins(const config::Resolved& resolved);

// At -v=2 logs the configuration profiles were built from; writes it when --write-config-to says
// so. True: written, the command is done (exit 0).
Result<bool> LogOrWriteConfig(const SchedulerOptions& options,
                              const config::KubeSchedulerConfiguration& effective);

}  // namespace berth::cli::scheduler
