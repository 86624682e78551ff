#include "kube/watch/decode.h"

#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/codec/protozero.h"
#include "kube/client/api_client.h"

namespace berth::kube {

namespace {

constexpr std::string_view kNoProtobuf = "the server answered with protobuf for a custom resource";

struct JsonList {
  std::string kind;
  api::ListMeta metadata;
  std::vector<api::RawJson> items;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<JsonList>("List")
                                          .Field(0, "kind", &JsonList::kind)
                                          .Field(1, "metadata", &JsonList::metadata)
                                          .Field(2, "items", &JsonList::items)
                                          .Build();
    return type;
  }
};

// The part of an object that names it.
struct JsonNamed {
  struct Names {
    std::string namespace_;
    std::string name;

    static const api::TypeInfo& Type() {
      static const api::TypeInfo type = api::Describe<Names>("ObjectMeta")
                                            .Field(1, "name", &Names::name)
                                            .Field(3, "namespace", &Names::namespace_)
                                            .Build();
      return type;
    }
  };
  Names metadata;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<JsonNamed>("Object").Field(1, "metadata", &JsonNamed::metadata).Build();
    return type;
  }
};

struct JsonEvent {
  std::string type;
  api::RawJson object;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo info = api::Describe<JsonEvent>("WatchEvent")
                                          .Field(1, "type", &JsonEvent::type)
                                          .Field(2, "object", &JsonEvent::object)
                                          .Build();
    return info;
  }
};

// What says nothing about itself, or is something else, is no list: to take it for an empty one
// would be to forget the cluster.
Result<void> CheckListKind(const Kind& kind, std::string_view got) {
  if (got.ends_with("List") && got.substr(0, got.size() - 4) == kind.kind) return {};
  return Fail(fmt::format("the server answered with {} where a list of {} was asked for",
                          got.empty() ? "something" : fmt::format("a {}", got.substr(0, 64)),
                          kind.kind));
}

Result<api::ListMeta> DecodeProtoList(const Kind& kind, std::string_view body,
                                      const ItemConsumer& consume, const BadItemConsumer& bad) {
  auto list = SplitList(kind, body);
  if (!list) return Fail(std::move(list.error()));
  const api::ObjectKind& row = RowOf(kind);
  api::Object object;
  for (const std::string_view item : list->items) {
    if (auto ok = DecodeItem(row, item, &object)) {
      consume(std::move(object), item);
    } else {
      bad(NameOfProto(item), ok.error());
    }
  }
  return std::move(list->meta);
}

Result<api::ListMeta> DecodeJsonList(const Kind& kind, std::string_view body,
                                     const ItemConsumer& consume, const BadItemConsumer& bad) {
  auto list = api::FromJson<JsonList>(body);
  if (!list) return Fail(std::move(list.error()));
  if (auto ok = CheckListKind(kind, list->kind); !ok) return Fail(ok.error());
  api::JsonDecoder decoder;
  for (api::RawJson& item : list->items) {
    auto object = api::DecodeObjectAs(kind.api_version, kind.kind, item.text, decoder);
    if (object) {
      consume(std::move(*object), item.text);
    } else {
      bad(NameOfJson(item.text), object.error());
    }
    item.text = {};
  }
  return std::move(list->metadata);
}

Result<WatchEvent::Type> ParseType(std::string_view type) {
  if (type == "ADDED") return WatchEvent::Type::kAdded;
  if (type == "MODIFIED") return WatchEvent::Type::kModified;
  if (type == "DELETED") return WatchEvent::Type::kDeleted;
  if (type == "BOOKMARK") return WatchEvent::Type::kBookmark;
  if (type == "ERROR") return WatchEvent::Type::kError;
  return Fail(fmt::format("unknown type of watch event: {}", type.substr(0, 64)));
}

// An ERROR carries a Status, everything else the kind that is watched.
Result<void> CheckKind(const Kind& kind, const WatchEvent& event) {
  const bool error = event.type == WatchEvent::Type::kError;
  const std::string_view want = error ? api::Status::kKind : kind.kind;
  const std::string_view got = api::KindOf(event.object);
  const bool known = !std::holds_alternative<api::UnknownObject>(event.object);
  const bool custom = kind.custom && api::ApiVersionOf(event.object) == kind.api_version;
  if (got == want && (known || custom)) return {};
  return Fail(fmt::format("unexpected watch event object type: {} instead of {}", got, want));
}

// A pod's message, as far as it has to be decoded.
Result<void> DecodePod(const api::ObjectKind& row, std::string_view message, KnownPods& pods,
                       WatchEvent* event) {
  using Type = WatchEvent::Type;
  auto* pod = static_cast<api::Pod*>(row.emplace(event->object));
  event->status_only = event->type == Type::kModified && pods.DecodeUpdate(message, pod);
  if (event->status_only) return {};
  auto ok = api::DecodeProto(row.type(), row.emplace(event->object), message);
  if (!ok) return ok;
  if (event->type == Type::kAdded || event->type == Type::kModified) pods.Note(message);
  if (event->type == Type::kDeleted) pods.Forget(pod->metadata.uid);
  return {};
}

