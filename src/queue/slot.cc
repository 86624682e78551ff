#include "queue/slot.h"

namespace berth::queue {

std::string_view NameOf(QueueName queue) {
  switch (queue) {
    case QueueName::kActive:
      return "active";
    case QueueName::kBackoff:
      return "backoff";
    case QueueName::kUnschedulable:
      return "unschedulable";
    case QueueName::kGated:
      return "gated";
  }
  return "";
}

std::string_view WordOf(Place place) {
  switch (place) {
    case Place::kNowhere:
      return "";
    case Place::kActive:
      return "active";
    case Place::kBackoff:
      return "backoff";
    case Place::kErrorBackoff:
      return "error-backoff";
    case Place::kUnschedulable:
      return "unschedulable";
    case Place::kGated:
      return "gated";
    case Place::kInFlight:
      return "in-flight";
  }
  return "";
}

}  // namespace berth::queue
