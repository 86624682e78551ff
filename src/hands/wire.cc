#include "hands/wire.h"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "api/codec/protozero.h"

namespace berth::hands {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

// What is wrong with a field; turned into an Error where decoding began.
struct Malformed final : std::exception {
  explicit Malformed(std::string text) : what_text(std::move(text)) {}
  const char* what() const noexcept override { return what_text.c_str(); }
  std::string what_text;
};

std::string Text(pbf_reader& field, std::string_view name) {
  const std::string_view text = field.get_view();
  if (text.size() > kMaxText) {
    throw Malformed(
        fmt::format("{}: {} bytes are more than the limit of {}", name, text.size(), kMaxText));
  }
  return std::string(text);
}

template <class T>
T& Another(std::vector<T>& items, std::string_view name) {
  if (items.size() >= kMaxItems) {
    throw Malformed(fmt::format("{}: more than {} items", name, kMaxItems));
  }
  return items.emplace_back();
}

template <class Enum>
Enum Within(uint64_t value, Enum first, Enum last, std::string_view name) {
  if (value < static_cast<uint64_t>(first) || value > static_cast<uint64_t>(last)) {
    throw Malformed(fmt::format("{}: unknown value {}", name, value));
  }
  return static_cast<Enum>(value);
}

// --- Parts

void Put(pbf_writer& out, uint32_t tag, const Entry& entry) {
  pbf_writer inner(out, tag);
  inner.add_uint64(1, entry.sequence);
  if (!entry.uid.empty()) inner.add_bytes(2, entry.uid);
  if (!entry.namespace_.empty()) inner.add_bytes(3, entry.namespace_);
  if (!entry.name.empty()) inner.add_bytes(4, entry.name);
  if (!entry.node.empty()) inner.add_bytes(5, entry.node);
}

void Get(pbf_reader field, Entry& entry) {
  while (field.next()) {
    switch (field.tag()) {
      case 1:
        entry.sequence = field.get_uint64();
        break;
      case 2:
        entry.uid = Text(field, "entries.uid");
        break;
      case 3:
        entry.namespace_ = Text(field, "entries.namespace");
        break;
      case 4:
        entry.name = Text(field, "entries.name");
        break;
      case 5:
        entry.node = Text(field, "entries.node");
        break;
      default:
        field.skip();
    }
  }
  if (entry.sequence == 0) throw Malformed("entries.sequence: 0 or missing");
}

void Put(pbf_writer& out, uint32_t tag, const Task& task) {
  pbf_writer inner(out, tag);
  if (task.id != 0) inner.add_uint64(1, task.id);
  inner.add_uint64(2, static_cast<uint64_t>(task.kind));
  if (task.sequence != 0) inner.add_uint64(3, task.sequence);
  if (!task.resource_version.empty()) inner.add_bytes(4, task.resource_version);
  if (!task.payload.empty()) inner.add_bytes(5, task.payload);
}

void Get(pbf_reader field, Task& task) {
  uint64_t kind = 0;
  while (field.next()) {
    switch (field.tag()) {
      case 1:
        task.id = field.get_uint64();
        break;
      case 2:
        kind = field.get_uint64();
        break;
      case 3:
        task.sequence = field.get_uint64();
        break;
      case 4:
        task.resource_version = Text(field, "tasks.resourceVersion");
        break;
      case 5:
        task.payload = Text(field, "tasks.payload");
        break;
      default:
        field.skip();
    }
  }
  task.kind = Within(kind, Task::Kind::kBinding, Task::Kind::kEvent, "tasks.kind");
  const bool binds = task.kind == Task::Kind::kBinding;
  if (binds != (task.sequence != 0)) throw Malformed("tasks.sequence: of bindings, and only those");
  if (binds && task.id == 0) throw Malformed("tasks.id: 0 or missing for a binding");
}

void Put(pbf_writer& out, uint32_t tag, const TaskResult& result) {
  pbf_writer inner(out, tag);
  inner.add_uint64(1, result.id);
  if (result.code != TaskResult::Code::kOk) {
    inner.add_uint64(2, static_cast<uint64_t>(result.code));
  }
  if (!result.message.empty()) {
    inner.add_bytes(3, std::string_view(result.message).substr(0, kMaxText));
  }
}

void Get(pbf_reader field, TaskResult& result) {
  uint64_t code = 0;
  while (field.next()) {
    switch (field.tag()) {
      case 1:
        result.id = field.get_uint64();
        break;
      case 2:
        code = field.get_uint64();
        break;
      case 3:
        result.message = Text(field, "results.message");
        break;
      default:
        field.skip();
    }
  }
  using Code = TaskResult::Code;
  result.code = Within(code, Code::kOk, Code::kNotSent, "results.code");
}

// --- Messages

void Get(pbf_reader field, Batch& batch) {
  while (field.next()) {
    switch (field.tag()) {
      case 1:
        batch.lease = Text(field, "lease");
        break;
      case 2:
        batch.leader = Text(field, "leader");
        break;
      case 3:
        batch.epoch = field.get_int64();
        break;
      case 4:
        batch.session = field.get_uint64();
        break;
      case 5:
        batch.number = field.get_uint64();
        break;
      case 6:
        batch.echo = field.get_int64();
        break;
      case 7:
        batch.valid_ns = field.get_int64();
        break;
      case 8:
        batch.committed = field.get_uint64();
        break;
      case 9:
        batch.results_received = field.get_uint64();
        break;
      case 10:
        Get(field.get_message(), Another(batch.entries, "entries"));
        break;
      case 11:
        Get(field.get_message(), Another(batch.tasks, "tasks"));
        break;
      case 12:
        Another(batch.refused, "refused") = field.get_uint64();
        break;
      default:
        field.skip();
    }
  }
  if (batch.leader.empty()) throw Malformed("leader: missing");
  if (batch.session == 0) throw Malformed("session: 0 or missing");
  if (batch.number == 0) throw Malformed("number: 0 or missing");
}

void Get(pbf_reader field, Poll& poll) {
  while (field.next()) {
    switch (field.tag()) {
      case 1:
        poll.leader = Text(field, "leader");
        break;
      case 2:
        poll.epoch = field.get_int64();
        break;
      case 3:
        poll.session = field.get_uint64();
        break;
      case 4:
        poll.results_received = field.get_uint64();
        break;
      default:
        field.skip();
    }
  }
  if (poll.session == 0) throw Malformed("session: 0 or missing");
}

void Get(pbf_reader field, Answer& answer) {
  while (field.next()) {
    switch (field.tag()) {
      case 1:
        answer.session = field.get_uint64();
        break;
      case 2:
        answer.number = field.get_uint64();
        break;
      case 3:
        answer.stamp = field.get_int64();
        break;
      case 4:
        answer.listed = field.get_uint64() != 0;
        break;
      case 5:
        answer.waiting = field.get_uint64();
        break;
      case 6:
        answer.log = field.get_uint64();
        break;
      case 7:
        answer.first_result = field.get_uint64();
        break;
      case 8:
        Get(field.get_message(), Another(answer.results, "results"));
        break;
      default:
        field.skip();
    }
  }
  if (answer.session == 0) throw Malformed("session: 0 or missing");
}

template <class Message>
Result<Message> Decode(std::string_view bytes, std::string_view what) {
  if (bytes.size() > kMaxMessageBytes) {
    return Fail(fmt::format("{}: {} bytes are more than the limit of {}", what, bytes.size(),
                            kMaxMessageBytes));
  }
  try {
    Message message;
    Get(pbf_reader(bytes), message);
    return message;
  } catch (const std::exception& error) {
    return Fail(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace

std::string Encode(const Batch& batch) {
  std::string bytes;
  bytes.reserve(200 + 160 * batch.entries.size() + 60 * batch.tasks.size());
  pbf_writer out(bytes);
  out.add_bytes(1, batch.lease);
  out.add_bytes(2, batch.leader);
  out.add_int64(3, batch.epoch);
  out.add_uint64(4, batch.session);
  out.add_uint64(5, batch.number);
  out.add_int64(6, batch.echo);
  out.add_int64(7, batch.valid_ns);
  out.add_uint64(8, batch.committed);
  out.add_uint64(9, batch.results_received);
  for (const Entry& entry : batch.entries) Put(out, 10, entry);
  for (const Task& task : batch.tasks) Put(out, 11, task);
  for (const uint64_t sequence : batch.refused) out.add_uint64(12, sequence);
  return bytes;
}

std::string Encode(const Poll& poll) {
  std::string bytes;
  pbf_writer out(bytes);
  out.add_bytes(1, poll.leader);
  out.add_int64(2, poll.epoch);
  out.add_uint64(3, poll.session);
  out.add_uint64(4, poll.results_received);
  return bytes;
}

std::string Encode(const Answer& answer) {
  std::string bytes;
  pbf_writer out(bytes);
  out.add_uint64(1, answer.session);
  out.add_uint64(2, answer.number);
  out.add_int64(3, answer.stamp);
  out.add_bool(4, answer.listed);
  out.add_uint64(5, answer.waiting);
  out.add_uint64(6, answer.log);
  out.add_uint64(7, answer.first_result);
  for (const TaskResult& result : answer.results) Put(out, 8, result);
  return bytes;
}

Result<Batch> DecodeBatch(std::string_view bytes) { return Decode<Batch>(bytes, "batch"); }
Result<Poll> DecodePoll(std::string_view bytes) { return Decode<Poll>(bytes, "poll"); }
Result<Answer> DecodeAnswer(std::string_view bytes) { return Decode<Answer>(bytes, "answer"); }

}  // namespace berth::hands
