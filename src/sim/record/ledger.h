// Ledger: the utilisation of the model API's nodes, updated with every change.
//
// Counts the requests of unfinished pods with a node, as the API server sees them: a pod counts
// from its binding on, regardless of the scheduler's state.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/object.h"
#include "sim/host/model_api.h"

namespace berth::sim {

struct Amounts {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t pods = 0;

  Amounts& operator+=(const Amounts& other);
  Amounts& operator-=(const Amounts& other);
  bool operator==(const Amounts&) const = default;
};

// What a pod requests; `pods` is 1.
Amounts RequestsOf(const api::Pod& pod);

class Ledger {
 public:
  void OnChange(const ApiChange& change);

  struct Totals {
    int64_t nodes = 0;  // that exist
    int64_t bound = 0;  // pods on them
    Amounts allocatable;
    Amounts requested;
  };
  Totals Sum() const;

  // Free capacity on nodes that are not cordoned, and its fragmentation.
  struct FreeSpace {
    Amounts free;
    Amounts stranded;      // of it, on nodes that cannot take one more reference pod
    int64_t headroom = 0;  // how many reference pods fit, looking at these three amounts alone
  };
  FreeSpace Free(const Amounts& reference) const;

 private:
  struct NodeLine {
    bool exists = false;
    bool cordoned = false;
    Amounts allocatable;
    Amounts requested;
  };
  struct Place {
    std::string node;
    Amounts amounts;
  };

  void OnNode(const ApiChange& change, const api::Node& node);
  void OnPod(const ApiChange& change, const api::Pod& pod);

  std::map<std::string, NodeLine> nodes_;
  boost::unordered_flat_map<std::string, Place> places_;  // by uid
};

}  // namespace berth::sim
