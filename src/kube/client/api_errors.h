// What went wrong with a request, in client-go's words.
//
// The API server says so in a Status, in protobuf or JSON. What is no Status comes from a proxy or
// a load balancer: its code is turned into the sentence client-go has for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/client/api_client.h"
#include "net/http/message.h"

namespace berth::kube {

// The response to `request`, whose body is taken. Of an answer that is no success, reason, message
// and retry_after are filled in and the body is dropped.
ApiResponse ToApiResponse(const ApiRequest& request, net::HttpResponse response);

// No response. `url` is the whole one: Post "https://host/path": message
ApiResponse ToApiResponse(std::string_view method, std::string_view url, net::HttpError error);

// The Retry-After header in seconds; false when there is none or it is no number.
bool RetryAfterSeconds(const net::HttpResponse& response, int* seconds);

// The texts of the server's Warning headers (code 199); what is malformed is left out.
std::vector<std::string> Warnings(const std::vector<net::Header>& headers);

// The media type of a Content-Type: lower case, without parameters.
std::string MediaType(std::string_view content_type);

// What a path of the API is about: "pods" or "leases.coordination.k8s.io", and a name if it has
// one. Both empty for other paths.
struct PathResource {
  std::string resource;
  std::string name;
};
PathResource ResourceOfPath(std::string_view path);

}  // namespace berth::kube
