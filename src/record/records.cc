#include "record/records.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "api/codec/proto.h"
#include "base/string_hash.h"
#include "record/fractions.h"

namespace berth::record {
namespace {

// Limits what a few bytes can make the reader allocate.
size_t Plausible(uint64_t count, const ByteReader& reader) {
  return static_cast<size_t>(std::min<uint64_t>(count, reader.Left()));
}

// --- Decoding

Result<void> GetMessage(ByteReader& reader, const api::TypeInfo& type, void* value) {
  auto ok = api::DecodeProto(type, value, reader.String());
  if (ok && !ReadFractions(type, value, reader))
    return Fail("a fraction of a time is out of range");
  return ok;
}

Result<api::Object> GetObject(ByteReader& reader) {
  const std::string_view api_version = reader.String();
  const std::string_view kind = reader.String();
  api::Object object;
  const api::ObjectKind* row = api::FindObjectKind(api_version, kind);
  if (row != nullptr) {
    auto ok = GetMessage(reader, row->type(), row->emplace(object));
    if (!ok) return Fail(ok.error());
    return object;
  }
  api::UnknownObject unknown;
  unknown.api_version = api_version;
  unknown.kind = kind;
  auto ok = GetMessage(reader, api::ObjectMeta::Type(), &unknown.metadata);
  if (!ok) return Fail(ok.error());
  unknown.json = reader.String();
  return api::Object(std::move(unknown));
}

Result<Record> GetBegin(ByteReader& reader) {
  Begin begin;
  begin.berth_version = reader.String();
  begin.time_ns = reader.Signed();
  begin.minor = reader.Signed();
  begin.emulated = reader.Signed();
  begin.min_compatibility = reader.Signed();
  begin.gates = reader.String();
  begin.config = reader.String();
  begin.seed = reader.Fixed64();
  begin.adaptive_sampling = reader.Bool();
  begin.classes = reader.Bool();
  begin.call_extenders = reader.Bool();
  begin.max_in_unschedulable_ns = reader.Signed();
  begin.assumed_ttl_ns = reader.Signed();
  begin.planted_bug = reader.Unsigned();
  const size_t plugins = Plausible(reader.Unsigned(), reader);
  for (size_t i = 0; i < plugins; ++i) begin.extra_plugins.emplace_back(reader.String());
  if (!reader.AtEnd()) begin.redacted = reader.Bool();
  if (!reader.AtEnd()) begin.observed = reader.Bool();
  return Record(std::move(begin));
}

Result<Record> GetDelete(ByteReader& reader) {
  const std::string_view api_version = reader.String();
  const std::string_view kind = reader.String();
  Delete record;
  if (const api::ObjectKind* row = api::FindObjectKind(api_version, kind)) {
    row->emplace(record.object);
  } else {
    api::UnknownObject unknown;
    unknown.api_version = api_version;
    unknown.kind = kind;
    record.object = std::move(unknown);
  }
  const std::string_view namespace_ = reader.String();
  const std::string_view name = reader.String();
  const std::string_view uid = reader.String();
  if (api::ObjectMeta* metadata = api::MetadataOf(record.object)) {
    metadata->namespace_ = namespace_;
    metadata->name = name;
    metadata->uid = uid;
  }
  return Record(std::move(record));
}

Result<Record> GetReplace(ByteReader& reader) {
  Replace record;
  record.kind = reader.String();
  const uint8_t part = reader.Byte();
  if (part > static_cast<uint8_t>(scheduler::ListPart::kLast)) return Fail("no such part");
  record.part = static_cast<scheduler::ListPart>(part);
  const size_t count = Plausible(reader.Unsigned(), reader);
  record.objects.reserve(std::min<size_t>(count, 4096));
  for (size_t i = 0; i < count && reader.Ok(); ++i) {
    auto object = GetObject(reader);
    if (!object) return Fail(object.error());
    record.objects.push_back(std::move(*object));
  }
  return Record(std::move(record));
}

void GetAnswer(ByteReader& reader, scheduler::ExtenderAnswer& answer) {
  const auto strings = [&reader](std::vector<std::string>& out) {
    const size_t count = Plausible(reader.Unsigned(), reader);
    for (size_t i = 0; i < count; ++i) out.emplace_back(reader.String());
  };
  const auto reasons = [&reader](std::map<std::string, std::string>& out) {
    const size_t count = Plausible(reader.Unsigned(), reader);
    for (size_t i = 0; i < count; ++i) {
      std::string node(reader.String());
      out.insert_or_assign(std::move(node), std::string(reader.String()));
    }
  };
  strings(answer.nodes);
  reasons(answer.failed);
  reasons(answer.failed_and_unresolvable);
  const size_t scores = Plausible(reader.Unsigned(), reader);
  for (size_t i = 0; i < scores; ++i) {
    std::string node(reader.String());
    answer.scores.emplace_back(std::move(node), reader.Signed());
  }
  const size_t victims = Plausible(reader.Unsigned(), reader);
  for (size_t i = 0; i < victims; ++i) {
    auto& of_node = answer.victims[std::string(reader.String())];
    strings(of_node.uids);
    of_node.pdb_violations = reader.Signed();
  }
}

template <class T>
Result<void> GetWritten(ByteReader& reader, scheduler::EffectResult& result) {
  T object;
  if (auto ok = GetMessage(reader, T::Type(), &object); !ok) return ok;
  result.written = std::move(object);
  return {};
}

Result<Record> GetComplete(ByteReader& reader) {
  Complete record;
  scheduler::EffectResult& result = record.result;
  result.id = reader.Unsigned();
  const uint8_t code = reader.Byte();
  if (code > static_cast<uint8_t>(scheduler::EffectResult::Code::kUnknown)) {
    return Fail("no such result code");
  }
  result.code = static_cast<scheduler::EffectResult::Code>(code);
  result.message = reader.String();
  Result<void> ok;
  switch (reader.Byte()) {
    case 0:
      break;
    case 1:
      ok = GetWritten<api::PersistentVolume>(reader, result);
      break;
    case 2:
      ok = GetWritten<api::PersistentVolumeClaim>(reader, result);
      break;
    case 3:
      ok = GetWritten<api::ResourceClaim>(reader, result);
      break;
    default:
      return Fail("no such kind of written object");
  }
  if (!ok) return Fail(ok.error());
  if (reader.Bool()) {
    ok = GetMessage(reader, api::Pod::Type(), &result.pod.emplace());
    if (!ok) return Fail(ok.error());
  }
  if (reader.Bool()) {
    auto answer = std::make_shared<scheduler::ExtenderAnswer>();
    GetAnswer(reader, *answer);
    result.extender = std::move(answer);
  }
  return Record(std::move(record));
}

Result<Record> GetMetrics(ByteReader& reader) {
  Metrics record;
  record.node = reader.String();
  record.metrics.measured = api::Time::FromUnixNano(reader.Signed());
  const size_t count = Plausible(reader.Unsigned(), reader);
  for (size_t i = 0; i < count && reader.Ok(); ++i) {
    std::string key(reader.String());
    const double value = std::bit_cast<double>(reader.Fixed64());
    record.metrics.values.insert_or_assign(std::move(key), value);
  }
  return Record(std::move(record));
}

Result<Record> GetBody(uint8_t type, ByteReader& reader) {
  switch (type) {
    case 1:
      return GetBegin(reader);
    case 2:
      return Record(Advance{reader.Signed()});
    case 3: {
      auto object = GetObject(reader);
      if (!object) return Fail(object.error());
      return Record(Upsert{std::move(*object)});
    }
    case 4: {
      UpdateStatus status;
      auto ok = GetMessage(reader, api::Pod::Type(), &status.pod);
      if (!ok) return Fail(ok.error());
      return Record(std::move(status));
    }
    case 5:
      return GetDelete(reader);
    case 6:
      return GetReplace(reader);
    case 7:
      return GetComplete(reader);
    case 8:
      return Record(Step{reader.Bool()});
    case 9: {
      Taken taken;
      const size_t count = Plausible(reader.Unsigned(), reader);
      for (size_t i = 0; i < count; ++i) taken.digests.push_back(reader.Fixed64());
      return Record(std::move(taken));
    }
    case 10:
      return Record(End{});
    case 11:
      return Record(Synced{});
    case 12:
      return GetMetrics(reader);
    default:
      return Fail(fmt::format("unknown type {}", type));
  }
}

// --- Digests

class Digest {
 public:
  Digest(const DigestOptions& options, std::string& bytes) : options_(options), writer_(bytes) {}

