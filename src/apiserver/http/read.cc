// Reading: get, list page by page, scale, logs.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "api/codec/proto.h"
#include "api/codec/protozero.h"
#include "apiserver/http/call.h"
#include "apiserver/http/list_options.h"
#include "apiserver/http/table.h"
#include "apiserver/store/selection.h"

namespace berth::apiserver {
namespace {

std::string ListProtobuf(const Resource& resource, const std::vector<ObjectPtr>& objects,
                         const Json& metadata) {
  std::string raw;
  protozero::pbf_writer writer(raw);
  {
    protozero::pbf_writer meta(writer, 1);
    meta.add_string(1, "");  // selfLink, which Kubernetes always writes
    meta.add_string(2, std::string(metadata["resourceVersion"].Str()));
    meta.add_string(3, std::string(metadata["continue"].Str()));
    if (const Json* left = metadata.Find("remainingItemCount")) meta.add_int64(4, left->Int());
  }
  for (const ObjectPtr& object : objects) {
    writer.add_message(2, NeedsConversion(resource)
                              ? ToProtobufMessage(resource, ConvertText(resource, *object))
                              : ToProtobufMessage(resource, object->text));
  }
  return api::WrapEnvelope(resource.ApiVersion(), resource.kind + "List", raw);
}

}  // namespace

void ApiServer::Get(Call& call) {
  const auto object = registry_.Get(call.resource(), call.info.namespace_, call.info.name);
  object ? Reply(call, 200, *object) : ReplyError(call, object.error());
}

void ApiServer::List(Call& call) {
  const Resource& resource = call.resource();
  if (auto ok = CheckListOptions(call.request, false); !ok) return ReplyError(call, ok.error());
  const size_t limit = static_cast<size_t>(std::max(0ll, std::atoll(call.Query("limit").c_str())));
  OpenList* open = nullptr;
  if (const std::string token = call.Query("continue"); !token.empty()) {
    auto found = Continue(token);
    if (!found) return ReplyError(call, found.error());
    open = *found;
  }
  OpenList fresh;
  if (!open) {
    const auto selection = Selection::Parse(resource, registry_.Resources().At(resource.storage_id),
                                            call.info.namespace_, call.Query("labelSelector"),
                                            call.Query("fieldSelector"));
    if (!selection) return ReplyError(call, selection.error());
    fresh.version = store_.Version();
    for (auto [at, end] = store_.Range(resource.storage_id, call.info.namespace_); at != end;
         ++at) {
      if (selection->Matches(*at->second)) fresh.objects.push_back(at->second);
    }
    if (limit == 0 || fresh.objects.size() <= limit) {
      return ListPage(call, fresh.objects, fresh.version, "", 0);
    }
    fresh.id = fmt::format("list-{}", next_list_++);
    fresh.expires = loop_.Steady() + options_.list_lifetime;
    open_lists_.push_back(std::move(fresh));
    if (open_lists_.size() > options_.max_open_lists) open_lists_.pop_front();
    open = &open_lists_.back();
  }
  const size_t left = open->objects.size() - open->next;
  const size_t count = limit == 0 ? left : std::min(limit, left);
  const auto first = open->objects.begin() + static_cast<std::ptrdiff_t>(open->next);
  const std::vector<ObjectPtr> page(first, first + static_cast<std::ptrdiff_t>(count));
  const size_t remaining = left - count;
  const uint64_t version = open->version;
  // A client may ask for the same page again: the token says where it starts.
  const std::string token =
      remaining == 0 ? "" : fmt::format("{}.{}", open->id, open->next + count);
  ListPage(call, page, version, token, remaining);
}

Answer<ApiServer::OpenList*> ApiServer::Continue(const std::string& token) {
  const net::Nanoseconds now = loop_.Steady();
  std::erase_if(open_lists_, [now](const OpenList& list) { return list.expires < now; });
  const size_t dot = token.rfind('.');
  const std::string id = token.substr(0, dot);
  for (OpenList& list : open_lists_) {
    if (list.id != id || dot == std::string::npos) continue;
    list.next = std::min<size_t>(list.objects.size(),
                                 static_cast<size_t>(std::atoll(token.c_str() + dot + 1)));
    list.expires = now + options_.list_lifetime;
    return &list;
  }
  return Refuse(Expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter."));
}

void ApiServer::ListPage(Call& call, const std::vector<ObjectPtr>& objects, uint64_t version,
                         const std::string& token, size_t remaining) {
  const Resource& resource = call.resource();
  Json metadata = Json::MakeObject({{"resourceVersion", std::to_string(version)}});
  if (!token.empty()) {
    metadata.Set("continue", token);
    metadata.Set("remainingItemCount", static_cast<int64_t>(remaining));
  }
  if (call.encoding.form == Encoding::Form::kTable) {
    std::vector<Json> values;
    values.reserve(objects.size());
    for (const ObjectPtr& object : objects) values.push_back(Convert(resource, *object));
    Json table = MakeTable(resource, values, call.Query("includeObject"), true, registry_.Now());
    table.Set("metadata", std::move(metadata));
    return ReplyJson(call, 200, table);
  }
  server::Response response;
  response.Set("Cache-Control", "no-cache, private");
  if (call.encoding.protobuf) {
    response.Set("Content-Type", std::string(kProtobufType));
    response.body = ListProtobuf(resource, objects, metadata);
    return ReplyWhenDurable(call, std::move(response));
  }
  const bool partial = call.encoding.form == Encoding::Form::kPartialMetadata;
  std::string& body = response.body;
  body = fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{},"items":[)",
                     partial ? "PartialObjectMetadata" : resource.kind,
                     partial ? "meta.k8s.io/v1" : resource.ApiVersion(), metadata.Dump());
  size_t size = body.size();
  for (const ObjectPtr& object : objects) size += object->text.size() + 1;
  body.reserve(size + 2);
  for (size_t i = 0; i < objects.size(); ++i) {
    if (i > 0) body += ',';
    if (partial) {
      Json::MakeObject({{"kind", "PartialObjectMetadata"},
                        {"apiVersion", "meta.k8s.io/v1"},
                        {"metadata", objects[i]->Value()["metadata"]}})
          .AppendTo(body);
    } else if (NeedsConversion(resource)) {
      body += ConvertText(resource, *objects[i]);
    } else {
      body += objects[i]->text;
    }
  }
  body += "]}";
  response.Set("Content-Type", std::string(kJsonType));
  ReplyWhenDurable(call, std::move(response));
}

void ApiServer::PodLog(Call& call) {
  const auto pod = registry_.Get(call.resource(), call.info.namespace_, call.info.name);
  if (!pod) return ReplyError(call, pod.error());
  server::Response response;
  response.Set("Content-Type", "text/plain");
  response.body = fmt::format(
      "pod {} runs on a simulated node: its containers are not started and write no log.\n",
      call.info.name);
  call.respond(std::move(response));
}

// The Scale of a workload.
Json MakeScale(const Json& object) {
  const Json& metadata = object["metadata"];
  Json scale = Json::MakeObject({{"kind", "Scale"}, {"apiVersion", "autoscaling/v1"}});
  for (std::string_view field :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (metadata.Has(field)) scale.At("metadata").Set(field, metadata[field]);
  }
  scale.At("spec").Set("replicas", object["spec"]["replicas"].Int());
  scale.At("status").Set("replicas", object["status"]["replicas"].Int());
  std::string selector;
  const Json& whole = object["spec"]["selector"];
  const Json& labels = whole.Has("matchLabels") ? whole["matchLabels"] : whole;
  for (const auto& [key, value] : labels.Members()) {
    if (!value.IsString()) continue;
    if (!selector.empty()) selector += ",";
    selector += key + "=" + std::string(value.Str());
  }
  scale.At("status").Set("selector", selector);
  return scale;
}

void ApiServer::GetScale(Call& call) {
  const auto object = registry_.Get(call.resource(), call.info.namespace_, call.info.name);
  if (!object) return ReplyError(call, object.error());
  ReplyJson(call, 200, MakeScale((*object)->Value()));
}

}  // namespace berth::apiserver
