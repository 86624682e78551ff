// SchedulerOptions: see options.h.
#include "cli/scheduler/options.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "api/codec/yaml.h"
#include "api/go/error_list.h"
#include "api/go/go_text.h"
#include "cli/scheduler/options_checks.h"
#include "cli/scheduler/sharing_options.h"
#include "cli/scheduler/version.h"
#include "config/v1beta3.h"

namespace berth::cli::scheduler {

namespace {

// Flags that are taken and do nothing here. Told once, when they are given.
constexpr std::string_view kWithoutEffect[] = {
    "authentication-tolerate-lookup-failure",  // a lookup that fails is repeated
    "contention-profiling",
    "log-flush-frequency",
    "log-json-info-buffer-size",
    "log-text-info-buffer-size",
    "show-hidden-metrics-for-version",  // there are none
};

tl::unexpected<Exit> Failure(std::string message) {
  return tl::unexpected(Exit{.code = 1, .failure = std::move(message)});
}

// "open nodir/x.yaml: no such file or directory"
Error FileError(std::string_view operation, const std::string& path, int code) {
  std::string reason = std::strerror(code);
  reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return Error(fmt::format("{} {}: {}", operation, path, reason));
}

Result<std::string> ReadWhole(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Fail(FileError("open", path, errno));
  std::string text;
  char buffer[16384];
  while (true) {
    const ssize_t size = read(fd, buffer, sizeof buffer);
    if (size > 0) {
      text.append(buffer, static_cast<size_t>(size));
    } else if (size == 0) {
      close(fd);
      return text;
    } else if (errno != EINTR) {
      const int code = errno;
      close(fd);
      return Fail(FileError("read", path, code));
    }
  }
}

Result<void> WriteWhole(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Fail(FileError("open", path, errno));
  while (!text.empty()) {
    const ssize_t size = write(fd, text.data(), text.size());
    if (size >= 0) {
      text.remove_prefix(static_cast<size_t>(size));
    } else if (errno != EINTR) {
      const int code = errno;
      close(fd);
      return Fail(FileError("write", path, code));
    }
  }
  if (close(fd) != 0) return Fail(FileError("close", path, errno));
  return {};
}

std::vector<std::string> SplitComma(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// A map from "metric,label" to "a,b", in YAML.
Result<std::map<std::string, std::string>> ReadLabelManifest(const std::string& path) {
  auto text = ReadWhole(path);
  if (!text) return Fail(text.error().In("failed to read allow list manifest"));
  const auto json = api::YamlToJson(*text);
  if (!json) return Fail(json.error().In("failed to parse allow list manifest"));
  std::map<std::string, std::string> labels;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::object object;
  bool valid = parser.parse(*json).get(root) == simdjson::SUCCESS;
  if (valid && root.is_null()) return labels;
  valid = valid && root.get(object) == simdjson::SUCCESS;
  if (valid) {
    for (const auto& [key, value] : object) {
      std::string_view values;
      valid = valid && value.get(values) == simdjson::SUCCESS;
      if (valid) labels[std::string(key)] = values;
    }
  }
  if (!valid) return Fail("failed to parse allow list manifest: not a map of texts");
  return labels;
}

MetricsOptions MetricsOf(const FlagValues& flags) {
  MetricsOptions metrics;
  metrics.disabled = flags.disabled_metrics;
  std::map<std::string, std::string> labels = flags.allow_metric_labels;
  if (labels.empty() && !flags.allow_metric_labels_manifest.empty()) {
    // kube-scheduler goes on without it, too.
    if (auto read = ReadLabelManifest(flags.allow_metric_labels_manifest); read) {
      labels = std::move(*read);
    } else {
      log::Error(read.error().Message(), "Could not take over metric labels");
    }
  }
  for (const auto& [key, values] : labels) metrics.allowed_labels[key] = SplitComma(values);
  return metrics;
}

ServingOptions ServingOf(const FlagValues& flags) {
  ServingOptions serving;
  serving.bind_address = flags.bind_address;
  serving.port = static_cast<int>(flags.secure_port);
  serving.cert_dir = flags.cert_dir;
  serving.cert_file = flags.tls_cert_file;
  serving.key_file = flags.tls_private_key_file;
  serving.sni = flags.tls_sni_cert_key;
  serving.cipher_suites = flags.tls_cipher_suites;
  serving.curve_preferences = flags.tls_curve_preferences;
  serving.min_tls_version = flags.tls_min_version;
  serving.reuse_port = flags.permit_port_sharing;
  serving.reuse_address = flags.permit_address_sharing;
  serving.http2 = !flags.disable_http2_serving;
  if (flags.http2_max_streams_per_connection > 0) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    serving.http2_max_streams =
        static_cast<uint32_t>(std::min(flags.http2_max_streams_per_connection, kMost));
  }
  return serving;
}

AuthenticationOptions AuthenticationOf(const FlagValues& flags) {
  AuthenticationOptions authentication;
  authentication.kubeconfig = flags.authentication_kubeconfig;
  authentication.skip_lookup = flags.authentication_skip_lookup;
  authentication.token_cache_ttl_ns = flags.authentication_token_webhook_cache_ttl;
  authentication.client_ca_file = flags.client_ca_file;
  authentication.requestheader_client_ca_file = flags.requestheader_client_ca_file;
  authentication.allowed_names = flags.requestheader_allowed_names;
  authentication.username_headers = flags.requestheader_username_headers;
  authentication.uid_headers = flags.requestheader_uid_headers;
  authentication.group_headers = flags.requestheader_group_headers;
  authentication.extra_prefixes = flags.requestheader_extra_headers_prefix;
  return authentication;
}

AuthorizationOptions AuthorizationOf(const FlagValues& flags) {
  AuthorizationOptions authorization;
  authorization.kubeconfig = flags.authorization_kubeconfig;
  authorization.always_allow_paths = flags.authorization_always_allow_paths;
  authorization.allow_cache_ttl_ns = flags.authorization_webhook_cache_authorized_ttl;
  authorization.deny_cache_ttl_ns = flags.authorization_webhook_cache_unauthorized_ttl;
  return authorization;
}

log::Options LogOf(const FlagValues& flags) {
  const bool json = flags.logging_format == "json";
  const bool split = json ? flags.log_json_split_stream : flags.log_text_split_stream;
  return {.verbosity = static_cast<int>(flags.v),
          .vmodule = flags.vmodule,
          .json = json,
          .info_fd = split ? 1 : -1};
}

void LogFlags(const Flags& flags) {
  if (!log::V(1)) return;
  for (const auto& [name, value] : flags.Dump()) {
    log::InfoLine(1, fmt::format("FLAG: --{}={}", name, api::GoQuote(value)));
  }
}

// What was asked for and will not happen.
void LogWithoutEffect(const Flags& flags, const config::FeatureGates& gates) {
  std::string names;
  for (const Flag& flag : flags.All()) {
    if (!flag.changed) continue;
    if (!flag.obsolete.empty()) log::WarningLine(flag.obsolete);
    if (std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), flag.name) !=
        std::end(kWithoutEffect)) {
      names += (names.empty() ? "--" : ", --") + flag.name;
    }
  }
  if (!names.empty()) log::WarningLine("Flags that have no effect in berth: " + names);
  const std::vector<std::string> ignored = gates.NotHonoured();
  if (ignored.empty()) return;
  log::WarningLine(
      fmt::format("Feature gates that berth does not act on: {}", fmt::join(ignored, ", ")));
}

