// For tests only: the next step of a PreBind task, as a string.
#pragma once

#include <string>

#include "framework/points/pre_bind.h"

namespace berth::plugins {

// "done", "wait" or "fail: why"; empty when there is something to write.
inline std::string WordOf(const framework::PreBindStep& step) {
  switch (step.kind) {
    case framework::PreBindStep::Kind::kDone:
      return "done";
    case framework::PreBindStep::Kind::kWait:
      return "wait";
    case framework::PreBindStep::Kind::kFail:
      return "fail: " + step.failure.Message();
    case framework::PreBindStep::Kind::kWrite:
      break;
  }
  return "";
}

}  // namespace berth::plugins
