#include "server/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

namespace berth::server {
namespace {

std::string ReadAll(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

double LimitOf(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return -1;
  if (limit.rlim_cur == RLIM_INFINITY) {  // as the largest number it can be
    return static_cast<double>(std::numeric_limits<uint64_t>::max());
  }
  return static_cast<double>(limit.rlim_cur);
}

double BootTimeSeconds() {
  std::istringstream lines(ReadAll("/proc/stat"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
  }
  return -1;
}

// /proc/self/stat, from the state (field 3) on: the name before it may hold anything.
void ReadStat(ProcessStats& stats) {
  const std::string text = ReadAll("/proc/self/stat");
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return;
  std::istringstream fields(text.substr(end + 1));
  std::vector<std::string> words;
  for (std::string word; fields >> word;) words.push_back(word);
  constexpr size_t kUserTime = 11, kSystemTime = 12, kStartTime = 19, kVirtual = 20, kResident = 21;
  if (words.size() <= kResident) return;
  const auto number = [&](size_t i) { return std::strtod(words[i].c_str(), nullptr); };
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  stats.cpu_seconds = (number(kUserTime) + number(kSystemTime)) / ticks;
  stats.virtual_bytes = number(kVirtual);
  stats.resident_bytes = number(kResident) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double boot = BootTimeSeconds();
  if (boot >= 0) stats.start_time_seconds = boot + number(kStartTime) / ticks;
}

// The sums over the interfaces of the process' network namespace.
void ReadNetwork(ProcessStats& stats) {
  std::istringstream lines(ReadAll("/proc/self/net/netstat"));
  std::string names, values;
  while (std::getline(lines, names) && std::getline(lines, values)) {
    if (!names.starts_with("IpExt:")) continue;
    std::istringstream name_words(names), value_words(values);
    for (std::string name, value; name_words >> name && value_words >> value;) {
      if (name == "InOctets") stats.received_bytes = std::strtod(value.c_str(), nullptr);
      if (name == "OutOctets") stats.sent_bytes = std::strtod(value.c_str(), nullptr);
    }
  }
}

}  // namespace

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  ReadStat(stats);
  ReadNetwork(stats);
  std::error_code error;
  double open = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    ++open;
  }
  if (!error) stats.open_fds = open;
  stats.max_fds = LimitOf(RLIMIT_NOFILE);
  stats.virtual_max_bytes = LimitOf(RLIMIT_AS);
  return stats;
}

void AddProcessMetrics(Registry& registry) {
  const auto gauge = [&](const char* name, const char* help) {
    return registry.AddGauge({name, help}).Only();
  };
  const auto counter = [&](const char* name, const char* help) {
    return registry.AddCounter({name, help}).Only();
  };
  Counter* cpu =
      counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
  Counter* received = counter("process_network_receive_bytes_total",
                              "Number of bytes received by the process over the network.");
  Counter* sent = counter("process_network_transmit_bytes_total",
                          "Number of bytes sent by the process over the network.");
  Gauge* open_fds = gauge("process_open_fds", "Number of open file descriptors.");
  Gauge* max_fds = gauge("process_max_fds", "Maximum number of open file descriptors.");
  Gauge* virt = gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.");
  Gauge* virt_max = gauge("process_virtual_memory_max_bytes",
                          "Maximum amount of virtual memory available in bytes.");
  Gauge* resident = gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
  Gauge* start =
      gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.");
  registry.OnCollect([=] {
    const ProcessStats stats = ReadProcessStats();
    cpu->Reset();
    cpu->Add(std::max(stats.cpu_seconds, 0.0));
    received->Reset();
    received->Add(std::max(stats.received_bytes, 0.0));
    sent->Reset();
    sent->Add(std::max(stats.sent_bytes, 0.0));
    open_fds->Set(stats.open_fds);
    max_fds->Set(stats.max_fds);
    virt->Set(stats.virtual_bytes);
    virt_max->Set(stats.virtual_max_bytes);
    resident->Set(stats.resident_bytes);
    start->Set(stats.start_time_seconds);
  });
}

void AddRegistryMetrics(Registry& registry) {
  constexpr Stability kBeta = Stability::kBeta;
  registry.AddCounter({"hidden_metrics_total", "The count of hidden metrics.", kBeta});
  Counter* disabled =
      registry.AddCounter({"disabled_metrics_total", "The count of disabled metrics.", kBeta})
          .Only();
  CounterFamily& registered = registry.AddCounter(
      {"registered_metrics_total",
       "The count of registered metrics broken by stability level and deprecation version.",
       kBeta,
       {"stability_level", "deprecated_version"}});
  Counter* const levels[] = {registered.With({"ALPHA", ""}), registered.With({"BETA", ""}),
                             registered.With({"STABLE", ""})};
  registry.OnCollect([=, &registry] {
    const auto set = [](Counter* counter, size_t to) {
      counter->Reset();
      counter->Add(static_cast<double>(to));
    };
    set(disabled, registry.DisabledFamilies());
    set(levels[0], registry.Families(Stability::kAlpha));
    set(levels[1], registry.Families(Stability::kBeta));
    set(levels[2], registry.Families(Stability::kStable));
  });
}

ComponentMetrics::ComponentMetrics(Registry& registry)
    : build_(registry.AddGauge({"kubernetes_build_info",
                                "",
                                Stability::kAlpha,
                                {"major", "minor", "git_version", "git_commit", "git_tree_state",
                                 "build_date", "go_version", "compiler", "platform"}})),
      berth_(registry.AddGauge({"berth_build_info",
                                "A metric with a constant '1' value labeled by berth's version and "
                                "the commit it was built from.",
                                Stability::kNone,
                                {"version", "commit"}})),
      version_(registry.AddGauge(
          {"version_info",
           "Provides the compatibility version info of the component. The component label is "
           "the name of the component, usually kube, but is relevant for "
           "aggregated-apiservers.",
           Stability::kAlpha,
           {"component", "binary", "emulation", "min_compat"}})),
      features_(registry.AddGauge(
          {"kubernetes_feature_enabled",
           "This metric records the data about the stage and enablement of a k8s feature.",
           Stability::kBeta,
           {"name", "stage"}})) {}

void ComponentMetrics::Set(const ComponentInfo& info) {
  // By release.
  constexpr Stability kBuildInfo[] = {Stability::kAlpha, Stability::kAlpha, Stability::kBeta,
                                      Stability::kBeta};
  build_.Describe({.help = "A metric with a constant '1' value labeled by major, minor, git "
                           "version, git commit, git tree state, build date, Go version, and "
                           "compiler from which Kubernetes was built, and platform on which it "
                           "is running.",
                   .stability = kBuildInfo[static_cast<size_t>(info.release)]});
  std::string major, minor;
  if (info.git_version.starts_with("v")) {
    const size_t dot = info.git_version.find('.');
    const size_t end = info.git_version.find('.', dot + 1);
    if (dot != std::string::npos && end != std::string::npos) {
      major = info.git_version.substr(1, dot - 1);
      minor = info.git_version.substr(dot + 1, end - dot - 1);
    }
  }
  build_.RemoveSeries();
  build_
      .With({major, minor, info.git_version, info.git_commit, "clean", info.build_date,
             info.compiler_version, info.compiler, info.platform})
      ->Set(1);
  berth_.RemoveSeries();
  berth_.With({info.berth_version, info.berth_commit})->Set(1);
  version_.RemoveSeries();
  version_.With({"kube", info.binary_version, info.emulation_version, info.min_compat_version})
      ->Set(1);
  features_.RemoveSeries();
  for (const FeatureValue& feature : info.features) {
    features_.With({feature.name, feature.stage})->Set(feature.enabled ? 1 : 0);
  }
}

LeaderMetrics::LeaderMetrics(Registry& registry, std::string_view lease_name)
    : lease_name_(lease_name),
      leading_(registry
                   .AddGauge({"leader_election_master_status",
                              "Gauge of if the reporting system is master of the relevant lease, 0 "
                              "indicates backup, 1 indicates master. 'name' is the string used to "
                              "identify the lease. Please make sure to group by name.",
                              Stability::kAlpha,
                              {"name"}})
                   .With({lease_name})),
      epoch_(registry.AddGauge(
          {"berth_leader_epoch",
           "leaseTransitions of the Lease 'name' when this replica acquired it: larger with every "
           "leader. Absent on a standby.",
           Stability::kNone,
           {"name"}})),
      slow_path_(registry.AddCounter(
          {"leader_election_slowpath_total",
           "Total number of slow path exercised in renewing leader leases. 'name' is the string "
           "used to identify the lease. Please make sure to group by name.",
           Stability::kAlpha,
           {"name"}})) {}

ClientMetrics::ClientMetrics(Registry& registry)
    : requests_(registry.AddCounter(
          {"rest_client_requests_total",
           "Number of HTTP requests, partitioned by status code, method, and host.",
           Stability::kAlpha,
           {"code", "method", "host"}})),
      retries_(registry.AddCounter(
          {"rest_client_request_retries_total",
           "Number of request retries, partitioned by status code, verb, and host.",
           Stability::kAlpha,
           {"code", "verb", "host"}})),
      duration_(registry.AddHistogram(
          {"rest_client_request_duration_seconds",
           "Request latency in seconds. Broken down by verb, and host.",
           Stability::kAlpha,
           {"verb", "host"}},
          {0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0})),
      request_size_(registry.AddHistogram(
          {"rest_client_request_size_bytes",
           "Request size in bytes. Broken down by verb and host.",
           Stability::kAlpha,
           {"verb", "host"}},
          {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216})),
      response_size_(registry.AddHistogram(
          {"rest_client_response_size_bytes",
           "Response size in bytes. Broken down by verb and host.",
           Stability::kAlpha,
           {"verb", "host"}},
          {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216})),
      held_back_(registry.AddHistogram(
          {"rest_client_rate_limiter_duration_seconds",
           "Client side rate limiter latency in seconds. Broken down by verb, and host.",
           Stability::kAlpha,
           {"verb", "host"}},
          {0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0})) {}

void ClientMetrics::Answered(std::string_view method, std::string_view host, std::string_view code,
                             size_t request_bytes) {
  requests_.Of({code, method, host}).OwnAdd();
  request_size_.Of({method, host}).OwnObserve(static_cast<double>(request_bytes));
}

void ClientMetrics::Finished(std::string_view method, std::string_view host, double seconds,
                             size_t response_bytes) {
  duration_.Of({method, host}).OwnObserve(seconds);
  response_size_.Of({method, host}).OwnObserve(static_cast<double>(response_bytes));
}

void ClientMetrics::HeldBack(std::string_view method, std::string_view host, double seconds) {
  held_back_.Of({method, host}).OwnObserve(seconds);
}

void ClientMetrics::Retried(std::string_view method, std::string_view host, std::string_view code) {
  retries_.Of({code, method, host}).OwnAdd();
}

}  // namespace berth::server
