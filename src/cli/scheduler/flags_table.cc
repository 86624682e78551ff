// The list of all flags: names, types and defaults are those of kube-scheduler v1.34 to v1.37.
#include "cli/scheduler/flags_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/go/go_text.h"
#include "api/rules/quantity.h"
#include "api/time.h"
#include "cli/recording.h"
#include "cli/scheduler/flags_values.h"
#include "cli/scheduler/kubernetes_choice.h"
#include "cli/scheduler/version.h"
#include "config/feature_gates.h"

namespace berth::cli::scheduler {

namespace {

template <class T>
Result<void> Assign(Result<T> parsed, T* out) {
  if (!parsed) return Fail(std::move(parsed.error()));
  *out = std::move(*parsed);
  return {};
}

// Adds flags of one section at a time.
class Table {
 public:
  explicit Table(std::vector<Flag>& flags) : flags_(flags) {}

  Table& Section(std::string_view name) {
    section_ = name;
    return *this;
  }

  Flag& Add(std::string_view name, std::string_view type, std::string_view help) {
    Flag& flag = flags_.emplace_back();
    flag.name = name;
    flag.section = section_;
    flag.type = type;
    flag.help = help;
    return flag;
  }

  Flag& String(std::string_view name, std::string* out, std::string_view help) {
    Flag& flag = Add(name, "string", help);
    flag.set = [out](const std::string& text) -> Result<void> {
      *out = text;
      return {};
    };
    flag.text = [out] { return *out; };
    return flag;
  }

  void Bool(std::string_view name, bool* out, std::string_view help) {
    Flag& flag = Add(name, "bool", help);
    flag.no_value = "true";
    flag.set = [out](const std::string& text) { return Assign(ParseBool(text), out); };
    flag.text = [out] { return std::string(*out ? "true" : "false"); };
  }

  template <class Integer>
  void Int(std::string_view name, std::string_view type, Integer* out, std::string_view help) {
    Flag& flag = Add(name, type, help);
    flag.set = [out](const std::string& text) -> Result<void> {
      const auto parsed = ParseInt(text, 8 * sizeof(Integer));
      if (!parsed) return Fail(parsed.error());
      *out = static_cast<Integer>(*parsed);
      return {};
    };
    flag.text = [out] { return std::to_string(*out); };
  }

  void Duration(std::string_view name, int64_t* nanoseconds, std::string_view help) {
    Flag& flag = Add(name, "duration", help);
    flag.set = [nanoseconds](const std::string& text) -> Result<void> {
      const auto parsed = api::Duration::Parse(text);
      if (!parsed) return Fail(parsed.error());
      *nanoseconds = parsed->ns;
      return {};
    };
    flag.text = [nanoseconds] { return api::Duration{*nanoseconds}.Format(); };
  }

  // The first use replaces the default, further ones add.
  void Strings(std::string_view name, std::vector<std::string>* out, std::string_view help) {
    Flag& flag = Add(name, "strings", help);
    flag.set = [out, given = false](const std::string& text) mutable -> Result<void> {
      auto read = ReadCsv(text);
      if (!read) return Fail(std::move(read.error()));
      if (!given) out->clear();
      given = true;
      out->insert(out->end(), read->begin(), read->end());
      return {};
    };
    flag.text = [out] { return "[" + WriteCsv(*out) + "]"; };
  }

  // As Strings, of 32 bits each.
  void Integers(std::string_view name, std::vector<int32_t>* out, std::string_view help) {
    Flag& flag = Add(name, "int32Slice", help);
    flag.set = [out, given = false](const std::string& text) mutable -> Result<void> {
      std::vector<int32_t> read;
      for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        const auto parsed = ParseInt(std::string_view(text).substr(at, end - at), 32);
        if (!parsed) return Fail(parsed.error());
        read.push_back(static_cast<int32_t>(*parsed));
        at = end + 1;
      }
      if (!given) out->clear();
      given = true;
      out->insert(out->end(), read.begin(), read.end());
      return {};
    };
    flag.text = [out] { return fmt::format("[{}]", fmt::join(*out, ",")); };
  }

