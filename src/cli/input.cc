#include "cli/input.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "api/codec/manifest.h"
#include "api/go/go_text.h"
#include "files/read.h"
#include "sim/workloads.h"

namespace berth::cli {
namespace {

bool LooksLikeManifest(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  constexpr std::array<std::string_view, 3> kEndings{".yaml", ".yml", ".json"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// The files `path` stands for.
Result<std::vector<std::string>> FilesOf(const std::string& path) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_directory(path, error)) {
    return std::vector<std::string>{path};
  }
  std::vector<std::string> files;
  auto it = std::filesystem::recursive_directory_iterator(path, error);
  for (const auto end = std::filesystem::recursive_directory_iterator(); !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file(error) && LooksLikeManifest(it->path())) {
      files.push_back(it->path().string());
    }
  }
  if (error) return Fail(path + ": " + error.message());
  if (files.empty()) return Fail(path + ": no .yaml, .yml or .json files in this folder");
  std::sort(files.begin(), files.end());
  return files;
}

constexpr std::string_view kNameRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character";

bool IsSubdomain(std::string_view name) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  char before = '.';
  for (const char c : name) {
    const bool edge = before == '.' || c == '.';  // of a label
    if (!alphanumeric(c) && (c != '-' || edge) && (c != '.' || !alphanumeric(before))) return false;
    before = c;
  }
  return alphanumeric(before) && name.size() <= 253;
}

// What an API server refuses in an object by any client.
Result<void> CheckObject(const api::Object& object) {
  const api::ObjectMeta* metadata = api::MetadataOf(object);
  if (metadata == nullptr) return {};
  if (metadata->name.empty() && metadata->generate_name.empty()) {
    return Fail("metadata.name: Required value: name or generateName is required");
  }
  if (!metadata->name.empty() && !IsSubdomain(metadata->name)) {
    return Fail(fmt::format("metadata.name: Invalid value: {}: {}", api::GoQuote(metadata->name),
                            kNameRule));
  }
  const auto* pod = std::get_if<api::Pod>(&object);
  if (pod != nullptr && pod->spec.containers.empty()) {
    return Fail("spec.containers: Required value");
  }
  for (const api::Pod& made : sim::Expand(object, {}, 1).pods) {
    if (made.spec.containers.empty()) {
      return Fail("spec.template.spec.containers: Required value");
    }
  }
  return {};
}

// An API server has written the file, which has then been checked. A newer one may have fields that
// berth does not know.
bool ComesFromACluster(std::string_view bytes) {
  return bytes.find("resourceVersion") != std::string_view::npos;
}

Result<size_t> ReadBytes(std::string_view bytes, const api::ObjectConsumer& consume) {
  size_t count = 0;
  const bool strict = !ComesFromACluster(bytes);
  const auto read = api::ForEachObject(bytes,
                                       [&](api::Object object) -> Result<void> {
                                         ++count;
                                         if (strict) {
                                           if (auto ok = CheckObject(object); !ok) return ok;
                                         }
                                         return consume(std::move(object));
                                       },
                                       {.strict = strict});
  if (!read) return Fail(read.error());
  return count;
}

}  // namespace

Result<void> ReadObjects(const std::vector<std::string>& paths,
                         const api::ObjectConsumer& consume) {
  for (const std::string& path : paths) {
    const auto files = FilesOf(path);
    if (!files) return Fail(files.error());
    size_t count = 0;
    for (const std::string& file : *files) {
      const auto bytes = files::ReadFile(file);
      if (!bytes) return Fail(bytes.error());
      const auto read = ReadBytes(*bytes, consume);
      if (!read) return Fail(read.error().In(file == "-" ? "standard input" : file));
      count += *read;
    }
    if (count == 0) {
      return Fail((path == "-" ? "standard input" : path) + ": there is no object in it");
    }
  }
  return {};
}

Result<void> ReadManifests(const std::vector<std::string>& paths, sim::World* world) {
  return ReadObjects(paths, [&](api::Object object) { return world->Add(std::move(object)); });
}

}  // namespace berth::cli
