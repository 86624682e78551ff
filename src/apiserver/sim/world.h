// World: everything of a cluster that is neither its API server nor its scheduler, simulated inside
// the server's process: kubelets that run what is bound to their nodes, and the controllers people
// expect.
//
// All of it works from the store's changes, on the server's loop, and writes through the registry
// like any other client. Time between cause and effect is that of a real cluster divided by the
// speed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/registry.h"
#include "apiserver/sim/index.h"
#include "apiserver/sim/recorder.h"
#include "net/loop.h"

namespace berth::apiserver {

struct WorldOptions {
  // How much faster than life things happen; 0: without any delay.
  double speed = 1;
  std::chrono::milliseconds start_delay{1200};   // from a binding to containers that run
  std::chrono::milliseconds job_run_time{5000};  // of a pod that ends by itself
  std::chrono::milliseconds stop_delay{800};     // from a deletion to the end of its containers
  std::chrono::seconds lease_period{10};
  std::chrono::seconds node_grace_period{50};  // from a failure to conditions that are Unknown
  // Pods created or deleted for one workload before requests and other workloads have their turn.
  size_t batch = 50;
};

// How the controllers sign what they write.
inline const WriteOptions kControllerManager{.field_manager = "kube-controller-manager"};

// A node with this annotation, "true", has lost its kubelet.
inline constexpr std::string_view kFailAnnotation = "berth.dev/fail";
bool NodeFails(const StoredObject& node);

// What the controllers share: the registry, the index, and work to be done soon, once per key.
class World {
 public:
  World(Registry& registry, net::Loop& loop, WorldOptions options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Brings up what is in the store already (after a restart) and begins to react.
  void Start();

  // --- for the controllers
  Registry& registry() { return registry_; }
  Store& store() { return registry_.Objects(); }
  const Catalog& catalog() const { return registry_.Resources(); }
  const Index& index() const { return index_; }
  const WorldOptions& options() const { return options_; }
  api::Time Now() const { return registry_.Now(); }

  // Runs `work` after the delay; of works of one name that wait, the earliest alone. REQUIRES:
  // `work` holds names, not objects: they may be gone.
  void Soon(std::string name, std::chrono::milliseconds delay, std::function<void()> work);
  // A delay of life at the world's speed.
  std::chrono::nanoseconds Scaled(std::chrono::nanoseconds delay) const;
  void After(std::chrono::nanoseconds delay, std::function<void()> work);

  // While Start tells of what was there before: nothing of it has just happened.
  bool Starting() const { return starting_; }

  const Resource& pods() const { return pods_; }
  const Resource& nodes() const { return nodes_; }

  // Makes a pod of a template for `owner`; name or generate_name is given.
  Json PodFromTemplate(const Json& owner, const Json& template_) const;
  void Delete(const Resource& resource, const StoredObject& object,
              const DeleteOptions& options = {});
  // Writes an event, or counts it.
  void Record(const Happening& happening) { recorder_.Record(happening); }
  // Sets the status unless it is the same.
  void SetStatus(const Resource& resource, const StoredObject& object, const Json& status);

 private:
  void Tell(const Change& change);

  Registry& registry_;
  net::Loop& loop_;
  WorldOptions options_;
  Index index_;
  Recorder recorder_;
  const Resource& pods_;
  const Resource& nodes_;
  Store::WatchId watch_ = 0;
  bool starting_ = false;
  struct Waiting {
    net::Nanoseconds when{0};
    net::Loop::TimerId timer = 0;
  };
  std::map<std::string, Waiting> soon_;
  // Timers may come after the world: they look here first.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  using Reaction = std::function<void(const Change&)>;
  std::vector<std::vector<Reaction>> reactions_;  // by storage id

 public:
  // Calls `reaction` for every change of the resource.
  void React(const Resource& resource, Reaction reaction);
  // For a change of anything.
  void ReactToAll(Reaction reaction) { all_.push_back(std::move(reaction)); }

 private:
  std::vector<Reaction> all_;
};

// The parts, each in its own file. They subscribe to what they react to.
void AddKubelets(World& world);
void AddReplicaSets(World& world);
void AddDeployments(World& world);
void AddStatefulSets(World& world);
void AddDaemonSets(World& world);
void AddJobs(World& world);
void AddCronJobs(World& world);
void AddResourceClaims(World& world);
void AddEndpoints(World& world);
void AddNamespaces(World& world);
void AddGarbageCollector(World& world);
void AddVolumes(World& world);
void AddDisruptionBudgets(World& world);
void AddNodeLifecycle(World& world);
void AddQuotas(World& world);
void AddOwnerEvents(World& world);

// A condition as workloads carry them, put in place of the one of its type.
Json Condition(std::string_view type, bool true_, std::string_view reason,
               std::string_view message);

}  // namespace berth::apiserver