  void Put(const scheduler::Effect& effect) {
    writer_.Unsigned(effect.id);
    writer_.Byte(static_cast<uint8_t>(effect.action.index()));
    std::visit([this](const auto& action) { Action(action); }, effect.action);
  }

 private:
  void Text(std::string_view text) {
    if (options_.redactor == nullptr) return writer_.String(text);
    writer_.String(options_.redactor->Text(text));
  }
  void Pod(const scheduler::PodRef& pod) {
    Text(pod.namespace_);
    Text(pod.name);
    writer_.String(pod.uid);
    writer_.String(pod.resource_version);
  }
  template <class T>
  void Proto(const T& value) {
    const std::string bytes = api::ToProto(value);
    if (options_.redactor == nullptr) return writer_.String(bytes);
    writer_.String(options_.redactor->Proto(T::Type(), bytes));
  }
  template <class T>
  void Optional(const std::optional<T>& value) {
    writer_.Bool(value.has_value());
    if (value) Proto(*value);
  }

  void Action(const scheduler::BindPod& bind) {
    Pod(bind.pod);
    Text(bind.node);
  }
  void Action(const scheduler::PatchPodStatus& patch) {
    Pod(patch.pod);
    Optional(patch.condition);
    writer_.Bool(patch.nominated_node_name.has_value());
    if (patch.nominated_node_name) Text(*patch.nominated_node_name);
    for (const std::string& type : patch.condition_types) Text(type);
    Optional(patch.old_condition);
    Optional(patch.extended_resource_claim);
  }
  void Action(const scheduler::PatchPodGroupStatus& patch) {
    Pod(patch.group);
    Proto(patch.condition);
    for (const std::string& type : patch.condition_types) Text(type);
    Optional(patch.old_condition);
  }
  void Action(const scheduler::DeletePod& remove) { Pod(remove.pod); }
  void Action(const scheduler::ReadPod& read) { Pod(read.pod); }
  void Action(const scheduler::WriteObject& write) {
    writer_.Byte(static_cast<uint8_t>(write.write.verb));
    std::visit([this](const auto& object) { Proto(object); }, write.write.object);
  }
  void Action(const scheduler::RecordEvent& event) {
    Pod(event.regarding);
    writer_.Bool(event.related.has_value());
    if (event.related) Pod(*event.related);
    for (const std::string* text : {&event.type, &event.reason, &event.action}) Text(*text);
    if (options_.notes) Text(event.note);
    Text(event.reporting_controller);
  }
  void Action(const scheduler::CallExtender& call) {
    writer_.Unsigned(call.extender);
    writer_.Byte(static_cast<uint8_t>(call.verb));
    Pod(call.pod);
    for (const std::string& node : call.nodes) Text(node);
    for (const auto& [node, victims] : call.victims) {
      Text(node);
      for (const scheduler::PodRef& pod : victims.pods) Pod(pod);
      writer_.Signed(victims.pdb_violations);
    }
  }

