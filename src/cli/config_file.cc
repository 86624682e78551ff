#include "cli/config_file.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "base/visible.h"
#include "config/v1beta3.h"
#include "files/read.h"

namespace berth::cli {

Result<config::KubeSchedulerConfiguration> ReadConfig(const std::string& path,
                                                      const config::Behaviour& behaviour,
                                                      std::string_view program) {
  if (path.empty()) return config::Default(behaviour);
  const auto text = files::ReadFile(path);
  if (!text) return Fail(text.error());
  auto loaded = config::LoadAnyVersion(*text, behaviour);
  if (!loaded) return Fail(loaded.error().In(path));
  for (const std::string& warning : loaded->Warnings()) {
    fmt::print(stderr, "{}: {}: warning: {}\n", program, path, Visible(warning, "\n"));
  }
  return std::move(loaded->config);
}

}  // namespace berth::cli
