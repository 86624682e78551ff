// Decode(): which kind of object the text claims to be, strict decoding of it and of the plugin
// arguments in it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>
#include <optional>
#include <span>

#include "api/codec/yaml.h"
#include "api/go/go_text.h"
#include "config/config.h"
#include "config/defaults.h"
#include "config/json_tree.h"
#include "config/strict_decoder.h"
#include "config/v1beta3.h"

namespace berth::config {
namespace {

constexpr std::string_view kGroup = "kubescheduler.config.k8s.io";
constexpr std::string_view kVersion = "v1";
constexpr std::string_view kOldVersion = "v1beta3";
constexpr std::string_view kInternalVersion = "__internal";
// Where the registry of versions was made, as it is recorded of each minor.
constexpr std::string_view kScheme = "pkg/scheduler/apis/config/scheme/scheme.go:29";
constexpr std::string_view kLaterScheme = "pkg/runtime/scheme.go:111";

struct GroupVersionKind {
  std::string group;
  std::string version;
  std::string kind;

  std::string ApiVersion() const { return group.empty() ? version : group + "/" + version; }
};

// Text read as far as its kind: the JSON of it, and the complaint of the YAML parser about repeated
// keys.
struct Document {
  std::string json;
  std::string duplicate_keys;
  GroupVersionKind gvk;
};

bool EqualFold(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) !=
        std::tolower(static_cast<unsigned char>(b[i]))) {
      return false;
    }
  }
  return true;
}

Result<GroupVersionKind> ParseApiVersion(const std::string& api_version) {
  GroupVersionKind gvk;
  if (api_version.empty() || api_version == "/") return gvk;
  const size_t slash = api_version.find('/');
  if (slash == std::string::npos) {
    gvk.version = api_version;
  } else if (api_version.find('/', slash + 1) == std::string::npos) {
    gvk.group = api_version.substr(0, slash);
    gvk.version = api_version.substr(slash + 1);
  } else {
    return Fail("unexpected GroupVersion string: " + api_version);
  }
  return gvk;
}

// Which versions of the group are read. What it met of the old one it remembers.
struct Versions {
  bool v1beta3 = false;
  bool met_v1beta3 = false;
  std::vector<TypeField> unknown = {};  // fields that this kube-scheduler does not have
  bool names_embedded = false;          // see StrictDecoder

  bool Knows(std::string_view version) {
    if (version == kOldVersion && v1beta3) met_v1beta3 = true;
    return version == kVersion || version == kInternalVersion ||
           (version == kOldVersion && v1beta3);
  }
};

// apiVersion and kind, whose names are matched without regard to case here.
Result<GroupVersionKind> ReadKind(const JsonTree& tree) {
  const auto failure = [](std::string_view value, std::string_view where) {
    return Fail(fmt::format(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go {}", value,
        where));
  };
  if (tree.kind != JsonTree::Kind::kObject && tree.kind != JsonTree::Kind::kNull) {
    return failure(KindName(tree.kind),
                   R"(value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; )"
                   R"(Kind string "json:\"kind,omitempty\"" })");
  }
  std::string api_version;
  std::string kind;
  for (const auto& [name, value] : tree.members) {
    const bool is_version = EqualFold(name, "apiVersion");
    if (!is_version && !EqualFold(name, "kind")) continue;
    if (value.kind == JsonTree::Kind::kNull) continue;
    if (value.kind != JsonTree::Kind::kString) {
      return failure(KindName(value.kind), fmt::format("struct field .{} of type string",
                                                       is_version ? "apiVersion" : "kind"));
    }
    (is_version ? api_version : kind) = value.text;
  }
  auto gvk = ParseApiVersion(api_version);
  if (gvk) gvk->kind = kind;
  return gvk;
}

Result<JsonTree> ParseDocument(const std::string& json) {
  auto tree = ParseJson(json);
  if (!tree) {
    return Fail("couldn't get version/kind; json parse error: " + tree.error().Message());
  }
  return tree;
}

