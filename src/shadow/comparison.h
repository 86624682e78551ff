// Comparison: one decision of the watched scheduler beside berth's, as data for text and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "shadow/judge.h"
#include "shadow/outcome.h"

namespace berth::shadow {

struct Comparison {
  uint64_t sequence = 0;
  std::string time;  // when the decision was seen, RFC 3339
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string scheduler_name;
  std::string decision;       // Bound, or Unschedulable
  std::string outcome_name;   // NameOf(outcome)
  std::string first_outcome;  // of a race: on the cluster as it was when the decision was seen
  std::string their_node;     // where they bound the pod, or preempt pods; empty: nowhere
  std::string our_node;
  int64_t their_total = 0;
  int64_t our_total = 0;
  std::vector<PluginGap> gaps;
  std::string plugin;         // that rejects their node
  std::string reason;         // why berth rejects their node, or finds none
  std::string their_message;  // of the condition PodScheduled, when they found no node
  std::string explanation;    // of a race

  Outcome outcome = Outcome::kSame;
  std::vector<WeightRange> ranges;

  std::string Pod() const { return namespace_ + "/" + name; }
  static const api::TypeInfo& Type();
};

// Fills in what was found.
void Take(Finding finding, Comparison* comparison);
// "NodeResourcesFit 58 < 71, ImageLocality 10 > 0" or the plugin and its reason; one line.
std::string Why(const Comparison& comparison);

}  // namespace berth::shadow
