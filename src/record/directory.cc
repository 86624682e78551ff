#include "record/directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace berth::record {
namespace {

namespace fs = std::filesystem;

// Free space at which a recording that a full disk has ended may go on.
constexpr uint64_t kFreeToResume = uint64_t{64} << 20;

std::string Reason(std::string_view what, const std::string& path, int error) {
  return fmt::format("cannot {} {}: {}", what, path, std::strerror(error));
}

uint64_t SizeOf(const RunFiles& run) {
  uint64_t size = 0;
  for (const SegmentFile& segment : run.segments) size += segment.size;
  return size;
}

}  // namespace

DirectorySink::DirectorySink(DirectoryOptions options, Ended ended, Began began)
    : options_(std::move(options)),
      ended_callback_(std::move(ended)),
      began_callback_(std::move(began)) {}

Result<std::unique_ptr<DirectorySink>> DirectorySink::Open(DirectoryOptions options, Ended ended,
                                                           Began began) {
  std::unique_ptr<DirectorySink> sink(
      new DirectorySink(std::move(options), std::move(ended), std::move(began)));
  if (auto started = sink->Start(); !started) return Fail(started.error());
  return sink;
}

Result<void> DirectorySink::Start() {
  if (!fs::exists(options_.dir) && mkdir(options_.dir.c_str(), 0700) != 0) {
    return Fail(Reason("make", options_.dir, errno));
  }
  auto runs = ListRuns(options_.dir);
  if (!runs) return Fail(runs.error());
  old_runs_ = std::move(*runs);
  for (const RunFiles& run : old_runs_) old_bytes_ += SizeOf(run);
  current_.number = old_runs_.empty() ? 0 : old_runs_.back().number;
  if (auto opened = OpenFirst(); !opened) return opened;
  thread_ = std::thread([this] { Work(); });
  return {};
}

DirectorySink::~DirectorySink() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (file_ >= 0) close(file_);
}

// --- Any thread

bool DirectorySink::Put(Batch&& batch) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    if (waiting_bytes_ + batch.records.size() <= options_.waiting_bytes || waiting_.empty()) {
      waiting_bytes_ += batch.records.size();
      waiting_.emplace_back(std::move(batch));
      wake_.notify_all();
      return true;
    }
  }
  End(fmt::format("the disk is too slow: more than {} bytes wait for it", options_.waiting_bytes));
  return false;
}

void DirectorySink::End(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
  }
  ended_early_.store(true, std::memory_order_relaxed);
  if (ended_callback_) ended_callback_(reason);
}

bool DirectorySink::WantsRun() const {
  return HasEnded() || run_bytes_.load(std::memory_order_relaxed) > options_.max_bytes / 2;
}

void DirectorySink::StartRun() {
  run_bytes_.store(0, std::memory_order_relaxed);
  ended_early_.store(false, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    ended_ = false;
    waiting_.emplace_back(std::nullopt);
  }
  wake_.notify_all();
}

bool DirectorySink::CanResume() const {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) return false;
  }
  struct statvfs disk {};
  if (statvfs(options_.dir.c_str(), &disk) != 0) return false;
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  return free >= std::min(options_.max_bytes / 2, kFreeToResume);
}

// --- The sink's thread

void DirectorySink::Work() {
  for (;;) {
    Item item;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      item = std::move(waiting_.front());
    }
    auto done = Do(item);
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      waiting_.pop_front();
      if (item) waiting_bytes_ -= item->records.size();
      if (!done) {
        waiting_.clear();
        waiting_bytes_ = 0;
        first = !std::exchange(ended_, true);
      }
    }
    if (done || !first) continue;
    ended_early_.store(true, std::memory_order_relaxed);
    if (ended_callback_) ended_callback_(done.error().Message());
  }
}

Result<void> DirectorySink::Do(const Item& item) { return item ? Write(*item) : BeginRun(); }

