// Records: what a recording consists of, one per call of an EngineTap, and their bytes.
//
//   record   type (one byte), size of the body (varint), body
//
// Objects are Kubernetes' protobuf, followed by the fractions of times that it has no room for
// (fractions.h).
//
// A reader skips bytes at the end of a body that it does not know, and refuses unknown types: an
// input left out would change every decision after it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/object.h"
#include "api/time.h"
#include "base/error.h"
#include "cluster/table/node_values.h"
#include "record/bytes.h"
#include "record/redaction.h"
#include "scheduler/effects.h"
#include "scheduler/list_part.h"

namespace berth::record {

// An engine is made. Everything before belongs to another one.
struct Begin {
  std::string berth_version;
  int64_t time_ns = 0;  // Unix
  // Of config::FeatureGates.
  int64_t minor = 0;
  int64_t emulated = 0;
  int64_t min_compatibility = 0;
  std::string gates;   // "A=true,B=false": those that were set
  std::string config;  // KubeSchedulerConfiguration, JSON
  // Of scheduler::EngineOptions.
  uint64_t seed = 0;
  bool adaptive_sampling = false;
  bool classes = true;
  bool call_extenders = true;
  int64_t max_in_unschedulable_ns = 0;
  int64_t assumed_ttl_ns = 0;
  uint64_t planted_bug = 0;
  std::vector<std::string> extra_plugins;  // names of out-of-tree plugins
  bool redacted = false;                   // by a Redactor; digests leave out notes of events
  // Another scheduler decided: there are its inputs, but no steps and no digests.
  bool observed = false;
};
struct Advance {
  int64_t time_ns = 0;  // Unix
};
struct Upsert {
  api::Object object;
};
struct UpdateStatus {
  api::Pod pod;
};
struct Delete {
  api::Object object;  // kind, namespace, name and uid only
};
struct Replace {
  std::string kind;
  scheduler::ListPart part = scheduler::ListPart::kWhole;
  std::vector<api::Object> objects;
};
struct Complete {
  scheduler::EffectResult result;
};
struct Step {
  bool tried = false;
};
// Digests of the effects that the engine returned, in order.
struct Taken {
  std::vector<uint64_t> digests;
};
// The measured load of a node.
struct Metrics {
  std::string node;
  cluster::NodeMetrics metrics;
};
// The recording was closed in good order.
struct End {};
// Every kind is listed, and changes follow. In observed recordings alone.
struct Synced {};

// The position is the type byte, counted from 1.
using Record = std::variant<Begin, Advance, Upsert, UpdateStatus, Delete, Replace, Complete, Step,
                            Taken, End, Synced, Metrics>;

// Appends records to a buffer, straight from the engine's own values; with a redactor, which
// outlives the writer, redacted.
class RecordWriter {
 public:
  explicit RecordWriter(std::string& out, Redactor* redactor = nullptr)
      : out_(out), redactor_(redactor) {}

  void Add(const Begin& begin);
  void AddAdvance(int64_t time_ns);
  void AddUpsert(const api::Object& object);
  void AddStatus(const api::Pod& pod);
  void AddDelete(const api::Object& object);
  template <class Objects>
  void AddReplace(std::string_view kind, scheduler::ListPart part, const Objects& objects) {
    body_.clear();
    ByteWriter writer(body_);
    writer.String(kind);
    writer.Byte(static_cast<uint8_t>(part));
    writer.Unsigned(objects.size());
    for (const api::Object& object : objects) PutObject(object);
    Close(6);
  }
  void AddComplete(const scheduler::EffectResult& result);
  void AddStep(bool tried);
  void AddTaken(const std::vector<uint64_t>& digests);
  void AddEnd();
  void AddSynced();
  void AddMetrics(std::string_view node, const cluster::NodeMetrics& metrics);

 private:
  void PutName(std::string_view name);
  void PutObject(const api::Object& object);
  void PutMessage(const api::TypeInfo& type, const void* value);
  void Close(uint8_t type);

  std::string& out_;
  Redactor* const redactor_;
  std::string body_;   // scratch
  std::string bytes_;  // scratch
};

// The next record of a block. Fails when its bytes are no record.
Result<Record> DecodeRecord(ByteReader& reader);

struct DigestOptions {
  // Computes the digest of the redacted effect. May be null.
  Redactor* redactor = nullptr;
  // Of events, which are cut at a length: pseudonyms have other lengths than names.
  bool notes = true;
};

// A number that differs, with all likelihood, between effects that differ in anything: what is to
// be done, to which object, with which message.
uint64_t DigestOf(const scheduler::Effect& effect, const DigestOptions& options = {});

}  // namespace berth::record
