// Recorder: the events of controllers and kubelets. An event that repeats is counted, not written
// again, and too many at once are left out, as in client-go's recorders.
#pragma once

#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "apiserver/registry/registry.h"
#include "net/loop.h"

namespace berth::apiserver {

// What happened to which object.
struct Happening {
  const Resource& resource;
  const StoredObject& object;
  std::string_view component;  // "replicaset-controller"
  std::string_view reason;     // "SuccessfulCreate"
  std::string message;
  bool warning = false;
  std::string host = {};        // of a kubelet
  std::string field_path = {};  // the part of the object: "spec.containers{c}"
};

class Recorder {
 public:
  Recorder(Registry& registry, net::Loop& loop) : registry_(registry), loop_(loop) {}

  void Record(const Happening& happening);

 private:
  struct Limit {
    double tokens;
    net::Nanoseconds since;
  };
  // Takes a token that comes back at `rate` per second.
  bool Take(Limit& limit, double burst, double rate);
  bool Count(const std::string& key, const std::string& namespace_);

  Registry& registry_;
  net::Loop& loop_;
  boost::unordered_flat_map<std::string, std::string> known_;  // object, reason and message: name
  boost::unordered_flat_map<std::string, Limit> objects_;      // by uid and component
  Limit all_{kBurst, net::Nanoseconds(0)};
  uint64_t numbers_ = 0;

  static constexpr double kBurst = 2000;      // of all events
  static constexpr double kRate = 100;        // per second
  static constexpr double kObjectBurst = 25;  // of events of one component about one object
  static constexpr double kObjectRate = 1. / 300;
  static constexpr size_t kMostKnown = 10'000;
};

}  // namespace berth::apiserver
