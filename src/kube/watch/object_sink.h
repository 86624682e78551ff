// ObjectSink: who is told of what the API server has.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "scheduler/list_part.h"

namespace berth::kube {

// Called on the loop's thread. Within a kind the order is the API server's.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  // All objects of the kind: what is not among them is gone. The first one says the kind is synced.
  virtual void Replaced(std::string_view kind, std::vector<api::Object> objects) = 0;
  // The same for a long list, in parts; never kWhole. `taken` is to be called from the loop when
  // another part may come.
  using Taken = std::function<void()>;
  virtual void Listed(std::string_view kind, std::vector<api::Object> objects,
                      scheduler::ListPart part, Taken taken) = 0;
  // Whether a list of the kind may come in parts.
  virtual bool TakesParts(std::string_view kind) const = 0;
  virtual void Changed(api::Object&& object) = 0;
  // A pod of which spec, labels and owners are as they were. It has a node; of its spec only
  // node_name and scheduler_name are filled in. Who wants none of these gives the reflector no
  // KnownPods.
  virtual void StatusChanged(api::Pod&& pod) = 0;
  virtual void Removed(api::Object&& object) = 0;
  // A watch is there again after the server could not be reached: it may be another server.
  virtual void Reconnected() {}
};

}  // namespace berth::kube
