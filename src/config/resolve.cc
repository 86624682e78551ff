// Resolve(): extenders and profiles as kube-scheduler builds them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "api/go/error_list.h"
#include "api/go/go_text.h"
#include "config/args_validation.h"
#include "config/config.h"
#include "config/scheduler_plugins.h"

namespace berth::config {
namespace {

constexpr int64_t kDefaultExtenderTimeoutNs = 5'000'000'000;
constexpr int64_t kMaxNodeScore = 100;
constexpr uint64_t kMaxTotalScore = std::numeric_limits<int64_t>::max();

// The bytes given inline, or those of the file.
Result<std::string> DataOrFile(const std::string& data, const std::string& file,
                               const ResolveOptions& options) {
  if (!data.empty() || file.empty() || !options.read_file) return data;
  return options.read_file(file);
}

// The type of the first PEM block in `data`, nothing if there is none.
std::optional<std::string> PemType(std::string_view data) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kDashes = "-----";
  for (size_t at = data.find(kBegin); at != std::string_view::npos;
       at = data.find(kBegin, at + 1)) {
    if (at > 0 && data[at - 1] != '\n') continue;
    const std::string_view rest = data.substr(at + kBegin.size());
    const std::string type(rest.substr(0, rest.find(kDashes)));
    if (rest.find("\n-----END " + type + "-----") != std::string_view::npos) return type;
  }
  return std::nullopt;
}

// What stands in the way of a TLS connection to the extender.
Result<void> CheckTls(const Extender& extender, const ResolveOptions& options) {
  const ExtenderTLSConfig tls = extender.tls_config.value_or(ExtenderTLSConfig());
  const bool has_ca = !tls.ca_file.empty() || !tls.ca_data.data.empty();
  const bool insecure = tls.insecure || (extender.enable_https && !has_ca);
  const bool has_cert = (!tls.cert_file.empty() || !tls.cert_data.data.empty()) &&
                        (!tls.key_file.empty() || !tls.key_data.data.empty());
  if (!has_ca && !has_cert && !insecure && tls.server_name.empty()) return {};
  if (has_ca && insecure) {
    return Fail("specifying a root certificates file with the insecure flag is not allowed");
  }
  const auto ca = DataOrFile(tls.ca_data.data, tls.ca_file, options);
  if (!ca) return Fail(ca.error());
  const auto cert = DataOrFile(tls.cert_data.data, tls.cert_file, options);
  if (!cert) return Fail(cert.error());
  const auto key = DataOrFile(tls.key_data.data, tls.key_file, options);
  if (!key) return Fail(key.error());
  if (!ca->empty()) {
    const auto type = PemType(*ca);
    if (!type) return Fail("unable to load root certificates: unable to parse bytes as PEM block");
    if (*type != "CERTIFICATE") {
      return Fail("unable to load root certificates: no valid certificate authority data seen");
    }
  }
  const bool from_files = tls.cert_data.data.empty() && tls.key_data.data.empty();
  if (has_cert && !from_files) {
    if (!PemType(*cert)) {
      return Fail("tls: failed to find any PEM data in certificate input");
    }
    if (!PemType(*key)) {
      return Fail("tls: failed to find any PEM data in key input");
    }
  }
  return {};
}

// Resources the extenders answer for replace what NodeResourcesFit was told to ignore.
Result<void> IgnoreManagedResources(KubeSchedulerConfiguration& config) {
  std::vector<std::string> ignored;
  for (const Extender& extender : config.extenders) {
    for (const ExtenderManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
    }
  }
  if (ignored.empty()) return {};
  for (KubeSchedulerProfile& profile : config.profiles) {
    const auto it =
        std::find_if(profile.plugin_config.begin(), profile.plugin_config.end(),
                     [](const PluginConfig& entry) { return entry.name == "NodeResourcesFit"; });
    if (it == profile.plugin_config.end()) {
      return Fail("can't find NodeResourcesFitArgs in plugin config");
    }
    if (auto* args = std::get_if<NodeResourcesFitArgs>(&it->args)) {
      args->ignored_resources = ignored;
    }
  }
  return {};
}

Result<void> BuildExtenders(KubeSchedulerConfiguration& config, const ResolveOptions& options,
                            Resolved& out) {
  for (Extender& extender : config.extenders) {
    if (extender.http_timeout.ns == 0) extender.http_timeout.ns = kDefaultExtenderTimeoutNs;
    if (auto checked = CheckTls(extender, options); !checked) return checked;
  }
  if (auto ignored = IgnoreManagedResources(config); !ignored) return ignored;
  for (const bool ignorable : {false, true}) {
    for (const Extender& extender : config.extenders) {
      if (extender.ignorable == ignorable) out.extenders.push_back(extender);
    }
  }
  return {};
}

// Builds one profile.
class ProfileBuilder {
 public:
  ProfileBuilder(const KubeSchedulerConfiguration& config, const KubeSchedulerProfile& profile,
                 const ResolveOptions& options)
      : config_(config),
        profile_(profile),
        options_(options),
        in_tree_(InTreePlugins(options.behaviour)),
        points_(PointsOf(options.behaviour)) {}

