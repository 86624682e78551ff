// One line of recorded events and hints.
#pragma once

#include <string>

#include <simdjson.h>

#include "base/error.h"
#include "config/behaviour.h"

namespace berth::conformance {

// What we say and what kube-scheduler said, in the same words.
struct Sides {
  std::string ours;
  std::string theirs;
};

// Fails when the line cannot be understood.
Result<Sides> CheckHintLine(const config::Behaviour& behaviour, simdjson::dom::element line);
// The group of lines it is counted with: the plugin of a hint, or the kind of
// line.
std::string GroupOf(simdjson::dom::element line);

}  // namespace berth::conformance
