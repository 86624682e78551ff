#include "record/redaction.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "api/codec/proto_field.h"
#include "base/string_hash.h"
#include "record/bytes.h"

namespace berth::record {
namespace {

using api::Kind;

constexpr uint8_t kLengthDelimited = 2;
// Holds the whole object once more, as text. No plugin reads it.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view kNodesMarker = "nodes are available: ";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

bool IsKnown(std::string_view word) {
  static const boost::unordered_flat_set<std::string_view, StringHash> vocabulary = {
#include "record/vocabulary.inc"
  };
  return vocabulary.contains(word);
}

// "1m30s", from its first unit on: "m30s".
bool IsDurationTail(std::string_view text) {
  while (!text.empty()) {
    size_t unit = 0;
    for (const std::string_view candidate : {"ms", "us", "ns", "h", "m", "s"}) {
      if (text.starts_with(candidate)) {
        unit = candidate.size();
        break;
      }
    }
    if (unit == 0) return false;
    text.remove_prefix(unit);
    if (text.empty()) return true;
    if (!IsDigit(text[0])) return false;
    while (!text.empty() && IsDigit(text[0])) text.remove_prefix(1);
  }
  return false;
}

// The reasons of "0/3 nodes are available: 1 a, 2 b." are in alphabetical order, in which words
// that stay and pseudonyms are mixed.
void SortReasons(std::string* text) {
  for (size_t at = text->find(kNodesMarker); at != std::string::npos;
       at = text->find(kNodesMarker, at)) {
    at += kNodesMarker.size();
    size_t end = std::min(text->find(". ", at), text->size());
    if (end == text->size() && end > at && text->back() == '.') --end;
    std::vector<std::string> reasons;
    for (size_t from = at; from < end;) {
      size_t comma = from;
      do {
        comma = std::min(text->find(", ", comma + 1), end);
      } while (comma < end && !(comma + 2 < end && IsDigit((*text)[comma + 2])));
      reasons.push_back(text->substr(from, comma - from));
      from = comma + 2;
    }
    std::sort(reasons.begin(), reasons.end());
    std::string sorted;
    for (const std::string& reason : reasons) sorted += (sorted.empty() ? "" : ", ") + reason;
    text->replace(at, end - at, sorted);
  }
}

void PutTagged(uint32_t number, std::string_view payload, std::string* out) {
  ByteWriter writer(*out);
  writer.Unsigned(uint64_t{number} << 3 | kLengthDelimited);
  writer.String(payload);
}

bool IsIdentity(std::string_view field) { return field == "uid" || field == "resourceVersion"; }

}  // namespace

void Redactor::Word(std::string_view word, std::string* out) {
  size_t digits = 0;
  while (digits < word.size() && IsDigit(word[digits])) ++digits;
  out->append(word.substr(0, digits));
  const std::string_view rest = word.substr(digits);
  if (rest.empty()) return;
  if (IsKnown(rest) || (digits > 0 && IsDurationTail(rest))) {
    out->append(rest);
    return;
  }
  // No word of the vocabulary begins like this.
  out->append("xz");
  out->append(pseudonyms_.Of(rest));
}

std::string Redactor::Text(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      out.append(text.substr(i, 2));
      i += 2;
      continue;
    }
    if (!IsWord(text[i])) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && IsWord(text[end])) ++end;
    Word(text.substr(i, end - i), &out);
    i = end;
  }
  SortReasons(&out);
  return out;
}

std::string Redactor::Proto(const api::TypeInfo& type, std::string_view message) {
  std::string out;
  out.reserve(message.size() + message.size() / 2);
  Message(type, message, &out);
  return out;
}

// Entries of a map stand together, sorted by key.
void Redactor::Message(const api::TypeInfo& type, std::string_view message, std::string* out) {
  std::vector<std::pair<std::string, std::string>> entries;
  uint32_t map = 0;
  const auto flush = [&] {
    std::sort(entries.begin(), entries.end());
    for (const auto& [key, entry] : entries) PutTagged(map, entry, out);
    entries.clear();
  };
  api::ForEachProtoField(message, [&](const api::ProtoField& part) {
    const api::FieldInfo* field = type.FindNumber(part.number);
    if (map != part.number) flush();
    map = part.number;
    if (field == nullptr) {
      out->append(part.bytes);
      return;
    }
    const api::TypeInfo* inner = field->type;
    while (inner->kind == Kind::kOptional || inner->kind == Kind::kList) inner = inner->element;
    if (inner->kind == Kind::kMap) {
      std::string key;
      std::string entry = Entry(*inner->element, part.payload, &key);
      entries.emplace_back(std::move(key), std::move(entry));
      return;
    }
    Field(*field, *inner, part.bytes, part.payload, out);
  });
  flush();
}

void Redactor::Field(const api::FieldInfo& field, const api::TypeInfo& type, std::string_view bytes,
                     std::string_view payload, std::string* out) {
  switch (type.kind) {
    case Kind::kString:
      if (IsIdentity(field.name)) break;
      PutTagged(field.number, Text(payload), out);
      return;
    case Kind::kBytes:
      PutTagged(field.number, Text(payload), out);
      return;
    case Kind::kMessage:
      PutTagged(field.number, Proto(type, payload), out);
      return;
    case Kind::kRawJson:
    case Kind::kIntOrString: {
      const uint32_t text = type.kind == Kind::kRawJson ? 1 : 3;
      std::string inside;
      api::ForEachProtoField(payload, [&](const api::ProtoField& part) {
        if (part.number == text) {
          PutTagged(text, Text(part.payload), &inside);
        } else {
          inside.append(part.bytes);
        }
      });
      PutTagged(field.number, inside, out);
      return;
    }
    default:
      break;
  }
  out->append(bytes);
}

std::string Redactor::Entry(const api::TypeInfo& element, std::string_view entry,
                            std::string* key) {
  const std::string_view old_key = api::MapEntryKey(entry);
  *key = Text(old_key);
  std::string out;
  PutTagged(1, *key, &out);
  const api::FieldInfo value{2, 0, "", &element, false};
  api::ForEachProtoField(entry, [&](const api::ProtoField& part) {
    if (part.number != 2) return;
    const api::TypeInfo* inner = &element;
    while (inner->kind == Kind::kOptional || inner->kind == Kind::kList) inner = inner->element;
    if (old_key == kLastApplied) {
      PutTagged(2, "", &out);
    } else {
      Field(value, *inner, part.bytes, part.payload, &out);
    }
  });
  return out;
}

}  // namespace berth::record
