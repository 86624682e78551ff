#include "kube/watch/reflector.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/proto_merge.h"
#include "kube/watch/backoff.h"
#include "kube/watch/decode.h"
#include "kube/watch/following.h"
#include "kube/watch/initial_events.h"
#include "kube/watch/list_requests.h"
#include "kube/watch/listing.h"
#include "log/log.h"

namespace berth::kube {

namespace {

using scheduler::ListPart;
using std::chrono::seconds;

constexpr int kPageSize = 500;
// Longer lists are decoded and handed over in parts of this size, so many at a time: decoded pods
// take several times the memory of what is kept of them.
constexpr size_t kPartSize = 250;
constexpr int kPartsAhead = 2;
constexpr int64_t kMinWatchSeconds = 300;
// A watch shorter than this without an event is taken for a failure.
constexpr net::Nanoseconds kShortWatch = seconds(1);
// Short watches in a row that are followed by the next at once.
constexpr int kFreeShortWatches = 2;
// How long after its time a watch may end before it is given up.
constexpr net::Nanoseconds kWatchGrace = seconds(30);

}  // namespace

// More than twenty fields: the state of one list or watch under way. It is one state machine, whose
// steps read most of it; decoding and pauses have their own classes.
class Reflector::Impl final : public WatchSink {
 public:
  Impl(const Kind& kind, net::Loop& loop, ApiClient& client, ObjectSink& sink, RawObjects* raw,
       bool streams, KnownPods* pods)
      : kind_(kind),
        row_(RowOf(kind)),
        type_(kube::TypeName(kind)),
        loop_(loop),
        client_(client),
        sink_(sink),
        raw_(raw && RawObjects::Keeps(kind.kind) ? raw : nullptr),
        json_(raw),
        streams_(streams),
        pods_(kind.kind == api::Pod::kKind ? pods : nullptr) {}

  void Start() {
    if (running_) return;
    running_ = true;
    absent_ = false;
    log::Info(3, "Starting reflector", {{"type", type_}});
    Begin();
  }
  void Stop() {
    if (!running_) return;
    running_ = false;
    initial_.reset();
    client_.Cancel(std::exchange(request_, 0));
    loop_.Cancel(std::exchange(timer_, 0));
    log::Info(3, "Stopping reflector", {{"type", type_}});
  }
  void ListNewest() {
    version_unavailable_ = true;
    if (!running_) return;
    EndWatch();
    initial_.reset();
    absent_ = false;
    Begin();
  }
  bool Synced() const { return synced_; }
  std::string_view KindName() const { return kind_.kind; }
  bool IsFollowed() const { return following_.IsFollowed(); }
  const std::string& Type() const { return type_; }

  void OnStarted(std::string_view content_type) override {
    watch_started_ = true;
    content_type_ = content_type;
    following_.Succeeded(Following::Cause::kRefused);
    if (std::exchange(lost_, false)) sink_.Reconnected();
  }
  void OnFrame(std::string_view frame) override;
  void OnEnd(const ApiResponse& why) override;

 private:
  ApiRequest Request(std::string query) const {
    ApiRequest request;
    request.path = CollectionPath(kind_);
    request.query = std::move(query);
    if (raw_) request.accept = kAcceptProtobuf;
    if (KeepsJson() || kind_.custom) request.accept = kJson;
    return request;
  }
  std::string_view Name() const { return kind_.list_name.empty() ? kind_.kind : kind_.list_name; }
  bool KeepsJson() const { return json_ && json_->KeepsJson(kind_.kind); }
  void After(net::Nanoseconds delay, void (Impl::*next)()) {
    loop_.Cancel(timer_);
    timer_ = loop_.After(delay, [this, next] {
      timer_ = 0;
      (this->*next)();
    });
  }
  void ListLater() { After(backoff_.Next(loop_), &Impl::Begin); }
  void WatchLater() { After(backoff_.Next(loop_), &Impl::Watch); }

