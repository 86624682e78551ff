// ExtenderCaller: carries out CallExtender effects over HTTP, as kube-scheduler would.
//
//   POST urlPrefix/verb, application/json, 200 or an error, within httpTimeout
//
// Every extender has its own client with kept connections and its own TLS. On the loop's thread
// only; every call is answered once, from the loop, at the latest when its time is up.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "config/config.h"
#include "kube/watch/raw_objects.h"
#include "net/http/http_client.h"
#include "scheduler/effects.h"

namespace berth::kube {

// Makes an HttpClient on the loop of whoever gives it.
using HttpClientFactory =
    std::function<Result<std::unique_ptr<net::HttpClient>>(net::HttpClientOptions)>;

// How an extender is reached; reads the files of its TLS configuration.
Result<net::HttpClientOptions> ExtenderHttpOptions(const config::Extender& extender);
// Whether it could be reached that way: certificates and keys are fit for use.
Result<void> CheckExtenders(const std::vector<config::Extender>& extenders);
// The objects that have to be at hand as JSON for these extenders.
KeptJson JsonFor(const std::vector<config::Extender>& extenders);

class ExtenderCaller {
 public:
  using Done = std::function<void(scheduler::EffectResult)>;

  // `loop` and `raw` outlive the caller.
  ExtenderCaller(net::Loop& loop, const RawObjects& raw, HttpClientFactory make_client, Done done);
  ~ExtenderCaller();

  // From now on these are called, by their position. Calls under way are dropped: nobody waits for
  // them any more.
  void Use(const std::vector<config::Extender>& extenders);
  void Call(scheduler::EffectId id, const scheduler::CallExtender& call);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::kube
