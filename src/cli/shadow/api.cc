#include "cli/shadow/api.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "server/http/json_api.h"

namespace berth::cli {
namespace {

using server::ErrorResponse;
using server::Request;
using server::Response;

struct ShadowIndex {
  std::string version = "v1";
  std::vector<std::string> paths;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<ShadowIndex>("ShadowIndex")
                                          .Always(1, "version", &ShadowIndex::version)
                                          .Always(2, "paths", &ShadowIndex::paths)
                                          .Build();
    return type;
  }
};

bool IsOutcome(std::string_view name) {
  return name.empty() || name == "unexplained" ||
         std::find(shadow::kOutcomeNames.begin(), shadow::kOutcomeNames.end(), name) !=
             shadow::kOutcomeNames.end();
}

template <class T>
Response Json(const T& value, const Request& request) {
  return server::JsonResponse(api::ToJson(value), server::AcceptsGzip(request));
}

Response Comparisons(const Board& board, const Request& request) {
  ComparisonQuery query;
  query.outcome = server::Query(request, "outcome");
  query.search = server::Query(request, "search");
  for (char& c : query.search) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto limit = server::Number(request, "limit", 1, Board::kDiffering, 100);
  if (!limit) {
    return ErrorResponse(400, fmt::format("limit is a number from 1 to {}", Board::kDiffering));
  }
  if (!IsOutcome(query.outcome)) {
    return ErrorResponse(
        400, fmt::format("outcome is unexplained, {}", fmt::join(shadow::kOutcomeNames, ", ")));
  }
  query.limit = static_cast<size_t>(*limit);
  return Json(board.List(query), request);
}

}  // namespace

Response AnswerShadow(const Board& board, const Request& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    Response response = ErrorResponse(405, "only GET is served");
    response.Set("Allow", "GET, HEAD");
    return response;
  }
  const std::vector<std::string> path =
      server::Split(std::string_view(request.path).substr(kShadowPrefix.size()));
  if (path.empty()) {
    ShadowIndex index;
    for (const char* each : {"", "/comparisons", "/summary"}) {
      index.paths.push_back(std::string(kShadowPrefix) + each);
    }
    return Json(index, request);
  }
  if (path.size() == 1 && path[0] == "summary") return Json(board.Look(), request);
  if (path.size() == 1 && path[0] == "comparisons") return Comparisons(board, request);
  return ErrorResponse(404,
                       fmt::format("no path {}; GET {} lists them", request.path, kShadowPrefix));
}

server::Mount ShadowMount(const Board& board) {
  return {std::string(kShadowPrefix),
          [&board](const Request& request, const server::Respond& respond, const server::Post&) {
            respond(AnswerShadow(board, request));
          },
          false};
}

}  // namespace berth::cli