  void Begin() { streams_ ? StreamList() : List(); }
  void List();
  void SendPage(std::string_view continue_);
  void OnPage(ApiResponse& response, bool first);
  void OnProtoPage();
  void Advance();
  bool DecodePart();
  void Decode(std::string_view item);
  void HandOver(ListPart part);
  void EndPage(api::ListMeta meta);
  void LogUndecodable(const ItemName& item, const Error& error) const;
  void OnListFailed(const ApiResponse& response, bool first);
  void FailList(std::string_view message);
  void ListAbsent();
  void TakeList(api::ListMeta meta);
  void TakeListedJson(const Listing& list);

  void StreamList();
  void TakeStreamed(std::string version);
  // No list came that way.
  void OnStreamFailed(int code, std::string_view reason, std::string_view message, bool refused);

  void Watch();
  void SendWatch(std::string_view version);
  void OnWatchRefused(const ApiResponse& why);
  void OnWatchEnded();
  void OnWatchOverdue();
  void OnWatchError(const api::Status& status);
  void OnUndecodable(std::string_view message);
  void NoteLasting();
  void Take(WatchEvent&& event);
  void KeepRaw(const api::ObjectMeta& meta, std::string_view raw);
  // The watch is over; what follows is up to the caller.
  void EndWatch() {
    client_.Cancel(std::exchange(request_, 0));
    loop_.Cancel(std::exchange(timer_, 0));
  }

  const Kind kind_;
  const api::ObjectKind& row_;
  const std::string type_;
  net::Loop& loop_;
  ApiClient& client_;
  ObjectSink& sink_;
  RawObjects* const raw_;   // null: this kind's bytes are not kept
  RawObjects* const json_;  // null: neither is its JSON, ever
  const bool streams_;
  KnownPods* const pods_;  // null: pods are decoded as a whole, or this is not about pods

  bool running_ = false;
  bool synced_ = false;
  bool absent_ = false;               // it was said that the server does not serve the kind
  bool paged_ = false;                // the server has no watch cache: it pages lists
  bool lost_ = false;                 // the server could not be reached
  bool version_unavailable_ = false;  // the last list could not have version_
  std::string version_;               // the last one seen
  Backoff backoff_;
  ApiClient::Id request_ = 0;     // the list or watch under way
  net::Loop::TimerId timer_ = 0;  // the pause, or the end of the watch's patience

  std::shared_ptr<Listing> listing_ = std::make_shared<Listing>();  // parts on their way know it

