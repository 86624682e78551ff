// Each run has a thread of its own that starts the program, reads its output and waits for it. A
// pipe wakes the thread when the runner is destroyed before the program has ended.
#include "kube/auth/process_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "kube/auth/read_file.h"

namespace berth::kube {
namespace {

using Clock = std::chrono::steady_clock;

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { Close(); }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int Get() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  Fd read;
  Fd write;

  bool Open() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return false;
    read = Fd(fds[0]);
    write = Fd(fds[1]);
    return true;
  }
};

bool IsProgram(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// As a shell finds it; empty when there is none.
std::string LookPath(const std::string& command) {
  if (command.find('/') != std::string::npos) return IsProgram(command) ? command : "";
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const size_t colon = folders.find(':');
    const std::string_view folder = folders.substr(0, colon);
    folders.remove_prefix(colon == std::string_view::npos ? folders.size() : colon + 1);
    // A program is never taken from the folder we happen to be in.
    if (!folder.starts_with('/')) continue;
    std::string candidate = fmt::format("{}/{}", folder, command);
    if (IsProgram(candidate)) return candidate;
  }
  return "";
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

ProcessResult Failed(std::string error) {
  ProcessResult result;
  result.error = std::move(error);
  return result;
}

// Starts the program with its output into `out`, in a process group of its own, so that it can be
// ended with all it has started.
int Spawn(const std::string& path, ProcessSpec& spec, int out, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (!spec.inherit_stdin) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  // Our blocked and ignored signals are not the program's.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  // One that talks to the terminal has to stay in the group the terminal belongs to.
  if (!spec.inherit_stdin) flags |= POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes, flags);

  std::vector<std::string> words = {spec.command};
  words.insert(words.end(), spec.args.begin(), spec.args.end());
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> envp = Pointers(spec.env);
  const int error = posix_spawn(pid, path.c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Reads until the end, the time limit, or a wake-up through `wake`. Null: the program may end by
// itself.
std::optional<std::string> ReadOutput(int out, int wake, const ProcessSpec& spec,
                                      std::string& output) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(spec.timeout);
  char buffer[4096];
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return fmt::format("no answer within {} seconds",
                         std::chrono::duration_cast<std::chrono::seconds>(spec.timeout).count());
    }
    pollfd fds[] = {{out, POLLIN, 0}, {wake, POLLIN, 0}};
    const int ready = poll(fds, 2, static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return "poll: " + GoErrno(errno);
    if (ready <= 0) continue;
    if (fds[1].revents != 0) return "cancelled";
    if (fds[0].revents == 0) continue;
    const ssize_t count = read(out, buffer, sizeof(buffer));
    if (count == 0) return std::nullopt;
    if (count < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return "read |0: " + GoErrno(errno);
    }
    output.append(buffer, static_cast<size_t>(count));
    if (output.size() > spec.max_output) {
      return fmt::format("output is larger than {} bytes", spec.max_output);
    }
  }
}

// Waits for the end of the program, which has closed its output, until the time limit.
bool WaitForEnd(pid_t pid, int wake, net::Nanoseconds limit, int* status) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  for (int pause = 1;; pause = std::min(pause * 2, 50)) {
    const pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended == pid) return true;
    if ((ended < 0 && errno != EINTR) || Clock::now() >= deadline) return false;
    pollfd fd = {wake, POLLIN, 0};
    if (poll(&fd, 1, pause) > 0) return false;
  }
}

void Kill(pid_t pid, bool group) {
  kill(group ? -pid : pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

ProcessResult RunProcess(ProcessSpec spec, int wake) {
  const std::string path = LookPath(spec.command);
  if (path.empty()) {
    ProcessResult result;
    result.kind = ProcessResult::Kind::kNotFound;
    return result;
  }
  Pipe out;
  if (!out.Open()) return Failed("pipe2: " + GoErrno(errno));
  pid_t pid = 0;
  if (const int error = Spawn(path, spec, out.write.Get(), &pid); error != 0) {
    return Failed(fmt::format("fork/exec {}: {}", path, GoErrno(error)));
  }
  out.write.Close();
  ProcessResult result;
  const auto fault = ReadOutput(out.read.Get(), wake, spec, result.output);
  int status = 0;
  if (fault || !WaitForEnd(pid, wake, spec.timeout, &status)) {
    Kill(pid, !spec.inherit_stdin);
    return Failed(fault.value_or("did not end after closing its output"));
  }
  result.kind = ProcessResult::Kind::kExited;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

class Runner final : public ProcessRunner {
 public:
  explicit Runner(net::Loop& loop) : loop_(loop) {}
  ~Runner() override { Stop(); }

  void Run(ProcessSpec spec, Callback done) override {
    Stop();
    if (!wake_.Open()) {
      loop_.Post(
          [done = std::move(done), words = GoErrno(errno)] { done(Failed("pipe2: " + words)); });
      return;
    }
    // Whether the callback is still wanted; read and written on the loop's thread only.
    wanted_ = std::make_shared<bool>(true);
    auto answer = [this, done = std::move(done), wanted = wanted_](ProcessResult result) {
      loop_.Post([result = std::move(result), done, wanted]() mutable {
        if (*wanted) done(std::move(result));
      });
    };
    try {
      thread_ = std::thread(
          [this, spec = std::move(spec), answer] { answer(RunProcess(spec, wake_.read.Get())); });
    } catch (const std::system_error& error) {
      answer(Failed("pthread_create: " + GoErrno(error.code().value())));
    }
  }

 private:
  void Stop() {
    if (wanted_) *wanted_ = false;
    wake_.write.Close();
    if (thread_.joinable()) thread_.join();
    wake_.read.Close();
  }

  net::Loop& loop_;
  Pipe wake_;
  std::shared_ptr<bool> wanted_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ProcessRunner> MakeProcessRunner(net::Loop& loop) {
  return std::make_unique<Runner>(loop);
}

}  // namespace berth::kube
