#include "api/codec/json.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/base64.h"
#include "api/codec/json_dom.h"
#include "api/codec/json_scan.h"
#include "api/go/go_text.h"
#include "api/go/unicode_space.h"

namespace berth::api {

namespace {

namespace dom = simdjson::dom;

// Values are quoted in error messages up to this many bytes.
constexpr size_t kMaxQuoted = 64;

std::string Quoted(std::string_view text) {
  if (text.size() > kMaxQuoted) return GoQuote(text.substr(0, kMaxQuoted)) + "...";
  return GoQuote(text);
}

// What the reader of an error message sees of a value.
std::string Shown(dom::element element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return "an array";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "the string " + Quoted(std::string_view(element));
    case dom::element_type::BOOL:
      return bool(element) ? "true" : "false";
    case dom::element_type::NULL_VALUE:
      return "null";
    case dom::element_type::INT64:
      return fmt::format("the number {}", int64_t(element));
    case dom::element_type::UINT64:
      return fmt::format("the number {}", uint64_t(element));
    case dom::element_type::DOUBLE:
      return fmt::format("the number {}", double(element));
  }
  return "a value";
}

class Decoder {
 public:
  explicit Decoder(const DecodeOptions& options) : options_(options) {}

  bool Value(const TypeInfo& type, void* value, dom::element element);
  Error Take(std::string_view path);

 private:
  using Entry = std::pair<std::string_view, dom::element>;

  bool Message(const TypeInfo& type, void* value, dom::element element);
  bool List(const TypeInfo& type, void* value, dom::element element);
  bool Map(const TypeInfo& type, void* value, dom::element element);
  bool UnsortedMap(const TypeInfo& type, void* value, const dom::object& object);
  bool MapEntry(const TypeInfo& type, void* value, std::string_view key, dom::element element);
  bool QuantityValue(Quantity& value, dom::element element);
  bool IntOrStringValue(IntOrString& value, dom::element element);
  bool Integer(int64_t min, int64_t max, std::string_view type, dom::element element,
               int64_t* value);
  template <class T>
  bool Text(T& value, std::string_view type, dom::element element);

  bool Wrong(std::string_view want, dom::element element);
  bool Reject(std::string message);
  bool Inside(std::string step);

  DecodeOptions options_;
  std::string message_;
  std::vector<std::string> path_;  // innermost first
};

bool Decoder::Reject(std::string message) {
  message_ = std::move(message);
  return false;
}

bool Decoder::Wrong(std::string_view want, dom::element element) {
  return Reject(fmt::format("expected {}, got {}", want, Shown(element)));
}

bool Decoder::Inside(std::string step) {
  path_.push_back(std::move(step));
  return false;
}

Error Decoder::Take(std::string_view path) {
  std::string where(path);
  for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
    if (!where.empty() && step->front() != '[') where += '.';
    where += *step;
  }
  if (where.empty()) return Error(std::move(message_));
  return Error(where + ": " + message_);
}

bool Decoder::Message(const TypeInfo& type, void* value, dom::element element) {
  dom::object object;
  if (element.get_object().get(object)) return Wrong("an object", element);
  std::vector<std::string_view> seen;
  for (auto [key, member] : object) {
    const NameTable::Entry* entry = type.names.Find(key);
    if (options_.strict) {
      if (!entry) return Reject("unknown field " + Quoted(key));
      if (std::find(seen.begin(), seen.end(), entry->name) != seen.end()) {
        return Reject("duplicate field " + Quoted(key));
      }
      seen.push_back(entry->name);
    }
    if (!entry || !entry->field) continue;
    const FieldInfo& field = *entry->field;
    if (!Value(*field.type, static_cast<char*>(value) + field.offset, member)) {
      return Inside(std::string(field.name));
    }
  }
  return true;
}

