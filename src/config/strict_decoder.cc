#include "config/strict_decoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "api/codec/base64.h"
#include "api/go/go_text.h"
#include "api/time.h"
#include "api/values.h"

namespace berth::config {
namespace {

using api::Kind;
using api::TypeInfo;
using TreeKind = JsonTree::Kind;

constexpr size_t kMaxStrictErrors = 100;

// Fields whose Go type is a string with a name of its own.
struct NamedString {
  std::string_view message;
  std::string_view field;
  std::string_view go_type;
};
constexpr NamedString kNamedStrings[] = {
    {"ScoringStrategy", "type", "v1.ScoringStrategyType"},
    {"PodTopologySpreadArgs", "defaultingType", "v1.PodTopologySpreadConstraintsDefaulting"},
    {"TopologySpreadConstraint", "whenUnsatisfiable", "v1.UnsatisfiableConstraintAction"},
    {"TopologySpreadConstraint", "nodeAffinityPolicy", "v1.NodeInclusionPolicy"},
    {"TopologySpreadConstraint", "nodeTaintsPolicy", "v1.NodeInclusionPolicy"},
    {"NodeSelectorRequirement", "operator", "v1.NodeSelectorOperator"},
    {"LabelSelectorRequirement", "operator", "v1.LabelSelectorOperator"},
};

std::string_view NamedStringOf(std::string_view message, std::string_view field) {
  for (const NamedString& row : kNamedStrings) {
    if (row.message == message && row.field == field) return row.go_type;
  }
  return {};
}

std::string GoType(const TypeInfo& type) {
  switch (type.kind) {
    case Kind::kString:
      return "string";
    case Kind::kBool:
      return "bool";
    case Kind::kInt32:
      return "int32";
    case Kind::kInt64:
      return "int64";
    case Kind::kDouble:
      return "float64";
    case Kind::kDuration:
      return "string";
    case Kind::kBytes:
      return "[]uint8";
    case Kind::kOptional:
      return GoType(*type.element);
    case Kind::kList:
      return "[]" + GoType(*type.element);
    case Kind::kMap:
      return "map[string]" + GoType(*type.element);
    case Kind::kMessage: {
      const bool shared = type.name == "LeaderElectionConfiguration" ||
                          type.name == "ClientConnectionConfiguration";
      return (shared ? "v1alpha1." : "v1.") + std::string(type.name);
    }
    default:
      return std::string(type.name);
  }
}

template <class T>
bool ParseInt(std::string_view text, void* out) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  *static_cast<T*>(out) = value;
  return true;
}

bool ParseDouble(std::string_view text, void* out) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  *static_cast<double*>(out) = value;
  return true;
}

// The only field of this type: qps.
bool IsFloat32(const TypeInfo& type, std::string_view message) {
  return type.kind == Kind::kDouble && message == "ClientConnectionConfiguration";
}

// A float32, kept as the double with the same shortest decimal.
bool ParseFloat(std::string_view text, void* out) {
  double exact = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
  if (error == std::errc::result_out_of_range && exact != 0) return false;
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return false;
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded)) return false;
  const std::string shortest = api::FormatGoFloat(rounded, 32);
  std::from_chars(shortest.data(), shortest.data() + shortest.size(), *static_cast<double*>(out));
  return true;
}

// Where Go's base64 decoder stops reading `text`.
size_t CorruptBase64Offset(std::string_view text) {
  size_t in_quantum = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\r' || c == '\n') continue;
    const bool alphabet = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                          (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (alphabet) {
      in_quantum = (in_quantum + 1) % 4;
      continue;
    }
    if (c != '=' || in_quantum < 2) return i;
    // Padding: one more '=' is due after two characters, and then nothing.
    size_t next = i + 1;
    const auto skip_breaks = [&] {
      while (next < text.size() && (text[next] == '\r' || text[next] == '\n')) ++next;
    };
    skip_breaks();
    if (in_quantum == 2) {
      if (next == text.size()) return text.size();
      if (text[next] != '=') return next;
      ++next;
      skip_breaks();
    }
    return next;
  }
  return text.size() - in_quantum;
}

}  // namespace

void StrictDecoder::Decode(const JsonTree& tree, const TypeInfo& type, void* out) {
  Value(tree, type, out, {});
}