  // A flag older control planes pass; `no_value` as in Flag.
  void Obsolete(std::string_view name, std::string_view no_value, std::string_view instead) {
    Flag& flag = Add(name, no_value.empty() ? "string" : "bool", "");
    flag.section.clear();
    flag.no_value = no_value;
    flag.obsolete = fmt::format("Flag --{} has no effect: {}", name, instead);
    flag.set = [](const std::string&) -> Result<void> { return {}; };
    flag.text = [] { return std::string(); };
  }

 private:
  std::vector<Flag>& flags_;
  std::string section_;
};

void AddMisc(Table& t, FlagValues& v) {
  t.Section("Misc");
  t.String("config", &v.config, "File with a KubeSchedulerConfiguration.");
  t.String("master", &v.master, "Address of the API server; wins over the kubeconfig.");
  t.String("write-config-to", &v.write_config_to,
           "Write the configuration with all defaults to this file and exit.");
}

void AddServing(Table& t, FlagValues& v) {
  t.Section("Secure serving");
  Flag& bind = t.Add("bind-address", "ip",
                     "IP address to serve HTTPS on; 0.0.0.0 and :: mean all addresses.");
  bind.set = [&v](const std::string& text) -> Result<void> {
    return text.empty() ? Result<void>() : Assign(ParseIp(text), &v.bind_address);
  };
  bind.text = [&v] { return v.bind_address; };
  t.String("cert-dir", &v.cert_dir,
           "Folder of the serving certificate when --tls-cert-file is not given.");
  t.Bool("disable-http2-serving", &v.disable_http2_serving, "Serve HTTP/1.1 only.");
  t.Int("http2-max-streams-per-connection", "int", &v.http2_max_streams_per_connection,
        "Streams a client may have open on one HTTP/2 connection; 0 is the server's default.");
  t.Bool("permit-address-sharing", &v.permit_address_sharing,
         "Bind with SO_REUSEADDR, also while the port is in TIME_WAIT.");
  t.Bool("permit-port-sharing", &v.permit_port_sharing,
         "Bind with SO_REUSEPORT, so that several processes can serve on one port.");
  t.Int("secure-port", "int", &v.secure_port, "Port to serve HTTPS on; 0 turns serving off.");
  t.String("tls-cert-file", &v.tls_cert_file,
           "Serving certificate, followed by its CA's. Without one, a self-signed certificate is "
           "made.");
  t.Strings("tls-cipher-suites", &v.tls_cipher_suites,
            "Cipher suites of TLS 1.2 to accept, by their IANA names.");
  t.Integers("tls-curve-preferences", &v.tls_curve_preferences,
             "Key exchanges to accept, by their numbers in TLS: 23, 24 and 25 are P-256, P-384 and "
             "P-521, 29 is X25519; in any order.");
  t.String("tls-min-version", &v.tls_min_version,
           "Oldest TLS version to accept: VersionTLS10, VersionTLS11, VersionTLS12, "
           "VersionTLS13.");
  t.String("tls-private-key-file", &v.tls_private_key_file, "Private key of --tls-cert-file.");
  Flag& sni = t.Add("tls-sni-cert-key", "namedCertKey",
                    "Certificate and key files for some host names: cert,key or "
                    "cert,key:name,*.domain. May be repeated.");
  sni.set = [&v](const std::string& text) -> Result<void> {
    auto key = ParseSniCertKey(text);
    if (!key) return Fail(std::move(key.error()));
    v.tls_sni_cert_key.push_back(std::move(*key));
    return {};
  };
  sni.text = [&v] { return FormatSniCertKeys(v.tls_sni_cert_key); };
}

void AddAuthentication(Table& t, FlagValues& v) {
  t.Section("Authentication");
  t.String("authentication-kubeconfig", &v.authentication_kubeconfig,
           "Kubeconfig of the API server that reviews tokens. Without one, tokens are anonymous.");
  t.Bool("authentication-skip-lookup", &v.authentication_skip_lookup,
         "Do not look up client CAs in the cluster.");
  t.Duration("authentication-token-webhook-cache-ttl", &v.authentication_token_webhook_cache_ttl,
             "How long a token review is remembered.");
  t.Bool("authentication-tolerate-lookup-failure", &v.authentication_tolerate_lookup_failure,
         "Go on when the client CAs cannot be looked up.");
  t.String("client-ca-file", &v.client_ca_file,
           "CAs whose client certificates identify their bearer by common name.");
  t.Strings("requestheader-allowed-names", &v.requestheader_allowed_names,
            "Common names of proxies that may name users in headers; empty: any.");
  t.String("requestheader-client-ca-file", &v.requestheader_client_ca_file,
           "CAs of proxies that may name users in headers.");
  t.Strings("requestheader-extra-headers-prefix", &v.requestheader_extra_headers_prefix,
            "Prefixes of headers with extra information about users.");
  t.Strings("requestheader-group-headers", &v.requestheader_group_headers,
            "Headers with groups of users.");
  t.Strings("requestheader-uid-headers", &v.requestheader_uid_headers, "Headers with users' UIDs.");
  t.Strings("requestheader-username-headers", &v.requestheader_username_headers,
            "Headers with users' names.");
}

void AddAuthorization(Table& t, FlagValues& v) {
  t.Section("Authorization");
  t.Strings("authorization-always-allow-paths", &v.authorization_always_allow_paths,
            "HTTP paths anybody may read; * at the end stands for the rest.");
  t.String("authorization-kubeconfig", &v.authorization_kubeconfig,
           "Kubeconfig of the API server that reviews access. Without one, all other paths are "
           "forbidden.");
  t.Duration("authorization-webhook-cache-authorized-ttl",
             &v.authorization_webhook_cache_authorized_ttl, "How long a yes is remembered.");
  t.Duration("authorization-webhook-cache-unauthorized-ttl",
             &v.authorization_webhook_cache_unauthorized_ttl, "How long a no is remembered.");
}

void AddDeprecated(Table& t, FlagValues& v) {
  t.Section("Deprecated");
  t.Bool("contention-profiling", &v.contention_profiling,
         "DEPRECATED: profile lock contention. Ignored with --config.");
  t.Int("kube-api-burst", "int32", &v.kube_api_burst,
        "DEPRECATED: requests that may be made at once. Ignored with --config.");
  t.String("kube-api-content-type", &v.kube_api_content_type,
           "DEPRECATED: content type of requests. Ignored with --config.");
  Flag& qps =
      t.Add("kube-api-qps", "float32", "DEPRECATED: requests per second. Ignored with --config.");
  qps.set = [&v](const std::string& text) { return Assign(ParseFloat32(text), &v.kube_api_qps); };
  qps.text = [&v] { return api::FormatGoFloat(v.kube_api_qps, 32); };
  t.String("kubeconfig", &v.kubeconfig,
           "DEPRECATED: kubeconfig file of the API server. Ignored with --config.");
  t.Duration("pod-max-in-unschedulable-pods-duration", &v.pod_max_in_unschedulable_pods_duration,
             "DEPRECATED: when a pod that found no node is tried again without anything having "
             "happened.");
  t.Bool("profiling", &v.profiling,
         "DEPRECATED: serve profiles under /debug/pprof/. Ignored with --config.");
}

void AddLeaderElection(Table& t, FlagValues& v) {
  t.Section("Leader election");
  t.Bool("leader-elect", &v.leader_elect,
         "Become leader before scheduling, so that of several replicas one is active.");
  t.Duration("leader-elect-lease-duration", &v.leader_elect_lease_duration,
             "How long others wait for a leader that does not renew.");
  t.Duration("leader-elect-renew-deadline", &v.leader_elect_renew_deadline,
             "How long the leader tries to renew before it gives up; less than the lease "
             "duration.");
  t.String("leader-elect-resource-lock", &v.leader_elect_resource_lock,
           "Kind of the lock: leases.");
  t.String("leader-elect-resource-name", &v.leader_elect_resource_name, "Name of the lock.");
  t.String("leader-elect-resource-namespace", &v.leader_elect_resource_namespace,
           "Namespace of the lock.");
  t.Duration("leader-elect-retry-period", &v.leader_elect_retry_period,
             "Time between attempts to acquire or renew.");
}

// With every gate that is not settled.
std::string GatesHelp() {
  std::string help =
      "Switches of features, [kube:]NAME=true|false, separated by commas. May be repeated. "
      "Options are:";
  const config::FeatureGates gates(config::NewestKubernetes());
  for (const config::FeatureGates::Value& gate : gates.All()) {
    if (gate.spec.stage != config::FeatureStage::kAlpha &&
        gate.spec.stage != config::FeatureStage::kBeta) {
      continue;
    }
    help += fmt::format("\nkube:{}=true|false ({} - default={})", gate.name,
                        config::StageName(gate.spec.stage), gate.spec.enabled);
  }
  return help;
}

// The options named are those of the newest minor.
void AddFeatureGates(Table& t, FlagValues& v) {
  const int newest = config::NewestKubernetes();
  t.Section("Feature gate");
  t.Strings("emulated-version", &v.emulated_version,
            fmt::format("Take the feature gates' defaults of an older version, [kube=]MAJOR.MINOR."
                        "\nOptions are: kube=1.{}..1.{}(default:1.{})",
                        config::FeatureGates(newest).OldestEmulated(), newest, newest));
  Flag& gates = t.Add("feature-gates", "colonSeparatedMultimapStringString", GatesHelp());
  gates.set = [&v](const std::string& text) -> Result<void> {
    AddColonSeparated(text, &v.feature_gates);
    return {};
  };
  gates.text = [&v] {
    std::string text;
    for (const auto& [component, items] : v.feature_gates) {
      for (const std::string& item : items) {
        if (!text.empty()) text += ',';
        text.append(component).append(":").append(item);
      }
    }
    return text;
  };
  const config::FeatureGates newest_gates(config::NewestKubernetes());
  t.Strings("min-compatibility-version", &v.min_compatibility_version,
            fmt::format("The oldest version of components beside this one, [kube=]MAJOR.MINOR; "
                        "Kubernetes 1.35 and later.\nOptions are: kube=1.{}..1.{}(default:1.{})",
                        newest_gates.OldestEmulated(), newest_gates.Minor(),
                        newest_gates.MinCompatibility()));
}

void AddMetrics(Table& t, FlagValues& v) {
  t.Section("Metrics");
  Flag& labels = t.Add("allow-metric-labels", "stringToString",
                       "Values a label of a metric may have, others become \"unexpected\": "
                       "metric,label='a,b'.");
  labels.set = [&v](const std::string& text) -> Result<void> {
    auto parsed = ParseStringToString(text);
    if (!parsed) return Fail(std::move(parsed.error()));
    for (auto& [key, value] : *parsed) v.allow_metric_labels[key] = std::move(value);
    return {};
  };
  labels.text = [&v] {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : v.allow_metric_labels) {
      pairs.push_back(fmt::format("{}={}", key, value));
    }
    return "[" + WriteCsv(pairs) + "]";
  };
  t.String("allow-metric-labels-manifest", &v.allow_metric_labels_manifest,
           "File with what --allow-metric-labels would say.");
  t.Strings("disabled-metrics", &v.disabled_metrics, "Full names of metrics to leave out.");
  t.String("show-hidden-metrics-for-version", &v.show_hidden_metrics_for_version,
           "Show metrics hidden since this version: the previous one, as MAJOR.MINOR.");
}