  Result<ResolvedProfile> Build() {
    out_.scheduler_name = profile_.scheduler_name;
    out_.percentage_of_nodes_to_score = profile_.percentage_of_nodes_to_score.value_or(
        config_.percentage_of_nodes_to_score.value_or(0));
    FindNeeded();
    if (auto ok = TakePluginConfig(); !ok) return Fail(ok.error());
    for (const ExtensionPoint point : points_) {
      if (auto ok = TakeEnabled(point); !ok) return Fail(ok.error());
    }
    for (const ExtensionPoint point : points_) {
      if (auto ok = ExpandMultiPoint(point); !ok) return Fail(ok.error());
    }
    if (auto ok = CheckSingletons(); !ok) return Fail(ok.error());
    const bool groups = options_.behaviour.placement_points;
    if (auto ok = SetWeights(ExtensionPoint::kScore, groups ? "score plugins: " : ""); !ok) {
      return Fail(ok.error());
    }
    if (groups) {
      auto ok = SetWeights(ExtensionPoint::kPlacementScore, "placement score plugins: ");
      if (!ok) return Fail(ok.error());
    }
    LeaveOutInert();
    return std::move(out_);
  }

 private:
  const InTreePlugin* Find(std::string_view name) const {
    using List = std::span<const InTreePlugin>;
    for (const List plugins :
         {List(in_tree_), options_.scheduler_plugins ? SchedulerPlugins() : List(),
          List(options_.out_of_tree)}) {
      for (const InTreePlugin& plugin : plugins) {
        if (plugin.name == name) return &plugin;
      }
    }
    return nullptr;
  }

  void FindNeeded() {
    const auto add = [this](const PluginSet& set) {
      for (const Plugin& plugin : set.enabled) {
        if (Find(plugin.name) != nullptr) needed_.insert(plugin.name);
      }
    };
    for (const ExtensionPoint point : points_) add(SetOf(profile_.plugins, point));
    add(profile_.plugins.multi_point);
  }

  Result<void> TakePluginConfig() {
    for (const PluginConfig& entry : profile_.plugin_config) {
      if (!needed_.contains(entry.name)) continue;
      FieldErrors errors;
      if (const auto* fit = std::get_if<NodeResourcesFitArgs>(&entry.args)) {
        ValidateNodeResourcesFitArgs(*fit, options_.behaviour, errors);
      } else if (const auto* own = std::get_if<OwnArgs>(&entry.args)) {
        own->row().validate(own->data(), errors);
      }
      if (!errors.empty()) {
        return Fail(fmt::format("initializing plugin {}: {}", api::GoQuote(entry.name),
                                api::JoinErrors(errors)));
      }
      const bool empty =
          std::holds_alternative<std::monostate>(entry.args) && entry.raw.text.empty();
      if (!empty) out_.plugin_config.push_back(entry);
    }
    std::stable_sort(out_.plugin_config.begin(), out_.plugin_config.end(),
                     [](const PluginConfig& a, const PluginConfig& b) { return a.name < b.name; });
    return {};
  }