void ApplyDeprecated(const Flags& flags, config::KubeSchedulerConfiguration& config) {
  const FlagValues& values = flags.Values();
  if (flags.Changed("profiling")) config.enable_profiling = values.profiling;
  if (flags.Changed("contention-profiling")) {
    config.enable_contention_profiling = values.contention_profiling;
  }
  config::ClientConnectionConfiguration& client = config.client_connection;
  if (flags.Changed("kubeconfig")) client.kubeconfig = values.kubeconfig;
  if (flags.Changed("kube-api-content-type")) client.content_type = values.kube_api_content_type;
  if (flags.Changed("kube-api-qps")) {
    client.qps = std::strtod(api::FormatGoFloat(values.kube_api_qps, 32).c_str(), nullptr);
  }
  if (flags.Changed("kube-api-burst")) client.burst = values.kube_api_burst;
}

void ApplyLeaderElection(const Flags& flags, config::LeaderElectionConfiguration& election) {
  const FlagValues& values = flags.Values();
  if (flags.Changed("leader-elect")) election.leader_elect = values.leader_elect;
  if (flags.Changed("leader-elect-lease-duration")) {
    election.lease_duration.ns = values.leader_elect_lease_duration;
  }
  if (flags.Changed("leader-elect-renew-deadline")) {
    election.renew_deadline.ns = values.leader_elect_renew_deadline;
  }
  if (flags.Changed("leader-elect-retry-period")) {
    election.retry_period.ns = values.leader_elect_retry_period;
  }
  if (flags.Changed("leader-elect-resource-lock")) {
    election.resource_lock = values.leader_elect_resource_lock;
  }
  if (flags.Changed("leader-elect-resource-name")) {
    election.resource_name = values.leader_elect_resource_name;
  }
  if (flags.Changed("leader-elect-resource-namespace")) {
    election.resource_namespace = values.leader_elect_resource_namespace;
  }
}

