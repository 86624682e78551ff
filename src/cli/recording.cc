#include "cli/recording.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "api/rules/quantity.h"
#include "cli/build_info.h"
#include "log/log.h"

namespace berth::cli {
namespace {

constexpr net::Nanoseconds kLookEvery = std::chrono::seconds(1);
// After the recording has ended: the cluster is listed again for another run, so a disk that keeps
// failing must not cause that often.
constexpr net::Nanoseconds kFirstPause = std::chrono::seconds(10);
constexpr net::Nanoseconds kLongestPause = std::chrono::minutes(10);

}  // namespace

Result<int64_t> ParseRecordBytes(const std::string& text) {
  const auto parsed = api::Quantity::Parse(text);
  int64_t bytes = 0;
  if (!parsed || !parsed->AsInt64(&bytes) || bytes < (int64_t{1} << 20)) {
    return Fail(fmt::format("\"{}\" is not a size of at least 1Mi, such as 500Mi or 2Gi", text));
  }
  return bytes;
}

Result<std::unique_ptr<Recording>> Recording::Open(const RecordingOptions& options,
                                                   const config::FeatureGates& gates,
                                                   server::Registry& metrics) {
  if (options.redact && options.out_of_tree) {
    return Fail("--record-redact does not know which words out-of-tree plugins use");
  }
  record::DirectoryOptions directory;
  directory.dir = options.dir;
  directory.max_bytes = options.max_bytes;
  server::Counter* drops =
      metrics
          .AddCounter(
              {"berth_recording_drops_total",
               "How often a recording ended before its time: the disk was full or too slow, "
               "or the run alone reached --record-max-bytes.",
               server::Stability::kNone,
               {}})
          .With({});
  auto sink = record::DirectorySink::Open(
      directory,
      [drops, observed = options.observed](const std::string& reason) {
        drops->Add();
        log::Error(reason, observed ? "The recording has ended"
                                    : "The recording has ended; scheduling goes on without it");
      },
      [dir = options.dir](uint32_t run) {
        log::Info(0, "Recording", {{"dir", dir}, {"run", run}});
      });
  if (!sink) return Fail(sink.error());
  std::unique_ptr<Recording> recording(new Recording());
  recording->pause_ = kFirstPause;
  recording->sink_ = std::move(*sink);
  recording->recorder_ = std::make_unique<record::Recorder>(
      *recording->sink_, gates,
      record::RecorderOptions{.berth_version = std::string(BuildCommit()),
                              .redact = options.redact,
                              .observed = options.observed});
  server::Gauge* active =
      metrics
          .AddGauge({"berth_recording",
                     "1 while decisions are recorded (--record-dir), 0 after the recording "
                     "ended before its time and until another run begins.",
                     server::Stability::kNone,
                     {}})
          .With({});
  server::Gauge* bytes = metrics
                             .AddGauge({"berth_recording_bytes",
                                        "Bytes that this run of the scheduler has recorded.",
                                        server::Stability::kNone,
                                        {}})
                             .With({});
  metrics.OnCollect([active, bytes, sink = recording->sink_.get()] {
    active->Set(sink->HasEnded() ? 0 : 1);
    bytes->Set(static_cast<double>(sink->WrittenBytes()));
  });
  log::Info(0, "Recording", {{"dir", options.dir}, {"run", recording->sink_->Run()}});
  return recording;
}

void Recording::Follow(net::Loop& loop, std::function<void()> renew) {
  renew_ = std::move(renew);
  FollowOn(loop);
}

void Recording::FollowOn(net::Loop& loop) {
  loop.After(kLookEvery, [this, &loop] {
    Look(loop);
    FollowOn(loop);
  });
}

void Recording::Look(net::Loop& loop) {
  const net::Nanoseconds now = loop.Steady();
  if (!sink_->HasEnded()) {
    if (sink_->WantsRun() || recorder_->WantsRun()) renew_();
    if (now > next_look_ + kLongestPause) pause_ = kFirstPause;  // the disk has recovered
    return;
  }
  if (now < next_look_ || !sink_->CanResume()) return;
  renew_();
  next_look_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

Recording::~Recording() {
  if (recorder_) recorder_->Close();
}

}  // namespace berth::cli
