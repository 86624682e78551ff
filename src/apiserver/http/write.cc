// Writing: create, update, patch, delete, and the subresources that write.
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "apiserver/http/call.h"
#include "apiserver/json/patch.h"
#include "apiserver/registry/apply.h"
#include "apiserver/store/selection.h"

namespace berth::apiserver {

Json MakeScale(const Json& object);

namespace {

Json PlainStatus(int code) {
  return Json::MakeObject({{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"metadata", Json::MakeObject()},
                           {"status", "Success"},
                           {"code", code}});
}

// Applies a patch of that content type. `custom` kinds have no strategic merge.
Answer<void> ApplyPatch(const std::string& type, const Json& patch, const Resource& resource,
                        Json& object) {
  const auto failed = [&](const Error& error) {
    return Refuse({422, "Invalid",
                   fmt::format("{} \"{}\" is invalid: patch: Invalid value: {}", resource.kind,
                               object["metadata"]["name"].Str(), error.Message()),
                   Json()});
  };
  if (type == "application/json-patch+json") {
    if (!patch.IsArray()) return Refuse(BadRequest("a JSON patch is an array of operations"));
    bool too_large = false;
    if (auto ok = ApplyJsonPatch(object, patch, {}, &too_large); !ok) {
      if (too_large) return Refuse({413, "RequestEntityTooLarge", ok.error().Message(), Json()});
      return Refuse(
          {422, "Invalid",
           fmt::format("the server rejected our request due to an error in our request: {}",
                       ok.error().Message()),
           Json::MakeObject()});
    }
    return {};
  }
  if (!patch.IsObject()) return Refuse(BadRequest("a merge patch is an object"));
  if (type == "application/merge-patch+json") {
    ApplyMergePatch(object, patch);
    return {};
  }
  if (type == "application/strategic-merge-patch+json" && !resource.custom) {
    if (auto ok = ApplyStrategicMergePatch(object, patch); !ok) return failed(ok.error());
    return {};
  }
  return Refuse(UnsupportedMediaType(
      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"));
}

// The body, an empty object when there is none: of requests that need no options.
Answer<Json> OptionalBody(const server::Request& request) {
  if (request.body.empty()) return Json::MakeObject();
  return DecodeBody(request);
}

// CheckFields of a whole object, whose refusals say what it was taken for.
Answer<void> CheckObject(const Catalog& catalog, const Resource& resource, const Json& object,
                         bool strict) {
  auto ok = CheckFields(catalog, resource, object, strict);
  if (!ok && ok.error().message.starts_with("strict")) {
    ok.error().message =
        fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind,
                    resource.version, resource.kind, ok.error().message);
  }
  return ok;
}

}  // namespace

void ApiServer::Create(Call& call) {
  const Resource& resource = call.resource();
  const std::string_view type = call.request.Header("content-type");
  auto body = DecodeBody(call.request);
  if (!body) return ReplyError(call, body.error());
  // Events are many. One in protobuf has fields of the right types: nothing is left to check.
  if (resource.kind != "Event" || !IsProtobuf(type)) {
    if (auto ok = CheckObject(registry_.Resources(), resource, *body, call.Strict()); !ok) {
      return ReplyError(call, ok.error());
    }
  }
  const Resource& kept = registry_.Resources().Kept(resource);
  ConvertToKept(resource, kept, *body);
  const auto object =
      registry_.Create(kept, call.info.namespace_, std::move(*body), call.Options());
  object ? Reply(call, 201, *object) : ReplyError(call, object.error());
}

void ApiServer::Update(Call& call) {
  const Resource& resource = call.resource();
  auto body = DecodeBody(call.request);
  if (!body) return ReplyError(call, body.error());
  if (auto ok = CheckObject(registry_.Resources(), resource, *body, call.Strict()); !ok) {
    return ReplyError(call, ok.error());
  }
  const Resource& kept = registry_.Resources().Kept(resource);
  ConvertToKept(resource, kept, *body);
  bool created = false;
  const auto object = registry_.Update(kept, call.info.namespace_, call.info.name, std::move(*body),
                                       call.info.subresource, call.Options(), &created);
  object ? Reply(call, created ? 201 : 200, *object) : ReplyError(call, object.error());
}

void ApiServer::Patch(Call& call) {
  const Resource& resource = call.resource();
  const std::string type = MediaType(call.request.Header("content-type"));
  auto body = DecodeBody(call.request);
  if (!body) return ReplyError(call, body.error());
  if (type == "application/apply-patch+yaml") {
    if (auto ok = CheckFields(registry_.Resources(), resource, *body, call.Strict()); !ok) {
      return ReplyError(call, ok.error());
    }
    const std::string manager = call.Query("fieldManager");
    if (manager.empty()) {
      return ReplyError(call, BadRequest("PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: "
                                         "Required value: is required for apply patch"));
    }
    const Resource& kept = registry_.Resources().Kept(resource);
    ConvertToKept(resource, kept, *body);
    bool created = false;
    const auto object =
        Apply(registry_, kept, call.info.namespace_, call.info.name, std::move(*body),
              call.info.subresource, {manager, call.QueryFlag("force"), call.Options()}, &created);
    return object ? Reply(call, created ? 201 : 200, *object) : ReplyError(call, object.error());
  }
  const Resource& kept = registry_.Resources().Kept(resource);
  const auto object = registry_.Modify(
      kept, call.info.namespace_, call.info.name,
      [&](Json& value) -> Answer<void> {
        if (resource.id != resource.storage_id) {
          value = Convert(resource, *MakeStoredObject(kept, value, 0));
        } else {
          value.Set("apiVersion", resource.ApiVersion());
        }
        if (auto ok = ApplyPatch(type, *body, resource, value); !ok) return ok;
        if (auto ok = CheckFields(registry_.Resources(), resource, value, call.Strict()); !ok)
          return ok;
        ConvertToKept(resource, kept, value);
        return {};
      },
      call.info.subresource, call.Options());
  object ? Reply(call, 200, *object) : ReplyError(call, object.error());
}

void ApiServer::Delete(Call& call) {
  const Resource& resource = call.resource();
  auto given = OptionalBody(call.request);
  if (!given) return ReplyError(call, given.error());
  Json& body = *given;
  if (const std::string grace = call.Query("gracePeriodSeconds"); !grace.empty()) {
    body.Set("gracePeriodSeconds", static_cast<int64_t>(std::atoll(grace.c_str())));
  }
  if (const std::string policy = call.Query("propagationPolicy"); !policy.empty()) {
    body.Set("propagationPolicy", policy);
  }
  if (call.Query("dryRun") == "All") body.At("dryRun").Append("All");
  auto options = DeleteOptions::From(body);
  if (!options) return ReplyError(call, options.error());
  const auto deleted = registry_.Delete(resource, call.info.namespace_, call.info.name, *options);
  if (!deleted) return ReplyError(call, deleted.error());
  if (!deleted->gone || resource.kind == "Pod") return Reply(call, 200, deleted->object);
  const Json status = SuccessStatus(resource, call.info.name, deleted->object->uid);
  ReplyJson(call, 200, status);
}

void ApiServer::DeleteCollection(Call& call) {
  const Resource& resource = call.resource();
  auto given = OptionalBody(call.request);
  if (!given) return ReplyError(call, given.error());
  Json& body = *given;
  auto options = DeleteOptions::From(body);
  if (!options) return ReplyError(call, options.error());
  const auto selection = Selection::Parse(resource, registry_.Resources().At(resource.storage_id),
                                          call.info.namespace_, call.Query("labelSelector"),
                                          call.Query("fieldSelector"));
  if (!selection) return ReplyError(call, selection.error());
  std::vector<ObjectPtr> chosen;
  for (auto [at, end] = store_.Range(resource.storage_id, call.info.namespace_); at != end; ++at) {
    if (selection->Matches(*at->second)) chosen.push_back(at->second);
  }
  for (const ObjectPtr& object : chosen) {
    (void)registry_.Delete(resource, object->namespace_, object->name, *options);
  }
  ListPage(call, chosen, store_.Version(), "", 0);
}

void ApiServer::PostBinding(Call& call) {
  auto body = DecodeBody(call.request);
  if (!body) return ReplyError(call, body.error());
  std::string name = call.info.name;
  if (name.empty()) name = (*body)["metadata"]["name"].Str();
  const auto ok = registry_.Bind(call.info.namespace_, name, *body, call.Options());
  if (!ok) return ReplyError(call, ok.error());
  static const std::string kText = PlainStatus(201).Dump();
  static const std::string kBytes = ToProtobuf(PlainStatus(201));
  server::Response response{.status = 201};
  response.Set("Content-Type", std::string(call.encoding.protobuf ? kProtobufType : kJsonType));
  response.Set("Cache-Control", "no-cache, private");
  response.body = call.encoding.protobuf ? kBytes : kText;
  ReplyWhenDurable(call, std::move(response));
}

void ApiServer::PostEviction(Call& call) {
  auto given = OptionalBody(call.request);
  if (!given) return ReplyError(call, given.error());
  Json& body = *given;
  const auto ok = registry_.Evict(call.info.namespace_, call.info.name, body);
  ok ? ReplyJson(call, 201, PlainStatus(201)) : ReplyError(call, ok.error());
}

// Whoever reaches the server may do everything.
void ApiServer::Review(Call& call) {
  auto body = DecodeBody(call.request);
  // Protobuf of kinds without a description is fine: the answer does not depend on the question.
  const bool unread = !body && IsProtobuf(call.request.Header("content-type"));
  if (!body && !(unread && body.error().code == 415)) return ReplyError(call, body.error());
  Json review = body ? std::move(*body) : Json::MakeObject();
  review.Set("kind", call.resource().kind);
  review.Set("apiVersion", call.resource().ApiVersion());
  Json& status = review.At("status");
  const Json user =
      Json::MakeObject({{"username", "system:admin"},
                        {"groups", Json::MakeArray({"system:masters", "system:authenticated"})}});
  const std::string& kind = call.resource().kind;
  if (kind == "TokenReview") {
    status.Set("authenticated", true);
    status.Set("user", user);
  } else if (kind == "SelfSubjectReview") {
    status.Set("userInfo", user);
  } else if (kind == "SelfSubjectRulesReview") {
    const Json all = Json::MakeArray({"*"});
    status.Set("incomplete", false);
    status.Set("resourceRules", Json::MakeArray({Json::MakeObject(
                                    {{"verbs", all}, {"apiGroups", all}, {"resources", all}})}));
    status.Set("nonResourceRules",
               Json::MakeArray({Json::MakeObject({{"verbs", all}, {"nonResourceURLs", all}})}));
  } else {
    status.Set("allowed", true);
  }
  ReplyJson(call, 201, review);
}

void ApiServer::ChangeScale(Call& call) {
  const std::string type = MediaType(call.request.Header("content-type"));
  auto body = DecodeBody(call.request);
  if (!body) return ReplyError(call, body.error());
  const auto object = registry_.Modify(
      call.resource(), call.info.namespace_, call.info.name,
      [&](Json& value) -> Answer<void> {
        Json scale = MakeScale(value);
        if (call.request.method == "PUT") {
          scale = *body;
        } else if (auto ok = ApplyPatch(type, *body, call.resource(), scale); !ok) {
          return ok;
        }
        const Json& replicas = scale["spec"]["replicas"];
        if (!replicas.IsNull() && (!replicas.IsInt() || replicas.Int() < 0)) {
          return Refuse(Invalid(call.resource(), call.info.name,
                                {InvalidField("spec.replicas", replicas.Dump(),
                                              "must be greater than or equal to 0")}));
        }
        const std::string_view version = scale["metadata"]["resourceVersion"].Str();
        if (!version.empty()) value.At("metadata").Set("resourceVersion", version);
        value.At("spec").Set("replicas", replicas.Int());
        return {};
      },
      "", call.Options());
  object ? ReplyJson(call, 200, MakeScale((*object)->Value())) : ReplyError(call, object.error());
}

}  // namespace berth::apiserver