std::string StrictDecoder::MismatchText(std::string_view value, std::string_view go_type) const {
  if (struct_name_.empty()) {
    return fmt::format("json: cannot unmarshal {} into Go value of type {}", value, go_type);
  }
  const bool embedded = names_embedded_ && (field_path_.back() == "enableProfiling" ||
                                            field_path_.back() == "enableContentionProfiling");
  return fmt::format("json: cannot unmarshal {} into Go struct field {}.{}{} of type {}", value,
                     struct_name_, embedded ? "DebuggingConfiguration." : "",
                     fmt::join(field_path_, "."), go_type);
}

void StrictDecoder::Mismatch(std::string_view value, std::string_view go_type) {
  if (first_mismatch_.empty()) first_mismatch_ = MismatchText(value, go_type);
}

void StrictDecoder::Strict(std::string_view what, std::string_view field) {
  if (strict_errors_.size() >= kMaxStrictErrors) return;
  const std::string path =
      strict_path_.empty() ? std::string(field) : fmt::format("{}.{}", strict_path_, field);
  std::string text = fmt::format("{} {}", what, api::GoQuote(path));
  if (seen_strict_.insert(text).second) strict_errors_.push_back(std::move(text));
}

// `go_type` overrides the type's own name in errors if it is not empty.
void StrictDecoder::Value(const JsonTree& tree, const TypeInfo& type, void* out,
                          std::string_view go_type) {
  if (!abort_.empty()) return;
  const bool null = tree.kind == TreeKind::kNull;
  switch (type.kind) {
    case Kind::kOptional:
      if (null) {
        type.optional->reset(out);
      } else {
        Value(tree, *type.element, type.optional->emplace(out), go_type);
      }
      return;
    case Kind::kDuration:
      Duration(tree, out);
      return;
    case Kind::kRawJson:
      if (!null) static_cast<api::RawJson*>(out)->text = tree.source;
      return;
    case Kind::kList:
      if (null) {
        type.list->clear(out);
        return;
      }
      break;
    default:
      if (null) return;
      break;
  }
  const auto matches = [&](TreeKind kind) {
    if (tree.kind == kind) return true;
    const std::string own = IsFloat32(type, struct_name_) ? "float32" : GoType(type);
    Mismatch(KindName(tree.kind), go_type.empty() ? own : std::string(go_type));
    return false;
  };
  switch (type.kind) {
    case Kind::kMessage:
      if (matches(TreeKind::kObject)) Message(tree, type, out);
      return;
    case Kind::kList:
      if (matches(TreeKind::kArray)) List(tree, type, out);
      return;
    case Kind::kMap:
      if (matches(TreeKind::kObject)) Map(tree, type, out);
      return;
    case Kind::kString:
      if (matches(TreeKind::kString)) *static_cast<std::string*>(out) = tree.text;
      return;
    case Kind::kBool:
      if (matches(TreeKind::kBool)) *static_cast<bool*>(out) = tree.boolean;
      return;
    case Kind::kInt32:
    case Kind::kInt64:
    case Kind::kDouble:
      if (matches(TreeKind::kNumber)) Number(tree, type, out);
      return;
    case Kind::kBytes:
      Bytes(tree, out);
      return;
    case Kind::kQuantity: {  // reads itself, as durations do
      const bool plain = tree.kind == TreeKind::kString || tree.kind == TreeKind::kNumber;
      auto amount = api::Quantity::Parse(plain ? std::string_view(tree.text) : tree.source);
      if (amount) {
        *static_cast<api::Quantity*>(out) = std::move(*amount);
      } else {
        abort_ = amount.error().Message();
      }
      return;
    }
    default:
      return;
  }
}

bool StrictDecoder::IsUnknown(const TypeInfo& type, std::string_view field) const {
  return std::any_of(unknown_.begin(), unknown_.end(), [&](const TypeField& unknown) {
    return unknown.type == type.name && unknown.field == field;
  });
}

void StrictDecoder::Message(const JsonTree& tree, const TypeInfo& type, void* out) {
  std::unordered_set<std::string_view> seen;
  for (const auto& [name, value] : tree.members) Member(name, value, type, out, seen);
}

