#include "server/hands/hands_mount.h"

#include <string>
#include <utility>

namespace berth::server {
namespace {

Response AnswerOf(const Result<std::string>& answer) {
  if (!answer) return TextError(409, answer.error().Message());
  Response response;
  response.Set("Content-Type", "application/octet-stream");
  response.body = *answer;
  return response;
}

}  // namespace

Mount HandsMount(net::Loop& loop, kube::WorkSharing& work) {
  Mount mount;
  mount.prefix = kube::kHandsPath;
  mount.handle = [&loop, &work](Request request, Respond respond, const Post& post) {
    const bool poll = request.path == kube::kPollsPath;
    if (!poll && request.path != kube::kBatchesPath) {
      return respond(TextError(404, "404 page not found"));
    }
    if (request.method != "POST") {
      return respond(TextError(405, "only POST is supported").Set("Allow", "POST"));
    }
    loop.Post([&work, poll, body = std::move(request.body), respond = std::move(respond), post] {
      work.Serve(poll, body, [respond, post](const Result<std::string>& answer) {
        post([respond, response = AnswerOf(answer)] { respond(response); });
      });
    });
  };
  return mount;
}

}  // namespace berth::server
