#include "api/codec/yaml_writer.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/yaml.h"
#include "api/codec/yaml_events.h"
#include "api/codec/yaml_scalar.h"
#include "api/go/go_text.h"

namespace berth::api {
namespace {

using yaml::Kind;
using yaml::Scalar;

// A value read from JSON; keys are strings.
struct Tree {
  enum class Type { kScalar, kSequence, kMapping };
  Type type = Type::kScalar;
  bool is_string = false;
  std::string text;  // of a scalar, as it is written
  struct Child;
  std::vector<Child> children;
};

struct Tree::Child {
  std::string first;  // the key, in a mapping
  Tree second;
};

// unicode.IsLetter for the keys Kubernetes has; beyond ASCII everything counts as a letter.
bool IsLetter(uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0xAA; }
bool IsDigit(uint32_t c) { return c >= '0' && c <= '9'; }

std::vector<uint32_t> Runes(std::string_view text) {
  std::vector<uint32_t> out;
  bool valid;
  for (size_t i = 0; i < text.size();) out.push_back(DecodeUtf8(text, &i, &valid));
  return out;
}

// Control characters that JSON's strings may hold as they are and YAML's may not.
std::string EscapeControls(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (size_t i = 0; i < json.size();) {
    const size_t start = i;
    bool valid = true;
    const uint32_t c = DecodeUtf8(json, &i, &valid);
    const bool control = (c >= 0x7f && c < 0xa0 && c != 0x85) || c == 0xfffe || c == 0xffff;
    control ? out += fmt::format("\\u{:04x}", c) : out += json.substr(start, i - start);
  }
  return out;
}

// The value of the digits at `pos`, which is moved behind them; wraps around as the original does.
uint64_t TakeNumber(const std::vector<uint32_t>& text, size_t& pos, uint64_t start) {
  uint64_t value = start;
  for (; pos < text.size() && IsDigit(text[pos]); ++pos) value = value * 10 + (text[pos] - '0');
  return value;
}

// go-yaml's order of keys: letters by code, after everything else; runs of digits by their number.
bool NaturalLess(std::string_view a_text, std::string_view b_text) {
  const std::vector<uint32_t> a = Runes(a_text);
  const std::vector<uint32_t> b = Runes(b_text);
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i] == b[i]) continue;
    const bool a_letter = IsLetter(a[i]);
    const bool b_letter = IsLetter(b[i]);
    if (a_letter && b_letter) return a[i] < b[i];
    if (a_letter || b_letter) return b_letter;
    uint64_t start = 0;
    if (a[i] == '0' || b[i] == '0') {
      for (size_t j = i; j > 0 && IsDigit(a[j - 1]); --j) {
        if (a[j - 1] != '0') {
          start = 1;
          break;
        }
      }
    }
    size_t a_end = i;
    size_t b_end = i;
    const auto a_number = static_cast<int64_t>(TakeNumber(a, a_end, start));
    const auto b_number = static_cast<int64_t>(TakeNumber(b, b_end, start));
    if (a_number != b_number) return a_number < b_number;
    if (a_end != b_end) return a_end < b_end;
    return a[i] < b[i];
  }
  return a.size() < b.size();
}

Tree ScalarTree(const Scalar& scalar) {
  Tree tree;
  switch (scalar.kind) {
    case Kind::kString:
      tree.is_string = true;
      tree.text = scalar.text;
      break;
    case Kind::kFloat:
      tree.text = FormatGoFloat(scalar.real);
      break;
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
      yaml::AppendJson(tree.text, scalar);
      break;
  }
  return tree;
}

Result<Tree> ReadTree(yaml::Events& events);

// After the start of a collection up to its end.
Result<Tree> ReadCollection(yaml::Events& events, bool mapping) {
  Tree tree;
  tree.type = mapping ? Tree::Type::kMapping : Tree::Type::kSequence;
  const yaml_event_type_t end = mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
  while (true) {
    if (auto next = events.Next(); !next) return Fail(next.error());
    if (events.Current().type == end) break;
    auto& [key, child] = tree.children.emplace_back();
    if (mapping) {
      key = events.ScalarValue();
      if (auto next = events.Next(); !next) return Fail(next.error());
    }
    auto value = ReadTree(events);
    if (!value) return value;
    child = std::move(*value);
  }
  if (mapping) {
    std::stable_sort(tree.children.begin(), tree.children.end(),
                     [](const auto& a, const auto& b) { return NaturalLess(a.first, b.first); });
  }
  return tree;
}