bool Decoder::List(const TypeInfo& type, void* value, dom::element element) {
  dom::array array;
  if (element.get_array().get(array)) return Wrong("an array", element);
  type.list->clear(value);
  type.list->reserve(value, array.size());
  size_t index = 0;
  for (dom::element item : array) {
    if (!Value(*type.element, type.list->append(value), item)) {
      return Inside(fmt::format("[{}]", index));
    }
    ++index;
  }
  return true;
}

bool Decoder::MapEntry(const TypeInfo& type, void* value, std::string_view key,
                       dom::element element) {
  return Value(*type.element, type.map->append(value, key), element) || Inside(std::string(key));
}

bool Decoder::Map(const TypeInfo& type, void* value, dom::element element) {
  dom::object object;
  if (element.get_object().get(object)) return Wrong("an object", element);
  type.map->clear(value);
  type.map->reserve(value, object.size());
  std::string_view last;
  bool first = true;
  for (auto [key, member] : object) {
    // Kubernetes prints maps sorted; anything else takes the longer way.
    if (!first && key <= last) return UnsortedMap(type, value, object);
    first = false;
    last = key;
    if (!MapEntry(type, value, key, member)) return false;
  }
  return true;
}

bool Decoder::UnsortedMap(const TypeInfo& type, void* value, const dom::object& object) {
  type.map->clear(value);
  std::vector<Entry> entries;
  for (auto [key, member] : object) entries.emplace_back(key, member);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.first < b.first; });
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 1 < entries.size() && entries[i + 1].first == entries[i].first) {
      if (options_.strict) return Reject("duplicate field " + Quoted(entries[i].first));
      continue;
    }
    if (!MapEntry(type, value, entries[i].first, entries[i].second)) return false;
  }
  return true;
}

bool Decoder::Integer(int64_t min, int64_t max, std::string_view type, dom::element element,
                      int64_t* value) {
  if (element.type() == dom::element_type::INT64) {
    const int64_t number = element;
    if (number >= min && number <= max) {
      *value = number;
      return true;
    }
  }
  if (element.type() == dom::element_type::INT64 || element.type() == dom::element_type::UINT64) {
    return Reject(fmt::format("{} does not fit {}", Shown(element), type));
  }
  return Wrong("an integer", element);
}

template <class T>
bool Decoder::Text(T& value, std::string_view type, dom::element element) {
  std::string_view text;
  if (element.get_string().get(text)) return Wrong(fmt::format("a {} as string", type), element);
  auto parsed = T::Parse(text);
  if (!parsed) {
    return Reject(
        fmt::format("cannot parse {} as a {}: {}", Quoted(text), type, parsed.error().Message()));
  }
  value = *parsed;
  return true;
}

bool Decoder::QuantityValue(Quantity& value, dom::element element) {
  std::string text;
  switch (element.type()) {
    case dom::element_type::STRING:
      text = TrimUnicodeSpace(std::string_view(element));
      break;
    case dom::element_type::INT64:
      text = std::to_string(int64_t(element));
      break;
    case dom::element_type::UINT64:
      text = std::to_string(uint64_t(element));
      break;
    case dom::element_type::DOUBLE:
      AppendJsonNumber(text, double(element));
      break;
    default:
      return Wrong("a quantity", element);
  }
  auto parsed = Quantity::Parse(text);
  if (!parsed) {
    return Reject(
        fmt::format("cannot parse {} as a quantity: {}", Quoted(text), parsed.error().Message()));
  }
  value = std::move(*parsed);
  return true;
}

bool Decoder::IntOrStringValue(IntOrString& value, dom::element element) {
  std::string_view text;
  if (!element.get_string().get(text)) {
    value = IntOrString::String(std::string(text));
    return true;
  }
  int64_t number = 0;
  if (!element.is_number()) return Wrong("an integer or a string", element);
  if (!Integer(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), "int32",
               element, &number)) {
    return false;
  }
  value = IntOrString::Int(static_cast<int32_t>(number));
  return true;
}

