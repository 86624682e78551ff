// berth-conformance --config: KubeSchedulerConfiguration files, compared with what kube-scheduler
// made of them: the error, the decoded and defaulted form, the written file, the plugins per
// extension point, the order of extenders.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "api/codec/yaml.h"
#include "api/go/go_text.h"
#include "config/config.h"
#include "config/scheduler_plugins.h"
#include "conformance/lines.h"
#include "conformance/runner.h"

namespace berth::conformance {
namespace {

using simdjson::dom::element;

// What kube-scheduler does with a file; empty where it did not get that far.
struct Outcome {
  std::string error;
  std::string stage;  // of the error
  std::string framework_error;
  std::string loaded;     // normalized JSON
  std::string effective;  // normalized JSON
  std::string written;
  std::string plugins;    // JSON
  std::string extenders;  // JSON
};

// The same value always has the same text.
std::string Normalize(std::string_view json) {
  auto normalized = api::YamlToJson(json);
  return normalized ? *normalized : "unreadable: " + normalized.error().Message();
}

std::string ListJson(const std::vector<std::string>& items, char open, char close) {
  std::string out(1, open);
  for (size_t i = 0; i < items.size(); ++i) out += (i > 0 ? "," : "") + items[i];
  return out + close;
}

std::string Quoted(std::string_view text) {
  std::string out;
  api::AppendJsonString(out, text);
  return out;
}

std::string PluginsJson(const config::Behaviour& behaviour,
                        const config::ResolvedProfile& profile) {
  std::vector<std::string> points;
  for (const config::ExtensionPoint point : config::PointsOf(behaviour)) {
    std::vector<std::string> plugins;
    for (const config::EnabledPlugin& plugin : profile.At(point)) {
      std::string json = "{\"name\":" + Quoted(plugin.name);
      if (plugin.weight != 0) json += ",\"weight\":" + std::to_string(plugin.weight);
      plugins.push_back(json + "}");
    }
    points.push_back(Quoted(FieldName(point)) + ":" + ListJson(plugins, '[', ']'));
  }
  return "{\"schedulerName\":" + Quoted(profile.scheduler_name) +
         ",\"plugins\":" + ListJson(points, '{', '}') + "}";
}

// The recorded files name certificates that do not exist.
Result<std::string> NoSuchFile(const std::string& path) {
  return Fail("open " + path + ": no such file or directory");
}

// kube-scheduler has no default arguments for plugins of scheduler-plugins.
void ForgetSchedulerPlugins(config::KubeSchedulerConfiguration* config) {
  for (config::KubeSchedulerProfile& profile : config->profiles) {
    std::erase_if(profile.plugin_config, [](const config::PluginConfig& entry) {
      const auto plugins = config::SchedulerPlugins();
      return std::any_of(plugins.begin(), plugins.end(),
                         [&](const auto& plugin) { return plugin.name == entry.name; });
    });
  }
}

Outcome Ours(const config::Behaviour& behaviour, std::string_view text) {
  Outcome out;
  std::string api_version;
  auto decoded = config::Decode(text, behaviour, &api_version);
  if (!decoded) {
    out.error = decoded.error().Message();
    out.stage = "decode";
    return out;
  }
  ForgetSchedulerPlugins(&*decoded);
  out.loaded = Normalize(config::ToJson(*decoded));
  if (const auto valid = config::Validate(*decoded, behaviour, api_version); !valid) {
    out.error = valid.error().Message();
    out.stage = "validation";
    return out;
  }
  const auto resolved =
      config::Resolve(*decoded, {{}, NoSuchFile, behaviour, /*scheduler_plugins=*/false});
  if (!resolved) {
    out.framework_error = resolved.error().Message();
    return out;
  }
  out.effective = Normalize(config::ToJson(resolved->effective));
  out.written = config::ToYaml(resolved->effective);
  std::vector<std::string> profiles;
  for (const auto& profile : resolved->profiles)
    profiles.push_back(PluginsJson(behaviour, profile));
  out.plugins = Normalize(ListJson(profiles, '[', ']'));
  std::vector<std::string> extenders;
  for (const auto& extender : resolved->extenders) extenders.push_back(Quoted(extender.url_prefix));
  out.extenders = extenders.empty() ? "" : Normalize(ListJson(extenders, '[', ']'));
  return out;
}

std::string Text(element line, std::string_view key) {
  std::string_view text;
  return line.at_key(key).get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

std::string Json(element line, std::string_view key) {
  element value;
  if (line.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return "";
  return Normalize(simdjson::to_string(value));
}

// Compares one line; the text of the differences.
class Comparison {
 public:
  Comparison(const config::Behaviour& behaviour, element line)
      : line_(line), ours_(Ours(behaviour, Text(line, "yaml"))) {}

  std::string Run() {
    const std::string framework_error = Text(line_, "frameworkError");
    Same("error", ours_.error, Text(line_, "error"));
    Same("errorStage", ours_.stage, Text(line_, "errorStage"));
    if (framework_error.starts_with("panic:")) {
      // kube-scheduler crashes on these; any error is an answer.
      if (ours_.framework_error.empty()) Same("frameworkError", "", framework_error);
      return differences_;
    }
    Same("frameworkError", ours_.framework_error, framework_error);
    const std::string effective = Json(line_, "defaulted");
    const std::string loaded = Json(line_, "loaded");
    // The internal version is never written, so only v1 is recorded as loaded.
    if (!loaded.empty()) Same("loaded", ours_.loaded, loaded);
    if (loaded.empty() && !effective.empty()) Same("loaded", ours_.loaded, effective);
    Same("defaulted", ours_.effective, effective);
    if (const std::string written = Text(line_, "writtenYAML"); !written.empty()) {
      Same("writtenYAML", ours_.written, written);
    }
    if (framework_error.empty() && ours_.error.empty()) {
      Same("expandedPlugins", ours_.plugins, Json(line_, "expandedPlugins"));
      Same("extenderOrder", ours_.extenders, Json(line_, "extenderOrder"));
    }
    return differences_;
  }

 private:
  void Same(std::string_view what, const std::string& ours, const std::string& theirs) {
    if (ours == theirs) return;
    differences_ +=
        "    " + std::string(what) + "\n      ours   " + ours + "\n      theirs " + theirs + "\n";
  }

  element line_;
  Outcome ours_;
  std::string differences_;
};

}  // namespace

int RunConfig(int minor, const std::string& file) {
  const config::Behaviour behaviour{config::FeatureGates(minor)};
  return CheckLines(file, [&](element line) -> Checked {
    const std::string differences = Comparison(behaviour, line).Run();
    if (differences.empty()) return {Text(line, "class"), ""};
    return {Text(line, "class"), Text(line, "yaml") + "\n" + differences};
  });
}

}  // namespace berth::conformance
