#include "server/server.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "api/time.h"
#include "log/log.h"
#include "server/auth/delegated_auth.h"
#include "server/endpoints/endpoints.h"
#include "server/http/listener.h"
#include "server/http/served_certificate.h"
#include "server/http/tls.h"

namespace berth::server {
namespace {

constexpr net::Nanoseconds kRefreshPatience = std::chrono::seconds(1);
constexpr std::chrono::seconds kStopPatience{2};

// "Sun, 15 Nov 2026 19:58:13 GMT".
std::string HttpDate(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02d} {} {} {:02d}:{:02d}:{:02d} GMT", kDays[parts.tm_wday],
                     parts.tm_mday, kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour,
                     parts.tm_min, parts.tm_sec);
}

// A server that was told not to listen.
class NoServer final : public Server {
 public:
  void Start() override {}
  void Stop() override {}
  int Port() const override { return 0; }
};

class TlsServer final : public Server {
 public:
  explicit TlsServer(ServerOptions options)
      : options_(std::move(options)),
        loop_(net::MakeSystemLoop()),
        door_(std::make_shared<Door>(*loop_)),
        endpoints_(WithDeadlines(options_.endpoints)) {}
  ~TlsServer() override { TlsServer::Stop(); }

  Result<void> Open() {
    auto certificates = ServingCertificates::Make(options_.serving);
    if (!certificates) return Fail(certificates.error());
    certificates_ = std::move(*certificates);
    auto listener = Listener::Make(*loop_, options_.serving, *certificates_,
                                   [this](Request request, Respond respond) {
                                     OnRequest(std::move(request), std::move(respond));
                                   });
    if (!listener) return Fail(listener.error());
    listener_ = std::move(*listener);
    WarnOfMissingClients();
    auto auth = DelegatedAuth::Make(options_.auth, options_.endpoints.metrics);
    if (!auth) return Fail(auth.error());
    auth_ = std::move(*auth);
    return {};
  }

  void Start() override {
    if (thread_.joinable()) return;
    OnAuthThread([this] {
      auth_thread_ = std::this_thread::get_id();
      auth_->Start();
    });
    loop_->Post([this] {
      listener_->Start();
      ReloadLater();
    });
    thread_ = std::thread([this] { loop_->Run(); });
    log::InfoLine(0, "Serving securely on " + listener_->Address());
    log::Info(0, "Starting DynamicServingCertificateController");
  }

  void Stop() override {
    if (!thread_.joinable()) return;
    StopListening();
    StopAuth();
    door_->Close();
    loop_->Stop();
    thread_.join();
    pending_.clear();
    log::Info(0, "[graceful-termination] secure server is exiting");
  }

  int Port() const override { return listener_->Port(); }
  ServedCertificate Certificate() const {
    return CertificateOf(certificates_->Current()->Native());
  }

 private:
  struct Pending {
    Request request;
    Respond respond;
    std::optional<std::chrono::steady_clock::time_point> began;  // it is to be logged
  };

  void WarnOfMissingClients() const {
    const AuthOptions& auth = options_.auth;
    static constexpr const char* kLookup =
        "No authentication-kubeconfig provided in order to lookup {} in "
        "configmap/extension-apiserver-authentication in kube-system, so {} authentication won't "
        "work.";
    if (auth.authentication == nullptr && !auth.skip_lookup) {
      if (auth.client_ca_file.empty()) {
        log::WarningLine(
            fmt::format(fmt::runtime(kLookup), "client-ca-file", "client certificate"));
      }
      if (auth.request_header.client_ca_file.empty()) {
        log::WarningLine(fmt::format(fmt::runtime(kLookup), "requestheader-client-ca-file",
                                     "request-header client certificate"));
      }
    }
    if (auth.authorization == nullptr) {
      log::WarningLine(
          "No authorization-kubeconfig provided, so SubjectAccessReview of authorization tokens "
          "won't work.");
    }
  }

  void OnAuthThread(net::Loop::Task task) {
    net::Loop* loop = options_.auth.loop != nullptr ? options_.auth.loop : loop_.get();
    loop->Post(std::move(task));
  }

  void StopListening() {
    std::promise<void> drained;
    loop_->Post([&] { listener_->Stop([&] { drained.set_value(); }); });
    log::InfoLine(0, "Stopped listening on " + listener_->Address());
    log::Info(0, "[graceful-termination] secure server has stopped listening");
    drained.get_future().wait();
    log::Info(0, "Shutting down DynamicServingCertificateController");
  }

  // Reviews under way are given up. The loop may be gone already: then nobody asks any more.
  void StopAuth() {
    if (options_.auth.loop == nullptr || auth_thread_ == std::this_thread::get_id()) {
      auth_->Stop();
      return;
    }
    auto stopped = std::make_shared<std::promise<void>>();
    OnAuthThread([auth = auth_, stopped] {
      auth->Stop();
      stopped->set_value();
    });
    stopped->get_future().wait_for(kStopPatience);
  }