  static Error DoesNotExist(ExtensionPoint point, std::string_view name) {
    return Error(fmt::format("{} {} does not exist", InterfaceName(point), api::GoQuote(name)));
  }
  static Error AlreadyRegistered(ExtensionPoint point, std::string_view name) {
    return Error(fmt::format("plugin {} already registered as {}", api::GoQuote(name),
                             api::GoQuote(InterfaceName(point))));
  }

  // The plugins enabled at the point itself.
  Result<void> TakeEnabled(ExtensionPoint point) {
    std::vector<EnabledPlugin>& list = out_.points[Index(point)];
    std::set<std::string_view> seen;
    for (const Plugin& enabled : SetOf(profile_.plugins, point).enabled) {
      const InTreePlugin* plugin = Find(enabled.name);
      if (plugin == nullptr) return Fail(DoesNotExist(point, enabled.name));
      if (!plugin->Implements(point)) {
        return Fail(fmt::format("plugin {} does not extend {} plugin", api::GoQuote(enabled.name),
                                InterfaceName(point)));
      }
      if (!seen.insert(enabled.name).second) return Fail(AlreadyRegistered(point, enabled.name));
      list.push_back({enabled.name, 0});
    }
    return {};
  }

  // Adds the plugins of MultiPoint. Those the point enables too come first, in the point's order;
  // then the others of MultiPoint; then what only the point enables.
  Result<void> ExpandMultiPoint(ExtensionPoint point) {
    const PluginSet& set = SetOf(profile_.plugins, point);
    std::set<std::string_view> disabled;
    for (const Plugin& plugin : set.disabled) disabled.insert(plugin.name);
    if (disabled.contains("*")) return {};
    std::set<std::string_view> enabled;
    for (const Plugin& plugin : set.enabled) enabled.insert(plugin.name);

    std::set<std::string_view> overrides;
    std::set<std::string_view> expanded;
    std::vector<EnabledPlugin> from_multi_point;
    for (const Plugin& entry : profile_.plugins.multi_point.enabled) {
      const InTreePlugin* plugin = Find(entry.name);
      if (plugin == nullptr) return Fail(DoesNotExist(point, entry.name));
      if (!plugin->Implements(point) || disabled.contains(entry.name)) continue;
      if (enabled.contains(entry.name)) {
        overrides.insert(entry.name);
      } else if (!expanded.insert(entry.name).second) {
        return Fail(AlreadyRegistered(point, entry.name));
      } else {
        from_multi_point.push_back({entry.name, 0});
      }
    }
    std::vector<EnabledPlugin>& list = out_.points[Index(point)];
    const auto rest = std::stable_partition(
        list.begin(), list.end(),
        [&](const EnabledPlugin& plugin) { return overrides.contains(plugin.name); });
    list.insert(rest, from_multi_point.begin(), from_multi_point.end());
    return {};
  }

  Result<void> CheckSingletons() const {
    const size_t queue_sorts = out_.At(ExtensionPoint::kQueueSort).size();
    const std::string name = api::GoQuote(profile_.scheduler_name);
    if (queue_sorts != 1) {
      return Fail(fmt::format(
          "only one queue sort plugin required for profile with scheduler name {}, but got {}",
          name, queue_sorts));
    }
    if (out_.At(ExtensionPoint::kBind).empty()) {
      return Fail(fmt::format(
          "at least one bind plugin is needed for profile with scheduler name {}", name));
    }
    if (out_.At(ExtensionPoint::kPlacementGenerate).size() > 1) {
      return Fail(fmt::format(
          "at most one placement generate plugin is allowed for profile with scheduler name {}",
          name));
    }
    return {};
  }

