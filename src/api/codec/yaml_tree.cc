#include "api/codec/yaml_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "api/codec/yaml_errors.h"
#include "api/go/go_text.h"

namespace berth::api::yaml {

// What the parser saw, before any meaning is given to it.
struct TreeConverter::Node {
  enum class Type { kScalar, kSequence, kMapping, kAlias };
  Type type = Type::kScalar;
  bool plain = false;
  size_t line = 0;
  std::string tag;
  std::string value;  // of a scalar; the anchor's name for an alias
  const Node* target = nullptr;
  std::vector<std::unique_ptr<Node>> children;  // keys and values alternate in a mapping
};

struct TreeConverter::Value {
  Scalar scalar;
  std::unique_ptr<std::string> storage;  // backs scalar.text where it is not the node's
  std::unique_ptr<std::vector<Value>> sequence;
  std::unique_ptr<Mapping> mapping;
};

struct TreeConverter::Mapping {
  struct Entry {
    Value key;
    Value value;
  };
  std::vector<Entry> entries;
  std::unordered_map<std::string, size_t> index;  // by identity of the key
};

namespace {

using Kind = berth::api::yaml::Kind;

// Text that is equal exactly for keys that are equal in a Go map; empty for NaN, which equals
// nothing.
std::string IdentityOf(const Scalar& key) {
  switch (key.kind) {
    case Kind::kNull:
      return "n";
    case Kind::kBool:
      return key.boolean ? "bt" : "bf";
    case Kind::kInt:
      return fmt::format("i{}", key.integer);
    case Kind::kUint:
      return fmt::format("u{}", key.unsigned_integer);
    case Kind::kFloat:
      if (std::isnan(key.real)) return "";
      return fmt::format("f{}", std::bit_cast<uint64_t>(key.real == 0 ? 0.0 : key.real));
    case Kind::kString:
      return "s" + std::string(key.text);
  }
  return "";
}

// How large a share of the decoding may come from aliases, by the amount decoded: go-yaml's curve.
double AllowedAliasRatio(size_t decoded) {
  constexpr double kLow = 400000;
  constexpr double kHigh = 4000000;
  const auto count = static_cast<double>(decoded);
  if (count <= kLow) return 0.99;
  if (count >= kHigh) return 0.10;
  return 0.99 - 0.89 * ((count - kLow) / (kHigh - kLow));
}

constexpr std::string_view kExcessiveAliasing = "yaml: document contains excessive aliasing";
constexpr size_t kMinJsonLimit = size_t{64} << 20;
constexpr size_t kMaxGrowth = 16;

}  // namespace

// Gives nodes their values. Recursion is bounded: an alias inside its own anchor is refused, and
// alias targets add their own nesting at most once each before the depth limit ends it.
class TreeConverter::Decoder {
 public:
  explicit Decoder(bool strict) : strict_(strict) {}

  Result<Value> Decode(const Node& node, size_t depth) {
    if (auto counted = Count(depth); !counted) return Fail(counted.error());
    switch (node.type) {
      case Node::Type::kAlias:
        return DecodeAlias(node, depth);
      case Node::Type::kScalar:
        return DecodeScalar(node);
      case Node::Type::kSequence:
        return DecodeSequence(node, depth);
      case Node::Type::kMapping:
        break;
    }
    Value value;
    value.mapping = std::make_unique<Mapping>();
    if (auto filled = FillMapping(node, *value.mapping, depth); !filled) {
      return Fail(filled.error());
    }
    return value;
  }

  const std::vector<std::string>& Errors() const { return errors_; }

 private:
  Result<void> Count(size_t depth) {
    ++decoded_;
    if (alias_depth_ > 0) ++aliased_;
    const bool excessive =
        aliased_ > 100 && decoded_ > 1000 &&
        static_cast<double>(aliased_) / static_cast<double>(decoded_) > AllowedAliasRatio(decoded_);
    if (excessive) return Fail(std::string(kExcessiveAliasing));
    if (depth > kMaxYamlDepth) {
      return Fail(fmt::format("yaml: exceeded max depth of {}", kMaxYamlDepth));
    }
    return {};
  }

  Result<void> EnterAlias(const Node& node) {
    if (!open_aliases_.insert(&node).second) {
      return Fail(fmt::format("yaml: anchor '{}' value contains itself", node.value));
    }
    ++alias_depth_;
    return {};
  }

  void LeaveAlias(const Node& node) {
    --alias_depth_;
    open_aliases_.erase(&node);
  }

  Result<Value> DecodeAlias(const Node& node, size_t depth) {
    if (auto entered = EnterAlias(node); !entered) return Fail(entered.error());
    auto value = Decode(*node.target, depth + 1);
    LeaveAlias(node);
    return value;
  }