void StrictDecoder::Member(const std::string& name, const JsonTree& tree, const TypeInfo& type,
                           void* out, std::unordered_set<std::string_view>& seen) {
  const bool type_meta = !type.object_kind.empty() && (name == "kind" || name == "apiVersion");
  const api::NameTable::Entry* entry = type.names.Find(name);
  if (!type_meta && (entry == nullptr || IsUnknown(type, name))) {
    Strict("unknown field", name);
    return;
  }
  if (!seen.insert(name).second) Strict("duplicate field", name);
  if (!type_meta && entry->field == nullptr) return;

  std::string outer_struct = std::exchange(struct_name_, std::string(type.name));
  const size_t outer_path = strict_path_.size();
  field_path_.push_back(name);
  if (!strict_path_.empty()) strict_path_ += '.';
  strict_path_ += name;
  if (type_meta) {
    std::string ignored;
    Value(tree, api::TypeOf<std::string>(), &ignored, {});
  } else {
    Value(tree, *entry->field->type, static_cast<char*>(out) + entry->field->offset,
          NamedStringOf(type.name, name));
  }
  strict_path_.resize(outer_path);
  field_path_.pop_back();
  struct_name_ = std::move(outer_struct);
}

void StrictDecoder::List(const JsonTree& tree, const TypeInfo& type, void* out) {
  type.list->clear(out);
  const size_t outer_path = strict_path_.size();
  for (size_t i = 0; i < tree.items.size(); ++i) {
    strict_path_ += fmt::format("[{}]", i);
    Value(tree.items[i], *type.element, type.list->append(out), {});
    strict_path_.resize(outer_path);
  }
}

void StrictDecoder::Map(const JsonTree& tree, const TypeInfo& type, void* out) {
  std::vector<std::pair<std::string_view, const JsonTree*>> members;
  std::unordered_set<std::string_view> seen;
  for (const auto& [name, value] : tree.members) {
    if (!seen.insert(name).second) Strict("duplicate field", name);
    members.emplace_back(name, &value);
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  type.map->clear(out);
  for (size_t i = 0; i < members.size(); ++i) {
    if (i + 1 < members.size() && members[i].first == members[i + 1].first) continue;
    Value(*members[i].second, *type.element, type.map->append(out, members[i].first), {});
  }
}

void StrictDecoder::Number(const JsonTree& tree, const TypeInfo& type, void* out) {
  const bool is_float32 = IsFloat32(type, struct_name_);
  const bool fits = type.kind == Kind::kInt32   ? ParseInt<int32_t>(tree.text, out)
                    : type.kind == Kind::kInt64 ? ParseInt<int64_t>(tree.text, out)
                    : is_float32                ? ParseFloat(tree.text, out)
                                                : ParseDouble(tree.text, out);
  if (!fits) Mismatch("number " + tree.text, is_float32 ? "float32" : GoType(type));
}

// A duration reads itself, so its errors end decoding at once.
void StrictDecoder::Duration(const JsonTree& tree, void* out) {
  if (tree.kind != TreeKind::kString && tree.kind != TreeKind::kNull) {
    abort_ = MismatchText(KindName(tree.kind), "string");
    return;
  }
  const auto duration = api::Duration::Parse(tree.text);
  if (duration) {
    *static_cast<api::Duration*>(out) = *duration;
  } else {
    abort_ = duration.error().Message();
  }
}

void StrictDecoder::Bytes(const JsonTree& tree, void* out) {
  std::string& data = static_cast<api::Bytes*>(out)->data;
  if (tree.kind == TreeKind::kArray) {
    data.clear();
    for (const JsonTree& item : tree.items) {
      int64_t value = 0;
      if (item.kind != TreeKind::kNumber && item.kind != TreeKind::kNull) {
        Mismatch(KindName(item.kind), "uint8");
      } else if (item.kind == TreeKind::kNumber &&
                 (!ParseInt<int64_t>(item.text, &value) || value < 0 || value > 255)) {
        Mismatch("number " + item.text, "uint8");
      }
      data += static_cast<char>(value);
    }
    return;
  }
  if (tree.kind != TreeKind::kString) {
    Mismatch(KindName(tree.kind), "[]uint8");
    return;
  }
  if (!api::DecodeBase64(tree.text, data) && first_mismatch_.empty()) {
    first_mismatch_ =
        fmt::format("illegal base64 data at input byte {}", CorruptBase64Offset(tree.text));
  }
}

}  // namespace berth::config
