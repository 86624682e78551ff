// What a client does not send, and what it tells the server of a write. Private to this folder.
#pragma once

#include <string>
#include <string_view>

#include "kube/client/api_client.h"

namespace berth::kube {

// "." or ".." if the path has such a segment: a name that would make it another path.
std::string_view DotSegment(std::string_view path);
// In client-go's words.
net::HttpError InvalidName(std::string_view name);
net::HttpError LeaseEnded();

// Writes that carry out decisions: everything but events.
inline bool IsFencedWrite(const ApiRequest& request) {
  return !request.event && request.method != "GET";
}
// "timeout=2.5s"; "" for no time.
std::string TimeoutParameter(net::Nanoseconds timeout);

}  // namespace berth::kube
