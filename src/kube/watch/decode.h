// What lists and watches carry, decoded: protobuf or JSON, as the content type says.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "api/object.h"
#include "base/error.h"
#include "kube/kinds.h"
#include "kube/watch/known_pods.h"

namespace berth::kube {

// Accept of requests whose answer's bytes are kept, whatever the client's own content type is.
inline constexpr std::string_view kAcceptProtobuf = "application/vnd.kubernetes.protobuf, */*";

bool IsProtobuf(std::string_view content_type);

// One object alone, as the answer to a GET, PUT or POST. `kind` is what it must be.
Result<api::Object> DecodeAnswer(const Kind& kind, std::string_view content_type,
                                 std::string_view body);

// Called for every object of a list that can be decoded; `raw` is its protobuf message, or its JSON
// when the list is JSON.
using ItemConsumer = std::function<void(api::Object&& object, std::string_view raw)>;
// What can be made out of an object that cannot be decoded. Parts that are not there are empty.
struct ItemName {
  std::string namespace_;
  std::string name;
};
ItemName NameOfProto(std::string_view message);
ItemName NameOfJson(std::string_view text);
// Called for every one that cannot.
using BadItemConsumer = std::function<void(const ItemName& item, const Error& error)>;

// A protobuf list taken apart, its objects not yet decoded.
struct ProtoList {
  api::ListMeta meta;
  std::vector<std::string_view> items;  // in the body
};
// Fails when the list itself is malformed, or of another kind.
Result<ProtoList> SplitList(const Kind& kind, std::string_view body);
// Into `object`, whatever it held. `row` is that of the list's kind.
Result<void> DecodeItem(const api::ObjectKind& row, std::string_view item, api::Object* object);

// The list's metadata. Fails when the list itself is malformed.
Result<api::ListMeta> DecodeList(const Kind& kind, std::string_view content_type,
                                 std::string_view body, const ItemConsumer& consume,
                                 const BadItemConsumer& bad);

struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kError;
  api::Object object = {};    // a Status for kError; with kBookmark only metadata counts
  std::string_view raw = {};  // its protobuf message, in the frame; "" for JSON
  std::string json = {};      // its JSON; "" for protobuf
  bool status_only = false;   // a pod as KnownPods::DecodeUpdate gives it
};
// Into `event`, whatever it held: an object is large, and is not moved about more than it must be.
// `row` is that of the kind. With `pods`, which are told of what is decoded, modified ones are
// decoded no further than they must be.
Result<void> DecodeWatchEvent(const Kind& kind, const api::ObjectKind& row,
                              std::string_view content_type, std::string_view frame,
                              WatchEvent* event, KnownPods* pods = nullptr);
// The row that decodes the kind's protobuf. A custom resource has none: its row is that of the
// Status that ends a watch.
const api::ObjectKind& RowOf(const Kind& kind);

}  // namespace berth::kube
