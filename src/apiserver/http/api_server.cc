#include "apiserver/http/api_server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apiserver/http/call.h"
#include "apiserver/http/discovery.h"
#include "apiserver/http/node_metrics.h"
#include "apiserver/http/table.h"

namespace berth::apiserver {
namespace {

server::Response MakeResponse(int code, std::string_view type, std::string body) {
  server::Response response;
  response.status = code;
  response.Set("Content-Type", std::string(type));
  response.Set("Cache-Control", "no-cache, private");
  response.body = std::move(body);
  return response;
}

server::Response MakeErrorResponse(const server::Request& request, const StatusError& error) {
  const Json status = ToJson(error);
  const auto encoding = Negotiate(request.Header("accept"), nullptr);
  server::Response response = encoding && encoding->protobuf
                                  ? MakeResponse(error.code, kProtobufType, ToProtobuf(status))
                                  : MakeResponse(error.code, kJsonType, status.Dump());
  if (error.code == 429) response.Set("Retry-After", "1");
  return response;
}

bool IsHealthPath(std::string_view path) {
  return path == "/healthz" || path == "/livez" || path == "/readyz";
}

}  // namespace

ApiServer::ApiServer(Registry& registry, net::Loop& loop, ApiServerOptions options)
    : registry_(registry),
      store_(registry.Objects()),
      loop_(loop),
      options_(std::move(options)),
      guard_(options_.accept_hosts),
      door_(std::make_shared<server::Door>(loop)),
      sessions_(std::make_shared<std::vector<std::weak_ptr<WatchSession>>>()) {}

std::optional<server::Response> ApiServer::Admit(const server::Request& request) const {
  if (options_.token.empty()) {
    auto why = guard_.Refuse(request);
    if (!why) return std::nullopt;
    return MakeErrorResponse(request, {403, "Forbidden", std::move(*why), Json()});
  }
  if (server::HasBearerToken(request, options_.token)) return std::nullopt;
  if (request.method == "GET" || request.method == "HEAD") {
    const server::Mount* mount = server::FindMount(options_.mounts, request.path);
    if (IsHealthPath(request.path) || (mount != nullptr && mount->open)) return std::nullopt;
  }
  return MakeErrorResponse(request, {401, "Unauthorized", "Unauthorized", Json()});
}

void ApiServer::Handle(server::Request request, server::Respond respond) {
  ++requests_;
  Call call{std::move(request), std::move(respond)};
  const server::Mount* mount = server::FindMount(options_.mounts, call.request.path);
  if (mount != nullptr) {
    mount->handle(std::move(call.request), std::move(call.respond),
                  [door = door_](std::function<void()> task) { door->Post(std::move(task)); });
    return;
  }
  Route(call);
}

void ApiServer::Route(Call& call) {
  const std::string& path = call.request.path;
  if (!path.starts_with("/api/") && !path.starts_with("/apis/")) {
    ServeNonResource(call);
    return;
  }
  call.info = ParsePath(registry_.Resources(), path);
  if (!call.info.resource) {
    ServeNonResource(call);
    return;
  }
  const auto encoding = Negotiate(call.request.Header("accept"), call.info.resource);
  if (!encoding) {
    ReplyError(call, NotAcceptable("application/json, application/yaml, "
                                   "application/vnd.kubernetes.protobuf"));
    return;
  }
  call.encoding = *encoding;
  if (call.info.subresource.empty()) {
    ServeResource(call);
  } else {
    ServeSubresource(call);
  }
}

void ApiServer::ServeNonResource(Call& call) {
  const std::string& path = call.request.path;
  const std::string_view accept = call.request.Header("accept");
  if (call.request.method != "GET" && call.request.method != "HEAD") {
    ReplyError(call, NoSuchPath());
    return;
  }
  if (IsHealthPath(path)) {
    call.respond(MakeResponse(200, "text/plain; charset=utf-8", "ok"));
    return;
  }
  if (path == "/version" || path == "/version/") {
    ReplyJson(call, 200, VersionInfo(registry_.Resources()));
    return;
  }
  if (path == kNodeMetricsPath) {
    const uint32_t nodes = registry_.Resources().Named("", "nodes").storage_id;
    ReplyJson(call, 200, ListNodeMetrics(store_, nodes, registry_.Now().Format()));
    return;
  }
  if (path == "/") {
    Json paths = Json::MakeArray();
    for (std::string_view known : {"/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v2",
                                   "/openapi/v3", "/readyz", "/version"}) {
      paths.Append(known);
    }
    ReplyJson(call, 200, Json::MakeObject({{"paths", std::move(paths)}}));
    return;
  }
  const bool aggregated = AcceptsAggregated(accept) && (path == "/api" || path == "/apis");
  if (auto answer = Discover(registry_.Resources(), path, aggregated)) {
    call.respond(MakeResponse(200, aggregated ? kAggregatedType : kJsonType, answer->Dump()));
    return;
  }
  if (path == "/openapi/v2") {
    const Json document = DescribeOpenApiV2(registry_.Resources());
    const bool protobuf = accept.find("proto-openapi.spec.v2@v1.0+protobuf") != accept.npos;
    call.respond(protobuf ? MakeResponse(200, kOpenApiV2Type, OpenApiV2ToProtobuf(document))
                          : MakeResponse(200, kJsonType, document.Dump()));
    return;
  }
  if (auto answer = DescribeOpenApi(registry_.Resources(), path)) {
    ReplyJson(call, 200, *answer);
    return;
  }
  // A group that is served says so in a Status; of others nothing is known.
  const auto& served = registry_.Resources().Served();
  const bool known = std::any_of(served.begin(), served.end(), [&](const Resource* resource) {
    const std::string root =
        (resource->group.empty() ? "/api/" : "/apis/") + resource->ApiVersion();
    return path.starts_with(root + "/");
  });
  if (known) return ReplyError(call, NoSuchPath());
  call.respond(MakeResponse(404, "text/plain; charset=utf-8", "404 page not found\n"));
}

void ApiServer::ServeResource(Call& call) {
  const std::string& method = call.request.method;
  const bool named = !call.info.name.empty();
  const Resource& resource = call.resource();
  if (resource.create_only) {
    if (method != "POST" || named) return ReplyError(call, MethodNotAllowed());
    return resource.kind == "Binding" ? PostBinding(call) : Review(call);
  }
  // An object of a namespace is made in one.
  const bool placed = !resource.namespaced || !call.info.namespace_.empty();
  if (method == "GET" || method == "HEAD") {
    if (call.QueryFlag("watch")) return Watch(call);
    return named ? Get(call) : List(call);
  }
  if (method == "POST" && !named && placed) return Create(call);
  if (method == "PUT" && named) return Update(call);
  if (method == "PATCH" && named) return Patch(call);
  if (method == "DELETE" && placed) return named ? Delete(call) : DeleteCollection(call);
  ReplyError(call, MethodNotAllowed());
}

void ApiServer::ServeSubresource(Call& call) {
  const std::string& method = call.request.method;
  const std::string& sub = call.info.subresource;
  const Resource& resource = call.resource();
  const bool pod = resource.kind == "Pod" && resource.group.empty();
  if (sub == "status" && resource.status) {
    if (method == "GET") return Get(call);
    if (method == "PUT") return Update(call);
    if (method == "PATCH") return Patch(call);
  } else if (sub == "scale" && resource.scale) {
    if (method == "GET") return GetScale(call);
    if (method == "PUT" || method == "PATCH") return ChangeScale(call);
  } else if (sub == "binding" && pod) {
    if (method == "POST") return PostBinding(call);
  } else if (sub == "eviction" && pod) {
    if (method == "POST") return PostEviction(call);
  } else if (sub == "log" && pod) {
    if (method == "GET") return PodLog(call);
  } else if (sub == "finalize" && resource.kind == "Namespace") {
    if (method == "PUT") return Update(call);
  } else if (sub == "token" && resource.kind == "ServiceAccount" && method == "POST") {
    return ReplyError(call, BadRequest(fmt::format(
                                "no tokens of service accounts are made here: whoever reaches this "
                                "API server may do everything, so {} needs none",
                                call.info.name)));
  } else if (pod && (sub == "exec" || sub == "attach" || sub == "portforward" || sub == "proxy")) {
    return ReplyError(call, BadRequest(fmt::format(
                                "pods run on simulated nodes here: there is nothing to {} in {}",
                                sub == "portforward" ? "forward to" : sub, call.info.name)));
  } else {
    return ReplyError(call, NoSuchPath());
  }
  ReplyError(call, MethodNotAllowed());
}

void ApiServer::ReplyWhenDurable(Call& call, server::Response response) {
  store_.WhenDurable(store_.Version(),
                     [respond = std::move(call.respond), response = std::move(response)]() mutable {
                       respond(std::move(response));
                     });
}

void ApiServer::ReplyJson(Call& call, int code, const Json& value) {
  if (call.encoding.protobuf) {
    if (std::string bytes = ToProtobuf(value); !bytes.empty()) {
      return ReplyWhenDurable(call, MakeResponse(code, kProtobufType, std::move(bytes)));
    }
  }
  ReplyWhenDurable(call, MakeResponse(code, kJsonType, value.Dump()));
}

void ApiServer::ReplyError(Call& call, const StatusError& error) {
  ReplyWhenDurable(call, MakeErrorResponse(call.request, error));
}

void ApiServer::Reply(Call& call, int code, const ObjectPtr& object) {
  const Resource& resource = call.resource();
  if (call.encoding.form != Encoding::Form::kObject) {
    Json value = Convert(resource, *object);
    if (call.encoding.form == Encoding::Form::kTable) {
      Json table = MakeTable(resource, {std::move(value)}, call.Query("includeObject"), true,
                             registry_.Now());
      table.At("metadata").Set("resourceVersion", std::to_string(object->version));
      return ReplyJson(call, code, table);
    }
    return ReplyJson(call, code,
                     Json::MakeObject({{"kind", "PartialObjectMetadata"},
                                       {"apiVersion", "meta.k8s.io/v1"},
                                       {"metadata", value["metadata"]}}));
  }
  std::string converted;
  if (NeedsConversion(resource)) converted = ConvertText(resource, *object);
  const std::string& text = converted.empty() ? object->text : converted;
  ReplyWhenDurable(call, call.encoding.protobuf
                             ? MakeResponse(code, kProtobufType, ToProtobuf(resource, text))
                             : MakeResponse(code, kJsonType, text));
}

}  // namespace berth::apiserver
