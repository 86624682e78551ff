// The flags of kube-scheduler v1.34 to v1.37, parsed as pflag does: --name=value, --name value,
// -v4, underscores for dashes. Errors are in pflag's words.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "base/error.h"

namespace berth::cli::scheduler {

// Why the command ends before it has started, and what it says then.
struct Exit {
  int code = 0;
  std::string out = {};      // for standard output
  std::string err = {};      // for standard error, as it is
  std::string failure = {};  // logged as "command failed"
};
// Says it; returns the exit code.
int Report(const Exit& exit);

template <class T>
using OrExit = tl::expected<T, Exit>;

struct SniCertKey {
  std::vector<std::string> names;
  std::string cert_file;
  std::string key_file;
};

// The values of all flags; durations are in nanoseconds.
struct FlagValues {
  static constexpr int64_t kSecond = 1'000'000'000;

  // Misc
  std::string config;
  std::string master;
  std::string write_config_to;
  // Secure serving
  std::string bind_address = "0.0.0.0";  // as net.IP prints it
  std::string cert_dir;
  bool disable_http2_serving = false;
  int64_t http2_max_streams_per_connection = 0;
  bool permit_address_sharing = false;
  bool permit_port_sharing = false;
  int64_t secure_port = 10259;
  std::string tls_cert_file;
  std::vector<std::string> tls_cipher_suites;
  std::vector<int32_t> tls_curve_preferences;
  std::string tls_min_version;
  std::string tls_private_key_file;
  std::vector<SniCertKey> tls_sni_cert_key;
  // Authentication
  std::string authentication_kubeconfig;
  bool authentication_skip_lookup = false;
  int64_t authentication_token_webhook_cache_ttl = 10 * kSecond;
  bool authentication_tolerate_lookup_failure = true;
  std::string client_ca_file;
  std::vector<std::string> requestheader_allowed_names;
  std::string requestheader_client_ca_file;
  std::vector<std::string> requestheader_extra_headers_prefix = {"x-remote-extra-"};
  std::vector<std::string> requestheader_group_headers = {"x-remote-group"};
  std::vector<std::string> requestheader_uid_headers;
  std::vector<std::string> requestheader_username_headers = {"x-remote-user"};
  // Authorization
  std::vector<std::string> authorization_always_allow_paths = {"/healthz", "/readyz", "/livez"};
  std::string authorization_kubeconfig;
  int64_t authorization_webhook_cache_authorized_ttl = 10 * kSecond;
  int64_t authorization_webhook_cache_unauthorized_ttl = 10 * kSecond;
  // Deprecated
  bool contention_profiling = true;
  int32_t kube_api_burst = 100;
  std::string kube_api_content_type = "application/vnd.kubernetes.protobuf";
  float kube_api_qps = 50;
  std::string kubeconfig;
  int64_t pod_max_in_unschedulable_pods_duration = 300 * kSecond;
  bool profiling = true;
  // Leader election
  bool leader_elect = true;
  int64_t leader_elect_lease_duration = 15 * kSecond;
  int64_t leader_elect_renew_deadline = 10 * kSecond;
  std::string leader_elect_resource_lock = "leases";
  std::string leader_elect_resource_name = "kube-scheduler";
  std::string leader_elect_resource_namespace = "kube-system";
  int64_t leader_elect_retry_period = 2 * kSecond;
  // Feature gate
  std::vector<std::string> emulated_version;
  std::vector<std::string> min_compatibility_version;
  std::map<std::string, std::vector<std::string>> feature_gates;  // by component: "", "kube"
  // Metrics
  std::map<std::string, std::string> allow_metric_labels;  // "metric,label" to "a,b"
  std::string allow_metric_labels_manifest;
  std::vector<std::string> disabled_metrics;
  std::string show_hidden_metrics_for_version;
  // Logs
  int64_t log_flush_frequency = 5 * kSecond;
  std::string log_json_info_buffer_size = "0";
  bool log_json_split_stream = false;
  std::string log_text_info_buffer_size = "0";
  bool log_text_split_stream = false;
  std::string logging_format = "text";
  int64_t v = 0;
  std::string vmodule;
  // Berth
  std::string kubernetes_version = "auto";  // or "1.34" and so on
  bool adaptive_sampling = false;
  bool dashboard = false;
  bool explain_events = false;
  std::vector<std::string> plugin_path;
  int32_t threads = 0;  // 0: one per core
  bool trace_latency = false;
  bool fence_bindings = false;
  bool replicas_share_work = false;
  std::string replica_address;
  std::string record_dir;
  bool record_redact = false;
  int64_t record_max_bytes = int64_t{2} << 30;
  uint64_t seed = 0;  // of ties between nodes; 0: drawn at start
  // Global
  bool help = false;
  std::string version = "false";  // "true", "raw" or "vX.Y.Z-suffix"
};

// One flag: what --help says of it, and how its value is read and shown.
struct Flag {
  std::string name;
  char shorthand = 0;
  std::string section = {};  // "Secure serving"; empty: accepted but not shown
  std::string type = {};     // "string", "int", …; "bool" shows none
  std::string help = {};
  std::string default_value = {};  // what text() gave before anything was set
  std::string no_value = {};       // the value of --name alone; empty: it needs one
  std::function<Result<void>(const std::string&)> set = nullptr;
  std::function<std::string()> text = nullptr;
  bool changed = false;
  // Flags of older versions have no effect: what to tell when they are given.
  std::string obsolete = {};
};

class Flags {
 public:
  Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  const FlagValues& Values() const { return values_; }
  // All, in the order of the help's sections, sorted by name within one.
  const std::vector<Flag>& All() const { return flags_; }
  const std::vector<std::string>& Positional() const { return positional_; }
  // Was it on the command line?
  bool Changed(std::string_view name) const;
  // (name, value) of every flag but obsolete ones, sorted by name: the FLAG dump and /flagz.
  std::vector<std::pair<std::string, std::string>> Dump() const;

  // The error's text is pflag's.
  Result<void> Parse(const std::vector<std::string>& args);

 private:
  Flag* Find(std::string_view name);
  Flag* FindShorthand(char letter);
  // Both return how many arguments after `arg` they took.
  Result<size_t> ParseLong(const std::string& arg, const std::string* next);
  Result<size_t> ParseShort(const std::string& arg, const std::string* next);
  Result<void> Set(Flag& flag, const std::string& value);

  FlagValues values_;
  std::vector<Flag> flags_;
  std::vector<std::string> positional_;
};

// From the arguments after the command's name; the answer is the help, or the usage with an error,
// when there is nothing to run.
OrExit<std::unique_ptr<Flags>> ParseFlags(const std::vector<std::string>& args);

}  // namespace berth::cli::scheduler