Result<void> DirectorySink::BeginRun() {
  old_bytes_ += SizeOf(current_);
  const uint32_t last = current_.number;
  if (!current_.segments.empty()) old_runs_.push_back(std::move(current_));
  current_ = {};
  current_.number = last;
  run_bytes_.store(0, std::memory_order_relaxed);  // what waited was still the run before
  if (auto opened = OpenFirst(); !opened) return opened;
  if (began_callback_) began_callback_(Run());
  return {};
}

// The first segment of the next run. Another process may be starting one in the same directory.
Result<void> DirectorySink::OpenFirst() {
  for (;;) {
    ++current_.number;
    bool exists = false;
    auto opened = OpenSegment({current_.number, 1}, &exists);
    if (!opened && exists) continue;
    if (opened) run_.store(current_.number, std::memory_order_relaxed);
    return opened;
  }
}

Result<void> DirectorySink::OpenSegment(SegmentId id, bool* exists) {
  const std::string path = (fs::path(options_.dir) / SegmentName(id)).string();
  const std::string header = SegmentHeader(id);
  if (!FreeSpaceFor(header.size())) return Fail("no segment fits into the size limit");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    if (exists != nullptr) *exists = errno == EEXIST;
    return Fail(Reason("make", path, errno));
  }
  const ssize_t done = write(file, header.data(), header.size());
  if (done != static_cast<ssize_t>(header.size())) {
    const int error = done < 0 ? errno : ENOSPC;
    close(file);
    unlink(path.c_str());
    return Fail(Reason("write", path, error));
  }
  if (file_ >= 0) close(file_);
  file_ = file;
  segment_size_ = 0;
  current_.segments.push_back({id, path, 0});
  Wrote(header.size());
  return {};
}

void DirectorySink::Wrote(uint64_t bytes) {
  segment_size_ += bytes;
  current_.segments.back().size = segment_size_;
  run_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  written_.fetch_add(bytes, std::memory_order_relaxed);
}

Result<void> DirectorySink::Write(const Batch& batch) {
  if (batch.records.size() > kMaxBlockSize) {
    return Fail(fmt::format("a record is larger than {} bytes", kMaxBlockSize));
  }
  const std::string block = MakeBlock({batch.first_sequence, batch.first_time_ns}, batch.records);
  if (block.empty()) return Fail("there is no memory to compress records");
  if (segment_size_ > kSegmentHeaderSize && segment_size_ + block.size() > options_.segment_bytes) {
    const SegmentId last = current_.segments.back().id;
    if (auto opened = OpenSegment({last.run, last.number + 1}); !opened) return opened;
  }
  if (!FreeSpaceFor(block.size())) {
    return Fail(fmt::format("the recording has reached its limit of {} bytes", options_.max_bytes));
  }
  for (size_t done = 0; done < block.size();) {
    const ssize_t more = write(file_, block.data() + done, block.size() - done);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) {
      const int error = more < 0 ? errno : ENOSPC;
      const std::string& path = current_.segments.back().path;
      // Half a block would look like damage.
      if (ftruncate(file_, static_cast<off_t>(segment_size_)) != 0) {
        return Fail(Reason("write and cut", path, error));
      }
      return Fail(Reason("write", path, error));
    }
    done += static_cast<size_t>(more);
  }
  Wrote(block.size());
  return {};
}

bool DirectorySink::FreeSpaceFor(uint64_t more) {
  const uint64_t current = SizeOf(current_);
  if (current + more > options_.max_bytes) return false;
  while (old_bytes_ + current + more > options_.max_bytes && !old_runs_.empty()) {
    // Backwards: what is left of a run that is being removed still begins with its beginning.
    RunFiles& oldest = old_runs_.front();
    while (!oldest.segments.empty()) {
      if (unlink(oldest.segments.back().path.c_str()) != 0 && errno != ENOENT) return false;
      old_bytes_ -= oldest.segments.back().size;
      oldest.segments.pop_back();
    }
    old_runs_.erase(old_runs_.begin());
  }
  return true;
}

}  // namespace berth::record
