#include "cli/plan/api_hand.h"

#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/schema.h"
#include "cli/explain/client.h"
#include "cli/plan/live.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client/rest_client.h"
#include "kube/watch/decode.h"

namespace berth::cli {
namespace {

constexpr std::chrono::milliseconds kPause(100);
constexpr std::chrono::seconds kPatience(60);

const kube::Kind& PodKind() { return *kube::FindKind("Pod"); }

// policy/v1, as far as it is written here.
struct Preconditions {
  std::string uid;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<Preconditions>("Preconditions").Field(1, "uid", &Preconditions::uid).Build();
    return type;
  }
};
struct DeleteOptions {
  Preconditions preconditions;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<DeleteOptions>("DeleteOptions")
                                          .Always(1, "preconditions", &DeleteOptions::preconditions)
                                          .Build();
    return type;
  }
};
struct EvictionMetadata {
  std::string namespace_;
  std::string name;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<EvictionMetadata>("ObjectMeta")
                                          .Always(1, "namespace", &EvictionMetadata::namespace_)
                                          .Always(2, "name", &EvictionMetadata::name)
                                          .Build();
    return type;
  }
};
struct EvictionBody {
  std::string api_version = "policy/v1";
  std::string kind = "Eviction";
  EvictionMetadata metadata;
  DeleteOptions delete_options;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<EvictionBody>("Eviction")
                                          .Always(1, "apiVersion", &EvictionBody::api_version)
                                          .Always(2, "kind", &EvictionBody::kind)
                                          .Always(3, "metadata", &EvictionBody::metadata)
                                          .Always(4, "deleteOptions", &EvictionBody::delete_options)
                                          .Build();
    return type;
  }
};

Error Failed(std::string_view what, const kube::ApiResponse& response) {
  return Error(response.code == 0
                   ? fmt::format("no answer from the API server: {}", response.message)
                   : fmt::format("cannot {}: {}", what, response.message));
}

}  // namespace

kube::ApiRequest CordonRequest(std::string_view node) {
  kube::ApiRequest request;
  request.method = "PATCH";
  request.path = kube::ObjectPath(*kube::FindKind("Node"), "", node);
  request.content_type = std::string(kube::kStrategicMergePatch);
  request.body = R"({"spec":{"unschedulable":true}})";
  return request;
}

// The precondition keeps another pod of the same name from being evicted.
kube::ApiRequest EvictionRequest(const plan::PodRef& pod) {
  kube::ApiRequest request;
  request.method = "POST";
  request.path = kube::ObjectPath(PodKind(), pod.namespace_, pod.name, "eviction");
  request.content_type = std::string(kube::kJson);
  EvictionBody body;
  body.metadata = {pod.namespace_, pod.name};
  body.delete_options.preconditions.uid = pod.uid;
  request.body = api::ToJson(body);
  return request;
}

Result<std::unique_ptr<ApiHand>> ApiHand::Make(const std::string& kubeconfig,
                                               const std::string& context,
                                               const config::Behaviour& behaviour) {
  const std::string file = kubeconfig.empty() ? DefaultKubeconfig() : kubeconfig;
  if (file.empty()) return Fail("there is no kubeconfig: give --kubeconfig FILE");
  auto config = kube::LoadClientConfig(file, "", context);
  if (!config) return Fail(config.error());
  std::unique_ptr<ApiHand> hand(new ApiHand);
  hand->server_ = config->server;
  hand->behaviour_ = behaviour;
  hand->loop_ = net::MakeSystemLoop();
  auto credentials = kube::MakeCredentials(*hand->loop_, *config);
  if (!credentials) return Fail(credentials.error());
  kube::RestClientOptions rest;
  rest.user_agent = "berth-plan-apply";
  rest.qps = -1;
  auto client = kube::MakeRestClient(*hand->loop_, *config, *credentials, rest);
  if (!client) return Fail(client.error());
  hand->client_ = std::move(*client);
  hand->thread_ = std::thread([loop = hand->loop_.get()] { loop->Run(); });
  return hand;
}

ApiHand::~ApiHand() {
  if (!thread_.joinable()) return;
  loop_->Stop();
  thread_.join();
}

kube::ApiResponse ApiHand::Send(kube::ApiRequest request) {
  request.timeout = kPatience;
  auto answer = std::make_shared<std::promise<kube::ApiResponse>>();
  auto future = answer->get_future();
  loop_->Post([this, answer, request = std::move(request)]() mutable {
    client_->Send(std::move(request),
                  [answer](kube::ApiResponse response) { answer->set_value(std::move(response)); });
  });
  return future.get();
}

Result<void> ApiHand::Read(const api::ObjectConsumer& consume) {
  LiveReader reader(*client_, PlannedKinds(behaviour_), consume);
  std::promise<Result<void>> done;
  auto future = done.get_future();
  loop_->Post(
      [&] { reader.Start([&](Result<void> result) { done.set_value(std::move(result)); }); });
  const auto result = future.get();
  if (!result) return Fail(result.error().In(server_));
  return {};
}

Result<void> ApiHand::Cordon(const std::string& node) {
  const kube::ApiResponse response = Send(CordonRequest(node));
  if (!response.Ok()) return Fail(Failed("cordon node " + node, response));
  return {};
}

Result<plan::Hand::Eviction> ApiHand::Evict(const plan::PodRef& pod, std::string* why) {
  const kube::ApiResponse response = Send(EvictionRequest(pod));
  if (response.Ok()) return Eviction::kDone;
  *why = response.message;
  if (response.code == 429) return Eviction::kNotNow;
  if (response.code == 404 || response.code == 409) return Eviction::kGone;
  return Fail(Failed(fmt::format("evict pod {}/{}", pod.namespace_, pod.name), response));
}

Result<std::vector<api::Pod>> ApiHand::List(std::string path, const std::string& selector) {
  kube::ApiRequest request;
  request.path = std::move(path);
  request.query = selector;
  const kube::ApiResponse response = Send(std::move(request));
  if (!response.Ok()) return Fail(Failed("list pods", response));
  std::vector<api::Pod> pods;
  Result<void> all;
  const auto list = kube::DecodeList(
      PodKind(), response.content_type, response.body,
      [&](api::Object&& object, std::string_view) {
        pods.push_back(std::move(std::get<api::Pod>(object)));
      },
      [&](const kube::ItemName& item, const Error& error) {
        all = Fail(error.In(fmt::format("Pod {}/{}", item.namespace_, item.name)));
      });
  if (!list) return Fail(list.error().In("pods"));
  if (!all) return Fail(all.error());
  return pods;
}

Result<std::vector<api::Pod>> ApiHand::PodsWith(const std::string& namespace_,
                                                const api::StringMap& labels) {
  std::string selector;
  for (const auto& [key, value] : labels) {
    selector += fmt::format("{}{}={}", selector.empty() ? "" : ",", key, value);
  }
  return List(kube::NamespacePath(PodKind(), namespace_),
              selector.empty() ? "" : "labelSelector=" + kube::QueryEscape(selector));
}

Result<std::vector<api::Pod>> ApiHand::PodsOn(const std::string& node) {
  return List(kube::CollectionPath(PodKind()),
              "fieldSelector=" + kube::QueryEscape("spec.nodeName=" + node));
}

int64_t ApiHand::Pause() {
  std::this_thread::sleep_for(kPause);
  return kPause.count();
}

}  // namespace berth::cli
