#include "server/auth/cluster_trust.h"

#include <algorithm>
#include <utility>

#include "api/codec/json.h"
#include "log/log.h"

namespace berth::server {
namespace {

constexpr std::string_view kMaps = "/api/v1/namespaces/kube-system/configmaps";
constexpr std::string_view kName = "extension-apiserver-authentication";
constexpr net::Nanoseconds kFirstPause = std::chrono::milliseconds(800);
constexpr net::Nanoseconds kLongestPause = std::chrono::seconds(30);

std::vector<std::string> ListOf(const api::StringMap& data, std::string_view key) {
  const std::string* text = api::FindValue(data, key);
  if (text == nullptr) return {};
  std::vector<std::string> items;
  if (!api::JsonDecoder().DecodeInto(api::TypeOf<std::vector<std::string>>(), &items, *text)) {
    return {};
  }
  std::erase(items, "");
  return items;
}

std::string TextOf(const api::StringMap& data, std::string_view key) {
  const std::string* text = api::FindValue(data, key);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

Trust Trust::From(const ConfigMap& map) {
  Trust trust;
  trust.client_ca_pem = TextOf(map.data, "client-ca-file");
  trust.request_header_ca_pem = TextOf(map.data, "requestheader-client-ca-file");
  RequestHeaderOptions& header = trust.request_header;
  header.allowed_names = ListOf(map.data, "requestheader-allowed-names");
  header.username_headers = ListOf(map.data, "requestheader-username-headers");
  header.uid_headers = ListOf(map.data, "requestheader-uid-headers");
  header.group_headers = ListOf(map.data, "requestheader-group-headers");
  header.extra_prefixes = ListOf(map.data, "requestheader-extra-headers-prefix");
  return trust;
}

class ClusterTrust::Impl final : public kube::WatchSink {
 public:
  Impl(net::Loop& loop, kube::ApiClient& client, Changed changed)
      : loop_(loop), client_(client), changed_(std::move(changed)) {}
  ~Impl() override { Stop(); }

  void Start() {
    stopped_ = false;
    Get();
  }

  void Stop() {
    stopped_ = true;
    if (call_ != 0) client_.Cancel(std::exchange(call_, 0));
    if (timer_ != 0) loop_.Cancel(std::exchange(timer_, 0));
  }

  void OnStarted(std::string_view content_type) override {
    content_type_ = content_type;
    pause_ = kFirstPause;
  }

  void OnFrame(std::string_view frame) override {
    auto event = DecodeConfigMapEvent(content_type_, frame);
    if (!event || event->type == "ERROR") {
      version_.clear();  // too old: read it anew when the watch has ended
      return;
    }
    version_ = event->object.metadata.resource_version;
    if (event->object.metadata.name != kName) return;
    if (event->type == "ADDED" || event->type == "MODIFIED") changed_(Trust::From(event->object));
    if (event->type == "DELETED") changed_(Trust());
  }

  void OnEnd(const kube::ApiResponse& why) override {
    call_ = 0;
    if (why.code >= 300) version_.clear();
    Later();
  }

 private:
  void Get() {
    kube::ApiRequest request;
    request.path = std::string(kMaps) + "/" + std::string(kName);
    call_ = client_.Send(std::move(request), [this](kube::ApiResponse response) {
      call_ = 0;
      OnGot(response);
    });
  }

  void OnGot(const kube::ApiResponse& response) {
    if (!response.Ok()) {
      if (!told_) {
        log::WarningLine(
            "Unable to get configmap/extension-apiserver-authentication in "
            "kube-system.  Usually fixed by 'kubectl create rolebinding -n "
            "kube-system ROLEBINDING_NAME "
            "--role=extension-apiserver-authentication-reader "
            "--serviceaccount=YOUR_NS:YOUR_SA'");
        log::WarningLine("Error looking up in-cluster authentication configuration: " +
                         response.message);
        told_ = true;
      }
      Later();
      return;
    }
    auto map = DecodeAnswer<ConfigMap>(response.content_type, response.body);
    if (!map) {
      log::Error(map.error().Message(), "Unable to read configmap",
                 {{"name", "kube-system/extension-apiserver-authentication"}});
      Later();
      return;
    }
    told_ = false;
    version_ = map->metadata.resource_version;
    changed_(Trust::From(*map));
    pause_ = kFirstPause;
    Watch();
  }

  void Watch() {
    const int seconds = 300 + static_cast<int>(loop_.Random() * 300);
    kube::ApiRequest request;
    request.path = kMaps;
    request.query = "allowWatchBookmarks=true&fieldSelector=metadata.name%3D" + std::string(kName) +
                    "&resourceVersion=" + version_ + "&timeoutSeconds=" + std::to_string(seconds) +
                    "&watch=true";
    call_ = client_.Watch(std::move(request), this);
  }

  void Later() {
    if (stopped_) return;
    const double jitter = 1 + loop_.Random();
    const auto pause =
        net::Nanoseconds(static_cast<int64_t>(static_cast<double>(pause_.count()) * jitter));
    pause_ = std::min(pause_ * 2, kLongestPause);
    timer_ = loop_.After(pause, [this] {
      timer_ = 0;
      version_.empty() ? Get() : Watch();
    });
  }

  net::Loop& loop_;
  kube::ApiClient& client_;
  Changed changed_;
  kube::ApiClient::Id call_ = 0;
  net::Loop::TimerId timer_ = 0;
  net::Nanoseconds pause_ = kFirstPause;
  std::string version_;  // empty: unknown
  std::string content_type_;
  bool told_ = false;
  bool stopped_ = true;
};

ClusterTrust::ClusterTrust(net::Loop& loop, kube::ApiClient& client, Changed changed)
    : impl_(std::make_unique<Impl>(loop, client, std::move(changed))) {}
ClusterTrust::~ClusterTrust() = default;
void ClusterTrust::Start() { impl_->Start(); }
void ClusterTrust::Stop() { impl_->Stop(); }

}  // namespace berth::server