  static Result<Value> DecodeScalar(const Node& node) {
    std::string storage;
    const auto resolved = ResolveScalar(node.tag, node.value, node.plain, storage);
    if (!resolved) return Fail("yaml: " + resolved.error().Message());
    Value value;
    value.scalar = *resolved;
    if (!storage.empty()) {
      value.storage = std::make_unique<std::string>(std::move(storage));
      value.scalar.text = *value.storage;
    }
    return value;
  }

  Result<Value> DecodeSequence(const Node& node, size_t depth) {
    Value value;
    value.sequence = std::make_unique<std::vector<Value>>();
    for (const auto& child : node.children) {
      auto element = Decode(*child, depth + 1);
      if (!element) return element;
      value.sequence->push_back(std::move(*element));
    }
    return value;
  }

  Result<void> FillMapping(const Node& node, Mapping& mapping, size_t depth) {
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const Node& key_node = *node.children[i];
      const Node& value_node = *node.children[i + 1];
      if (key_node.type == Node::Type::kScalar &&
          IsMergeKey(key_node.tag, key_node.value, key_node.plain)) {
        if (auto merged = Merge(value_node, mapping, depth); !merged) return merged;
        continue;
      }
      auto key = Decode(key_node, depth + 1);
      if (!key) return Fail(key.error());
      if (key->sequence || key->mapping) return Fail("yaml: invalid map key: " + Describe(*key));
      auto value = Decode(value_node, depth + 1);
      if (!value) return Fail(value.error());
      Set(mapping, std::move(*key), std::move(*value), value_node.line);
    }
    return {};
  }

  void Set(Mapping& mapping, Value key, Value value, size_t line) {
    const std::string identity = IdentityOf(key.scalar);
    if (!identity.empty()) {
      const auto [it, inserted] = mapping.index.try_emplace(identity, mapping.entries.size());
      if (!inserted) {
        if (strict_) {
          errors_.push_back(
              DuplicateKey(line, key.scalar.kind == Kind::kNull ? "<nil>" : GoSyntax(key.scalar)));
        } else {
          mapping.entries[it->second].value = std::move(value);
        }
        return;
      }
    }
    mapping.entries.push_back({std::move(key), std::move(value)});
  }

  // The members of `node`, a mapping or an alias of one, become members of `mapping`.
  Result<void> MergeOne(const Node& node, Mapping& mapping, size_t depth) {
    if (auto counted = Count(depth); !counted) return counted;
    if (node.type == Node::Type::kMapping) return FillMapping(node, mapping, depth);
    if (auto entered = EnterAlias(node); !entered) return entered;
    Result<void> merged = Count(depth);
    if (merged) merged = FillMapping(*node.target, mapping, depth + 1);
    LeaveAlias(node);
    return merged;
  }

  static bool IsMergeable(const Node& node) {
    return node.type == Node::Type::kMapping ||
           (node.type == Node::Type::kAlias && node.target->type == Node::Type::kMapping);
  }

  Result<void> Merge(const Node& node, Mapping& mapping, size_t depth) {
    const std::string refusal = "yaml: map merge requires map or sequence of maps as the value";
    if (IsMergeable(node)) return MergeOne(node, mapping, depth + 1);
    if (node.type != Node::Type::kSequence) return Fail(refusal);
    // The last is merged first: it yields to the earlier ones.
    for (auto it = node.children.rbegin(); it != node.children.rend(); ++it) {
      if (!IsMergeable(**it)) return Fail(refusal);
      if (auto merged = MergeOne(**it, mapping, depth + 1); !merged) return merged;
    }
    return {};
  }

 public:
  // %#v of the value. The order of keys is Go's: numbers before strings is not attempted beyond one
  // kind.
  static std::string Describe(const Value& value) {
    if (value.sequence) {
      std::vector<std::string> parts;
      for (const Value& element : *value.sequence) parts.push_back(Describe(element));
      return fmt::format("[]interface {{}}{{{}}}", fmt::join(parts, ", "));
    }
    if (value.mapping) {
      std::vector<std::string> parts;
      for (const auto& entry : value.mapping->entries) {
        parts.push_back(Describe(entry.key) + ":" + Describe(entry.value));
      }
      std::sort(parts.begin(), parts.end());
      return fmt::format("map[interface {{}}]interface {{}}{{{}}}", fmt::join(parts, ", "));
    }
    return GoSyntax(value.scalar);
  }

 private:
  bool strict_;
  size_t decoded_ = 1;  // the document itself counts
  size_t aliased_ = 0;
  size_t alias_depth_ = 0;
  std::unordered_set<const Node*> open_aliases_;
  std::vector<std::string> errors_;
};

TreeConverter::TreeConverter(YamlOptions options, size_t text_size)
    : options_(options), max_json_(std::max(kMinJsonLimit, kMaxGrowth * text_size)) {}

TreeConverter::~TreeConverter() = default;

