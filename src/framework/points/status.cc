#include "framework/points/status.h"

#include <fmt/format.h>

namespace berth::framework {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  return "";
}

std::string Status::Message() const { return fmt::format("{}", fmt::join(reasons_, ", ")); }

}  // namespace berth::framework