// Those that Go knows: whether the TLS library here does, only the server can tell.
Result<void> CheckCurves(const std::vector<int32_t>& curves) {
  static constexpr int32_t kMost = std::numeric_limits<uint16_t>::max();
  static constexpr int32_t kKnown[] = {23, 24, 25, 29, 4587, 4588, 4589};
  std::set<int32_t> seen;
  for (const int32_t curve : curves) {
    if (curve <= 0 || curve > kMost) {
      return Fail(fmt::format("curve preference {} is out of range (must be 1-{})", curve, kMost));
    }
    if (!seen.insert(curve).second)
      return Fail(fmt::format("duplicate curve preference {}", curve));
    if (!std::binary_search(std::begin(kKnown), std::end(kKnown), curve)) {
      return Fail(
          fmt::format("curve preference {} is not supported by the current Go version", curve));
    }
  }
  return {};
}

// A file is read again whenever it changes: what its owner knows is not said again.
void WarnOnce(const std::vector<std::string>& warnings, std::set<std::string>& told) {
  for (const std::string& warning : warnings) {
    if (told.insert(warning).second) log::WarningLine(warning);
  }
}

}  // namespace

OrExit<SchedulerOptions> Prepare(const Flags& flags, const KubernetesChoice& choice) {
  const FlagValues& values = flags.Values();
  std::vector<std::string> warnings;
  std::set<std::string> told;
  auto gates = MakeFeatureGates(values, choice.minor, &warnings);
  WarnOnce(warnings, told);
  if (!gates) return Failure(gates.error().Message());

  const config::Behaviour behaviour(*gates);
  if (std::string version = VersionText(values.version, behaviour.release); !version.empty()) {
    return tl::unexpected(Exit{.code = 0, .out = std::move(version)});
  }
  const log::Options log = LogOf(values);
  auto logging = CheckLogging(values, *gates);
  if (logging) logging = log::Configure(log);
  if (!logging) return tl::unexpected(Exit{.code = 1, .err = logging.error().Message() + "\n"});
  LogFlags(flags);
  for (const std::string& warning : choice.warnings) log::WarningLine(warning);
  LogWithoutEffect(flags, *gates);

  warnings.clear();
  const std::vector<std::string> errors = CheckFlags(values, *gates, &warnings);
  WarnOnce(warnings, told);
  if (!errors.empty()) return Failure(api::JoinErrors(errors));

  SchedulerOptions options;
  options.told = std::move(told);
  options.behaviour = behaviour;
  options.follows_server = choice.follows;
  options.server_answered = choice.answered;
  options.gates = std::move(*gates);
  options.master = values.master;
  options.config_file = values.config;
  options.write_config_to = values.write_config_to;
  options.version = ReportedVersion(values.version, behaviour.release);
  options.pod_max_in_unschedulable_pods_ns = values.pod_max_in_unschedulable_pods_duration;
  options.serving = ServingOf(values);
  options.authentication = AuthenticationOf(values);
  options.authorization = AuthorizationOf(values);
  options.metrics = MetricsOf(values);
  options.log = log;
  options.flags = flags.Dump();
  options.adaptive_sampling = values.adaptive_sampling;
  options.dashboard = values.dashboard;
  options.explain_events = values.explain_events;
  options.plugin_paths = values.plugin_path;
  options.threads = values.threads;
  options.traces_latency = values.trace_latency;
  options.fences_bindings = values.fence_bindings;
  options.shares_work = values.replicas_share_work;
  options.replica_address = values.replica_address;
  options.recording = {values.record_dir, static_cast<uint64_t>(values.record_max_bytes),
                       values.record_redact, !values.plugin_path.empty()};
  options.seed = values.seed;
  return options;
}

Result<void> LoadConfig(const Flags& flags, SchedulerOptions& options) {
  if (options.config_file.empty()) {
    options.config = config::Default(options.behaviour);
    ApplyDeprecated(flags, options.config);
    ApplyLeaderElection(flags, options.config.leader_election);
  } else {
    const auto text = ReadWhole(options.config_file);
    if (!text) return Fail(text.error());
    auto read = config::DecodeAnyVersion(*text, options.behaviour);
    if (!read) return Fail(std::move(read.error()));
    WarnOnce(read->Warnings(), options.told);
    ApplyLeaderElection(flags, read->config.leader_election);
    const auto valid = config::Validate(read->config, options.behaviour, read->api_version);
    if (!valid) return valid;
    options.config = std::move(read->config);
  }
  return {};
}

