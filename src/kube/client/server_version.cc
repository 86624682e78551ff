#include "kube/client/server_version.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "config/feature_gates.h"

namespace berth::kube {
namespace {

struct VersionInfo {
  std::string major;
  std::string minor;
  std::string git_version;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<VersionInfo>("Info")
                                          .Field(1, "major", &VersionInfo::major)
                                          .Field(2, "minor", &VersionInfo::minor)
                                          .Field(3, "gitVersion", &VersionInfo::git_version)
                                          .Build();
    return type;
  }
};

// The digits it begins with.
Result<int> LeadingNumber(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) {
    return Fail(fmt::format("\"{}\" is no version number", text.substr(0, 64)));
  }
  return number;
}

// As a number to compare: of another major everything is newer or older.
int Comparable(const ServerVersion& server) {
  if (server.major < 1) return 0;
  return server.major > 1 ? std::numeric_limits<int>::max() : server.minor;
}

}  // namespace

ApiRequest VersionRequest() {
  ApiRequest request;
  request.path = "/version";
  request.accept = kJson;
  request.timeout = std::chrono::seconds(5);
  return request;
}

Result<ServerVersion> ReadServerVersion(const ApiResponse& response) {
  if (!response.Ok()) return Fail(response.message);
  auto info = api::FromJson<VersionInfo>(response.body);
  if (!info) return Fail(std::move(info.error()));
  const auto major = LeadingNumber(info->major);
  if (!major) return Fail(major.error().In("major"));
  const auto minor = LeadingNumber(info->minor);
  if (!minor) return Fail(minor.error().In("minor"));
  return ServerVersion{*major, *minor, std::move(info->git_version)};
}

int NearestKubernetes(const ServerVersion& server) {
  return std::clamp(Comparable(server), config::OldestKubernetes(), config::NewestKubernetes());
}

std::string DistanceWarning(const ServerVersion& server) {
  const int nearest = NearestKubernetes(server);
  if (Comparable(server) == nearest) return {};
  const bool newer = Comparable(server) > nearest;
  return fmt::format(
      "The API server is {}, which is {} than any Kubernetes that this berth knows: it decides as "
      "kube-scheduler 1.{} does",
      server.git_version, newer ? "newer" : "older", nearest);
}

}  // namespace berth::kube