Result<std::string> TreeConverter::Convert(Events& events) {
  anchors_.clear();
  json_failure_.clear();
  if (auto next = events.Next(); !next) return Fail(next.error());
  const auto root = Parse(events);
  if (!root) return Fail(root.error());
  if (auto next = events.Next(); !next) return Fail(next.error());
  Decoder decoder(options_.strict);
  const auto value = decoder.Decode(**root, 0);
  if (!value) return Fail(value.error());
  if (!decoder.Errors().empty()) return Fail(UnmarshalErrors(decoder.Errors()));
  std::string out;
  if (auto written = ToJson(*value, out); !written) return Fail(written.error());
  if (!json_failure_.empty()) return Fail(json_failure_);
  return out;
}

Result<std::unique_ptr<TreeConverter::Node>> TreeConverter::Parse(Events& events) {
  const yaml_event_t& event = events.Current();
  auto node = std::make_unique<Node>();
  node->line = events.Line();
  const yaml_char_t* anchor = nullptr;
  yaml_event_type_t end = YAML_NO_EVENT;
  switch (event.type) {
    case YAML_ALIAS_EVENT: {
      node->type = Node::Type::kAlias;
      node->value = View(event.data.alias.anchor);
      const auto it = anchors_.find(node->value);
      if (it == anchors_.end()) {
        return Fail(fmt::format("yaml: unknown anchor '{}' referenced", node->value));
      }
      node->target = it->second;
      break;
    }
    case YAML_SEQUENCE_START_EVENT:
      node->type = Node::Type::kSequence;
      anchor = event.data.sequence_start.anchor;
      end = YAML_SEQUENCE_END_EVENT;
      break;
    case YAML_MAPPING_START_EVENT:
      node->type = Node::Type::kMapping;
      anchor = event.data.mapping_start.anchor;
      end = YAML_MAPPING_END_EVENT;
      break;
    default:
      node->value = events.ScalarValue();
      node->tag = View(event.data.scalar.tag);
      node->plain = event.data.scalar.plain_implicit != 0;
      anchor = event.data.scalar.anchor;
      break;
  }
  if (anchor != nullptr) anchors_[std::string(View(anchor))] = node.get();
  if (end != YAML_NO_EVENT) {
    if (auto parsed = ParseChildren(events, *node, end); !parsed) return Fail(parsed.error());
  }
  return node;
}

// Recursion is bounded by the nesting Events allows.
Result<void> TreeConverter::ParseChildren(Events& events, Node& node, yaml_event_type_t end) {
  while (true) {
    if (auto next = events.Next(); !next) return next;
    if (events.Current().type == end) return {};
    auto child = Parse(events);
    if (!child) return Fail(child.error());
    node.children.push_back(std::move(*child));
  }
}

Result<void> TreeConverter::ToJson(const Value& value, std::string& out) {
  if (out.size() > max_json_) return Fail(std::string(kExcessiveAliasing));
  if (value.mapping) return MappingToJson(*value.mapping, out);
  if (value.sequence) {
    out += '[';
    for (size_t i = 0; i < value.sequence->size(); ++i) {
      if (i > 0) out += ',';
      if (auto written = ToJson((*value.sequence)[i], out); !written) return written;
    }
    out += ']';
    return {};
  }
  if (value.scalar.kind == Kind::kFloat && !std::isfinite(value.scalar.real)) {
    if (json_failure_.empty()) json_failure_ = UnsupportedValue(value.scalar.real);
    return {};
  }
  AppendJson(out, value.scalar);
  return {};
}

Result<void> TreeConverter::MappingToJson(const Mapping& mapping, std::string& out) {
  std::vector<std::pair<std::string, const Value*>> members;
  for (const auto& [key, value] : mapping.entries) {
    switch (key.scalar.kind) {
      case Kind::kString:
        members.emplace_back(key.scalar.text, &value);
        break;
      case Kind::kInt:
      case Kind::kBool:
        members.emplace_back(GoSyntax(key.scalar), &value);
        break;
      case Kind::kFloat: {
        std::string text = FormatGoFloat(key.scalar.real, 32);
        if (text == "+Inf") text = ".inf";
        if (text == "-Inf") text = "-.inf";
        if (text == "NaN") text = ".nan";
        members.emplace_back(std::move(text), &value);
        break;
      }
      case Kind::kNull:
        return Fail("unsupported map key of type: %!s(<nil>), key: <nil>, value: " +
                    Decoder::Describe(value));
      case Kind::kUint:
        return Fail(fmt::format("unsupported map key of type: uint64, key: {}, value: {}",
                                GoSyntax(key.scalar), Decoder::Describe(value)));
    }
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  out += '{';
  bool first = true;
  for (size_t i = 0; i < members.size(); ++i) {
    if (i + 1 < members.size() && members[i].first == members[i + 1].first) continue;
    if (!first) out += ',';
    first = false;
    AppendJsonString(out, members[i].first);
    out += ':';
    if (auto written = ToJson(*members[i].second, out); !written) return written;
  }
  out += '}';
  return {};
}

}  // namespace berth::api::yaml