Result<Document> ReadDocument(std::string_view text, const GroupVersionKind* default_gvk) {
  Document document;
  const bool is_yaml = !api::LooksLikeJson(text);
  if (is_yaml) {
    auto json = api::YamlToJson(text);
    if (!json) return Fail(json.error());
    document.json = std::move(*json);
  } else {
    document.json = text;
  }
  const auto tree = ParseDocument(document.json);
  if (!tree) return Fail(tree.error());
  auto gvk = ReadKind(*tree);
  if (!gvk) return Fail(gvk.error());
  document.gvk = std::move(*gvk);
  if (default_gvk != nullptr) {
    if (document.gvk.kind.empty()) document.gvk.kind = default_gvk->kind;
    if (document.gvk.version.empty() &&
        (document.gvk.group.empty() || document.gvk.group == default_gvk->group)) {
      document.gvk.group = default_gvk->group;
      document.gvk.version = default_gvk->version;
    }
  }
  if (document.gvk.kind.empty()) return Fail(fmt::format("Object 'Kind' is missing in '{}'", text));
  if (document.gvk.version.empty()) {
    return Fail(fmt::format("Object 'apiVersion' is missing in '{}'", text));
  }
  if (is_yaml) {
    const auto strict = api::YamlToJson(text, {.strict = true});
    if (!strict) document.duplicate_keys = strict.error().Message();
  }
  return document;
}

// The plugin whose arguments are of this kind, if any.
std::optional<std::string_view> PluginOfArgsKind(std::string_view kind) {
  constexpr std::string_view kSuffix = "Args";
  if (kind.size() <= kSuffix.size() || !kind.ends_with(kSuffix)) return std::nullopt;
  const std::string_view plugin = kind.substr(0, kind.size() - kSuffix.size());
  if (std::holds_alternative<std::monostate>(NewArgsOf(plugin))) return std::nullopt;
  return plugin;
}

Error NotRegistered(const GroupVersionKind& gvk, const Behaviour& behaviour) {
  return Error(fmt::format("no kind {} is registered for version {} in scheme {}",
                           api::GoQuote(gvk.kind), api::GoQuote(gvk.ApiVersion()),
                           api::GoQuote(behaviour.words_of_later_go ? kLaterScheme : kScheme)));
}

bool IsRegistered(const GroupVersionKind& gvk, Versions& versions) {
  return gvk.group == kGroup && (gvk.kind == kKind || PluginOfArgsKind(gvk.kind)) &&
         versions.Knows(gvk.version);
}

std::string StrictError(const std::vector<std::string>& errors) {
  return fmt::format("strict decoding error: {}", fmt::join(errors, ", "));
}

// Fields of v1 that v1beta3 never got.
constexpr std::array<TypeField, 2> kNotInV1beta3Fields = {{
    {"KubeSchedulerConfiguration", "delayCacheUntilActive"},
    {"KubeSchedulerProfile", "percentageOfNodesToScore"},
}};
constexpr std::span<const TypeField> kNotInV1beta3 = kNotInV1beta3Fields;

// Fields that came with a later minor.
std::vector<TypeField> LaterFields(const Behaviour& behaviour) {
  std::vector<TypeField> fields;
  if (!behaviour.binding_timeout_arg) fields.push_back({"DynamicResourcesArgs", "bindingTimeout"});
  if (!behaviour.placement_points) {
    fields.push_back({"Plugins", "placementGenerate"});
    fields.push_back({"Plugins", "placementScore"});
  }
  if (!behaviour.pod_group_post_filter_point) fields.push_back({"Plugins", "podGroupPostFilter"});
  return fields;
}

// Decodes the document into `out`; the strict errors, or why it cannot be decoded at all.
Result<std::vector<std::string>> DecodeInto(const Document& document, const JsonTree& tree,
                                            const Versions& versions, const api::TypeInfo& type,
                                            void* out) {
  std::vector<TypeField> unknown = versions.unknown;
  if (document.gvk.version == kOldVersion) {
    unknown.insert(unknown.end(), kNotInV1beta3.begin(), kNotInV1beta3.end());
  }
  StrictDecoder decoder(unknown, versions.names_embedded);
  decoder.Decode(tree, type, out);
  if (!decoder.Failure().empty()) return Fail(decoder.Failure());
  std::vector<std::string> errors;
  if (!document.duplicate_keys.empty()) errors.push_back(document.duplicate_keys);
  errors.insert(errors.end(), decoder.StrictErrors().begin(), decoder.StrictErrors().end());
  return errors;
}