void AddQuantity(Table& t, std::string_view name, std::string* out, std::string_view help) {
  Flag& flag = t.Add(name, "quantity", help);
  flag.set = [out](const std::string& text) { return Assign(ParseQuantity(text), out); };
  flag.text = [out] { return *out; };
}

void AddLogs(Table& t, FlagValues& v) {
  t.Section("Logs");
  t.Duration("log-flush-frequency", &v.log_flush_frequency,
             "Has no effect: every line is written at once.");
  constexpr std::string_view kBuffer = "[Alpha] Has no effect: every line is written at once.";
  AddQuantity(t, "log-json-info-buffer-size", &v.log_json_info_buffer_size, kBuffer);
  constexpr std::string_view kSplit =
      "[Alpha] Errors to standard error, all else to standard output. Needs the feature gate "
      "LoggingAlphaOptions.";
  t.Bool("log-json-split-stream", &v.log_json_split_stream, kSplit);
  AddQuantity(t, "log-text-info-buffer-size", &v.log_text_info_buffer_size, kBuffer);
  t.Bool("log-text-split-stream", &v.log_text_split_stream, kSplit);
  t.String("logging-format", &v.logging_format, "Format of the log: text or json.");
  Flag& level = t.Add("v", "Level", "Verbosity of the log.");
  level.shorthand = 'v';
  level.set = [&v](const std::string& text) -> Result<void> {
    const auto parsed = ParseUint(text, 31);
    if (!parsed) return Fail(parsed.error());
    v.v = static_cast<int64_t>(*parsed);
    return {};
  };
  level.text = [&v] { return std::to_string(v.v); };
  Flag& vmodule = t.Add("vmodule", "pattern=N,...",
                        "Verbosity by source file, without its ending; for the text format.");
  vmodule.set = [&v](const std::string& text) -> Result<void> {
    auto parsed = ParseVmoduleFlag(text);
    if (!parsed) return Fail(std::move(parsed.error()));
    if (!v.vmodule.empty() && !parsed->empty()) v.vmodule += ',';
    v.vmodule += *parsed;
    return {};
  };
  vmodule.text = [&v] { return v.vmodule; };
}

