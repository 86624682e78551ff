// OtherPods: pods without a node that are another scheduler's.
//
// The engine has no use for them before they have a node, but /metrics/resources tells of all pods.
// Of each only what is told there is kept. On the engine's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "scheduler/list_part.h"

namespace berth::kube {

struct OtherPod {
  std::string namespace_;
  std::string name;
  std::string scheduler_name;
  std::optional<int32_t> priority;
  api::ResourceList requests;
  api::ResourceList limits;
};

class OtherPods {
 public:
  // The names of our own profiles. What is known so far is forgotten.
  void Serve(std::set<std::string, std::less<>> names);

  // The engine's inputs.
  void Upsert(const api::Object& object);
  void Delete(const api::Object& object);
  void Replace(std::string_view kind, const std::vector<api::Object>& objects,
               scheduler::ListPart part);

  const std::map<std::string, OtherPod>& ByUid() const { return pods_; }

 private:
  std::set<std::string, std::less<>> ours_;
  std::map<std::string, OtherPod> pods_;
};

}  // namespace berth::kube
