// Pieces of APIs that answer in JSON: /apis/explain/v1 and its neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace berth::server {

// A Status, as the API server answers errors.
Response ErrorResponse(int code, std::string_view message);
// `gzip`: the client takes that.
Response JsonResponse(std::string body, bool gzip);

// The first value of the key; empty: there is none.
std::string Query(const Request& request, std::string_view key);
// A number of the query in [low, high]; absent: `fallback`. Nothing: it is none.
std::optional<uint64_t> Number(const Request& request, std::string_view key, uint64_t low,
                               uint64_t high, uint64_t fallback);

// The parts of a path between its slashes.
std::vector<std::string> Split(std::string_view path);

}  // namespace berth::server
