// FakeApiClient: an ApiClient that a test answers by hand.
//
// Requests are kept in the order they were made; index 0 is the first. Answers run the callback at
// once, from the test: the test is the loop. Answering twice, or something cancelled, is ignored
// and says so (false).
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/client/api_client.h"

namespace berth::kube {

class FakeApiClient final : public ApiClient {
 public:
  struct Call {
    Id id = 0;
    ApiRequest request = {};
    bool watch = false;
    bool cancelled = false;
    bool ended = false;  // answered; watches: told of their end

    bool Open() const { return !cancelled && !ended; }
    // "GET /api/v1/pods?limit=500", "WATCH /api/v1/pods?watch=true": what tests compare.
    std::string Line() const {
      std::string line = (watch ? "WATCH" : request.method) + " " + request.path;
      if (!request.query.empty()) line += "?" + request.query;
      return line;
    }
  };

  explicit FakeApiClient(std::string_view content_type = kProtobuf) : content_type_(content_type) {}

  Id Send(ApiRequest request, Callback done) override {
    return Add(std::move(request), std::move(done), nullptr);
  }
  Id Watch(ApiRequest request, WatchSink* sink) override {
    return Add(std::move(request), nullptr, sink);
  }
  void Cancel(Id id) override {
    if (id == 0 || id > calls_.size()) return;
    calls_[id - 1].call.cancelled = true;
    calls_[id - 1].done = nullptr;
  }
  std::string_view ContentType() const override { return content_type_; }

  // What was asked, all of it: answered and cancelled too.
  size_t Size() const { return calls_.size(); }
  const Call& At(size_t index) const { return calls_.at(index).call; }
  const Call& Last() const { return calls_.back().call; }
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const Entry& entry : calls_) lines.push_back(entry.call.Line());
    return lines;
  }
  // The first request (not watch) that waits for its answer; Size() when none does.
  size_t Next() const { return FirstOpen(false, 0); }
  // The first open watch.
  size_t NextWatch() const { return FirstOpen(true, 0); }
  // The first open request or watch whose path is `path`; Size() when there is none.
  size_t FindOpen(std::string_view path) const {
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].call.Open() && calls_[i].call.request.path == path) return i;
    }
    return calls_.size();
  }
  size_t CountOpen() const {
    size_t count = 0;
    for (const Entry& entry : calls_) count += entry.call.Open() ? 1 : 0;
    return count;
  }

  // Answers a request; a watch is refused or ends with it.
  bool Respond(size_t index, ApiResponse response) {
    if (index >= calls_.size() || !calls_[index].call.Open()) return false;
    Entry& entry = calls_[index];
    entry.call.ended = true;
    if (entry.call.watch) {
      entry.sink->OnEnd(response);
    } else {
      const Callback done = std::move(entry.done);
      entry.done = nullptr;
      done(std::move(response));
    }
    return true;
  }
  bool RespondNext(ApiResponse response) { return Respond(Next(), std::move(response)); }

  // The watch at `index` is accepted; its frames are of the client's content type.
  bool Start(size_t index) { return Start(index, content_type_); }
  bool Start(size_t index, std::string_view content_type) {
    if (!OpenWatch(index)) return false;
    calls_[index].sink->OnStarted(content_type);
    return true;
  }
  bool SendFrame(size_t index, std::string_view frame) {
    if (!OpenWatch(index)) return false;
    calls_[index].sink->OnFrame(frame);
    return true;
  }
  // The server ends the watch properly, as it does when the watch's time is up.
  bool End(size_t index) { return OpenWatch(index) && Respond(index, Success()); }

  // Answers to give.
  static ApiResponse Success(std::string body = {}, std::string_view content_type = kProtobuf) {
    ApiResponse response;
    response.code = 200;
    response.content_type = content_type;
    response.body = std::move(body);
    return response;
  }
  static ApiResponse Failure(int code, std::string reason, std::string message) {
    ApiResponse response;
    response.code = code;
    response.content_type = kJson;
    response.reason = std::move(reason);
    response.message = std::move(message);
    return response;
  }
  static ApiResponse Broken(net::HttpError::Kind kind, std::string message) {
    ApiResponse response;
    response.error = {kind, message};
    response.message = std::move(message);
    return response;
  }

 private:
  struct Entry {
    Call call;
    Callback done;
    WatchSink* sink = nullptr;
  };

  Id Add(ApiRequest request, Callback done, WatchSink* sink) {
    const Id id = calls_.size() + 1;
    calls_.push_back({{.id = id, .request = std::move(request), .watch = sink != nullptr},
                      std::move(done),
                      sink});
    return id;
  }
  size_t FirstOpen(bool watch, size_t from) const {
    size_t i = from;
    while (i < calls_.size() && !(calls_[i].call.Open() && calls_[i].call.watch == watch)) ++i;
    return i;
  }
  bool OpenWatch(size_t index) const {
    return index < calls_.size() && calls_[index].call.watch && calls_[index].call.Open();
  }

  std::string content_type_;
  std::deque<Entry> calls_;  // callbacks add to it: references stay valid
};

}  // namespace berth::kube
