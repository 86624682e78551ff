#include "kube/write/event_writer.h"

#include <utility>

#include "log/log.h"

namespace berth::kube {

namespace {

constexpr size_t kMaxInFlight = 64;
constexpr int kMaxTries = 12;
constexpr net::Nanoseconds kPause = std::chrono::seconds(10);
constexpr double kJitter = 0.25;

}  // namespace

bool EventWriter::Write(EventWrite write) {
  if (stopped_ || waiting_.size() >= kMaxWaiting) {
    ++dropped_;
    return false;
  }
  const Key key = ++last_;
  waiting_[key].write = std::move(write);
  ready_.push_back(key);
  SendNext();
  return true;
}

void EventWriter::Stop() {
  stopped_ = true;
  for (auto& [key, waiting] : waiting_) {
    client_.Cancel(waiting.request);
    loop_.Cancel(waiting.timer);
  }
  waiting_.clear();
  ready_.clear();
  in_flight_ = 0;
}

void EventWriter::SendNext() {
  while (!stopped_ && in_flight_ < kMaxInFlight && !ready_.empty()) {
    const Key key = ready_.front();
    ready_.pop_front();
    ++in_flight_;
    Send(key);
  }
}

void EventWriter::Send(Key key) {
  Waiting& waiting = waiting_[key];
  const EventWrite& write = waiting.write;
  ApiRequest request;
  request.event = true;
  request.path = write.collection;
  if (write.patch.empty() || waiting.create) {
    request.method = "POST";
    request.content_type = client_.ContentType();
    request.body = write.object;
  } else {
    request.method = "PATCH";
    request.path += "/" + write.name;
    request.content_type = kStrategicMergePatch;
    request.body = write.patch;
  }
  waiting.request = client_.Send(
      std::move(request), [this, key](const ApiResponse& response) { OnAnswer(key, response); });
}

void EventWriter::OnAnswer(Key key, const ApiResponse& response) {
  Waiting& waiting = waiting_[key];
  waiting.request = 0;
  if (response.Ok()) return Finish(key, true);
  if (response.code == 0) return Retry(key, response);
  const bool series = !waiting.write.patch.empty();
  if (series && !waiting.create && response.code == 404) {
    waiting.create = true;
    return Send(key);
  }
  // Somebody made it between the patch and the creation: there is something to patch now.
  const bool exists = response.code == 409 && response.reason == "AlreadyExists";
  if (series && exists) return Retry(key, response);
  if (exists) {
    log::Info(5, "Server rejected event (will not retry!)", {{"err", response.message}});
  } else {
    log::Error(response.message, "Server rejected event (will not retry!)",
               {{"event", waiting.write.name}});
  }
  Finish(key, true);
}

void EventWriter::Retry(Key key, const ApiResponse& response) {
  Waiting& waiting = waiting_[key];
  log::Error(response.message, "Unable to write event (may retry after sleeping)");
  waiting.create = false;
  ++waiting.tries;
  if (waiting.write.once || waiting.tries >= kMaxTries) {
    if (!waiting.write.once) {
      log::Error("", "Unable to write event (retry limit exceeded!)",
                 {{"event", waiting.write.name}});
    }
    return Finish(key, false);
  }
  const double pause = static_cast<double>(kPause.count()) * (1 + kJitter * loop_.Random());
  waiting.timer = loop_.After(net::Nanoseconds(static_cast<int64_t>(pause)), [this, key] {
    waiting_[key].timer = 0;
    ready_.push_back(key);
    SendNext();
  });
  --in_flight_;
  SendNext();
}

void EventWriter::Finish(Key key, bool delivered) {
  const auto it = waiting_.find(key);
  const auto done = std::move(it->second.write.done);
  waiting_.erase(it);
  --in_flight_;
  if (done) done(delivered);
  SendNext();
}

}  // namespace berth::kube
