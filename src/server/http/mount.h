// Mounts: answers for everything under a path, made by who owns the server.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/loop.h"
#include "server/http/message.h"

namespace berth::server {

// Runs a task on the serving thread. From any thread; when the server is gone it does nothing.
using Post = std::function<void(std::function<void()> task)>;

struct Mount {
  std::string prefix;  // "/apis/explain/v1": this path and all below it
  // Called on the serving thread, where `respond` has to be called too, once, now or later, and
  // where a streamed body is written.
  std::function<void(Request request, Respond respond, const Post& post)> handle;
  bool open = false;  // without authentication: for pages that hold no data
};

// Null: nothing is mounted there.
inline const Mount* FindMount(const std::vector<Mount>& mounts, std::string_view path) {
  for (const Mount& mount : mounts) {
    if (!path.starts_with(mount.prefix)) continue;
    if (path.size() == mount.prefix.size() || path[mount.prefix.size()] == '/' ||
        mount.prefix.ends_with('/')) {
      return &mount;
    }
  }
  return nullptr;
}

// Posts to a loop that the poster may outlive.
class Door {
 public:
  explicit Door(net::Loop& loop) : loop_(&loop) {}

  void Post(net::Loop::Task task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (loop_ != nullptr) loop_->Post(std::move(task));
  }
  void Close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    loop_ = nullptr;
  }

 private:
  std::mutex mutex_;
  net::Loop* loop_;
};

}  // namespace berth::server
