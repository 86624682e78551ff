#include "record/fractions.h"

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace berth::record {
namespace {

constexpr uint64_t kNanosPerSecond = 1'000'000'000;

// A value of the type may have a time in it. `above`: the types around it, one of which may be
// this.
bool MayHaveTimes(const api::TypeInfo& type, std::set<const api::TypeInfo*>& above) {
  switch (type.kind) {
    case api::Kind::kTime:
    case api::Kind::kMicroTime:
      return true;
    case api::Kind::kOptional:
    case api::Kind::kList:
    case api::Kind::kMap:
      return MayHaveTimes(*type.element, above);
    case api::Kind::kMessage:
      break;
    default:
      return false;
  }
  if (!above.insert(&type).second) return false;
  bool found = false;
  for (const api::FieldInfo& field : type.fields) {
    found = found || MayHaveTimes(*field.type, above);
  }
  above.erase(&type);
  return found;
}

// The fields of a message that may have times in them. Most of a pod has none, and looking costs
// as much as a fifth of encoding it.
const std::vector<const api::FieldInfo*>& FieldsWithTimes(const api::TypeInfo& message) {
  using Fields = std::vector<const api::FieldInfo*>;
  // Nodes, because the caller holds one while it asks for the types inside.
  thread_local std::unordered_map<const api::TypeInfo*, Fields> known;
  if (const auto it = known.find(&message); it != known.end()) return it->second;
  Fields fields;
  for (const api::FieldInfo& field : message.fields) {
    std::set<const api::TypeInfo*> above;
    if (MayHaveTimes(*field.type, above)) fields.push_back(&field);
  }
  return known.emplace(&message, std::move(fields)).first->second;
}

// Calls f(Instant&, nanoseconds that protobuf can tell apart) for every time in `value`, in an
// order that depends on the type and the presence of parts only.
template <class F>
void ForEachTime(const api::TypeInfo& type, void* value, F& f) {
  switch (type.kind) {
    case api::Kind::kTime:
      return f(*static_cast<api::Time*>(value), static_cast<int32_t>(kNanosPerSecond));
    case api::Kind::kMicroTime:
      return f(*static_cast<api::MicroTime*>(value), 1000);
    case api::Kind::kMessage:
      for (const api::FieldInfo* field : FieldsWithTimes(type)) {
        ForEachTime(*field->type, static_cast<char*>(value) + field->offset, f);
      }
      return;
    case api::Kind::kOptional:
      if (const void* present = type.optional->get(value)) {
        ForEachTime(*type.element, const_cast<void*>(present), f);
      }
      return;
    case api::Kind::kList:
      for (size_t i = 0, size = type.list->size(value); i < size; ++i) {
        ForEachTime(*type.element, const_cast<void*>(type.list->at(value, i)), f);
      }
      return;
    case api::Kind::kMap:
      for (size_t i = 0, size = type.map->size(value); i < size; ++i) {
        ForEachTime(*type.element, const_cast<void*>(type.map->at(value, i).second), f);
      }
      return;
    default:
      return;
  }
}

}  // namespace

void WriteFractions(const api::TypeInfo& type, const void* value, std::string& out) {
  std::vector<std::pair<uint64_t, uint64_t>> fractions;
  uint64_t skipped = 0;
  auto note = [&](const api::Instant& time, int32_t unit) {
    if (time.nanos % unit == 0) {
      ++skipped;
    } else {
      fractions.emplace_back(std::exchange(skipped, 0), static_cast<uint64_t>(time.nanos));
    }
  };
  ForEachTime(type, const_cast<void*>(value), note);  // which only reads
  ByteWriter writer(out);
  writer.Unsigned(fractions.size());
  for (const auto& [skip, nanos] : fractions) {
    writer.Unsigned(skip);
    writer.Unsigned(nanos);
  }
}

bool ReadFractions(const api::TypeInfo& type, void* value, ByteReader& reader) {
  uint64_t left = reader.Unsigned();
  if (left == 0) return true;
  bool valid = true;
  uint64_t skip = 0;
  uint64_t nanos = 0;
  const auto next = [&] {
    skip = reader.Unsigned();
    nanos = reader.Unsigned();
    valid = valid && reader.Ok() && nanos < kNanosPerSecond;
  };
  next();
  auto set = [&](api::Instant& time, int32_t) {
    if (left == 0 || !valid) return;
    if (skip > 0) {
      --skip;
      return;
    }
    time.nanos = static_cast<int32_t>(nanos);
    if (--left > 0) next();
  };
  ForEachTime(type, value, set);
  return valid && left == 0;
}

}  // namespace berth::record
