#include "kube/hands/work_sharing.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/visible.h"
#include "hands/wire.h"
#include "log/log.h"

namespace berth::kube {

namespace {

using Role = hands::Dispatcher::Role;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr net::Nanoseconds kBatchTimeout = seconds(1);
// A hand answers a poll after a second at the latest.
constexpr net::Nanoseconds kPollTimeout = milliseconds(2500);
constexpr net::Nanoseconds kTick = milliseconds(200);
constexpr net::Nanoseconds kReportPause = seconds(1);
constexpr net::Nanoseconds kLeavePatience = seconds(1);
constexpr std::string_view kMessageType = "application/octet-stream";

std::vector<std::string> Split(std::string_view joined) {
  std::vector<std::string> ids;
  while (!joined.empty()) {
    const size_t comma = std::min(joined.find(','), joined.size());
    if (comma > 0) ids.emplace_back(joined.substr(0, comma));
    joined.remove_prefix(std::min(comma + 1, joined.size()));
  }
  return ids;
}

std::string_view NameOf(Role role) {
  switch (role) {
    case Role::kDown:
      return "down";
    case Role::kConnecting:
      return "connecting";
    case Role::kListing:
      return "listing";
    case Role::kJoining:
      return "joining";
    case Role::kInSync:
      return "in sync";
    case Role::kLeaving:
      return "leaving";
  }
  return "";
}

hands::DispatcherOptions OptionsOf(const WorkSharingOptions& from) {
  hands::DispatcherOptions options;
  options.lease = from.lease_namespace + "/" + from.lease_name;
  options.identity = from.identity;
  options.write_timeout = from.write_timeout;
  return options;
}

}  // namespace

WorkSharing::WorkSharing(net::Loop& loop, ApiClient& lease_client, ApiClient& hand_client,
                         Fence& hand_fence, WorkSharingOptions options, Process process)
    : loop_(loop),
      options_(std::move(options)),
      process_(std::move(process)),
      service_(loop, hand_client, hand_fence, OptionsOf(options_).lease, options_.identity,
               options_.marks_bindings),
      dispatcher_(OptionsOf(options_)),
      leases_(loop, lease_client, options_.lease_namespace, options_.lease_name,
              options_.identity) {}

WorkSharing::~WorkSharing() {
  *alive_ = false;
  loop_.Cancel(tick_);
}

// --- For the process

void WorkSharing::Start() {
  leases_.Start([this] {
    ReplicaRecord record = process_.describe();
    record.identity = options_.identity;
    record.status = Status();
    return record;
  });
  Tick();
}

void WorkSharing::Observed(std::string_view holder, int32_t epoch) {
  service_.State().SawLeader(holder, epoch);
}

void WorkSharing::InSyncWritten(std::string_view in_sync) {
  dispatcher_.OnLeaseWritten(Split(in_sync));
  FlushSoon();
}

void WorkSharing::Leave(std::function<void()> done) {
  leases_.Leave(kLeavePatience, std::move(done));
}

SharingStatus WorkSharing::Status() const {
  SharingStatus status;
  const hands::Hand& hand = service_.State();
  if (!dispatcher_.Leads()) {
    const bool active = service_.IsActive();
    status.role = active ? "hand" : "standby";
    status.epoch = active ? hand.Epoch() : 0;
    status.log = static_cast<int64_t>(hand.LogSize());
    status.waiting = static_cast<int64_t>(hand.Waiting());
    return status;
  }
  status.role = "leader";
  status.epoch = dispatcher_.Epoch();
  status.waiting = static_cast<int64_t>(dispatcher_.Outstanding());
  for (const auto& hand_state : dispatcher_.Hands()) {
    status.hands.push_back({.id = hand_state.id,
                            .role = std::string(NameOf(hand_state.role)),
                            .lag = static_cast<int64_t>(hand_state.lag),
                            .tasks = static_cast<int64_t>(hand_state.tasks),
                            .waiting = static_cast<int64_t>(hand_state.waiting),
                            .drops = static_cast<int64_t>(hand_state.drops)});
  }
  return status;
}

// --- For the host

void WorkSharing::Attach(Host host) {
  host_ = std::move(host);
  service_.Attach(*host_.events, [this] { host_.list(to_list_); });
}

bool WorkSharing::Lead(const Succession& succession, std::function<void()> ready) {
  auto log = service_.State().Adopt(succession.previous_epoch, Split(succession.in_sync));
  const bool adopts = log && succession.follows_another;
  dispatcher_.Begin(succession.epoch, adopts ? std::move(*log) : std::vector<hands::Entry>());
  if (adopts) {
    log::Info(0, "Going on with the log of the last leader",
              {{"decisions", dispatcher_.Outstanding()}, {"epoch", succession.epoch}});
    ready_ = std::move(ready);
  }
  leases_.Follow([this](const std::vector<ReplicaRecord>& records) { SawReplicas(records); });
  FlushSoon();
  return adopts;
}

void WorkSharing::Run(scheduler::Effect&& effect) {
  dispatcher_.Run(std::move(effect));
  FlushSoon();
}

void WorkSharing::Answered(scheduler::EffectResult&& result) {
  dispatcher_.OnLocal(std::move(result), loop_.Steady());
  FlushSoon();
}

void WorkSharing::Settled(const api::Pod& pod) {
  if (service_.State().HasLog()) service_.State().SawSettled(pod.metadata.uid);
}

void WorkSharing::Shown(const api::Pod& pod) {
  if (pod.spec.node_name.empty()) return;
  Settled(pod);
  if (!adopted_.Empty()) adopted_.Remove(pod);
}

void WorkSharing::Shown(api::Object& object) {
  const auto* pod = std::get_if<api::Pod>(&object);
  if (pod == nullptr) return;
  if (!pod->spec.node_name.empty()) Settled(*pod);
  if (!adopted_.Empty()) adopted_.Correct(object);
}

void WorkSharing::Shown(std::vector<api::Object>& objects) {
  if (objects.empty() || !std::holds_alternative<api::Pod>(objects.front())) return;
  for (api::Object& object : objects) Shown(object);
}

void WorkSharing::Gone(const api::Object& object) {
  const auto* pod = std::get_if<api::Pod>(&object);
  if (pod == nullptr) return;
  Settled(*pod);
  if (!adopted_.Empty()) adopted_.Remove(*pod);
}

void WorkSharing::Listed(std::string_view kind) {
  if (to_list_.erase(kind) > 0 && to_list_.empty()) service_.State().Listed();
}

void WorkSharing::Follow(const std::function<bool(std::string_view kind)>& follows) {
  const bool lists = !to_list_.empty();
  std::erase_if(to_list_, [&](std::string_view kind) { return !follows(kind); });
  if (lists && to_list_.empty()) service_.State().Listed();
}

// --- Hands of this leader

void WorkSharing::SawReplicas(const std::vector<ReplicaRecord>& records) {
  std::set<std::string> ids;
  for (const ReplicaRecord& record : records) {
    const auto known = peers_.find(record.identity);
    const bool same = known != peers_.end() && known->second.record.address == record.address &&
                      known->second.record.certificate == record.certificate &&
                      known->second.record.server_name == record.server_name;
    if (same) {
      ids.insert(record.identity);
      continue;
    }
    auto client = process_.connect(record);
    if (!client) {
      log::Error(client.error().Message(), "Cannot share work with a replica",
                 {{"replica", Visible(record.identity)}});
      continue;
    }
    Peer& peer = peers_[record.identity];
    Disconnect(record.identity, peer);
    peer.record = record;
    peer.client = std::move(*client);
    ids.insert(record.identity);
  }
  for (auto it = peers_.begin(); it != peers_.end();) {
    if (ids.contains(it->first)) {
      ++it;
      continue;
    }
    Disconnect(it->first, it->second);
    it = peers_.erase(it);
  }
  dispatcher_.SetHands(ids, loop_.Steady());
  FlushSoon();
}

// What it has not answered fails.
void WorkSharing::Disconnect(const std::string& id, Peer& peer) {
  for (const auto& [number, call] : std::exchange(peer.calls, {})) {
    peer.client->Cancel(call.id);
    dispatcher_.OnFailure(id, call.session, call.poll, loop_.Steady());
  }
  peer.client.reset();
}

void WorkSharing::Send(const std::string& id, std::string bytes, bool poll, uint64_t session) {
  const uint64_t number = ++last_call_;
  const auto peer = peers_.find(id);
  if (peer == peers_.end() || !peer->second.client) {
    // Outputs are being worked off: it must not fail from inside.
    loop_.Post([this, alive = alive_, id, poll, session] {
      if (!*alive) return;
      dispatcher_.OnFailure(id, session, poll, loop_.Steady());
      FlushSoon();
    });
    return;
  }
  ApiRequest request;
  request.method = "POST";
  request.path = poll ? kPollsPath : kBatchesPath;
  request.content_type = kMessageType;
  request.accept = kMessageType;
  request.body = std::move(bytes);
  request.timeout = poll ? kPollTimeout : kBatchTimeout;
  Call& call = peer->second.calls[number];
  call.session = session;
  call.poll = poll;
  const ApiClient::Id sent = peer->second.client->Send(
      std::move(request),
      [this, id, number](const ApiResponse& response) { OnResponse(id, number, response); });
  if (const auto made = peer->second.calls.find(number); made != peer->second.calls.end()) {
    made->second.id = sent;
  }
}

void WorkSharing::OnResponse(const std::string& id, uint64_t number, const ApiResponse& response) {
  const auto peer = peers_.find(id);
  if (peer == peers_.end()) return;
  const auto found = peer->second.calls.find(number);
  if (found == peer->second.calls.end()) return;
  const Call call = found->second;
  peer->second.calls.erase(found);
  auto answer = response.Ok() ? hands::DecodeAnswer(response.body)
                              : Result<hands::Answer>(Fail(response.message));
  if (answer) {
    dispatcher_.OnAnswer(id, *answer, call.poll, loop_.Steady());
  } else {
    log::Info(3, "A replica does not take work",
              {{"replica", Visible(id)}, {"reason", Visible(answer.error().Message())}});
    dispatcher_.OnFailure(id, call.session, call.poll, loop_.Steady());
  }
  FlushSoon();
}

// --- Outputs of the dispatcher

void WorkSharing::Tick() {
  tick_ = loop_.After(kTick, [this] { Tick(); });
  if (dispatcher_.Leads()) Flush();
  if (loop_.Steady() - reported_ >= kReportPause) Report();
}

void WorkSharing::FlushSoon() {
  if (std::exchange(flush_pending_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    flush_pending_ = false;
    Flush();
  });
}

void WorkSharing::Flush() {
  hands::Dispatcher::Outputs out = dispatcher_.Take(loop_.Steady());
  for (const auto& [id, batch] : out.batches) Send(id, Encode(batch), false, batch.session);
  for (const auto& [id, poll] : out.polls) Send(id, Encode(poll), true, poll.session);
  for (scheduler::Effect& effect : out.local) host_.carry_out(std::move(effect));
  for (scheduler::EffectResult& result : out.results) host_.tell(std::move(result));
  for (api::Pod& pod : out.adopted) {
    adopted_.Add(pod);
    host_.adopt(std::move(pod));
  }
  if (ready_ && dispatcher_.Adopted()) std::exchange(ready_, nullptr)();
  if (out.in_sync) process_.set_in_sync(fmt::format("{}", fmt::join(*out.in_sync, ",")));
}

// Metrics, the Lease, and the log when a hand's role has changed.
void WorkSharing::Report() {
  reported_ = loop_.Steady();
  const SharingStatus status = Status();
  if (process_.status) process_.status(status);
  bool changed = std::exchange(role_, status.role) != status.role;
  std::vector<hands::Dispatcher::HandState> hands = dispatcher_.Hands();
  for (const auto& hand : hands) {
    const auto before = std::find_if(logged_.begin(), logged_.end(),
                                     [&](const auto& known) { return known.id == hand.id; });
    if (before != logged_.end() && before->role == hand.role) continue;
    changed = true;
    log::Info(2, "A replica's part in the work has changed",
              {{"replica", Visible(hand.id)}, {"part", NameOf(hand.role)}});
  }
  logged_ = std::move(hands);
  if (changed) leases_.WriteSoon();
}

}  // namespace berth::kube
