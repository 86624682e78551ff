#include "kube/auth/kubeconfig.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "kube/auth/in_cluster.h"
#include "kube/auth/kubeconfig_build.h"
#include "kube/auth/kubeconfig_types.h"
#include "kube/auth/read_file.h"
#include "log/log.h"

namespace berth::kube {
namespace {

// The folder of the file as an absolute path.
std::string DirectoryOf(const std::string& file) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(file, error);
  return (error ? std::filesystem::path(file) : absolute).parent_path().string();
}

Result<Kubeconfig> ReadKubeconfig(const std::string& file) {
  struct stat info = {};
  if (stat(file.c_str(), &info) != 0 && errno == ENOENT) {
    return Fail(fmt::format("stat {}: {}", file, GoErrno(ENOENT)));
  }
  const auto failure = [&](const Error& error) {
    return Fail(fmt::format("error loading config file \"{}\": {}", file, error.Message()));
  };
  const auto text = ReadFile(file);
  if (!text) return failure(text.error());
  auto config = DecodeKubeconfig(*text);
  if (!config) return failure(config.error());
  ResolvePaths(*config, DirectoryOf(file));
  return config;
}

}  // namespace

Result<ClientConfig> ParseKubeconfig(std::string_view text, const std::string& directory,
                                     const std::string& file_name, const std::string& master) {
  auto config = DecodeKubeconfig(text);
  if (!config) {
    return Fail(
        fmt::format("error loading config file \"{}\": {}", file_name, config.error().Message()));
  }
  ResolvePaths(*config, directory);
  return BuildClientConfig(*config, master);
}

Result<ClientConfig> LoadClientConfig(const std::string& kubeconfig, const std::string& master,
                                      const std::string& context) {
  const InClusterPlaces places = InClusterPlaces::FromEnvironment();
  if (kubeconfig.empty() && master.empty()) {
    log::WarningLine(
        "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might "
        "not work.");
    auto config = InClusterConfig(places);
    if (config) return config;
    log::WarningLine("error creating inClusterConfig, falling back to default config: " +
                     config.error().Message());
  }
  Kubeconfig file;
  if (!kubeconfig.empty()) {
    auto read = ReadKubeconfig(kubeconfig);
    if (!read) return Fail(read.error());
    file = std::move(*read);
  }
  if (!context.empty()) file.current_context = context;
  auto config = BuildClientConfig(file, master);
  // A file with nothing in it is no reason not to use the pod's service account.
  if (!config && config.error().Message() == kEmptyConfig && InClusterPossible(places)) {
    return InClusterConfig(places);
  }
  return config;
}

}  // namespace berth::kube
