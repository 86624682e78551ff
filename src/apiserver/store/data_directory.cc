#include "apiserver/store/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace berth::apiserver {
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;

tl::unexpected<Error> Problem(const std::string& path, int error) {
  return Fail(fmt::format("{}: {}", path, std::strerror(error)));
}

Result<void> MakeFolder(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder(path);
  if (std::filesystem::is_directory(folder, error)) return {};
  const auto parent = std::filesystem::absolute(folder).parent_path();
  std::filesystem::create_directories(parent, error);
  if (error) return Fail(fmt::format("{}: {}", path, error.message()));
  if (mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) return Problem(path, errno);
  if (!std::filesystem::is_directory(folder, error)) return Problem(path, ENOTDIR);
  return {};
}

// What the lock file says of the process that has it.
std::string Owner(int lock) {
  char text[32] = {};
  const ssize_t size = pread(lock, text, sizeof text - 1, 0);
  const long pid = size > 0 ? std::strtol(text, nullptr, 10) : 0;
  return pid > 0 ? fmt::format("process {}", pid) : "another process";
}

}  // namespace

Result<std::unique_ptr<DataDirectory>> DataDirectory::Open(const std::string& path) {
  if (auto ok = MakeFolder(path); !ok) return Fail(ok.error());
  const std::string name = path + "/lock";
  const int lock = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (lock < 0) return Problem(name, errno);
  std::unique_ptr<DataDirectory> directory(new DataDirectory(path, lock));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Problem(name, errno);
    return Fail(fmt::format("{} is in use by {}: stop it, or choose another --data-dir", path,
                            Owner(lock)));
  }
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(lock, 0) != 0 ||
      pwrite(lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return Problem(name, errno);
  }
  return directory;
}

DataDirectory::~DataDirectory() { close(lock_); }

Result<std::string> DataDirectory::PrivateFile(std::string_view name) const {
  const std::string path = fmt::format("{}/{}", path_, name);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (file < 0) return Problem(path, errno);
  fchmod(file, kFileMode);
  close(file);
  return path;
}

void DataDirectory::MakePrivate(std::string_view name) const {
  const std::string path = fmt::format("{}/{}", path_, name);
  chmod(path.c_str(), kFileMode);
}

}  // namespace berth::apiserver