void AddGlobal(Table& t, FlagValues& v) {
  t.Section("Global");
  Flag& help = t.Add("help", "bool", "Print this and exit.");
  help.shorthand = 'h';
  help.no_value = "true";
  help.set = [&v](const std::string& text) { return Assign(ParseBool(text), &v.help); };
  help.text = [&v] { return std::string(v.help ? "true" : "false"); };
  Flag& version = t.Add("version", "version",
                        "Print the version and exit; raw: all of it; vX.Y.Z-suffix: report that "
                        "version instead.");
  version.no_value = "true";
  version.set = [&v](const std::string& text) {
    return Assign(ParseVersionFlag(text), &v.version);
  };
  version.text = [&v] { return v.version; };
}

void AddBerth(Table& t, FlagValues& v) {
  t.Section("Berth");
  t.Bool("adaptive-sampling", &v.adaptive_sampling,
         "With percentageOfNodesToScore 0, score as few nodes as kube-scheduler does.");
  t.Bool("dashboard", &v.dashboard, "Serve the dashboard under /dashboard/ on the secure port.");
  t.Bool(
      "explain-events", &v.explain_events,
      "Record an event for pods that fit on no node: verdicts by plugin, and a change that would "
      "help.");
  Flag& kubernetes =
      t.Add("kubernetes-version", "string",
            fmt::format("Whose kube-scheduler to be: 1.{} to 1.{}, or auto, that of the API "
                        "server's minor, also when it is upgraded.",
                        config::OldestKubernetes(), config::NewestKubernetes()));
  kubernetes.set = [&v](const std::string& text) {
    return Assign(ParseKubernetesFlag(text), &v.kubernetes_version);
  };
  kubernetes.text = [&v] { return v.kubernetes_version; };
  t.Strings("plugin-path", &v.plugin_path,
            "Shared objects with plugins that the configuration may enable: files, or folders with "
            "*.so.");
  t.String("replica-address", &v.replica_address,
           "With --replicas-share-work: HOST or HOST:PORT at which the other replicas reach the "
           "secure port. The default is --bind-address, if that is one address.");
  t.Bool("replicas-share-work", &v.replicas_share_work,
         "With leader election: the leader decides, and the other replicas send its bindings, "
         "status patches and events. Needs the same flag on all replicas, and the rights that "
         "'berth config rbac --replicas-share-work' prints.");
  Flag& seed =
      t.Add("seed", "uint", "Seed of random choices among equal nodes; 0: drawn at start.");
  seed.set = [&v](const std::string& text) { return Assign(ParseUint(text, 64), &v.seed); };
  seed.text = [&v] { return std::to_string(v.seed); };
  Flag& threads = t.Add("threads", "int", "Threads for filtering and scoring; 0: one per core.");
  threads.set = [&v](const std::string& text) -> Result<void> {
    const auto parsed = ParseUint(text, 16);
    if (!parsed) return Fail(parsed.error());
    v.threads = static_cast<int32_t>(*parsed);
    return {};
  };
  threads.text = [&v] { return std::to_string(v.threads); };
  t.Bool("trace-latency", &v.trace_latency,
         "Log for every pod when it passed each hop, from its watch event to the answer to its "
         "binding, in microseconds.");
  t.Bool("fence-bindings", &v.fence_bindings,
         "With leader election: mark bindings with the annotation berth.dev/lease-epoch, by which "
         "the policy of deploy/fence refuses those of earlier leaders.");
  t.String(
      "record-dir", &v.record_dir,
      "Record everything the scheduler decides on in this directory, for 'berth replay'. It is "
      "made if need be; files are readable by their owner only.");
  Flag& most = t.Add(
      "record-max-bytes", "quantity",
      "Size of all files in --record-dir. At half of it the recording begins another run, and "
      "the oldest runs are removed.");
  most.set = [&v](const std::string& text) -> Result<void> {
    const auto bytes = ParseRecordBytes(text);
    if (!bytes) return Fail(bytes.error());
    v.record_max_bytes = *bytes;
    return {};
  };
  most.text = [&v] {
    return api::Quantity::FromInt(v.record_max_bytes, api::Quantity::Format::kBinarySI).String();
  };
  t.Bool("record-redact", &v.record_redact,
         "Replace names, labels, images and other words of the cluster in --record-dir by "
         "pseudonyms. 'berth replay' makes the same decisions about them.");
}

