#include "loader/loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "berth/plugin_abi.h"
#include "cluster/inputs.h"
#include "config/default_plugins.h"
#include "loader/out_of_tree_plugin.h"
#include "loader/views.h"

namespace berth::loader {
namespace {

namespace fs = std::filesystem;
using config::ExtensionPoint;
using scheduler::ExtraPlugin;

constexpr size_t kMaxPluginsPerLibrary = 64;
constexpr size_t kMaxName = 253;
// What version 1 of the interface began with. Fields added later come behind.
constexpr size_t kLeastTable = offsetof(berth_plugin, post_bind) + sizeof(void*);

struct Point {
  uint32_t bit;
  ExtensionPoint point;
};
constexpr Point kPoints[] = {
    {BERTH_PRE_ENQUEUE, ExtensionPoint::kPreEnqueue},
    {BERTH_QUEUE_SORT, ExtensionPoint::kQueueSort},
    {BERTH_PRE_SCORE, ExtensionPoint::kPreScore},
    {BERTH_PRE_FILTER, ExtensionPoint::kPreFilter},
    {BERTH_FILTER, ExtensionPoint::kFilter},
    {BERTH_SCORE, ExtensionPoint::kScore},
    {BERTH_RESERVE, ExtensionPoint::kReserve},
    {BERTH_PERMIT, ExtensionPoint::kPermit},
    {BERTH_PRE_BIND, ExtensionPoint::kPreBind},
    {BERTH_POST_BIND, ExtensionPoint::kPostBind},
    {BERTH_POST_FILTER, ExtensionPoint::kPostFilter},
    {BERTH_BIND, ExtensionPoint::kBind},
};

// The libraries `path` stands for, with folders in front: dlopen looks elsewhere for bare names.
Result<std::vector<std::string>> LibrariesOf(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return Fail(path + ": " + error.message());
  if (!fs::exists(absolute, error)) return Fail(path + ": no such file or folder");
  if (!fs::is_directory(absolute, error)) return std::vector<std::string>{absolute.string()};
  std::vector<std::string> files;
  auto it = fs::directory_iterator(absolute, error);
  for (const auto end = fs::directory_iterator(); !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".so") files.push_back(it->path().string());
  }
  if (error) return Fail(path + ": " + error.message());
  if (files.empty()) return Fail(path + ": no .so files in this folder");
  std::sort(files.begin(), files.end());
  return files;
}

template <class Function>
Result<Function> Symbol(void* library, const std::string& file, const char* name) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) {
    return Fail(fmt::format("{}: no plugin library: it does not export {}", file, name));
  }
  return reinterpret_cast<Function>(symbol);
}

// The table with nothing in the fields that the library was built without.
berth_plugin Whole(const berth_plugin& table) {
  berth_plugin whole{};
  std::memcpy(&whole, &table, std::min<size_t>(table.size, sizeof whole));
  return whole;
}

// What is missing in `table`, empty when it is whole.
std::string Missing(const berth_plugin& table) {
  const auto lacks = [&](uint32_t point, bool there) {
    return (table.points & point) != 0 && !there;
  };
  if (table.create == nullptr) return "create";
  if (lacks(BERTH_PRE_ENQUEUE, table.pre_enqueue != nullptr)) return "pre_enqueue";
  if (lacks(BERTH_QUEUE_SORT, table.less != nullptr)) return "less";
  if (lacks(BERTH_PRE_SCORE, table.pre_score != nullptr)) return "pre_score";
  if (lacks(BERTH_PRE_FILTER, table.pre_filter != nullptr)) return "pre_filter";
  if (lacks(BERTH_FILTER, table.filter != nullptr)) return "filter";
  if (lacks(BERTH_SCORE, table.score != nullptr)) return "score";
  if (lacks(BERTH_RESERVE, table.reserve != nullptr)) return "reserve";
  if (lacks(BERTH_PERMIT, table.permit != nullptr)) return "permit";
  if (lacks(BERTH_PRE_BIND, table.pre_bind != nullptr)) return "pre_bind";
  if (lacks(BERTH_POST_BIND, table.post_bind != nullptr)) return "post_bind";
  if (lacks(BERTH_POST_FILTER, table.post_filter != nullptr)) return "post_filter";
  if (lacks(BERTH_BIND, table.bind != nullptr)) return "bind";
  return "";
}

Result<std::vector<ExtensionPoint>> PointsOf(const berth_plugin& table) {
  std::vector<ExtensionPoint> points;
  uint32_t known = 0;
  for (const auto& [bit, point] : kPoints) {
    known |= bit;
    if ((table.points & bit) != 0) points.push_back(point);
  }
  if ((table.points & ~known) != 0) return Fail("serves extension points that do not exist");
  if (points.empty()) return Fail("serves no extension point");
  return points;
}

// --- Annotations that plugins read. The registry has a function without arguments of its own for
// each plugin: here they are by number. Libraries stay open, so a description is known by its
// address.

constexpr size_t kMaxAnnotated = 32;
constexpr size_t kMaxAnnotations = 64;  // of a plugin

struct Annotated {
  const berth_plugin* table = nullptr;
  cluster::PluginInputs inputs;
};
std::array<Annotated, kMaxAnnotated>& AllAnnotated() {
  static std::array<Annotated, kMaxAnnotated> all;
  return all;
}