  void OnRequest(Request request, Respond respond) {
    const uint64_t id = next_++;
    Pending& pending = pending_[id];
    pending.request = std::move(request);
    pending.respond = std::move(respond);
    if (log::V(3)) pending.began = std::chrono::steady_clock::now();
    const Mount* mount = FindMount(options_.endpoints.mounts, pending.request.path);
    if (mount != nullptr && mount->open) {
      Serve(id);
      return;
    }
    if (!HasCredentials(pending.request) &&
        IsOpenPath(options_.auth.always_allow_paths, pending.request.path)) {
      Serve(id);
      return;
    }
    if (options_.auth.loop == nullptr) {
      auth_->Check(pending.request,
                   [this, id](const AuthDecision& decision) { OnDecision(id, decision); });
      return;
    }
    Request asked = pending.request;
    asked.body.clear();
    OnAuthThread([this, auth = auth_, door = door_, id, asked = std::move(asked)] {
      auth->Check(asked, [this, door, id](AuthDecision decision) {
        door->Post([this, id, decision = std::move(decision)] { OnDecision(id, decision); });
      });
    });
  }

  void OnDecision(uint64_t id, const AuthDecision& decision) {
    const auto it = pending_.find(id);
    if (it == pending_.end()) return;
    if (decision.kind == AuthDecision::Kind::kAllowed) {
      Serve(id);
    } else {
      if (decision.kind == AuthDecision::Kind::kForbidden) {
        log::Info(4, "Forbidden",
                  {{"URI", it->second.request.target}, {"reason", decision.reason}});
      }
      Answer(id, RefusalOf(decision, it->second.request));
    }
  }

  void Serve(uint64_t id) {
    const auto it = pending_.find(id);
    if (it == pending_.end()) return;
    const Request request = it->second.request;
    if (const Mount* mount = FindMount(options_.endpoints.mounts, request.path)) {
      mount->handle(
          request, [this, id](Response response) { Answer(id, std::move(response)); },
          [door = door_](std::function<void()> task) { door->Post(std::move(task)); });
      return;
    }
    endpoints_.Handle(request, [this, id](Response response) { Answer(id, std::move(response)); });
  }

  void Answer(uint64_t id, Response response) {
    const auto it = pending_.find(id);
    if (it == pending_.end()) return;
    const Respond respond = std::move(it->second.respond);
    if (it->second.began) LogRequest(it->second, response.status);
    pending_.erase(it);
    if (response.Get("Cache-Control").empty()) response.Set("Cache-Control", "no-cache, private");
    response.Set("Date", HttpDate(std::time(nullptr)));
    respond(std::move(response));
  }

  static void LogRequest(const Pending& pending, int status) {
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - *pending.began;
    log::Info(3, "HTTP",
              {{"verb", pending.request.method},
               {"URI", pending.request.target},
               {"latency", api::Duration{took.count()}.Format()},
               {"userAgent", pending.request.Header("user-agent")},
               {"resp", status}});
  }

  // The host's closures answer on threads of their own, late or never: come back here, and do not
  // wait for ever.
  EndpointOptions WithDeadlines(EndpointOptions options) {
    if (options.refresh_metrics) {
      options.refresh_metrics =
          [this, refresh = std::move(options.refresh_metrics)](std::function<void()> done) {
            const auto once = Once<bool>([done = std::move(done)](bool) { done(); });
            loop_->After(kRefreshPatience, [once] { once(false); });
            refresh([once] { once(true); });
          };
    }
    if (options.pod_resources) {
      using PodSamples = EndpointOptions::PodSamples;
      options.pod_resources =
          [this, collect = std::move(options.pod_resources)](std::function<void(PodSamples)> done) {
            const auto once = Once<PodSamples>(std::move(done));
            loop_->After(10 * kRefreshPatience, [once] { once(nullptr); });
            collect([once](PodSamples samples) { once(std::move(samples)); });
          };
    }
    return options;
  }

  // Calls `done` on this thread with what it is first called with.
  template <class Value>
  std::function<void(Value)> Once(std::function<void(Value)> done) {
    auto called = std::make_shared<std::atomic<bool>>(false);
    return [door = door_, called, done = std::move(done)](Value value) {
      if (called->exchange(true)) return;
      door->Post([done, value = std::move(value)] { done(value); });
    };
  }

  void ReloadLater() {
    loop_->After(options_.serving.reload_period, [this] {
      const auto loaded = certificates_->Reload();
      if (!loaded) {
        log::Error(loaded.error().Message(), "Unable to reload serving certificate");
      } else if (*loaded) {
        log::Info(2, "Loaded serving cert", {{"certName", options_.serving.cert_file}});
      }
      OnAuthThread([auth = auth_] { auth->ReloadFiles(); });
      ReloadLater();
    });
  }

  ServerOptions options_;
  std::unique_ptr<net::SystemLoop> loop_;
  std::shared_ptr<Door> door_;
  Endpoints endpoints_;
  std::unique_ptr<ServingCertificates> certificates_;
  // Shared with tasks on the thread of the auth options' loop.
  std::shared_ptr<DelegatedAuth> auth_;
  std::unique_ptr<Listener> listener_;
  std::atomic<std::thread::id> auth_thread_{};
  std::thread thread_;
  std::unordered_map<uint64_t, Pending> pending_;  // on the serving thread
  uint64_t next_ = 1;
};

}  // namespace

ServedCertificate CertificateOf(const Server& server) {
  const auto* serves = dynamic_cast<const TlsServer*>(&server);
  return serves != nullptr ? serves->Certificate() : ServedCertificate();
}

Result<std::unique_ptr<Server>> Server::Make(ServerOptions options) {
  if (options.serving.port == 0 && !options.serving.any_port) {
    return std::unique_ptr<Server>(std::make_unique<NoServer>());
  }
  auto server = std::make_unique<TlsServer>(std::move(options));
  if (auto ok = server->Open(); !ok) return Fail(ok.error());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace berth::server