  const DigestOptions& options_;
  ByteWriter writer_;
};

}  // namespace

// --- Encoding

void RecordWriter::Close(uint8_t type) {
  ByteWriter writer(out_);
  writer.Byte(type);
  writer.String(body_);
}

void RecordWriter::PutName(std::string_view name) {
  ByteWriter writer(body_);
  if (redactor_ == nullptr) return writer.String(name);
  writer.String(redactor_->Text(name));
}

void RecordWriter::PutMessage(const api::TypeInfo& type, const void* value) {
  bytes_.clear();
  api::EncodeProto(type, value, bytes_);
  if (redactor_ != nullptr) bytes_ = redactor_->Proto(type, bytes_);
  ByteWriter(body_).String(bytes_);
  WriteFractions(type, value, body_);
}

void RecordWriter::PutObject(const api::Object& object) {
  ByteWriter writer(body_);
  writer.String(api::ApiVersionOf(object));
  writer.String(api::KindOf(object));
  std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, api::UnknownObject>) {
          PutMessage(api::ObjectMeta::Type(), &value.metadata);
          PutName(value.json);
        } else {
          PutMessage(T::Type(), &value);
        }
      },
      object);
}

void RecordWriter::Add(const Begin& begin) {
  body_.clear();
  ByteWriter writer(body_);
  writer.String(begin.berth_version);
  writer.Signed(begin.time_ns);
  writer.Signed(begin.minor);
  writer.Signed(begin.emulated);
  writer.Signed(begin.min_compatibility);
  writer.String(begin.gates);
  PutName(begin.config);
  writer.Fixed64(begin.seed);
  writer.Bool(begin.adaptive_sampling);
  writer.Bool(begin.classes);
  writer.Bool(begin.call_extenders);
  writer.Signed(begin.max_in_unschedulable_ns);
  writer.Signed(begin.assumed_ttl_ns);
  writer.Unsigned(begin.planted_bug);
  writer.Unsigned(begin.extra_plugins.size());
  for (const std::string& plugin : begin.extra_plugins) writer.String(plugin);
  writer.Bool(begin.redacted);
  writer.Bool(begin.observed);
  Close(1);
}

