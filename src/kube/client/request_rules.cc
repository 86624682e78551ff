#include "kube/client/request_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/time.h"

namespace berth::kube {

std::string_view DotSegment(std::string_view path) {
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, slash);
    if (segment == ".") return ".";
    if (segment == "..") return "..";
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return {};
}

net::HttpError InvalidName(std::string_view name) {
  return {net::HttpError::Kind::kConnect,
          fmt::format("invalid resource name \"{0}\": [may not be '{0}']", name)};
}

net::HttpError LeaseEnded() {
  return {net::HttpError::Kind::kConnect, "not sent: the leader's lease has ended"};
}

std::string TimeoutParameter(net::Nanoseconds timeout) {
  if (timeout.count() == 0) return "";
  return "timeout=" + api::Duration{timeout.count()}.Format();
}

}  // namespace berth::kube