// Flags of earlier kube-schedulers that are still found in manifests.
void AddObsolete(Table& t) {
  constexpr std::string_view kInsecure = "there is no insecure port; see --secure-port";
  for (const std::string_view name : {"address", "port"}) t.Obsolete(name, "", kInsecure);
  constexpr std::string_view kPolicy =
      "policies are gone; see profiles in a KubeSchedulerConfiguration (--config)";
  for (const std::string_view name : {"algorithm-provider", "policy-config-file",
                                      "policy-configmap", "policy-configmap-namespace"}) {
    t.Obsolete(name, "", kPolicy);
  }
  t.Obsolete("use-legacy-policy-config", "true", kPolicy);
  t.Obsolete("failure-domains", "", kPolicy);
  t.Obsolete("hard-pod-affinity-symmetric-weight", "",
             "see InterPodAffinityArgs in a KubeSchedulerConfiguration (--config)");
  t.Obsolete("percentage-of-nodes-to-score", "",
             "see percentageOfNodesToScore in a KubeSchedulerConfiguration (--config)");
  t.Obsolete("scheduler-name", "", "see profiles in a KubeSchedulerConfiguration (--config)");
  t.Obsolete("lock-object-name", "", "see --leader-elect-resource-name");
  t.Obsolete("lock-object-namespace", "", "see --leader-elect-resource-namespace");
  constexpr std::string_view kLog = "the log is written to standard error";
  for (const std::string_view name :
       {"log-backtrace-at", "log-dir", "log-file", "log-file-max-size", "stderrthreshold"}) {
    t.Obsolete(name, "", kLog);
  }
  for (const std::string_view name : {"add-dir-header", "alsologtostderr", "logtostderr",
                                      "one-output", "skip-headers", "skip-log-headers"}) {
    t.Obsolete(name, "true", kLog);
  }
  t.Obsolete("experimental-logging-sanitization", "true", "secrets are never logged");
  t.Obsolete("logging-sanitization", "true", "secrets are never logged");
}

}  // namespace

void AddAllFlags(FlagValues& values, std::vector<Flag>& flags) {
  Table table(flags);
  AddMisc(table, values);
  AddServing(table, values);
  AddAuthentication(table, values);
  AddAuthorization(table, values);
  AddDeprecated(table, values);
  AddLeaderElection(table, values);
  AddFeatureGates(table, values);
  AddMetrics(table, values);
  AddLogs(table, values);
  AddGlobal(table, values);
  AddBerth(table, values);
  AddObsolete(table);
}

}  // namespace berth::cli::scheduler
