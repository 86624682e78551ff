#include "cli/scheduler/sharing_options.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/visible.h"

namespace berth::cli::scheduler {
namespace {

constexpr size_t kMaxLabel = 63;  // bytes of a label's value

bool IsUnspecified(std::string_view address) {
  return address.empty() || address == "0.0.0.0" || address == "::";
}

bool IsPort(std::string_view text) {
  const bool digits =
      !text.empty() && text.size() <= 5 &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits && std::stoi(std::string(text)) > 0 && std::stoi(std::string(text)) <= 65535;
}

Error BadAddress(std::string_view address) {
  return Error(
      fmt::format("--replica-address: {} is neither HOST nor HOST:PORT", Visible(address)));
}

// HOST, HOST:PORT, IPv6 address, [IPv6 address] or [IPv6 address]:PORT as HOST:PORT.
Result<std::string> WithPort(std::string_view address, int port) {
  std::string_view host = address;
  std::string_view given;
  if (address.starts_with('[')) {
    const size_t end = address.find(']');
    if (end == std::string_view::npos) return Fail(BadAddress(address));
    host = address.substr(1, end - 1);
    given = address.substr(end + 1);
    if (!given.empty() && given[0] != ':') return Fail(BadAddress(address));
    if (!given.empty() && !IsPort(given.substr(1))) return Fail(BadAddress(address));
  } else if (std::count(address.begin(), address.end(), ':') == 1) {
    const size_t colon = address.find(':');
    host = address.substr(0, colon);
    given = address.substr(colon);
    if (!IsPort(given.substr(1))) return Fail(BadAddress(address));
  }
  const bool named = !IsUnspecified(host) && std::all_of(host.begin(), host.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == ':';
  });
  if (!named) return Fail(BadAddress(address));
  const std::string shown =
      host.find(':') == std::string_view::npos ? std::string(host) : fmt::format("[{}]", host);
  return given.empty() ? fmt::format("{}:{}", shown, port) : shown + std::string(given);
}

}  // namespace

Result<void> CheckSharing(SchedulerOptions& options) {
  if (!options.shares_work) {
    if (options.replica_address.empty()) return {};
    return Fail("--replica-address requires --replicas-share-work");
  }
  const config::LeaderElectionConfiguration& election = options.config.leader_election;
  if (!election.leader_elect) return Fail("--replicas-share-work requires leader election");
  if (options.serving.port == 0) {
    return Fail("--replicas-share-work requires a secure port, but --secure-port is 0");
  }
  if (options.config.delay_cache_until_active) {
    return Fail(
        "--replicas-share-work requires delayCacheUntilActive: false, because a replica that "
        "watches nothing cannot tell what became of its work");
  }
  if (election.resource_name.size() > kMaxLabel) {
    return Fail(fmt::format(
        "--replicas-share-work requires a lease whose name has at most {} characters, but {} "
        "has {}",
        kMaxLabel, election.resource_name, election.resource_name.size()));
  }
  if (options.replica_address.empty() && IsUnspecified(options.serving.bind_address)) {
    return Fail(
        fmt::format("--replicas-share-work requires --replica-address when --bind-address is {}",
                    options.serving.bind_address));
  }
  auto address = WithPort(
      options.replica_address.empty() ? options.serving.bind_address : options.replica_address,
      options.serving.port);
  if (!address) return Fail(address.error());
  options.replica_address = std::move(*address);
  return {};
}

}  // namespace berth::cli::scheduler
