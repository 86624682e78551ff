// CacheDebugger: on demand (SIGUSR2), what the engine knows, in the log, and how that differs from
// what the API server has.
//
// Nodes and pods are listed anew and compared with the engine's by name and uid. What changes while
// that is done shows as a difference that is gone at the next try.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client/api_client.h"
#include "kube/host/scheduler_host.h"
#include "net/loop.h"

namespace berth::kube {

// All nodes with their pods, and what is nominated to them: as text of many lines.
std::string NodesText(const scheduler::Engine& engine);
// How many pods are in which queue; all of them, one a line.
std::string QueueSummary(const scheduler::Engine& engine);
std::string QueuedPodsText(const scheduler::Engine& engine);

// What is in one and not in the other, sorted.
struct Difference {
  std::vector<std::string> missed;     // the API server has it, the engine does not
  std::vector<std::string> redundant;  // the other way round
  bool Empty() const { return missed.empty() && redundant.empty(); }
};
Difference Compare(std::vector<std::string> actual, std::vector<std::string> cached);

class CacheDebugger {
 public:
  // All outlive the debugger, and the loop has stopped when it is destroyed.
  CacheDebugger(net::Loop& loop, ApiClient& client, SchedulerHost& host)
      : loop_(loop), client_(client), host_(host) {}

  // Starts; a request while one is under way is ignored. From any thread.
  void Run();

 private:
  struct Listing;
  void List(const std::shared_ptr<Listing>& listing, std::string_view kind,
            const std::string& continue_);
  void OnPage(const std::shared_ptr<Listing>& listing, std::string_view kind,
              const ApiResponse& response);
  void CompareAll(const std::shared_ptr<Listing>& listing);

  net::Loop& loop_;
  ApiClient& client_;
  SchedulerHost& host_;
  bool running_ = false;  // on the loop's thread
};

}  // namespace berth::kube
