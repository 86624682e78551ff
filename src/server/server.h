// Server: what kube-scheduler answers on its secure port.
//
//   /healthz /livez /readyz      closures of the host
//   /metrics and below           metrics/registry.h
//   /configz /statusz /flagz     texts of the host
//   /debug/flags/v               the log's verbosity
//   mounts                       what the host adds (explanations, the dashboard)
//
// over TLS, after delegated authentication and authorization. Paths, bodies, headers and codes are
// kube-scheduler's.
//
// Threads: the server runs on a thread of its own, between Start and Stop. Closures of the options
// are called there. Reviews of tokens and access are asked for on the thread of `auth.loop`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/behaviour.h"
#include "kube/client/api_client.h"
#include "net/loop.h"
#include "server/http/mount.h"
#include "server/metrics/registry.h"

namespace berth::server {

// A certificate for certain names; no names: those the certificate is made out to.
struct SniCertificate {
  std::vector<std::string> names;
  std::string cert_file;
  std::string key_file;
};

struct ServingOptions {
  std::string bind_address = "0.0.0.0";  // an unspecified one listens on IPv4 and IPv6
  // 0: no listener at all, unless any_port is set.
  int port = 10259;
  bool any_port = false;  // the system chooses the port (for tests)
  // Both or none. None: a certificate is read from cert_dir (kube-scheduler.crt and .key) or made
  // and put there; without cert_dir it is made and kept in memory.
  std::string cert_file = {};
  std::string key_file = {};
  std::string cert_dir = {};
  std::vector<SniCertificate> sni = {};
  std::vector<std::string> cipher_suites = {};  // Go's names; empty: the default ones
  std::vector<int32_t> key_exchanges = {};      // TLS's numbers of groups; empty: the default ones
  int min_tls_minor = 2;                        // TLS 1.x
  bool reuse_port = false;
  bool reuse_address = false;
  bool http2 = true;                 // over TLS, for clients that offer it
  uint32_t http2_max_streams = 100;  // per connection

  // Changes no answer: what one client can take from the others.
  size_t max_connections = 512;
  size_t max_header_bytes = 1u << 20;
  size_t max_body_bytes = 1u << 20;
  // Of requests that are not complete, on all connections together.
  size_t max_incoming_bytes = 64u << 20;
  // What a client with a larger body is told, in JSON; empty: plain text.
  std::string too_large_json = {};
  // Called with the header of every request before its body is read; a response refuses it. May
  // be empty.
  std::function<std::optional<Response>(const Request&)> admit = {};
  std::chrono::seconds header_timeout{32};
  std::chrono::seconds idle_timeout{90};
  std::chrono::seconds shutdown_timeout{5};
  // How often certificate files are looked at for new contents.
  std::chrono::seconds reload_period{10};
};

// Headers by which a front proxy says who the user is.
struct RequestHeaderOptions {
  std::string client_ca_file = {};
  std::vector<std::string> allowed_names = {};
  std::vector<std::string> username_headers = {"x-remote-user"};
  std::vector<std::string> uid_headers = {};
  std::vector<std::string> group_headers = {"x-remote-group"};
  std::vector<std::string> extra_prefixes = {"x-remote-extra-"};
};

struct AuthOptions {
  // The loop the two clients below live on; it outlives the server and runs while the server does.
  // Null when both clients are null.
  net::Loop* loop = nullptr;
  // With the credentials of --authentication-kubeconfig; null without it: then nobody but
  // anonymous is known. Reviews are sent and read as JSON: make the clients with content type
  // kJson and accept "application/json".
  kube::ApiClient* authentication = nullptr;
  // With those of --authorization-kubeconfig; null: nothing but always_allow_paths is allowed.
  kube::ApiClient* authorization = nullptr;

  bool skip_lookup = false;  // --authentication-skip-lookup
  std::string client_ca_file = {};
  RequestHeaderOptions request_header = {};
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
  std::vector<std::string> always_allow_groups = {"system:masters"};
  net::Nanoseconds token_ttl = std::chrono::seconds(10);
  net::Nanoseconds authorized_ttl = std::chrono::seconds(10);
  net::Nanoseconds unauthorized_ttl = std::chrono::seconds(10);
};

struct HealthCheck {
  std::string name;
  std::function<Result<void>()> check;
};

// The resources of one pod, for /metrics/resources.
struct PodResourceUse;

// What /statusz and /flagz are like (endpoints/zpages.h). Changes with the Kubernetes release.
struct ZPages {
  bool statusz = false;  // gate ComponentStatusz
  bool flagz = false;    // gate ComponentFlagz
  config::Release release = config::Release::k1_34;
  std::string binary_version = "1.34";
  std::string emulation_version = "1.34";
  // The first parts of the paths that are served, sorted.
  std::vector<std::string> paths = {};
};

struct EndpointOptions {
  // None: "ping" stands for them. livez is always ping alone.
  std::vector<HealthCheck> healthz = {};
  std::vector<HealthCheck> readyz = {};

  Registry* metrics = nullptr;  // outlives the server
  // Called before /metrics is answered, to bring gauges up to date; calls `done` when it has, from
  // any thread. The answer does not wait longer than a second for it. May be empty.
  std::function<void(std::function<void()> done)> refresh_metrics = {};
  // Called after PUT /debug/flags/v has changed the verbosity of the log. May be empty.
  std::function<void()> verbosity_changed = {};
  // The samples of /metrics/resources, likewise (CollectPodResources on the engine's thread). Null
  // samples: not leading, the answer is empty.
  using PodSamples = std::shared_ptr<const std::vector<PodResourceUse>>;
  std::function<void(std::function<void(PodSamples)> done)> pod_resources = {};

  // The body of /configz (endpoints/configz.h makes it). May be empty: then {}.
  std::function<std::string()> configz = {};
  std::vector<Mount> mounts = {};                               // paths with answers of their own
  bool profiling = true;                                        // /debug/flags
  std::function<ZPages()> zpages = {};                          // empty: neither page
  std::vector<std::pair<std::string, std::string>> flags = {};  // for /flagz, sorted by name
  std::string component = "kube-scheduler";
};

struct ServerOptions {
  ServingOptions serving;
  AuthOptions auth;
  EndpointOptions endpoints;
};

class Server {
 public:
  // Reads or makes certificates and opens the listener, so every mistake in the options shows here,
  // in kube-scheduler's words. With port 0 the server does nothing.
  static Result<std::unique_ptr<Server>> Make(ServerOptions options);
  // Stops.
  virtual ~Server() = default;

  // Starts to answer, and to watch for certificate authorities in the cluster.
  virtual void Start() = 0;
  // Closes the listener, lets requests under way finish (for at most shutdown_timeout), joins the
  // thread. May be called twice.
  virtual void Stop() = 0;
  // The port listened on; 0: none.
  virtual int Port() const = 0;
};

}  // namespace berth::server