void RecordWriter::AddAdvance(int64_t time_ns) {
  body_.clear();
  ByteWriter(body_).Signed(time_ns);
  Close(2);
}

void RecordWriter::AddUpsert(const api::Object& object) {
  body_.clear();
  PutObject(object);
  Close(3);
}

void RecordWriter::AddStatus(const api::Pod& pod) {
  body_.clear();
  PutMessage(api::Pod::Type(), &pod);
  Close(4);
}

void RecordWriter::AddDelete(const api::Object& object) {
  body_.clear();
  ByteWriter writer(body_);
  writer.String(api::ApiVersionOf(object));
  writer.String(api::KindOf(object));
  const api::ObjectMeta* metadata = api::MetadataOf(object);
  PutName(metadata == nullptr ? "" : metadata->namespace_);
  PutName(metadata == nullptr ? "" : metadata->name);
  writer.String(metadata == nullptr ? "" : metadata->uid);
  Close(5);
}

void RecordWriter::AddComplete(const scheduler::EffectResult& result) {
  body_.clear();
  ByteWriter writer(body_);
  writer.Unsigned(result.id);
  writer.Byte(static_cast<uint8_t>(result.code));
  PutName(result.message);
  writer.Byte(result.written ? static_cast<uint8_t>(1 + result.written->index()) : 0);
  if (result.written) {
    std::visit([&]<class T>(const T& value) { PutMessage(T::Type(), &value); }, *result.written);
  }
  writer.Bool(result.pod.has_value());
  if (result.pod) PutMessage(api::Pod::Type(), &*result.pod);
  writer.Bool(result.extender != nullptr);
  if (result.extender != nullptr) {
    const scheduler::ExtenderAnswer& answer = *result.extender;
    writer.Unsigned(answer.nodes.size());
    for (const std::string& node : answer.nodes) PutName(node);
    for (const auto* reasons : {&answer.failed, &answer.failed_and_unresolvable}) {
      writer.Unsigned(reasons->size());
      for (const auto& [node, reason] : *reasons) {
        PutName(node);
        PutName(reason);
      }
    }
    writer.Unsigned(answer.scores.size());
    for (const auto& [node, score] : answer.scores) {
      PutName(node);
      writer.Signed(score);
    }
    writer.Unsigned(answer.victims.size());
    for (const auto& [node, victims] : answer.victims) {
      PutName(node);
      writer.Unsigned(victims.uids.size());
      for (const std::string& uid : victims.uids) writer.String(uid);
      writer.Signed(victims.pdb_violations);
    }
  }
  Close(7);
}

void RecordWriter::AddStep(bool tried) {
  body_.clear();
  ByteWriter(body_).Bool(tried);
  Close(8);
}

void RecordWriter::AddTaken(const std::vector<uint64_t>& digests) {
  body_.clear();
  ByteWriter writer(body_);
  writer.Unsigned(digests.size());
  for (const uint64_t digest : digests) writer.Fixed64(digest);
  Close(9);
}

void RecordWriter::AddEnd() {
  body_.clear();
  Close(10);
}

void RecordWriter::AddSynced() {
  body_.clear();
  Close(11);
}

void RecordWriter::AddMetrics(std::string_view node, const cluster::NodeMetrics& metrics) {
  body_.clear();
  PutName(node);
  ByteWriter writer(body_);
  writer.Signed(metrics.measured.UnixNano());
  writer.Unsigned(metrics.values.size());
  for (const auto& [key, value] : metrics.values) {
    PutName(key);
    writer.Fixed64(std::bit_cast<uint64_t>(value));
  }
  Close(12);
}

Result<Record> DecodeRecord(ByteReader& reader) {
  const uint8_t type = reader.Byte();
  const std::string_view body = reader.String();
  if (!reader.Ok()) return Fail("a record is longer than its block");
  ByteReader inside(body);
  auto record = GetBody(type, inside);
  if (!record) return Fail(record.error().In(fmt::format("record of type {}", type)));
  if (!inside.Ok()) return Fail(fmt::format("record of type {}: it is too short", type));
  return record;
}

uint64_t DigestOf(const scheduler::Effect& effect, const DigestOptions& options) {
  static const KeyedHash hash(0x62657274682d7231);
  std::string bytes;
  Digest(options, bytes).Put(effect);
  return hash(bytes);
}

}  // namespace berth::record
