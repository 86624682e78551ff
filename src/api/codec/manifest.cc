#include "api/codec/manifest.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json_scan.h"
#include "api/codec/yaml.h"

namespace berth::api {

namespace {

// Where a value stands in the text.
struct Span {
  size_t begin = 0;
  size_t end = 0;
  bool Found() const { return end > begin; }
};

// The members of an object that decide what to do with it. Of equal keys the last one counts.
struct Outline {
  Span api_version;
  Span kind;
  Span items;
  size_t end = 0;  // of the object
};

std::string_view Slice(std::string_view text, Span span) {
  return text.substr(span.begin, span.end - span.begin);
}

// Finds the members of the object at `pos` by brackets and quotes; nullopt if it is malformed at
// that level.
std::optional<Outline> ScanObject(std::string_view text, size_t pos) {
  Outline outline;
  if (pos >= text.size() || text[pos] != '{') return std::nullopt;
  pos = SkipJsonBlanks(text, pos + 1);
  if (pos < text.size() && text[pos] == '}') {
    outline.end = pos + 1;
    return outline;
  }
  while (pos < text.size() && text[pos] == '"') {
    const auto key_end = SkipJsonValue(text, pos);
    if (!key_end) return std::nullopt;
    const std::string_view key = text.substr(pos, *key_end - pos);
    pos = SkipJsonBlanks(text, *key_end);
    if (pos >= text.size() || text[pos] != ':') return std::nullopt;
    Span value;
    value.begin = SkipJsonBlanks(text, pos + 1);
    const auto value_end = SkipJsonValue(text, value.begin);
    if (!value_end) return std::nullopt;
    value.end = *value_end;
    if (key == "\"apiVersion\"") outline.api_version = value;
    if (key == "\"kind\"") outline.kind = value;
    if (key == "\"items\"") outline.items = value;
    pos = SkipJsonBlanks(text, value.end);
    if (pos >= text.size()) return std::nullopt;
    if (text[pos] == '}') {
      outline.end = pos + 1;
      return outline;
    }
    if (text[pos] != ',') return std::nullopt;
    pos = SkipJsonBlanks(text, pos + 1);
  }
  return std::nullopt;
}

struct TypeName {
  std::string api_version;
  std::string kind;
};

class Reader {
 public:
  Reader(const ObjectConsumer& consume, DecodeOptions options)
      : consume_(consume), decoder_(options) {}

  // The object (or list of objects) that starts at `pos`; returns its end. Items of a typed list
  // need not say what they are: `fallback` does.
  Result<size_t> Value(std::string_view text, size_t pos, const TypeName& fallback, size_t depth);

 private:
  Result<TypeName> ReadType(std::string_view text, const Outline& outline,
                            const TypeName& fallback);
  Result<void> Items(std::string_view text, Span span, const TypeName& item, size_t depth);

  const ObjectConsumer& consume_;
  JsonDecoder decoder_;
};

Error Malformed(std::string_view text) {
  if (auto error = FindJsonError(text)) return Error("invalid JSON: " + *error);
  return Error("expected an object");
}

Result<TypeName> Reader::ReadType(std::string_view text, const Outline& outline,
                                  const TypeName& fallback) {
  TypeName type = fallback;
  if (outline.kind.Found()) {
    auto kind = decoder_.Decode<std::string>(Slice(text, outline.kind));
    if (!kind) return Fail(kind.error().In("kind"));
    if (!kind->empty()) type.kind = std::move(*kind);
  }
  if (outline.api_version.Found()) {
    auto version = decoder_.Decode<std::string>(Slice(text, outline.api_version));
    if (!version) return Fail(version.error().In("apiVersion"));
    if (!version->empty()) type.api_version = std::move(*version);
  }
  if (type.kind.empty()) return Fail("kind is missing");
  if (type.api_version.empty()) return Fail("apiVersion is missing");
  return type;
}

Result<size_t> Reader::Value(std::string_view text, size_t pos, const TypeName& fallback,
                             size_t depth) {
  const auto outline = ScanObject(text, pos);
  if (!outline) {
    const auto end = SkipJsonValue(text, pos);
    return Fail(Malformed(text.substr(pos, end ? *end - pos : std::string_view::npos)));
  }
  const std::string_view object_text = text.substr(pos, outline->end - pos);
  auto type = ReadType(text, *outline, fallback);
  if (!type) {
    if (auto error = FindJsonError(object_text)) return Fail("invalid JSON: " + *error);
    return Fail(std::move(type.error()));
  }

  constexpr std::string_view kListSuffix = "List";
  const std::string_view kind = type->kind;
  if (kind.ends_with(kListSuffix) && !FindObjectKind(type->api_version, kind)) {
    if (depth >= kMaxListDepth) {
      return Fail(fmt::format("lists are nested deeper than {} levels", kMaxListDepth));
    }
    TypeName item;
    if (kind != kListSuffix) {
      item = {type->api_version, std::string(kind.substr(0, kind.size() - kListSuffix.size()))};
    }
    if (auto ok = Items(text, outline->items, item, depth + 1); !ok) return Fail(ok.error());
    return outline->end;
  }

  auto object = DecodeObjectAs(type->api_version, type->kind, object_text, decoder_);
  if (!object) return Fail(std::move(object.error()));
  if (auto ok = consume_(std::move(*object)); !ok) return Fail(std::move(ok.error()));
  return outline->end;
}

Result<void> Reader::Items(std::string_view text, Span span, const TypeName& item, size_t depth) {
  if (!span.Found() || Slice(text, span) == "null") return {};
  if (text[span.begin] != '[') return Fail("items: expected an array");
  size_t pos = SkipJsonBlanks(text, span.begin + 1);
  if (text[pos] == ']') return {};
  for (size_t index = 0;; ++index) {
    auto end = Value(text.substr(0, span.end - 1), pos, item, depth);
    if (!end) return Fail(end.error().In(fmt::format("items[{}]", index)));
    pos = SkipJsonBlanks(text, *end);
    if (pos + 1 == span.end) return {};
    if (text[pos] != ',') return Fail(fmt::format("items[{}]: no comma behind it", index));
    pos = SkipJsonBlanks(text, pos + 1);
  }
}

// Behind a document: blanks, and a line of dashes between JSON documents in one file.
size_t SkipSeparators(std::string_view text, size_t pos) {
  for (;;) {
    pos = SkipJsonBlanks(text, pos);
    if (text.substr(pos, 3) != "---") return pos;
    pos = std::min(text.find('\n', pos), text.size());
  }
}

std::string DocumentName(size_t index) { return fmt::format("document {}", index + 1); }

Result<void> ReadJson(std::string_view text, Reader& reader) {
  size_t index = 0;
  for (size_t pos = SkipSeparators(text, 0); pos < text.size(); ++index) {
    auto end = reader.Value(text, pos, {}, 0);
    if (!end) return Fail(end.error().In(DocumentName(index)));
    pos = SkipSeparators(text, *end);
  }
  return {};
}

}  // namespace

Result<void> ForEachObject(std::string_view bytes, const ObjectConsumer& consume,
                           DecodeOptions options) {
  Reader reader(consume, options);
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  if (LooksLikeJson(bytes)) return ReadJson(bytes, reader);
  return ForEachYamlDocument(
      bytes,
      [&](size_t index, std::string json) -> Result<void> {
        auto end = reader.Value(json, 0, {}, 0);
        if (!end) return Fail(end.error().In(DocumentName(index)));
        return {};
      },
      YamlOptions{.strict = options.strict});
}

}  // namespace berth::api