Result<void> DecodeProtoEvent(const api::ObjectKind& expected, std::string_view bytes,
                              WatchEvent* event, KnownPods* pods) {
  auto frame = api::DecodeWatchFrame(bytes);
  if (!frame) return Fail(std::move(frame.error()));
  auto type = ParseType(frame->type);
  if (!type) return Fail(std::move(type.error()));
  auto envelope = api::UnwrapEnvelope(frame->object);
  if (!envelope) return Fail(std::move(envelope.error()));
  event->type = *type;
  event->raw = envelope->raw;
  event->json.clear();
  event->status_only = false;
  const bool is_expected =
      envelope->kind == expected.kind && envelope->api_version == expected.api_version;
  const api::ObjectKind* row =
      is_expected ? &expected : api::FindObjectKind(envelope->api_version, envelope->kind);
  if (row == &expected && pods != nullptr) return DecodePod(*row, envelope->raw, *pods, event);
  if (row) return api::DecodeProto(row->type(), row->emplace(event->object), envelope->raw);
  auto unknown = api::DecodeObjectProto(frame->object);
  if (!unknown) return Fail(std::move(unknown.error()));
  event->object = std::move(*unknown);
  return {};
}

Result<void> DecodeJsonEvent(std::string_view text, WatchEvent* event) {
  auto frame = api::FromJson<JsonEvent>(text);
  if (!frame) return Fail(std::move(frame.error()));
  auto type = ParseType(frame->type);
  if (!type) return Fail(std::move(type.error()));
  auto object = api::DecodeObject(frame->object.text);
  if (!object) return Fail(std::move(object.error()));
  event->type = *type;
  event->object = std::move(*object);
  event->raw = {};
  event->json = std::move(frame->object.text);
  event->status_only = false;
  return {};
}

}  // namespace

// Metadata is field 1 of every kind; in it the name is field 1 and the namespace field 3.
ItemName NameOfProto(std::string_view message) {
  constexpr uint32_t kMetadata = 1;
  constexpr uint32_t kName = 1;
  constexpr uint32_t kNamespace = 3;
  ItemName found;
  try {
    protozero::pbf_reader object(message.data(), message.size());
    if (!object.next(kMetadata, protozero::pbf_wire_type::length_delimited)) return found;
    protozero::pbf_reader meta = object.get_message();
    while (meta.next()) {
      const bool text = meta.wire_type() == protozero::pbf_wire_type::length_delimited;
      if (text && meta.tag() == kName) {
        found.name = meta.get_string();
      } else if (text && meta.tag() == kNamespace) {
        found.namespace_ = meta.get_string();
      } else {
        meta.skip();
      }
    }
  } catch (const std::exception&) {  // what was found so far will do
  }
  return found;
}

ItemName NameOfJson(std::string_view text) {
  auto named = api::FromJson<JsonNamed>(text);
  if (!named) return {};
  return {std::move(named->metadata.namespace_), std::move(named->metadata.name)};
}

bool IsProtobuf(std::string_view content_type) { return content_type.starts_with(kProtobuf); }

Result<api::Object> DecodeAnswer(const Kind& kind, std::string_view content_type,
                                 std::string_view body) {
  auto object = IsProtobuf(content_type) ? api::DecodeObjectProto(body) : api::DecodeObject(body);
  if (object && api::KindOf(*object) != kind.kind) {
    return Fail(fmt::format("the server answered with a {} where a {} was asked for",
                            api::KindOf(*object).substr(0, 64), kind.kind));
  }
  return object;
}

Result<ProtoList> SplitList(const Kind& kind, std::string_view body) {
  auto envelope = api::UnwrapEnvelope(body);
  if (!envelope) return Fail(std::move(envelope.error()));
  if (auto ok = CheckListKind(kind, envelope->kind); !ok) return Fail(ok.error());
  if (kind.custom) return Fail(std::string(kNoProtobuf));
  ProtoList list;
  auto meta = api::ForEachListItem(envelope->raw, [&](std::string_view item) -> Result<void> {
    list.items.push_back(item);
    return {};
  });
  if (!meta) return Fail(std::move(meta.error()));
  list.meta = std::move(*meta);
  return list;
}

Result<void> DecodeItem(const api::ObjectKind& row, std::string_view item, api::Object* object) {
  return api::DecodeProto(row.type(), row.emplace(*object), item);
}

const api::ObjectKind& RowOf(const Kind& kind) {
  if (kind.custom) return *api::FindObjectKind(api::Status::kApiVersion, api::Status::kKind);
  return *api::FindObjectKind(kind.api_version, kind.kind);
}

Result<api::ListMeta> DecodeList(const Kind& kind, std::string_view content_type,
                                 std::string_view body, const ItemConsumer& consume,
                                 const BadItemConsumer& bad) {
  return IsProtobuf(content_type) ? DecodeProtoList(kind, body, consume, bad)
                                  : DecodeJsonList(kind, body, consume, bad);
}

Result<void> DecodeWatchEvent(const Kind& kind, const api::ObjectKind& row,
                              std::string_view content_type, std::string_view frame,
                              WatchEvent* event, KnownPods* pods) {
  if (kind.custom && IsProtobuf(content_type)) return Fail(std::string(kNoProtobuf));
  auto ok = IsProtobuf(content_type) ? DecodeProtoEvent(row, frame, event, pods)
                                     : DecodeJsonEvent(frame, event);
  return ok ? CheckKind(kind, *event) : ok;
}

}  // namespace berth::kube
