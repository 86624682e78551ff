// ClusterFeed: lists and watches a real cluster for a command that only reads it.
//
// Everything runs on the loop's thread. Takes a ReadOnlyClient and nothing else, so it cannot
// write.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/time.h"
#include "cluster/inputs.h"
#include "config/behaviour.h"
#include "kube/client/read_only_client.h"
#include "kube/watch/object_sink.h"
#include "kube/watch/raw_objects.h"
#include "kube/watch/reflector.h"
#include "net/loop.h"

namespace berth::cli {

// What a feed passes on, within a kind in the order of the API server.
class FeedSink {
 public:
  virtual ~FeedSink() = default;
  // Before each of the others.
  virtual void AdvanceTo(const api::Time& now) = 0;
  // All objects of a kind: what is not among them is gone.
  virtual void Replace(std::string_view kind, std::vector<api::Object> objects) = 0;
  virtual void Upsert(api::Object&& object) = 0;
  virtual void Delete(const api::Object& object) = 0;
  // Every kind has been listed. Once.
  virtual void Start() = 0;
};

class ClusterFeed final : private kube::ObjectSink {
 public:
  // All outlive the feed.
  ClusterFeed(net::Loop& loop, kube::ReadOnlyClient& client, FeedSink& sink,
              const config::Behaviour& behaviour, const cluster::PluginInputs& inputs);

  void Start();
  // Ends all watches; the sink gets nothing more.
  void Stop();
  // Every kind has been listed.
  bool Synced() const { return synced_; }
  // Fails when some kind cannot be followed any more, and names it.
  Result<void> Followed() const;

 private:
  void Replaced(std::string_view kind, std::vector<api::Object> objects) override;
  void Listed(std::string_view kind, std::vector<api::Object> objects,
              berth::scheduler::ListPart part, Taken taken) override;
  bool TakesParts(std::string_view) const override { return false; }
  void Changed(api::Object&& object) override;
  void StatusChanged(api::Pod&& pod) override;
  void Removed(api::Object&& object) override;

  net::Loop& loop_;
  FeedSink& sink_;
  kube::RawObjects raw_;
  std::deque<std::string> custom_versions_;  // reflectors refer to them
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  std::set<std::string, std::less<>> listed_;  // kinds
  bool synced_ = false;
};

}  // namespace berth::cli
