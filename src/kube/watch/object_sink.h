// ObjectSink: who is told of what the API server has.
#pragma once

#include <string_view>
#include <vector>

#include "api/object.h"

namespace berth::kube {

// Called on the loop's thread. Within a kind the order is the API server's.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  // All objects of the kind: what is not among them is gone. The first one says the kind is synced.
  virtual void Replaced(std::string_view kind, std::vector<api::Object> objects) = 0;
  virtual void Changed(api::Object&& object) = 0;
  virtual void Removed(api::Object&& object) = 0;
};

}  // namespace berth::kube
