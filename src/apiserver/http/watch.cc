// Watches: changes as they happen, to clients that keep up.
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/codec/protozero.h"
#include "apiserver/http/call.h"
#include "apiserver/http/list_options.h"
#include "apiserver/http/table.h"
#include "apiserver/store/selection.h"

namespace berth::apiserver {

// The event encoded last.
struct LastEvent {
  ObjectPtr object = nullptr;
  std::string type = {};
  const Resource* resource = nullptr;
  bool protobuf = false;
  std::string bytes = {};
};

// One watch. Held by its connection's stream and by timers; ends with the first of connection,
// timeout, backlog.
class WatchSession : public std::enable_shared_from_this<WatchSession> {
 public:
  WatchSession(const Resource& resource, Selection selection, Encoding encoding,
               std::string include, Registry& registry, net::Loop& loop,
               const ApiServerOptions& options, std::shared_ptr<LastEvent> shared)
      : resource_(resource),
        selection_(std::move(selection)),
        encoding_(encoding),
        include_(std::move(include)),
        registry_(registry),
        store_(registry.Objects()),
        loop_(loop),
        options_(options),
        shared_(std::move(shared)),
        stream_(std::make_shared<server::BodyStream>()) {}

  std::shared_ptr<server::BodyStream> Stream() const { return stream_; }

  void Start(std::optional<uint64_t> after, bool initial, bool bookmarks, bool initial_end,
             std::chrono::seconds timeout) {
    const auto self = shared_from_this();
    stream_->OnClosed([self] { self->Close(); });
    timeout_ = loop_.After(timeout, [self] { self->End(); });
    uint64_t version = after.value_or(store_.Version());
    if (initial) {
      version = store_.Version();
      for (auto [at, end] = store_.Range(resource_.storage_id, selection_.Namespace()); at != end;
           ++at) {
        if (selection_.Matches(*at->second)) Send("ADDED", at->second);
      }
      if (initial_end) Bookmark(version, true);
    }
    last_version_ = version;
    auto id = store_.Watch(resource_.storage_id, version,
                           [self](const Change& change) { self->OnChange(change); });
    if (!id) {
      SendJson("ERROR", ToJson(id.error()));
      End();
      return;
    }
    if (stream_->Closed() || ended_) {
      store_.Unwatch(*id);
      return;
    }
    watch_ = *id;
    if (bookmarks) ScheduleBookmark();
  }

  void End() {
    if (ended_) return;
    ended_ = true;
    Close();
    stream_->End();
  }

 private:
  void Close() {
    if (watch_ != 0) store_.Unwatch(std::exchange(watch_, 0));
    if (timeout_ != 0) loop_.Cancel(std::exchange(timeout_, 0));
    if (bookmark_ != 0) loop_.Cancel(std::exchange(bookmark_, 0));
  }

  void OnChange(const Change& change) {
    last_version_ = change.version;
    const bool was = change.previous && selection_.Matches(*change.previous);
    const bool is = change.type != ChangeType::kDeleted && selection_.Matches(*change.object);
    if (!was && !is) return;
    Send(is ? (was ? "MODIFIED" : "ADDED") : "DELETED", change.object);
    if (stream_->Backlog() > options_.max_watch_backlog) {
      Close();
      stream_->Abort();
    }
  }

  void ScheduleBookmark() {
    bookmark_ = loop_.After(options_.bookmark_period, [self = shared_from_this()] {
      self->bookmark_ = 0;
      if (self->ended_ || self->stream_->Closed()) return;
      self->Bookmark(self->last_version_, false);
      self->ScheduleBookmark();
    });
  }

  void Bookmark(uint64_t version, bool initial_end) {
    Json object =
        Json::MakeObject({{"kind", resource_.kind}, {"apiVersion", resource_.ApiVersion()}});
    object.At("metadata").Set("resourceVersion", std::to_string(version));
    if (initial_end) {
      object.At("metadata").At("annotations").Set("k8s.io/initial-events-end", "true");
    }
    if (encoding_.form == Encoding::Form::kTable) {
      Json table = MakeTable(resource_, {}, include_, false, registry_.Now());
      table.Set("metadata", object["metadata"]);
      return SendJson("BOOKMARK", table);
    }
    if (encoding_.form == Encoding::Form::kPartialMetadata) {
      object.Set("kind", "PartialObjectMetadata");
      object.Set("apiVersion", "meta.k8s.io/v1");
    }
    stream_->Write(encoding_.protobuf ? Frame("BOOKMARK", ToProtobuf(resource_, object.Dump()))
                                      : Line("BOOKMARK", object.Dump()));
  }

  void Send(std::string_view type, const ObjectPtr& object) {
    if (encoding_.form == Encoding::Form::kTable) {
      Json table = MakeTable(resource_, {Convert(resource_, *object)}, include_,
                             !std::exchange(headers_sent_, true), registry_.Now());
      table.At("metadata").Set("resourceVersion", std::to_string(object->version));
      return SendJson(type, table);
    }
    if (encoding_.form == Encoding::Form::kPartialMetadata) {
      return SendJson(type, Json::MakeObject({{"kind", "PartialObjectMetadata"},
                                              {"apiVersion", "meta.k8s.io/v1"},
                                              {"metadata", object->Value()["metadata"]}}));
    }
    // Watchers are told of a change one after the other: the next one takes the same bytes.
    if (shared_->object != object || shared_->type != type || shared_->resource != &resource_ ||
        shared_->protobuf != encoding_.protobuf) {
      *shared_ = {object, std::string(type), &resource_, encoding_.protobuf, Encode(type, *object)};
    }
    stream_->Write(shared_->bytes);
  }