// The text came out of YamlToJson(), so it has no aliases and only scalar keys.
Result<Tree> ReadTree(yaml::Events& events) {
  const yaml_event_t& event = events.Current();
  if (event.type != YAML_SCALAR_EVENT) {
    return ReadCollection(events, event.type == YAML_MAPPING_START_EVENT);
  }
  std::string storage;
  const auto scalar =
      yaml::ResolveScalar("", events.ScalarValue(), event.data.scalar.plain_implicit != 0, storage);
  if (!scalar) return Fail(scalar.error());
  return ScalarTree(*scalar);
}

// [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?, which other parsers read as a number in base 60.
bool IsBase60(std::string_view text) {
  size_t i = 0;
  const auto skip = [&](bool underscores) {
    while (i < text.size() &&
           (IsDigit(static_cast<unsigned char>(text[i])) || (underscores && text[i] == '_'))) {
      ++i;
    }
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  if (i >= text.size() || !IsDigit(static_cast<unsigned char>(text[i]))) return false;
  skip(true);
  size_t groups = 0;
  while (i < text.size() && text[i] == ':') {
    const size_t begin = ++i;
    skip(false);
    const size_t digits = i - begin;
    if (digits == 0 || digits > 2 || (digits == 2 && text[begin] > '5')) return false;
    ++groups;
  }
  if (i < text.size() && text[i] == '.') {
    ++i;
    skip(true);
  }
  return groups > 0 && i == text.size();
}

// Whether the text, written without quotes, reads as this string again.
bool CanBePlain(std::string_view text) {
  std::string storage;
  const auto scalar = yaml::ResolveScalar("", text, true, storage);
  return scalar && scalar->kind == Kind::kString && !yaml::IsTimestamp(text) && !IsBase60(text);
}

class Emitter {
 public:
  Emitter() {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_output(
        &emitter_,
        [](void* out, unsigned char* data, size_t size) {
          static_cast<std::string*>(out)->append(reinterpret_cast<char*>(data), size);
          return 1;
        },
        &out_);
    yaml_emitter_set_unicode(&emitter_, 1);
  }
  ~Emitter() { yaml_emitter_delete(&emitter_); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  Result<std::string> Write(const Tree& tree) {
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    Emit(event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1);
    Emit(event);
    WriteTree(tree);
    yaml_document_end_event_initialize(&event, 1);
    Emit(event);
    emitter_.open_ended = 0;
    yaml_stream_end_event_initialize(&event);
    Emit(event);
    if (!ok_) return Fail(emitter_.problem != nullptr ? emitter_.problem : "cannot write YAML");
    return std::move(out_);
  }

 private:
  void Emit(yaml_event_t& event) {
    if (!ok_) {
      yaml_event_delete(&event);
      return;
    }
    ok_ = yaml_emitter_emit(&emitter_, &event) != 0;
  }

  void WriteTree(const Tree& tree) {
    yaml_event_t event;
    switch (tree.type) {
      case Tree::Type::kScalar:
        WriteScalar(tree.text, tree.is_string);
        return;
      case Tree::Type::kSequence:
        yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                             YAML_BLOCK_SEQUENCE_STYLE);
        break;
      case Tree::Type::kMapping:
        yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE);
        break;
    }
    Emit(event);
    for (const auto& [key, child] : tree.children) {
      if (tree.type == Tree::Type::kMapping) WriteScalar(key, true);
      WriteTree(child);
    }
    if (tree.type == Tree::Type::kMapping) {
      yaml_mapping_end_event_initialize(&event);
    } else {
      yaml_sequence_end_event_initialize(&event);
    }
    Emit(event);
  }

  void WriteScalar(const std::string& text, bool is_string) {
    yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;
    if (is_string && text.find('\n') != std::string::npos) {
      style = YAML_LITERAL_SCALAR_STYLE;
    } else if (is_string && !CanBePlain(text)) {
      style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    }
    yaml_event_t event;
    const auto* bytes = reinterpret_cast<const yaml_char_t*>(text.data());
    if (yaml_scalar_event_initialize(&event, nullptr, nullptr, bytes, static_cast<int>(text.size()),
                                     1, 1, style) == 0) {
      ok_ = false;
      return;
    }
    Emit(event);
  }

  yaml_emitter_t emitter_;
  std::string out_;
  bool ok_ = true;
};

}  // namespace

Result<std::string> JsonToYaml(std::string_view json) {
  const auto normalized = YamlToJson(EscapeControls(json));
  if (!normalized) return normalized;
  const std::string escaped = EscapeControls(*normalized);
  yaml::Events events(escaped);
  do {
    if (auto next = events.Next(); !next) return Fail(next.error());
  } while (events.Current().type == YAML_STREAM_START_EVENT ||
           events.Current().type == YAML_DOCUMENT_START_EVENT);
  const auto tree = ReadTree(events);
  if (!tree) return Fail(tree.error());
  return Emitter().Write(*tree);
}

}  // namespace berth::api
