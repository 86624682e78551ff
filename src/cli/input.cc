#include "cli/input.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "api/codec/manifest.h"
#include "files/read.h"

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

}  // namespace

Result<void> ReadObjects(const std::vector<std::string>& paths,
                         const api::ObjectConsumer& consume) {
  for (const std::string& path : paths) {
    const auto files = FilesOf(path);
    if (!files) return Fail(files.error());
    for (const std::string& file : *files) {
      const auto bytes = files::ReadFile(file);
      if (!bytes) return Fail(bytes.error());
      const auto read = api::ForEachObject(*bytes, consume);
      if (!read) return Fail(read.error().In(file == "-" ? "standard input" : file));
    }
  }
  return {};
}

Result<void> ReadManifests(const std::vector<std::string>& paths, sim::World* world) {
  return ReadObjects(paths, [&](api::Object object) { return world->Add(std::move(object)); });
}

}  // namespace berth::cli
