#include "files/write.h"

#include <fstream>

namespace berth::files {

Result<void> WriteFile(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Fail(path + ": cannot be written");
  return {};
}

}  // namespace berth::files