  // The point's own weight wins over MultiPoint's. All that could score count for the overflow
  // check, in use or not.
  Result<void> SetWeights(ExtensionPoint point, std::string_view prefix) {
    std::map<std::string_view, int32_t> weights;
    int64_t total = 0;
    for (const PluginSet* set : {&SetOf(profile_.plugins, point), &profile_.plugins.multi_point}) {
      for (const Plugin& plugin : set->enabled) {
        const InTreePlugin* known = Find(plugin.name);
        if (known == nullptr || !known->Implements(point)) continue;
        const int32_t weight = plugin.weight == 0 ? 1 : plugin.weight;
        if (!weights.emplace(plugin.name, weight).second) continue;
        // The difference wraps around for a negative total, which is then refused.
        const auto left = static_cast<int64_t>(kMaxTotalScore - static_cast<uint64_t>(total));
        if (weight * kMaxNodeScore > left) {
          return Fail(fmt::format("{}total score of Score plugins could overflow", prefix));
        }
        total += weight * kMaxNodeScore;
      }
    }
    for (EnabledPlugin& plugin : out_.points[Index(point)]) {
      plugin.weight = weights[plugin.name];
    }
    return {};
  }

  void LeaveOutInert() {
    for (std::vector<EnabledPlugin>& point : out_.points) {
      std::erase_if(point,
                    [this](const EnabledPlugin& plugin) { return Find(plugin.name)->inert; });
    }
  }

  const KubeSchedulerConfiguration& config_;
  const KubeSchedulerProfile& profile_;
  const ResolveOptions& options_;
  const std::vector<InTreePlugin> in_tree_;
  const std::vector<ExtensionPoint> points_;
  std::set<std::string, std::less<>> needed_;
  ResolvedProfile out_;
};

// Profiles share one queue: the plugin that sorts it and its arguments must be the same.
Result<void> CheckSameQueueSort(const ResolvedProfile& first, const ResolvedProfile& profile) {
  const std::string& first_sort = first.At(ExtensionPoint::kQueueSort)[0].name;
  const std::string& sort = profile.At(ExtensionPoint::kQueueSort)[0].name;
  if (sort != first_sort) {
    return Fail(fmt::format("different queue sort plugins for profile {}: {}, first: {}",
                            api::GoQuote(profile.scheduler_name), api::GoQuote(sort),
                            api::GoQuote(first_sort)));
  }
  const auto args_of = [&](const ResolvedProfile& owner) -> const PluginConfig* {
    for (const PluginConfig& entry : owner.plugin_config) {
      if (entry.name == sort) return &entry;
    }
    return nullptr;
  };
  const PluginConfig* a = args_of(first);
  const PluginConfig* b = args_of(profile);
  if ((a == nullptr) != (b == nullptr) || (a != nullptr && !(*a == *b))) {
    return Fail(fmt::format("different queue sort plugin args for profile {}",
                            api::GoQuote(profile.scheduler_name)));
  }
  return {};
}

}  // namespace

Result<Resolved> Resolve(const KubeSchedulerConfiguration& config, const ResolveOptions& options) {
  Resolved out;
  out.effective = config;
  if (auto built = BuildExtenders(out.effective, options, out); !built) {
    return Fail(built.error().In("couldn't build extenders"));
  }
  for (KubeSchedulerProfile& profile : out.effective.profiles) {
    auto resolved = ProfileBuilder(config, profile, options).Build();
    if (!resolved) {
      return Fail(fmt::format("initializing profiles: creating profile for scheduler name {}: {}",
                              profile.scheduler_name, resolved.error().Message()));
    }
    if (!out.profiles.empty()) {
      if (auto same = CheckSameQueueSort(out.profiles[0], *resolved); !same) {
        return Fail(same.error().In("initializing profiles"));
      }
    }
    profile.plugin_config = resolved->plugin_config;
    out.profiles.push_back(std::move(*resolved));
  }
  return out;
}

}  // namespace berth::config
