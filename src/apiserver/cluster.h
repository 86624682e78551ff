// Cluster: the embedded API server with its simulated world, on a port of this machine.
//
// One thread serves requests and runs the world; Do hands it work. State is in memory, and on disk
// as well when a data directory is given.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/http/api_server.h"
#include "apiserver/registry/event_expiry.h"
#include "apiserver/registry/registry.h"
#include "apiserver/sim/world.h"
#include "base/error.h"
#include "server/http/tls.h"

namespace berth::apiserver {

struct ClusterOptions {
  config::FeatureGates gates = {};  // whose API server this is
  std::string bind_address = "127.0.0.1";
  int port = 8001;
  bool any_port = false;  // the system chooses
  std::string data_dir = {};
  size_t nodes = 50;  // made when there are none yet
  // Manifests (YAML or JSON) that are created at the start: nodes, if `nodes` is 0, and anything.
  struct Manifest {
    std::string name;  // for what is said of it
    std::string text;
  };
  std::vector<Manifest> manifests = {};
  WorldOptions world = {};
  ApiServerOptions server = {};
  EventExpiryOptions events = {};
  // With a certificate the server speaks TLS, and HTTP/2 with clients that offer it.
  std::optional<server::CertificatePem> certificate = {};
  uint64_t seed = 1;  // of names and identities
};

class Cluster {
 public:
  // Reads the data directory, makes what every cluster has and opens the port: mistakes in the
  // options show here. Objects of the data directory that cannot be read are set aside, each with
  // an error in the log.
  static Result<std::unique_ptr<Cluster>> Make(ClusterOptions options);
  // Stops.
  virtual ~Cluster() = default;

  virtual void Start() = 0;
  virtual void Stop() = 0;
  virtual int Port() const = 0;
  // Runs `task` on the server's thread, between two requests. From any thread.
  virtual void Do(std::function<void(Registry&, ApiServer&)> task) = 0;
  // Called on the journal's thread when the data directory cannot be written any more. Before
  // Start.
  virtual void OnFailure(std::function<void(std::string why)> failed) = 0;
};

// The nodes a cluster of `count` has: three zones, 16 CPUs and 64 GiB each.
// `version` is that of their kubelets.
Json MakeNode(size_t index, const api::Time& now, std::string_view version);

// Creates every object of a manifest through the registry; lists are taken apart.
Result<void> CreateAll(Registry& registry, std::string_view manifest);

}  // namespace berth::apiserver
