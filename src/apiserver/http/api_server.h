// ApiServer: the Kubernetes API over HTTP.
//
//   request ─▶ path ─▶ content ─▶ Registry ─▶ answer when the store says it is durable
//                                    Store ─▶ watches
//
// Threads: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/http/content.h"
#include "apiserver/http/path.h"
#include "apiserver/json/value.h"
#include "apiserver/registry/registry.h"
#include "apiserver/status.h"
#include "net/loop.h"
#include "server/http/host_guard.h"
#include "server/http/message.h"
#include "server/http/mount.h"

namespace berth::apiserver {

struct ApiServerOptions {
  // Bearer token every request must carry. Empty: none, and server::HostGuard decides instead.
  std::string token = {};
  std::vector<std::string> accept_hosts = {};  // of the guard
  // A watcher with more bytes than this waiting for it is dropped. Its client lists again.
  size_t max_watch_backlog = 64u << 20;
  std::chrono::seconds bookmark_period{60};
  // Lists that are read page by page stay as they were when the first page was read.
  size_t max_open_lists = 16;
  std::chrono::seconds list_lifetime{300};
  // Paths that are not the API's own, answered by others.
  std::vector<server::Mount> mounts = {};
};

class WatchSession;
struct LastEvent;

class ApiServer {
 public:
  // `registry` and `loop` outlive the server.
  ApiServer(Registry& registry, net::Loop& loop, ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Decides on a request by its header alone: a response refuses it. Fits
  // server::ServingOptions::admit.
  std::optional<server::Response> Admit(const server::Request& request) const;

  // Answers one request that was admitted; fits server::Handler.
  void Handle(server::Request request, server::Respond respond);

  // Requests answered so far, watches included.
  uint64_t Requests() const { return requests_; }

 private:
  struct Call;
  struct OpenList {
    std::string id;
    net::Nanoseconds expires;
    uint64_t version;
    std::vector<ObjectPtr> objects;
    size_t next = 0;
  };

  void Route(Call& call);
  void ServeNonResource(Call& call);
  void ServeResource(Call& call);
  void ServeSubresource(Call& call);

  // read.cc
  void Get(Call& call);
  void List(Call& call);
  Answer<OpenList*> Continue(const std::string& token);
  void ListPage(Call& call, const std::vector<ObjectPtr>& objects, uint64_t version,
                const std::string& token, size_t remaining);
  void PodLog(Call& call);
  void GetScale(Call& call);

  // watch.cc
  void Watch(Call& call);

  // write.cc
  void Create(Call& call);
  void Update(Call& call);
  void Patch(Call& call);
  void Delete(Call& call);
  void DeleteCollection(Call& call);
  void PostBinding(Call& call);
  void PostEviction(Call& call);
  void Review(Call& call);
  void ChangeScale(Call& call);

  // Answers with the object as the call wants it, when it is durable.
  void Reply(Call& call, int code, const ObjectPtr& object);
  void ReplyJson(Call& call, int code, const Json& value);
  void ReplyError(Call& call, const StatusError& error);
  void ReplyWhenDurable(Call& call, server::Response response);

  Registry& registry_;
  Store& store_;
  net::Loop& loop_;
  ApiServerOptions options_;
  server::HostGuard guard_;
  std::shared_ptr<server::Door> door_;
  std::list<OpenList> open_lists_;
  uint64_t next_list_ = 1;
  uint64_t requests_ = 0;
  // Shared with the sessions, which may outlive a request by hours.
  std::shared_ptr<std::vector<std::weak_ptr<WatchSession>>> sessions_;
  std::shared_ptr<LastEvent> last_event_;
};

}  // namespace berth::apiserver