Result<void> CheckServing(ServingOptions& serving) {
  if (serving.port <= 0) return {};
  constexpr std::string_view kSuites[] = {
      "TLS_AES_128_GCM_SHA256",
      "TLS_AES_256_GCM_SHA384",
      "TLS_CHACHA20_POLY1305_SHA256",
      "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
      "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
      "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
      "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
      "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
      "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
      "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
      "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
      "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
      "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
      "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
      "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
      "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
      "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
      "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
      "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
      "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
      "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
      "TLS_RSA_WITH_AES_128_CBC_SHA",
      "TLS_RSA_WITH_AES_128_CBC_SHA256",
      "TLS_RSA_WITH_AES_128_GCM_SHA256",
      "TLS_RSA_WITH_AES_256_CBC_SHA",
      "TLS_RSA_WITH_AES_256_GCM_SHA384",
      "TLS_RSA_WITH_RC4_128_SHA",
  };
  for (const std::string& suite : serving.cipher_suites) {
    if (!std::binary_search(std::begin(kSuites), std::end(kSuites), suite)) {
      return Fail(fmt::format("Cipher suite {} not supported or doesn't exist", suite));
    }
  }
  if (auto curves = CheckCurves(serving.curve_preferences); !curves) return curves;
  if (serving.min_tls_version.empty()) return {};
  for (int minor = 0; minor <= 3; ++minor) {
    if (serving.min_tls_version != fmt::format("VersionTLS1{}", minor)) continue;
    serving.min_tls_minor = minor;
    return {};
  }
  return Fail("unknown tls version " + api::GoQuote(serving.min_tls_version));
}

OrExit<SchedulerOptions> Complete(const Flags& flags, const KubernetesChoice& choice) {
  auto options = Prepare(flags, choice);
  if (!options) return options;
  if (auto loaded = LoadConfig(flags, *options); !loaded) return Failure(loaded.error().Message());
  if (auto serving = CheckServing(options->serving); !serving) {
    return Failure(serving.error().Message());
  }
  if (auto sharing = CheckSharing(*options); !sharing) return Failure(sharing.error().Message());
  return options;
}

Result<SchedulerOptions> InMinor(const Flags& flags, const SchedulerOptions& running, int minor) {
  const FlagValues& values = flags.Values();
  std::vector<std::string> warnings;
  auto gates = MakeFeatureGates(values, minor, &warnings);
  if (!gates) return Fail(gates.error());
  const std::vector<std::string> errors = CheckFlags(values, *gates, &warnings);
  if (!errors.empty()) return Fail(api::JoinErrors(errors));
  SchedulerOptions options = running;
  options.behaviour = config::Behaviour(*gates);
  options.gates = std::move(*gates);
  options.version = ReportedVersion(values.version, options.behaviour.release);
  WarnOnce(warnings, options.told);
  if (auto loaded = LoadConfig(flags, options); !loaded) return Fail(loaded.error());
  if (auto sharing = CheckSharing(options); !sharing) return Fail(sharing.error());
  return options;
}

void LogPlugins(const config::Resolved& resolved) {
  if (!log::V(2)) return;
  using Point = config::ExtensionPoint;
  for (const config::ResolvedProfile& profile : resolved.profiles) {
    std::string text = "{";
    for (const Point point :
         {Point::kPreEnqueue, Point::kQueueSort, Point::kPreFilter, Point::kFilter,
          Point::kPostFilter, Point::kPreScore, Point::kScore, Point::kReserve, Point::kPermit,
          Point::kPreBind, Point::kBind, Point::kPostBind}) {
      std::string_view name = config::InterfaceName(point);
      name.remove_suffix(std::string_view("Plugin").size());
      text += fmt::format("\"{}\":{{\"Enabled\":[", name);
      for (const config::EnabledPlugin& plugin : profile.At(point)) {
        if (!text.ends_with('[')) text += ',';
        text += fmt::format("{{\"Name\":\"{}\",\"Weight\":{}}}", plugin.name, plugin.weight);
      }
      text += "],\"Disabled\":null},";
    }
    text += "\"MultiPoint\":{\"Enabled\":null,\"Disabled\":null}}";
    log::Info(2, "the scheduler starts to work with those plugins", {{"Plugins", log::Raw{text}}});
  }
}

Result<bool> LogOrWriteConfig(const SchedulerOptions& options,
                              const config::KubeSchedulerConfiguration& effective) {
  if (!log::V(2) && options.write_config_to.empty()) return false;
  const std::string yaml = config::ToYaml(effective);
  log::Info(2, "Using component config", {{"config", yaml}});
  if (options.write_config_to.empty()) return false;
  if (auto written = WriteWhole(options.write_config_to, yaml); !written) {
    return Fail(std::move(written.error()));
  }
  log::Info(0, "Wrote configuration", {{"file", options.write_config_to}});
  return true;
}

}  // namespace berth::cli::scheduler
