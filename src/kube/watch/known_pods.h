// KnownPods: tells updates of pods that are about their status from those that are about more.
//
// Most of what a watch of pods says is about pods that run: their kubelets report conditions,
// addresses and restarts. Spec, labels and owners, the bulk of a pod and all that decisions are
// made of, stay as they are. Of each pod a hash of these parts is kept (16 bytes); when an update
// has the same, they need not be decoded again.
//
// On the loop's thread. The hash has a key that differs from process to process, so that nobody can
// make an update look like none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/core/pod.h"
#include "base/string_hash.h"

namespace berth::kube {

class KnownPods {
 public:
  explicit KnownPods(uint64_t key) : hash_(key) {}

  // Who is told of updates keeps pods of these schedulers from the beginning, and others once they
  // have a node. Forgets everything.
  void Serve(std::set<std::string, std::less<>> schedulers);

  // Remembers a pod that is handed on as a whole. `message` is its protobuf.
  void Note(std::string_view message);
  // True: the pod has a node, and all but its status and what goes with it is as it was. Then `pod`
  // is what it is now, but that of its spec only node_name and scheduler_name are filled in.
  // False: nothing is known; the pod is to be decoded as a whole, and noted.
  bool DecodeUpdate(std::string_view message, api::Pod* pod);
  void Forget(std::string_view uid) { hashes_.erase(hash_(uid)); }
  void Clear() { hashes_.clear(); }

  size_t Size() const { return hashes_.size(); }

 private:
  // A pod taken apart, no further than is needed here.
  struct Parts {
    std::string_view metadata;
    std::string_view status;
    std::string_view uid;
    std::string_view node_name;
    std::string_view scheduler_name;
    uint64_t hash = 0;  // of spec but for the node's name, labels and owners
  };
  // False: it is not what it should be.
  bool Split(std::string_view message, Parts* parts) const;
  void SplitMetadata(Parts* parts) const;
  void SplitSpec(std::string_view spec, Parts* parts) const;

  KeyedHash hash_;
  std::set<std::string, std::less<>> schedulers_;
  boost::unordered_flat_map<uint64_t, uint64_t> hashes_;  // by that of the uid
};

}  // namespace berth::kube