  std::optional<InitialEvents> initial_;  // of a watch that begins with a list
  Following following_;
  bool watch_started_ = false;
  std::string content_type_;
  net::Nanoseconds watch_since_{0};
  uint64_t watch_events_ = 0;
  int short_watches_ = 0;  // in a row
};

// ---- Lists

void Reflector::Impl::List() {
  listing_ = std::make_shared<Listing>();
  if (pods_) pods_->Clear();
  if (!version_unavailable_) listing_->version = version_.empty() ? "0" : version_;
  // Only lists without a limit are answered from the server's cache, except for version 0.
  const bool any_version = listing_->version.empty() || listing_->version == "0";
  listing_->limit = paged_ || any_version ? kPageSize : 0;
  log::Info(3, "Listing and watching", {{"type", type_}});
  SendPage("");
}

void Reflector::Impl::SendPage(std::string_view continue_) {
  request_ = client_.Send(Request(PageQuery(kind_, *listing_, continue_)),
                          [this, first = continue_.empty()](ApiResponse response) {
                            request_ = 0;
                            if (running_) OnPage(response, first);
                          });
}

void Reflector::Impl::OnPage(ApiResponse& response, bool first) {
  if (!response.Ok()) return OnListFailed(response, first);
  if (IsProtobuf(response.content_type)) {
    listing_->body = std::move(response.body);
    return OnProtoPage();
  }
  auto meta = DecodeList(
      kind_, response.content_type, response.body,
      [&](api::Object&& object, std::string_view json) {
        if (KeepsJson()) listing_->json.emplace_back(json);
        listing_->objects.push_back(std::move(object));
      },
      [&](const ItemName& item, const Error& error) { LogUndecodable(item, error); });
  if (!meta) return FailList(meta.error().Message());
  EndPage(std::move(*meta));
}

void Reflector::Impl::OnProtoPage() {
  auto page = SplitList(kind_, listing_->body);
  if (!page) return FailList(page.error().Message());
  listing_->page = std::move(*page);
  listing_->next = 0;
  Advance();
}

// Decodes what is at hand and hands it over, as far as parts are taken.
void Reflector::Impl::Advance() {
  const std::shared_ptr<Listing> list = listing_;
  while (list->page && list->parts_out < kPartsAhead) {
    if (DecodePart()) {
      HandOver(std::exchange(list->parts, true) ? ListPart::kMiddle : ListPart::kFirst);
      continue;
    }
    api::ListMeta meta = std::move(list->page->meta);
    list->page.reset();
    list->body = {};
    EndPage(std::move(meta));
  }
}

// False: the page is at its end before there is enough for a part.
bool Reflector::Impl::DecodePart() {
  Listing& list = *listing_;
  const std::vector<std::string_view>& items = list.page->items;
  const size_t most = sink_.TakesParts(kind_.kind) ? kPartSize : SIZE_MAX;
  list.objects.reserve(std::min(most, list.objects.size() + items.size() - list.next));
  while (list.next < items.size() && list.objects.size() < most) Decode(items[list.next++]);
  return list.next < items.size();
}

void Reflector::Impl::Decode(std::string_view item) {
  api::Object& object = listing_->objects.emplace_back();
  if (auto ok = DecodeItem(row_, item, &object); !ok) {
    listing_->objects.pop_back();
    return LogUndecodable(NameOfProto(item), ok.error());
  }
  if (pods_) pods_->Note(item);
  const api::ObjectMeta* meta = api::MetadataOf(object);
  if (KeepsJson()) listing_->json.emplace_back();
  if (!raw_ || !meta) return;
  if (auto kept = api::DropManagedFields(item)) {
    listing_->raw.push_back(
        {meta->namespace_, meta->name, {meta->resource_version, std::move(*kept)}});
  }
}

void Reflector::Impl::HandOver(ListPart part) {
  ++listing_->parts_out;
  sink_.Listed(Name(), std::exchange(listing_->objects, {}), part,
               [this, weak = std::weak_ptr(listing_)] {
                 const std::shared_ptr<Listing> list = weak.lock();
                 if (!list || list != listing_ || !running_) return;
                 --list->parts_out;
                 Advance();
               });
}

void Reflector::Impl::EndPage(api::ListMeta meta) {
  if (meta.continue_.empty()) return TakeList(std::move(meta));
  if (auto more = listing_->Continue(meta.continue_); !more) {
    return FailList(more.error().Message());
  }
  if (listing_->pages % kManyPages == 0) {
    log::Info(0, "Warning: a list of very many pages",
              {{"type", type_}, {"pages", listing_->pages}});
  }
  SendPage(meta.continue_);
}

void Reflector::Impl::LogUndecodable(const ItemName& item, const Error& error) const {
  log::Error(error.Message(), "Skipping a listed object that cannot be decoded",
             {{"type", type_}, {"object", log::ObjectName{item.namespace_, item.name}}});
}

void Reflector::Impl::OnListFailed(const ApiResponse& response, bool first) {
  lost_ |= response.code == 0;
  const bool expired = IsExpired(response.code, response.reason);
  if (expired && !first) {
    // The pages' snapshot is gone: all of it in one piece then.
    auto whole = std::make_shared<Listing>();
    whole->version = std::move(listing_->version);
    whole->fallback = listing_->fallback;
    listing_ = std::move(whole);
    return SendPage("");
  }
  if ((expired || IsTooLargeVersion(response.message)) && !listing_->fallback) {
    version_unavailable_ = true;
    auto newest = std::make_shared<Listing>();
    newest->limit = listing_->limit;
    newest->fallback = true;
    listing_ = std::move(newest);
    return SendPage("");
  }
  if (response.code == 404 && kind_.optional && !absent_) ListAbsent();
  if (running_) FailList(response.message);
}

// The server is older than the kind, or does not serve it: there are no such objects, until it
// does.
void Reflector::Impl::ListAbsent() {
  log::Error(fmt::format("the server does not serve {}", kind_.api_version),
             kind_.custom ? "Going on without a custom resource that a plugin reads"
                          : "Going on without a kind that only pods with resource claims need",
             {{"type", type_}});
  absent_ = synced_ = true;
  sink_.Replaced(Name(), {});
}

void Reflector::Impl::FailList(std::string_view message) {
  listing_ = std::make_shared<Listing>();
  if (!absent_) following_.Failed(Following::Cause::kList, loop_.Steady());
  log::Error(fmt::format("failed to list {}: {}", type_, message), "Failed to watch",
             {{"type", type_}});
  ListLater();
}

void Reflector::Impl::TakeList(api::ListMeta meta) {
  if (listing_->version == "0" && listing_->pages > 0) paged_ = true;
  version_unavailable_ = false;
  version_ = std::move(meta.resource_version);
  const auto list = std::exchange(listing_, std::make_shared<Listing>());
  if (raw_) {
    raw_->Clear(kind_.kind);
    for (Listing::RawItem& item : list->raw) {
      raw_->Put(kind_.kind, item.namespace_, item.name, std::move(item.entry));
    }
  }
  TakeListedJson(*list);
  synced_ = true;
  following_.Succeeded(Following::Cause::kList);
  log::Info(2, "Caches populated", {{"type", type_}});
  if (list->parts) {
    sink_.Listed(Name(), std::move(list->objects), ListPart::kLast, [] {});
  } else {
    sink_.Replaced(Name(), std::move(list->objects));
  }
  if (running_) Watch();
}

void Reflector::Impl::TakeListedJson(const Listing& list) {
  if (!KeepsJson() || list.json.size() != list.objects.size()) return;
  json_->Clear(kind_.kind);
  for (size_t i = 0; i < list.objects.size(); ++i) {
    if (!list.json[i].empty()) json_->PutJson(list.objects[i], list.json[i]);
  }
}

// ---- Lists as the beginning of a watch

void Reflector::Impl::StreamList() {
  log::Info(3, "Listing and watching", {{"type", type_}});
  initial_.emplace();
  if (pods_) pods_->Clear();
  SendWatch(version_unavailable_ ? "" : version_);
}

// The list is complete; the watch goes on.
void Reflector::Impl::TakeStreamed(std::string version) {
  InitialEvents streamed = std::move(*initial_);
  initial_.reset();
  version_unavailable_ = false;
  version_ = std::move(version);
  std::vector<api::Object> objects;
  objects.reserve(streamed.Items().size());
  if (raw_) raw_->Clear(kind_.kind);
  if (KeepsJson()) json_->Clear(kind_.kind);
  for (auto& [key, item] : streamed.Items()) {
    KeepRaw(*api::MetadataOf(item.object), item.raw);
    if (KeepsJson() && !item.json.empty()) json_->PutJson(item.object, item.json);
    objects.push_back(std::move(item.object));
  }
  synced_ = true;
  following_.Succeeded(Following::Cause::kList);
  log::Info(2, "Caches populated", {{"type", type_}});
  sink_.Replaced(Name(), std::move(objects));
}

void Reflector::Impl::OnStreamFailed(int code, std::string_view reason, std::string_view message,
                                     bool refused) {
  EndWatch();
  initial_.reset();
  if (refused || code == 429) {
    log::Info(2, "watch-list failed - backing off", {{"type", type_}, {"err", message}});
    return ListLater();
  }
  const bool unavailable = IsExpired(code, reason) || IsTooLargeVersion(message);
  if (unavailable && !std::exchange(version_unavailable_, true)) return StreamList();
  log::Info(4,
            "Data couldn't be fetched in watchlist mode. Falling back to regular list. This is "
            "expected if watchlist is not supported or disabled in kube-apiserver.",
            {{"type", type_}, {"err", message}});
  List();
}

// ---- Watches

void Reflector::Impl::Watch() { SendWatch(version_); }

void Reflector::Impl::SendWatch(std::string_view version) {
  const auto timeout = kMinWatchSeconds + static_cast<int64_t>(kMinWatchSeconds * loop_.Random());
  watch_started_ = false;
  watch_events_ = 0;
  watch_since_ = loop_.Steady();
  request_ = client_.Watch(
      Request(WatchQuery(kind_, version, seconds(timeout), initial_.has_value())), this);
  After(seconds(timeout) + kWatchGrace, &Impl::OnWatchOverdue);
}

void Reflector::Impl::OnFrame(std::string_view frame) {
  if (!running_) return;
  WatchEvent event;
  // What comes instead of a list is handed on as a whole in the end.
  auto ok = DecodeWatchEvent(kind_, row_, content_type_, frame, &event, initial_ ? nullptr : pods_);
  if (!ok) return OnUndecodable(ok.error().Message());
  if (event.type == WatchEvent::Type::kError) {
    return OnWatchError(std::get<api::Status>(event.object));
  }
  ++watch_events_;
  NoteLasting();
  if (!initial_) return Take(std::move(event));
  if (InitialEvents::IsEnd(event)) {
    return TakeStreamed(api::MetadataOf(event.object)->resource_version);
  }
  initial_->Take(std::move(event));
}

// The object's current state is unknown; relist.
void Reflector::Impl::OnUndecodable(std::string_view message) {
  log::Error(message, "Unable to understand watch event", {{"type", type_}});
  following_.Failed(Following::Cause::kUndecodable, loop_.Steady());
  if (initial_) return OnStreamFailed(0, "", message, false);
  EndWatch();
  ListLater();
}

// A watch that lasts shows that the kind's events can be decoded.
void Reflector::Impl::NoteLasting() {
  using enum Following::Cause;
  if (!following_.Failing(kUndecodable)) return;
  if (loop_.Steady() - watch_since_ >= Following::kPatience) following_.Succeeded(kUndecodable);
}

void Reflector::Impl::Take(WatchEvent&& event) {
  const api::ObjectMeta& meta = *api::MetadataOf(event.object);
  if (!meta.resource_version.empty()) version_ = meta.resource_version;
  switch (event.type) {
    case WatchEvent::Type::kAdded:
    case WatchEvent::Type::kModified:
      if (event.status_only)
        return sink_.StatusChanged(std::get<api::Pod>(std::move(event.object)));
      KeepRaw(meta, event.raw);
      if (KeepsJson()) {
        event.json.empty() ? json_->RemoveJson(event.object)
                           : json_->PutJson(event.object, event.json);
      }
      return sink_.Changed(std::move(event.object));
    case WatchEvent::Type::kDeleted:
      if (raw_) raw_->Remove(kind_.kind, meta.namespace_, meta.name);
      if (KeepsJson()) json_->RemoveJson(event.object);
      return sink_.Removed(std::move(event.object));
    case WatchEvent::Type::kBookmark:
    case WatchEvent::Type::kError:
      return;
  }
}

void Reflector::Impl::KeepRaw(const api::ObjectMeta& meta, std::string_view raw) {
  if (!raw_) return;
  Result<std::string> kept = Fail("not protobuf");
  if (!raw.empty()) kept = api::DropManagedFields(raw);
  if (kept) {
    raw_->Put(kind_.kind, meta.namespace_, meta.name, {meta.resource_version, std::move(*kept)});
  } else {
    raw_->Remove(kind_.kind, meta.namespace_, meta.name);
  }
}

void Reflector::Impl::OnWatchError(const api::Status& status) {
  if (initial_) return OnStreamFailed(status.code, status.reason, status.message, false);
  EndWatch();
  if (status.code == 429) {
    log::Info(2, "Watch returned 429 - backing off", {{"type", type_}});
    return WatchLater();
  }
  if (IsExpired(status.code, status.reason)) {
    log::Info(4, "Watch closed", {{"type", type_}, {"err", status.message}});
  } else {
    log::Info(0, "Warning: watch ended with error", {{"type", type_}, {"err", status.message}});
  }
  ListLater();
}

void Reflector::Impl::OnWatchOverdue() {
  if (initial_) return OnStreamFailed(0, "", "no list within the time of the watch", false);
  EndWatch();
  log::Info(4, "Watch did not end in time", {{"type", type_}});
  Watch();
}

void Reflector::Impl::OnEnd(const ApiResponse& why) {
  request_ = 0;
  if (!running_) return;
  lost_ |= why.code == 0;
  if (initial_) {
    const bool refused = why.code == 0 && why.error.kind == net::HttpError::Kind::kRefused;
    return OnStreamFailed(why.code, why.reason, why.message, refused);
  }
  loop_.Cancel(std::exchange(timer_, 0));
  // A connection that breaks or times out before the answer counts as a watch without events.
  const bool cut = why.code == 0 && (why.error.kind == net::HttpError::Kind::kBroken ||
                                     why.error.kind == net::HttpError::Kind::kUnsent ||
                                     why.error.kind == net::HttpError::Kind::kTimeout);
  // The client gave up on a frame: watching from the same version would bring the same frame.
  if (watch_started_ && why.code >= 300) return OnUndecodable(why.message);
  if (watch_started_ || why.Ok() || cut) return OnWatchEnded();
  OnWatchRefused(why);
}

void Reflector::Impl::OnWatchEnded() {
  const bool is_short = loop_.Steady() - watch_since_ < kShortWatch;
  if (is_short && watch_events_ == 0) {
    log::Info(0, "Warning: watch ended with error",
              {{"type", type_},
               {"err",
                "very short watch: Unexpected watch close - watch lasted less than a second "
                "and no items received"}});
    return ListLater();
  }
  log::Info(4, "Watch close", {{"type", type_}, {"totalItems", watch_events_}});
  NoteLasting();
  short_watches_ = is_short ? short_watches_ + 1 : 0;
  if (short_watches_ > kFreeShortWatches) return WatchLater();
  Watch();
}

void Reflector::Impl::OnWatchRefused(const ApiResponse& why) {
  const bool refused = why.code == 0 && why.error.kind == net::HttpError::Kind::kRefused;
  if (refused || why.code == 429) {
    log::Info(4, "Watch failed - backing off", {{"type", type_}, {"err", why.message}});
    following_.Failed(Following::Cause::kRefused, loop_.Steady());
    return WatchLater();
  }
  if (IsExpired(why.code, why.reason)) {
    log::Info(4, "Watch closed", {{"type", type_}, {"err", why.message}});
  } else {
    log::Error(why.message, "Failed to watch", {{"type", type_}});
    following_.Failed(Following::Cause::kRefused, loop_.Steady());
  }
  ListLater();
}

Reflector::Reflector(const Kind& kind, net::Loop& loop, ApiClient& client, ObjectSink& sink,
                     RawObjects* raw, bool streams, KnownPods* pods)
    : impl_(std::make_unique<Impl>(kind, loop, client, sink, raw, streams, pods)) {}
Reflector::~Reflector() { impl_->Stop(); }

void Reflector::Start() { impl_->Start(); }
void Reflector::ListNewest() { impl_->ListNewest(); }
std::string_view Reflector::KindName() const { return impl_->KindName(); }
void Reflector::Stop() { impl_->Stop(); }
bool Reflector::Synced() const { return impl_->Synced(); }
bool Reflector::IsFollowed() const { return impl_->IsFollowed(); }
const std::string& Reflector::TypeName() const { return impl_->Type(); }

}  // namespace berth::kube