using InputsFunction = cluster::PluginInputs (*)(const config::PluginArgs&);
template <size_t N>
cluster::PluginInputs InputsOfNumber(const config::PluginArgs&) {
  return AllAnnotated()[N].inputs;
}
template <size_t... N>
InputsFunction InputsFunctionOf(size_t number, std::index_sequence<N...>) {
  static constexpr InputsFunction kFunctions[] = {&InputsOfNumber<N>...};
  return kFunctions[number];
}

Result<std::vector<std::string>> KeysOf(const berth_string* keys, size_t count) {
  std::vector<std::string> found;
  if (count > kMaxAnnotations) return Fail("too many annotations");
  for (size_t i = 0; i < count; ++i) {
    if (FromAbi(keys[i]).empty() || CleanText(keys[i]) != FromAbi(keys[i])) {
      return Fail("an annotation has no proper key");
    }
    found.emplace_back(FromAbi(keys[i]));
  }
  return found;
}

// Null: it reads none.
Result<InputsFunction> InputsFunctionOf(const berth_plugin& given, const berth_plugin& table) {
  if (table.pod_annotation_count + table.node_annotation_count == 0) return InputsFunction{};
  auto pods = KeysOf(table.pod_annotations, table.pod_annotation_count);
  if (!pods) return Fail(pods.error());
  auto nodes = KeysOf(table.node_annotations, table.node_annotation_count);
  if (!nodes) return Fail(nodes.error());
  auto& all = AllAnnotated();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Annotated& one) {
    return one.table == &given || one.table == nullptr;
  });
  if (it == all.end()) return Fail("too many plugins read annotations");
  it->table = &given;
  it->inputs.pod_annotations = std::move(*pods);
  it->inputs.node_annotations = std::move(*nodes);
  return InputsFunctionOf(static_cast<size_t>(it - all.begin()),
                          std::make_index_sequence<kMaxAnnotated>());
}

Result<ExtraPlugin> Describe(const berth_plugin& given, PluginWatch& watch,
                             const LoadOptions& options) {
  if (given.size < kLeastTable) {
    return Fail(fmt::format("its description has {} bytes, expected are {} at least", given.size,
                            kLeastTable));
  }
  const berth_plugin table = Whole(given);
  const std::string_view name = FromAbi(table.name);
  if (name.empty() || name.size() > kMaxName || CleanText(table.name) != name) {
    return Fail("it has no proper name");
  }
  auto points = PointsOf(table);
  if (!points) return Fail(points.error().In(fmt::format("plugin \"{}\"", name)));
  if (const std::string missing = Missing(table); !missing.empty()) {
    return Fail(fmt::format("plugin \"{}\" serves a point without the function {}", name, missing));
  }
  const auto inputs = InputsFunctionOf(given, table);
  if (!inputs) return Fail(inputs.error().In(fmt::format("plugin \"{}\"", name)));
  ExtraPlugin plugin;
  plugin.row = {name, nullptr, *inputs};
  plugin.points = std::move(*points);
  plugin.make = [table, &watch, budget = options.budget](std::string_view args,
                                                         const framework::PluginHandle&) {
    return OutOfTreePlugin::Make(table, args, watch, budget);
  };
  return plugin;
}

Result<std::vector<ExtraPlugin>> Load(const std::string& file, PluginWatch& watch,
                                      const LoadOptions& options) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Fail(fmt::format("cannot load a plugin library: {}", dlerror()));
  using Version = uint32_t (*)();
  using At = const berth_plugin* (*)(size_t);
  const auto version = Symbol<Version>(library, file, "berth_plugin_abi_version");
  if (!version) return Fail(version.error());
  if (const uint32_t found = (*version)(); found != BERTH_PLUGIN_ABI_VERSION) {
    return Fail(fmt::format("{}: built for version {} of the plugin interface, expected is {}",
                            file, found, BERTH_PLUGIN_ABI_VERSION));
  }
  const auto at = Symbol<At>(library, file, "berth_plugin_at");
  if (!at) return Fail(at.error());
  std::vector<ExtraPlugin> plugins;
  for (size_t i = 0; i < kMaxPluginsPerLibrary; ++i) {
    const berth_plugin* table = (*at)(i);
    if (table == nullptr) break;
    auto plugin = Describe(*table, watch, options);
    if (!plugin) return Fail(plugin.error().In(fmt::format("{}: plugin {}", file, i)));
    plugins.push_back(std::move(*plugin));
  }
  if (plugins.empty()) return Fail(file + ": the library has no plugins");
  return plugins;
}

}  // namespace

Result<std::vector<ExtraPlugin>> LoadPlugins(const std::vector<std::string>& paths,
                                             PluginWatch& watch, const LoadOptions& options) {
  std::vector<ExtraPlugin> all;
  std::map<std::string, std::string, std::less<>> file_of;  // by plugin name
  for (const std::string& path : paths) {
    const auto files = LibrariesOf(path);
    if (!files) return Fail(files.error());
    for (const std::string& file : *files) {
      auto plugins = Load(file, watch, options);
      if (!plugins) return Fail(plugins.error());
      for (ExtraPlugin& plugin : *plugins) {
        const std::string name(plugin.row.name);
        if (config::IsInTreePlugin(name)) {
          return Fail(fmt::format("{}: a plugin named {} already exists", file, name));
        }
        const auto [known, inserted] = file_of.emplace(name, file);
        if (!inserted) {
          return Fail(fmt::format("{}: a plugin named {} is in {} too", file, name, known->second));
        }
        all.push_back(std::move(plugin));
      }
    }
  }
  return all;
}

}  // namespace berth::loader
