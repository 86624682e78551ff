#include "kube/auth/in_cluster.h"

#include <sys/stat.h>

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "kube/auth/read_file.h"
#include "log/log.h"

namespace berth::kube {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// net.JoinHostPort: addresses with colons in them stand in brackets.
std::string JoinHostPort(const std::string& host, const std::string& port) {
  const bool brackets = host.find(':') != std::string::npos;
  return brackets ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace

InClusterPlaces InClusterPlaces::FromEnvironment() {
  InClusterPlaces places;
  places.host = Environment("KUBERNETES_SERVICE_HOST");
  places.port = Environment("KUBERNETES_SERVICE_PORT");
  return places;
}

Result<ClientConfig> InClusterConfig(const InClusterPlaces& places) {
  if (places.host.empty() || places.port.empty()) {
    return Fail(
        "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
        "KUBERNETES_SERVICE_PORT must be defined");
  }
  auto token = ReadFile(places.token_file);
  if (!token) return Fail(token.error());
  ClientConfig config;
  config.server = "https://" + JoinHostPort(places.host, places.port);
  config.token = std::move(*token);
  while (!config.token.empty() && static_cast<unsigned char>(config.token.back()) <= ' ') {
    config.token.pop_back();
  }
  config.token_file = places.token_file;
  auto ca = ReadFile(places.ca_file);
  if (ca && ca->find("-----BEGIN CERTIFICATE-----") != std::string::npos) {
    config.tls.ca_pem = std::move(*ca);
    config.ca_file = places.ca_file;
  } else {
    log::Error(
        ca ? "data does not contain any valid RSA or ECDSA certificates" : ca.error().Message(),
        "Expected to load root CA config, but got error", {{"file", places.ca_file}});
  }
  return config;
}

bool InClusterPossible(const InClusterPlaces& places) {
  struct stat info = {};
  return !places.host.empty() && !places.port.empty() &&
         stat(places.token_file.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

}  // namespace berth::kube