// The internal version is no file format: it has other field names, so every field is unknown.
Result<std::vector<std::string>> DecodeInternal(const JsonTree& tree) {
  std::vector<std::string> errors;
  for (const auto& [name, value] : tree.members) {
    if (name == "kind" || name == "apiVersion") continue;
    errors.push_back("unknown field " + api::GoQuote(name));
  }
  return errors;
}

// An error of one pluginConfig entry. Strict ones are collected, others end decoding.
struct ArgsError {
  bool strict = false;
  std::string text;
};

std::optional<ArgsError> DecodeArgs(PluginConfig& entry, Versions& versions,
                                    const Behaviour& behaviour) {
  entry.args = NewArgsOf(entry.name);
  if (std::holds_alternative<std::monostate>(entry.args)) return std::nullopt;
  const std::string prefix = fmt::format("decoding args for plugin {}: ", entry.name);
  const GroupVersionKind expected{std::string(kGroup), std::string(kVersion), entry.name + "Args"};
  const auto document = ReadDocument(entry.raw.text, &expected);
  if (!document) return ArgsError{false, prefix + document.error().Message()};
  if (!IsRegistered(document->gvk, versions)) {
    return ArgsError{false, prefix + NotRegistered(document->gvk, behaviour).Message()};
  }
  const auto tree = ParseDocument(document->json);
  if (!tree) return ArgsError{false, prefix + tree.error().Message()};
  const bool same_kind = document->gvk.kind == expected.kind;
  KubeSchedulerConfiguration other_config;
  PluginArgs other_args = NewArgsOf(PluginOfArgsKind(document->gvk.kind).value_or(""));
  Result<std::vector<std::string>> errors =
      document->gvk.version == kInternalVersion ? DecodeInternal(*tree)
      : same_kind
          ? DecodeInto(*document, *tree, versions, ArgsType(entry.args), ArgsData(entry.args))
      : document->gvk.kind == kKind
          ? DecodeInto(*document, *tree, versions, KubeSchedulerConfiguration::Type(),
                       &other_config)
          : DecodeInto(*document, *tree, versions, ArgsType(other_args), ArgsData(other_args));
  if (!errors) return ArgsError{false, prefix + errors.error().Message()};
  if (!same_kind) {
    return ArgsError{false,
                     fmt::format("args for plugin {} were not of type {}.{}, got {}.{}", entry.name,
                                 expected.kind, kGroup, document->gvk.kind, document->gvk.group)};
  }
  entry.raw.text.clear();
  if (errors->empty()) return std::nullopt;
  return ArgsError{true, StrictError({prefix + StrictError(*errors)})};
}

// The arguments inside pluginConfig; strict errors are appended.
Result<void> DecodeNested(KubeSchedulerConfiguration& config, Versions& versions,
                          const Behaviour& behaviour, std::vector<std::string>& errors) {
  for (size_t i = 0; i < config.profiles.size(); ++i) {
    for (size_t j = 0; j < config.profiles[i].plugin_config.size(); ++j) {
      const auto error = DecodeArgs(config.profiles[i].plugin_config[j], versions, behaviour);
      if (!error) continue;
      std::string text =
          fmt::format("decoding .profiles[{}].pluginConfig[{}]: {}", i, j, error->text);
      if (!error->strict) return Fail(std::move(text));
      errors.push_back(std::move(text));
    }
  }
  return {};
}

// Arguments that stay JSON are kept without blanks.
void MinifyRawArgs(KubeSchedulerConfiguration& config) {
  for (KubeSchedulerProfile& profile : config.profiles) {
    for (PluginConfig& entry : profile.plugin_config) {
      if (entry.raw.text.empty()) continue;
      std::string minified;
      if (const auto tree = ParseJson(entry.raw.text)) AppendJson(minified, *tree);
      entry.raw.text = std::move(minified);
    }
  }
}

