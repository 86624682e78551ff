// Reflector: keeps a sink up to date with all objects of one kind, by list and watch.
//
// List (resourceVersion=0, limit=500, continued while the server says so), then watch with
// bookmarks from the list's version. A watch that ends by its timeout or a cut connection goes on
// from the last version seen; one that is refused, or told that its version is too old (410), makes
// a new list from the last version, after a pause of 0.8 s doubled up to 30 s, with jitter. An
// event that cannot be decoded, or is larger than a frame may be, makes a new list too: what it
// would have said is in there. Never gives up.
//
// With `streams` (the gate WatchListClient) the list comes as the first events of the watch. A
// server that does not do that is asked for a list.
//
// Decoding happens here, on the loop's thread: protobuf or JSON, whatever the server sends. With
// `pods`, a pod that has changed in its status alone is told as that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kube/client/api_client.h"
#include "kube/kinds.h"
#include "kube/watch/known_pods.h"
#include "kube/watch/object_sink.h"
#include "kube/watch/raw_objects.h"

namespace berth::kube {

class Reflector {
 public:
  // All outlive the reflector; `raw` and `pods` may be null.
  Reflector(const Kind& kind, net::Loop& loop, ApiClient& client, ObjectSink& sink, RawObjects* raw,
            bool streams = false, KnownPods* pods = nullptr);
  ~Reflector();

  void Start();
  // Forgets the watch and lists again, in the newest version there is; before Start: the first list
  // is such a one.
  void ListNewest();
  // No more calls of the sink.
  void Stop();
  bool Synced() const;
  // False: lists or watches have failed for a minute (following.h). From any thread.
  bool IsFollowed() const;
  // "Pod"
  std::string_view KindName() const;
  // "*v1.Pod"
  const std::string& TypeName() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::kube
