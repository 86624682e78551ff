#include "cli/plan/live.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/explain/client.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client/rest_client.h"
#include "kube/watch/decode.h"
#include "net/loop.h"

namespace berth::cli {
namespace {

constexpr net::Nanoseconds kPatience = std::chrono::seconds(60);

// Kinds that the scheduler does not read: controllers of pods, and what new pods are admitted by.
constexpr kube::Kind kBesideScheduling[] = {
    {.kind = "Deployment", .api_version = "apps/v1", .plural = "deployments"},
    {.kind = "DaemonSet", .api_version = "apps/v1", .plural = "daemonsets"},
    {.kind = "Job", .api_version = "batch/v1", .plural = "jobs"},
    {.kind = "PriorityClass",
     .api_version = "scheduling.k8s.io/v1",
     .plural = "priorityclasses",
     .namespaced = false},
    {.kind = "LimitRange", .api_version = "v1", .plural = "limitranges"},
};

bool IsBesideScheduling(const kube::Kind& kind) {
  return std::any_of(std::begin(kBesideScheduling), std::end(kBesideScheduling),
                     [&](const kube::Kind& other) { return other.kind == kind.kind; });
}

}  // namespace

std::vector<kube::Kind> PlannedKinds(const config::Behaviour& behaviour) {
  std::vector<kube::Kind> kinds = kube::WatchedKinds(behaviour);
  kinds.insert(kinds.end(), std::begin(kBesideScheduling), std::end(kBesideScheduling));
  return kinds;
}

LiveReader::LiveReader(kube::ApiClient& client, std::vector<kube::Kind> kinds,
                       const api::ObjectConsumer& consume)
    : client_(client), kinds_(std::move(kinds)), consume_(consume) {}

void LiveReader::Start(Done done) {
  done_ = std::move(done);
  AskNext();
}

void LiveReader::AskNext() {
  if (kind_ == kinds_.size()) return done_({});
  const kube::Kind& kind = kinds_[kind_];
  kube::ApiRequest request;
  request.path = kube::CollectionPath(kind);
  if (!continue_.empty()) request.query = "continue=" + kube::QueryEscape(continue_) + "&";
  if (!kind.field_selector.empty()) {
    request.query += fmt::format("fieldSelector={}&", kind.field_selector);
  }
  request.query += "limit=500";
  request.timeout = kPatience;
  client_.Send(std::move(request), [this](kube::ApiResponse response) { Take(response); });
}

void LiveReader::Take(const kube::ApiResponse& response) {
  const kube::Kind& kind = kinds_[kind_];
  if (response.code == 404 && kind.optional) return NextKind();
  if (response.code == 403 && IsBesideScheduling(kind)) {
    notes_.push_back(fmt::format("{} could not be read: {}", kind.plural, response.message));
    return NextKind();
  }
  if (!response.Ok()) {
    return done_(Fail(response.code == 0
                          ? fmt::format("no answer from the API server: {}", response.message)
                          : fmt::format("cannot list {}: {}", kind.plural, response.message)));
  }
  if (auto ok = TakeList(response); !ok) return done_(Fail(ok.error()));
  if (continue_.empty()) return NextKind();
  AskNext();
}

void LiveReader::NextKind() {
  ++kind_;
  continue_.clear();
  AskNext();
}

Result<void> LiveReader::TakeList(const kube::ApiResponse& response) {
  const kube::Kind& kind = kinds_[kind_];
  Result<void> all;
  const auto meta = kube::DecodeList(
      kind, response.content_type, response.body,
      [&](api::Object&& object, std::string_view) {
        if (auto ok = consume_(std::move(object)); !ok && all) all = Fail(ok.error());
      },
      [&](const kube::ItemName& item, const Error& error) {
        if (all)
          all = Fail(error.In(fmt::format("{} {}/{}", kind.kind, item.namespace_, item.name)));
      });
  if (!meta) return Fail(meta.error().In(std::string(kind.plural)));
  continue_ = meta->continue_;
  return all;
}

Result<void> ReadLive(const std::string& kubeconfig, const std::string& context,
                      const config::Behaviour& behaviour, const api::ObjectConsumer& consume,
                      std::vector<std::string>* notes) {
  const std::string file = kubeconfig.empty() ? DefaultKubeconfig() : kubeconfig;
  if (file.empty()) return Fail("there is no kubeconfig: give --kubeconfig FILE");
  const auto config = kube::LoadClientConfig(file, "", context);
  if (!config) return Fail(config.error());
  return ReadLive(*config, behaviour, consume, notes);
}

Result<void> ReadLive(const kube::ClientConfig& server, const config::Behaviour& behaviour,
                      const api::ObjectConsumer& consume, std::vector<std::string>* notes) {
  const auto loop = net::MakeSystemLoop();
  auto credentials = kube::MakeCredentials(*loop, server);
  if (!credentials) return Fail(credentials.error());
  kube::RestClientOptions rest;
  rest.user_agent = "berth-plan";
  rest.qps = -1;
  auto client = kube::MakeRestClient(*loop, server, *credentials, rest);
  if (!client) return Fail(client.error());
  LiveReader reader(**client, PlannedKinds(behaviour), consume);
  std::optional<Result<void>> outcome;
  loop->Post([&] {
    reader.Start([&](Result<void> result) {
      outcome = std::move(result);
      loop->Stop();
    });
  });
  loop->Run();
  *notes = reader.Notes();
  if (!outcome) return Fail("no answer from " + server.server);
  if (!*outcome) return Fail(outcome->error().In(server.server));
  return {};
}

}  // namespace berth::cli
