#include "apiserver/cluster.h"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "api/codec/yaml.h"
#include "apiserver/store/sqlite_journal.h"
#include "log/log.h"
#include "server/http/listener.h"

namespace berth::apiserver {
namespace {

const WriteOptions kBootstrap{.field_manager = "berth"};

Json Named(std::string_view name) {
  Json object = Json::MakeObject();
  object.At("metadata").Set("name", name);
  return object;
}

void CreateMissing(Registry& registry, const Resource& resource, std::string_view namespace_,
                   Json object) {
  const std::string name(object["metadata"]["name"].Str());
  if (registry.Objects().Get(resource.storage_id, namespace_, name)) return;
  (void)registry.Create(resource, namespace_, std::move(object), kBootstrap);
}

// What a cluster has from the start.
void Bootstrap(Registry& registry) {
  const Catalog& catalog = registry.Resources();
  for (std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    CreateMissing(registry, catalog.Core("namespaces"), "", Named(name));
  }
  for (const auto& [name, value] : {std::pair{"system-cluster-critical", 2000000000},
                                    std::pair{"system-node-critical", 2000001000}}) {
    Json priority = Named(name);
    priority.Set("value", value);
    priority.Set("description", "Used for pods the cluster cannot run without.");
    CreateMissing(registry, catalog.Named("scheduling.k8s.io", "priorityclasses"), "",
                  std::move(priority));
  }
  Json standard = Named("standard");
  standard.At("metadata")
      .At("annotations")
      .Set("storageclass.kubernetes.io/is-default-class", "true");
  standard.Set("provisioner", "berth.dev/simulated");
  standard.Set("volumeBindingMode", "WaitForFirstConsumer");
  CreateMissing(registry, catalog.Named("storage.k8s.io", "storageclasses"), "",
                std::move(standard));
  Json service = Named("kubernetes");
  service.At("metadata").At("labels").Set("component", "apiserver");
  service.At("spec").Set("clusterIP", "10.96.0.1");
  service.At("spec").Set(
      "ports",
      Json::MakeArray({Json::MakeObject({{"name", "https"}, {"port", 443}, {"protocol", "TCP"}})}));
  CreateMissing(registry, catalog.Core("services"), "default", std::move(service));
}

api::Time WallClock() {
  return api::Time::FromUnixNano(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
}

class RunningCluster final : public Cluster {
 public:
  explicit RunningCluster(ClusterOptions options)
      : options_(std::move(options)),
        loop_(net::MakeSystemLoop()),
        catalog_(options_.gates),
        store_(catalog_) {}

  ~RunningCluster() override { Stop(); }

  Result<void> Init() {
    if (!options_.data_dir.empty()) {
      if (auto ok = Restore(); !ok) return ok;
    }
    registry_ = std::make_unique<Registry>(
        catalog_, store_, RegistryOptions{.now = WallClock, .seed = options_.seed});
    server_ = std::make_unique<ApiServer>(*registry_, *loop_, options_.server);
    server::ServingOptions serving;
    serving.bind_address = options_.bind_address;
    serving.port = options_.port;
    serving.any_port = options_.any_port;
    serving.max_connections = 4096;
    serving.max_body_bytes = 3u << 20;
    serving.too_large_json = ToJson(TooLarge(serving.max_body_bytes)).Dump();
    serving.shutdown_timeout = std::chrono::seconds(1);
    serving.admit = [this](const server::Request& request) { return server_->Admit(request); };
    if (auto ok = Listen(serving); !ok) return ok;
    Bootstrap(*registry_);
    const Resource& nodes = catalog_.Core("nodes");
    if (store_.All(nodes.storage_id).empty()) {
      for (size_t i = 0; i < options_.nodes; ++i) {
        (void)registry_->Create(nodes, "", MakeNode(i, WallClock(), catalog_.GitVersion()),
                                kBootstrap);
      }
    }
    for (const auto& [name, text] : options_.manifests) {
      if (auto ok = CreateAll(*registry_, text); !ok) return Fail(ok.error().In(name));
    }
    world_ = std::make_unique<World>(*registry_, *loop_, options_.world);
    expiry_ = std::make_unique<EventExpiry>(*registry_, *loop_, options_.events);
    return {};
  }

  void Start() override {
    loop_->Post([this] {
      world_->Start();
      expiry_->Start();
      listener_->Start();
    });
    thread_ = std::thread([this] { loop_->Run(); });
  }

  void Stop() override {
    if (!thread_.joinable()) return;
    // Shared: the last connection may end after we have stopped waiting for it.
    const auto stopped = std::make_shared<std::promise<void>>();
    loop_->Post([this, stopped] { listener_->Stop([stopped] { stopped->set_value(); }); });
    stopped->get_future().wait_for(std::chrono::seconds(3));
    loop_->Stop();
    thread_.join();
    if (journal_) journal_->Stop();
  }

  int Port() const override { return listener_->Port(); }

  void Do(std::function<void(Registry&, ApiServer&)> task) override {
    loop_->Post([this, task = std::move(task)] { task(*registry_, *server_); });
  }

  void OnFailure(std::function<void(std::string why)> failed) override {
    failed_ = std::move(failed);
  }

 private:
  Result<void> Listen(const server::ServingOptions& serving) {
    const auto handle = [this](server::Request request, server::Respond respond) {
      server_->Handle(std::move(request), std::move(respond));
    };
    if (options_.certificate) {
      auto certificates = server::ServingCertificates::FromPem(serving, *options_.certificate);
      if (!certificates) return Fail(certificates.error());
      certificates_ = std::move(*certificates);
    }
    auto listener = certificates_ ? server::Listener::Make(*loop_, serving, *certificates_, handle)
                                  : server::Listener::MakePlain(*loop_, serving, handle);
    if (!listener) return Fail(listener.error());
    listener_ = std::move(*listener);
    return {};
  }

  Result<void> Restore() {
    auto journal = SqliteJournal::Open(options_.data_dir);
    if (!journal) return Fail(journal.error());
    const auto loaded =
        (*journal)->Load([this](const JournalEntry& entry) { return RestoreOne(entry); });
    if (!loaded) return Fail(loaded.error());
    for (const auto& object : loaded->set_aside) {
      log::Error(object.why, "Setting aside an object of the data directory that cannot be read",
                 {{"resource", object.resource},
                  {"object", object.key},
                  {"dataDir", options_.data_dir},
                  {"table", "set_aside"}});
    }
    const uint64_t version = loaded->version;
    // Versions given out but not yet written when the process ended are never given out again.
    constexpr uint64_t kGap = 100'000;
    store_.RestoreVersion(version == 0 ? 0 : version + kGap);
    journal_ = std::move(*journal);
    journal_->Start(
        [this](uint64_t durable) { loop_->Post([this, durable] { store_.Durable(durable); }); },
        [this](std::string why) {
          if (failed_) failed_(std::move(why));
        });
    store_.SetJournal(journal_.get());
    return {};
  }

  Result<void> RestoreOne(const JournalEntry& entry) {
    const auto object = Json::Parse(entry.text);
    if (!object) return Fail(object.error());
    const Json& metadata = (*object)["metadata"];
    if (ObjectKey(metadata["namespace"].Str(), metadata["name"].Str()) != entry.key) {
      return Fail("the object is not of the name it is kept by");
    }
    const size_t slash = entry.resource.find('/');
    const std::string group = entry.resource.substr(0, slash);
    const std::string plural = entry.resource.substr(slash + 1);
    for (const Resource* resource : catalog_.Served()) {
      if (resource->group != group || resource->plural != plural) continue;
      store_.Restore(resource->storage_id, *object);
      if (resource->kind == "CustomResourceDefinition") {
        for (Resource& custom : ResourcesOf(*object)) catalog_.AddCustom(std::move(custom));
      }
      return {};
    }
    return Fail(fmt::format("no resource {} is known", entry.resource));
  }

  ClusterOptions options_;
  std::unique_ptr<net::SystemLoop> loop_;
  Catalog catalog_;
  Store store_;
  std::unique_ptr<SqliteJournal> journal_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<server::ServingCertificates> certificates_;
  std::unique_ptr<server::Listener> listener_;
  std::unique_ptr<World> world_;
  std::unique_ptr<EventExpiry> expiry_;
  std::function<void(std::string)> failed_;
  std::thread thread_;
};

Result<void> CreateOne(Registry& registry, Json object) {
  const std::string kind(object["kind"].Str());
  const std::string version(object["apiVersion"].Str());
  if (kind.ends_with("List") && object["items"].IsArray()) {
    for (Json& item : object.At("items").MutableItems()) {
      if (item["kind"].Empty() && kind != "List") {
        item.Set("kind", kind.substr(0, kind.size() - 4));
        item.Set("apiVersion", version);
      }
      if (auto ok = CreateOne(registry, std::move(item)); !ok) return ok;
    }
    return {};
  }
  const Resource* resource = registry.Resources().FindKind(version, kind);
  const std::string name(object["metadata"]["name"].Str());
  if (!resource) return Fail(fmt::format("no kind {} in version {}", kind, version));
  // A dump of another cluster: what that cluster's server wrote is not ours.
  for (std::string_view field : {"resourceVersion", "uid", "creationTimestamp", "managedFields"}) {
    object.At("metadata").Erase(field);
  }
  std::string namespace_;
  if (resource->namespaced) {
    namespace_ = object["metadata"]["namespace"].Str();
    if (namespace_.empty()) namespace_ = "default";
    CreateMissing(registry, registry.Resources().Core("namespaces"), "", Named(namespace_));
  }
  if (registry.Objects().Get(resource->storage_id, namespace_, name)) return {};
  const auto made = registry.Create(*resource, namespace_, std::move(object), kBootstrap);
  if (!made) return Fail(made.error().message);
  return {};
}

}  // namespace

Json MakeNode(size_t index, const api::Time& now, std::string_view version) {
  const std::string name = fmt::format("node-{:04}", index + 1);
  Json node = Named(name);
  node.At("metadata")
      .Set("labels",
           Json::MakeObject({{"kubernetes.io/hostname", name},
                             {"kubernetes.io/os", "linux"},
                             {"kubernetes.io/arch", "amd64"},
                             {"node.kubernetes.io/instance-type", "sim.4xlarge"},
                             {"topology.kubernetes.io/region", "harbour"},
                             {"topology.kubernetes.io/zone",
                              fmt::format("harbour-{}", static_cast<char>('a' + index % 3))}}));
  Json& status = node.At("status");
  status.Set(
      "capacity",
      Json::MakeObject(
          {{"cpu", "16"}, {"memory", "64Gi"}, {"ephemeral-storage", "200Gi"}, {"pods", "110"}}));
  status.Set("allocatable", status["capacity"]);
  status.Set(
      "addresses",
      Json::MakeArray({Json::MakeObject({{"type", "InternalIP"},
                                         {"address", fmt::format("172.18.{}.{}", index / 254 % 254,
                                                                 index % 254 + 1)}}),
                       Json::MakeObject({{"type", "Hostname"}, {"address", name}})}));
  status.Set("nodeInfo", Json::MakeObject({{"kubeletVersion", fmt::format("{}-sim", version)},
                                           {"osImage", "simulated"},
                                           {"operatingSystem", "linux"},
                                           {"architecture", "amd64"},
                                           {"kernelVersion", "none"},
                                           {"containerRuntimeVersion", "sim://1"}}));
  status.Set("conditions",
             Json::MakeArray({Json::MakeObject({{"type", "Ready"},
                                                {"status", "True"},
                                                {"reason", "KubeletReady"},
                                                {"message", "kubelet is posting ready status"},
                                                {"lastHeartbeatTime", now.Format()},
                                                {"lastTransitionTime", now.Format()}})}));
  return node;
}

Result<void> CreateAll(Registry& registry, std::string_view manifest) {
  if (api::LooksLikeJson(manifest)) {
    auto object = Json::Parse(manifest);
    if (!object) return Fail(object.error());
    return CreateOne(registry, std::move(*object));
  }
  return api::ForEachYamlDocument(manifest, [&](size_t, std::string json) -> Result<void> {
    auto object = Json::Parse(json);
    if (!object) return Fail(object.error());
    return CreateOne(registry, std::move(*object));
  });
}

Result<std::unique_ptr<Cluster>> Cluster::Make(ClusterOptions options) {
  auto cluster = std::make_unique<RunningCluster>(std::move(options));
  if (auto ok = cluster->Init(); !ok) return Fail(ok.error());
  return std::unique_ptr<Cluster>(std::move(cluster));
}

}  // namespace berth::apiserver