bool Decoder::Value(const TypeInfo& type, void* value, dom::element element) {
  if (element.is_null()) {
    if (type.kind == Kind::kOptional) type.optional->reset(value);
    if (type.kind == Kind::kList) type.list->clear(value);
    if (type.kind == Kind::kMap) type.map->clear(value);
    return true;
  }
  switch (type.kind) {
    case Kind::kMessage:
      return Message(type, value, element);
    case Kind::kOptional:
      return Value(*type.element, type.optional->emplace(value), element);
    case Kind::kList:
      return List(type, value, element);
    case Kind::kMap:
      return Map(type, value, element);
    case Kind::kString: {
      std::string_view text;
      if (element.get_string().get(text)) return Wrong("a string", element);
      static_cast<std::string*>(value)->assign(text);
      return true;
    }
    case Kind::kBool:
      if (element.get_bool().get(*static_cast<bool*>(value))) return Wrong("a boolean", element);
      return true;
    case Kind::kInt32: {
      int64_t number = 0;
      if (!Integer(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(),
                   type.name, element, &number)) {
        return false;
      }
      *static_cast<int32_t*>(value) = static_cast<int32_t>(number);
      return true;
    }
    case Kind::kInt64:
      return Integer(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                     type.name, element, static_cast<int64_t*>(value));
    case Kind::kDouble:
      if (element.get_double().get(*static_cast<double*>(value))) return Wrong("a number", element);
      return true;
    case Kind::kQuantity:
      return QuantityValue(*static_cast<Quantity*>(value), element);
    case Kind::kTime:
      return Text(*static_cast<Time*>(value), type.name, element);
    case Kind::kMicroTime:
      return Text(*static_cast<MicroTime*>(value), type.name, element);
    case Kind::kDuration:
      return Text(*static_cast<Duration*>(value), type.name, element);
    case Kind::kIntOrString:
      return IntOrStringValue(*static_cast<IntOrString*>(value), element);
    case Kind::kBytes: {
      std::string_view text;
      if (element.get_string().get(text)) return Wrong("base64 as string", element);
      if (!DecodeBase64(text, static_cast<Bytes*>(value)->data)) {
        return Reject(fmt::format("cannot parse {} as base64", Quoted(text)));
      }
      return true;
    }
    case Kind::kRawJson:
      static_cast<RawJson*>(value)->text = simdjson::minify(element);
      return true;
    case Kind::kPresence:
      if (!element.is_object()) return Wrong("an object", element);
      return true;
  }
  return true;
}

}  // namespace

Result<void> DecodeDom(const TypeInfo& type, void* value, dom::element element,
                       std::string_view path, DecodeOptions options) {
  Decoder decoder(options);
  if (!decoder.Value(type, value, element)) return Fail(decoder.Take(path));
  return {};
}

struct JsonDecoder::Impl {
  DecodeOptions options;
  dom::parser parser;
};

JsonDecoder::JsonDecoder(DecodeOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
}
JsonDecoder::JsonDecoder(JsonDecoder&&) noexcept = default;
JsonDecoder& JsonDecoder::operator=(JsonDecoder&&) noexcept = default;
JsonDecoder::~JsonDecoder() = default;

Result<void> JsonDecoder::DecodeInto(const TypeInfo& type, void* value, std::string_view json) {
  dom::element root;
  auto error = impl_->parser.parse(json.data(), json.size()).get(root);
  std::string quoted;
  if (error == simdjson::NUMBER_ERROR && !FindJsonError(json)) {
    // A number beyond 64 bits: a quantity may be one, so let the field decide.
    quoted = QuoteHugeNumbers(json);
    error = impl_->parser.parse(quoted).get(root);
  }
  if (error) {
    if (auto found = FindJsonError(json)) return Fail("invalid JSON: " + *found);
    return Fail(fmt::format("invalid JSON: {}", simdjson::error_message(error)));
  }
  return DecodeDom(type, value, root, {}, impl_->options);
}

}  // namespace berth::api
