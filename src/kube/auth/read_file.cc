#include "kube/auth/read_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace berth::kube {
namespace {

constexpr size_t kMaxFile = 16u << 20;
// How long a pipe's writer is waited for.
constexpr int kPipePatienceMs = 5000;

tl::unexpected<Error> Failure(std::string_view what, const std::string& path, int error) {
  return Fail(fmt::format("{} {}: {}", what, path, GoErrno(error)));
}

}  // namespace

std::string GoErrno(int error) {
  std::string words = std::generic_category().message(error);
  // Go's are in lower case, names in them ("RPC …") do not occur for files and processes.
  if (!words.empty() && words[0] >= 'A' && words[0] <= 'Z') {
    words[0] = static_cast<char>(words[0] - 'A' + 'a');
  }
  return words;
}

Result<std::string> ReadFile(const std::string& path) {
  // Never waits for ever, should the path be a pipe.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Failure("open", path, errno);
  std::string text;
  char buffer[16384];
  ssize_t count = 0;
  while ((count = read(fd, buffer, sizeof(buffer))) != 0) {
    if (count < 0 && errno == EINTR) continue;
    // A pipe, as a shell's <(command) makes it.
    pollfd ready = {fd, POLLIN, 0};
    if (count < 0 && errno == EAGAIN && poll(&ready, 1, kPipePatienceMs) > 0) continue;
    if (count < 0) {
      const int error = errno;
      close(fd);
      return Failure("read", path, error);
    }
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > kMaxFile) {
      close(fd);
      return Fail(fmt::format("read {}: file is larger than {} bytes", path, kMaxFile));
    }
  }
  close(fd);
  return text;
}

}  // namespace berth::kube