  std::string Encode(std::string_view type, const StoredObject& object) const {
    std::string converted;
    if (NeedsConversion(resource_)) converted = ConvertText(resource_, object);
    const std::string& text = converted.empty() ? object.text : converted;
    return encoding_.protobuf ? Frame(type, ToProtobuf(resource_, text)) : Line(type, text);
  }

  void SendJson(std::string_view type, const Json& object) {
    stream_->Write(encoding_.protobuf ? Frame(type, ToProtobuf(object))
                                      : Line(type, object.Dump()));
  }

  static std::string Line(std::string_view type, std::string_view object) {
    std::string line;
    line.reserve(object.size() + 40);
    line += R"({"type":")";
    line += type;
    line += R"(","object":)";
    line += object;
    line += "}\n";
    return line;
  }

  // A WatchEvent message {type, {raw object}} after its length.
  static std::string Frame(std::string_view type, const std::string& object) {
    std::string raw(1, kFirstBytesField);
    protozero::add_varint_to_buffer(&raw, object.size());
    std::string frame(4, '\0');
    frame.reserve(object.size() + 64);
    frame += kFirstBytesField;
    protozero::add_varint_to_buffer(&frame, type.size());
    frame += type;
    frame += kSecondBytesField;
    protozero::add_varint_to_buffer(&frame, raw.size() + object.size());
    frame += raw;
    frame += object;
    const uint32_t size = static_cast<uint32_t>(frame.size() - 4);
    for (size_t i = 0; i < 4; ++i) frame[i] = static_cast<char>(size >> (24 - 8 * i));
    return frame;
  }

  // Tags of the fields 1 and 2, of bytes.
  static constexpr char kFirstBytesField = 0x0a;
  static constexpr char kSecondBytesField = 0x12;

  const Resource& resource_;
  Selection selection_;
  Encoding encoding_;
  std::string include_;
  Registry& registry_;
  Store& store_;
  net::Loop& loop_;
  const ApiServerOptions& options_;
  std::shared_ptr<LastEvent> shared_;
  std::shared_ptr<server::BodyStream> stream_;
  Store::WatchId watch_ = 0;
  net::Loop::TimerId timeout_ = 0;
  net::Loop::TimerId bookmark_ = 0;
  uint64_t last_version_ = 0;
  bool headers_sent_ = false;
  bool ended_ = false;
};

ApiServer::~ApiServer() {
  door_->Close();
  for (const auto& weak : *sessions_) {
    if (const auto session = weak.lock()) session->End();
  }
}

void ApiServer::Watch(Call& call) {
  const Resource& resource = call.resource();
  if (auto ok = CheckListOptions(call.request, true); !ok) return ReplyError(call, ok.error());
  std::string fields = call.Query("fieldSelector");
  if (!call.info.name.empty()) {
    if (!fields.empty()) fields += ",";
    fields += "metadata.name=" + call.info.name;
  }
  auto selection = Selection::Parse(resource, registry_.Resources().At(resource.storage_id),
                                    call.info.namespace_, call.Query("labelSelector"), fields);
  if (!selection) return ReplyError(call, selection.error());
  const std::string version = call.Query("resourceVersion");
  const bool send_initial = call.QueryFlag("sendInitialEvents");
  std::optional<uint64_t> after;
  if (!version.empty() && version != "0") {
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(version.data(), version.data() + version.size(), value);
    if (error != std::errc() || end != version.data() + version.size()) {
      return ReplyError(
          call, {500, "",
                 fmt::format("resourceVersion: Invalid value: \"{}\": strconv.ParseUint: parsing "
                             "\"{}\": invalid syntax",
                             version, version),
                 Json()});
    }
    after = value;
  }
  const bool asks_initial = server::QueryHas(call.request.query, "sendInitialEvents");
  const bool initial = asks_initial ? send_initial : !after;
  const bool bookmarks = call.QueryFlag("allowWatchBookmarks");
  const int64_t asked = std::atoll(call.Query("timeoutSeconds").c_str());
  const std::chrono::seconds timeout(asked > 0
                                         ? std::min<int64_t>(asked, 86400)
                                         : 1800 + static_cast<int64_t>(loop_.Random() * 1800));
  if (!last_event_) last_event_ = std::make_shared<LastEvent>();
  auto session = std::make_shared<WatchSession>(resource, std::move(*selection), call.encoding,
                                                call.Query("includeObject"), registry_, loop_,
                                                options_, last_event_);
  std::erase_if(*sessions_, [](const auto& weak) { return weak.expired(); });
  sessions_->push_back(session);
  server::Response response;
  response.Set("Content-Type", call.encoding.protobuf ? std::string(kProtobufType) + ";stream=watch"
                                                      : std::string(kJsonType));
  response.Set("Cache-Control", "no-cache, private");
  response.stream = session->Stream();
  session->Start(after, initial, bookmarks, send_initial && bookmarks, timeout);
  call.respond(std::move(response));
}

}  // namespace berth::apiserver