// What a configuration of the internal version looks like: nothing is defaulted.
KubeSchedulerConfiguration ZeroConfiguration() {
  KubeSchedulerConfiguration config;
  config.parallelism = 0;
  config.leader_election.leader_elect = false;
  config.enable_profiling = false;
  config.enable_contention_profiling = false;
  config.percentage_of_nodes_to_score.reset();
  config.pod_initial_backoff_seconds = 0;
  config.pod_max_backoff_seconds = 0;
  return config;
}

Given WhatIsGiven(const JsonTree& tree) {
  Given given;
  given.enable_contention_profiling = tree.Find("enableContentionProfiling") != nullptr;
  const JsonTree* profiles = tree.Find("profiles");
  given.first_scheduler_name = profiles != nullptr && !profiles->items.empty() &&
                               profiles->items[0].Find("schedulerName") != nullptr;
  return given;
}

Result<AnyVersion> DecodeVersions(std::string_view text, Versions versions,
                                  const Behaviour& behaviour) {
  versions.unknown = LaterFields(behaviour);
  versions.names_embedded = behaviour.words_of_later_go;
  const auto document = ReadDocument(text, nullptr);
  if (!document) return Fail(document.error());
  const GroupVersionKind& gvk = document->gvk;
  if (!IsRegistered(gvk, versions)) return Fail(NotRegistered(gvk, behaviour));
  const auto tree = ParseDocument(document->json);
  if (!tree) return Fail(tree.error());
  const bool is_config = gvk.kind == kKind;
  const bool internal = gvk.version == kInternalVersion;
  const bool old = gvk.version == kOldVersion;

  AnyVersion out;
  PluginArgs args = NewArgsOf(PluginOfArgsKind(gvk.kind).value_or(""));
  auto errors =
      internal ? DecodeInternal(*tree)
      : is_config
          ? DecodeInto(*document, *tree, versions, KubeSchedulerConfiguration::Type(), &out.config)
          : DecodeInto(*document, *tree, versions, ArgsType(args), ArgsData(args));
  if (!errors) return Fail(errors.error());
  if (auto nested = DecodeNested(out.config, versions, behaviour, *errors); !nested) {
    return Fail(nested.error());
  }
  if (!errors->empty()) return Fail(StrictError(*errors));
  if (!is_config) {
    return Fail(fmt::format("couldn't decode as KubeSchedulerConfiguration, got {}, Kind={}: ",
                            gvk.ApiVersion(), gvk.kind));
  }
  out.api_version = old ? kApiVersion : gvk.ApiVersion();
  out.deprecated = versions.met_v1beta3;
  if (internal) {
    out.config = ZeroConfiguration();
    return out;
  }
  if (old) ConvertV1beta3(out.config, out.changes);
  MinifyRawArgs(out.config);
  SetDefaults(out.config, WhatIsGiven(*tree), behaviour);
  return out;
}

Result<AnyVersion> Validated(Result<AnyVersion> decoded, const Behaviour& behaviour) {
  if (!decoded) return decoded;
  if (auto valid = Validate(decoded->config, behaviour, decoded->api_version); !valid) {
    return Fail(valid.error());
  }
  return decoded;
}

}  // namespace

Result<KubeSchedulerConfiguration> Decode(std::string_view text, const Behaviour& behaviour,
                                          std::string* api_version) {
  auto decoded = DecodeVersions(text, {}, behaviour);
  if (!decoded) return Fail(std::move(decoded.error()));
  if (api_version != nullptr) *api_version = std::move(decoded->api_version);
  return std::move(decoded->config);
}

Result<KubeSchedulerConfiguration> Load(std::string_view text, const Behaviour& behaviour) {
  auto loaded = Validated(DecodeVersions(text, {}, behaviour), behaviour);
  if (!loaded) return Fail(std::move(loaded.error()));
  return std::move(loaded->config);
}

Result<AnyVersion> DecodeAnyVersion(std::string_view text, const Behaviour& behaviour) {
  return DecodeVersions(text, {.v1beta3 = true}, behaviour);
}

Result<AnyVersion> LoadAnyVersion(std::string_view text, const Behaviour& behaviour) {
  return Validated(DecodeAnyVersion(text, behaviour), behaviour);
}

}  // namespace berth::config
