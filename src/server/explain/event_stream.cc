#include "server/explain/event_stream.h"

#include <utility>

#include <fmt/format.h>

namespace berth::server {
namespace {

std::string Event(std::string_view name, std::string_view data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

}  // namespace

std::shared_ptr<BodyStream> EventStreams::Open(std::string namespace_, const Post& post) {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [](const auto& client) { return client->gone; });
  if (clients_.size() >= kMaxClients) return nullptr;
  const auto client = std::make_shared<Client>();
  client->stream = std::make_shared<BodyStream>();
  client->namespace_ = std::move(namespace_);
  client->post = post;
  client->stream->Write(": berth\n\n");  // so that headers are sent at once
  clients_.push_back(client);
  return client->stream;
}

size_t EventStreams::Size() const {
  const std::lock_guard lock(mutex_);
  size_t size = 0;
  for (const auto& client : clients_) size += client->gone ? 0 : 1;
  return size;
}

void EventStreams::Send(const std::function<std::string(const Client&)>& text) {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [](const auto& client) { return client->gone; });
  for (const auto& client : clients_) {
    std::string bytes = text(*client);
    if (bytes.empty()) continue;
    client->post([this, client, bytes = std::move(bytes)] {
      BodyStream& stream = *client->stream;
      if (!stream.Closed() && stream.Backlog() <= kMaxBacklog) {
        stream.Write(bytes);
        return;
      }
      if (!stream.Closed()) stream.Abort();
      const std::lock_guard again(mutex_);
      client->gone = true;
    });
  }
}

void EventStreams::Decisions(const std::vector<explain::DecisionSummary>& decisions,
                             uint64_t dropped) {
  std::vector<std::string> events;
  for (const auto& decision : decisions) {
    events.push_back(Event("decision", explain::ToText(decision)));
  }
  Send([&](const Client& client) {
    std::string text;
    for (size_t i = 0; i < decisions.size(); ++i) {
      if (client.namespace_.empty() || client.namespace_ == decisions[i].namespace_) {
        text += events[i];
      }
    }
    if (dropped > 0) text += Event("dropped", fmt::format("{{\"decisions\":{}}}", dropped));
    return text;
  });
}

void EventStreams::Queue(const explain::QueueState& state) {
  const std::string event = Event("queue", explain::ToText(state));
  Send([&](const Client&) { return event; });
}

void EventStreams::EndAll() {
  const std::lock_guard lock(mutex_);
  for (const auto& client : clients_) {
    client->post([client] { client->stream->End(); });
    client->gone = true;
  }
}

}  // namespace berth::server
