#include "record/directory.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "record/run_reader.h"

namespace berth::record {
namespace {

namespace fs = std::filesystem;

class Directory : public testing::Test {
 protected:
  Directory() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    dir_ = fs::path(testing::TempDir()) / (std::string("berth-record-") + test->name());
    fs::remove_all(dir_);
  }
  ~Directory() override { fs::remove_all(dir_); }

  DirectoryOptions Options() const {
    DirectoryOptions options;
    options.dir = dir_.string();
    return options;
  }
  // A batch of `count` Advance records, of which each tells its number.
  static Batch Make(uint64_t first, uint64_t count) {
    Batch batch;
    batch.first_sequence = first;
    batch.count = count;
    RecordWriter writer(batch.records);
    for (uint64_t i = first; i < first + count; ++i) writer.AddAdvance(static_cast<int64_t>(i));
    return batch;
  }
  // That compresses badly.
  static Batch MakeNoise(uint64_t sequence, size_t size) {
    Random random(sequence);
    api::UnknownObject object;
    while (object.json.size() < size) object.json.push_back(static_cast<char>(random.Below(256)));
    Batch batch;
    batch.first_sequence = sequence;
    batch.count = 1;
    RecordWriter(batch.records).AddUpsert(object);
    return batch;
  }
  std::vector<RunFiles> Runs() const { return ListRuns(dir_.string()).value(); }
  static uint64_t CountRecords(const RunFiles& run, std::string* error) {
    RunReader reader(run);
    for (uint64_t count = 0;; ++count) {
      auto record = reader.Next();
      if (!record) *error = record.error().Message();
      if (!record || *record == nullptr) return count;
      EXPECT_EQ(reader.Sequence(), count + 1);
    }
  }
  uint64_t BytesThere() const {
    uint64_t bytes = 0;
    for (const RunFiles& run : Runs()) {
      for (const SegmentFile& segment : run.segments) bytes += segment.size;
    }
    return bytes;
  }

  fs::path dir_;
};

TEST_F(Directory, KeepsWhatItIsGiven) {
  DirectoryOptions options = Options();
  options.segment_bytes = 200;
  for (uint32_t run = 1; run <= 2; ++run) {
    auto sink = DirectorySink::Open(options, nullptr).value();
    EXPECT_EQ(sink->Run(), run);
    for (uint64_t first = 1; first <= 91; first += 10) EXPECT_TRUE(sink->Put(Make(first, 10)));
  }
  std::ofstream(dir_ / "notes.txt") << "not ours";
  ASSERT_EQ(Runs().size(), 2u);
  for (const RunFiles& run : Runs()) {
    EXPECT_GT(run.segments.size(), 2u);
    std::string error;
    EXPECT_EQ(CountRecords(run, &error), 100u);
    EXPECT_EQ(error, "");
  }
  EXPECT_EQ(fs::status(Runs()[0].segments[0].path).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Directory, AMissingSegmentIsNamed) {
  DirectoryOptions options = Options();
  options.segment_bytes = 200;
  {
    auto sink = DirectorySink::Open(options, nullptr).value();
    for (uint64_t first = 1; first <= 91; first += 10) sink->Put(Make(first, 10));
  }
  fs::remove(dir_ / SegmentName({1, 2}));
  std::string error;
  const uint64_t count = CountRecords(Runs().at(0), &error);
  EXPECT_GT(count, 0u);
  EXPECT_LT(count, 100u);
  EXPECT_EQ(error, "run-000001-segment-000002.berthrec is missing");
}

TEST_F(Directory, EndsAtItsLimitAndCanBeReadUpToThere) {
  DirectoryOptions options = Options();
  options.max_bytes = 20'000;
  options.segment_bytes = 8'000;
  std::promise<std::string> ended;
  {
    auto sink = DirectorySink::Open(options, [&](const std::string& reason) {
                  ended.set_value(reason);
                }).value();
    for (uint64_t sequence = 1; sequence <= 10; ++sequence) sink->Put(MakeNoise(sequence, 3000));
  }
  EXPECT_EQ(ended.get_future().get(), "the recording has reached its limit of 20000 bytes");
  EXPECT_LE(BytesThere(), 20'000u);
  std::string error;
  EXPECT_EQ(CountRecords(Runs().at(0), &error), 6u);
  EXPECT_EQ(error, "");
}

TEST_F(Directory, RemovesTheOldestRuns) {
  DirectoryOptions options = Options();
  options.max_bytes = 20'000;
  for (uint32_t run = 1; run <= 5; ++run) {
    auto sink = DirectorySink::Open(options, nullptr).value();
    for (uint64_t sequence = 1; sequence <= 2; ++sequence) sink->Put(MakeNoise(sequence, 3000));
  }
  EXPECT_LE(BytesThere(), 20'000u);
  const auto runs = Runs();
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs.front().number, 3u);
  EXPECT_EQ(runs.back().number, 5u);
}

TEST_F(Directory, IsARingOfRuns) {
  DirectoryOptions options = Options();
  options.max_bytes = 20'000;
  std::vector<uint32_t> began;
  {
    auto sink = DirectorySink::Open(
                    options, [](const std::string& reason) { FAIL() << reason; },
                    [&](uint32_t run) { began.push_back(run); })
                    .value();
    for (int run = 1; run <= 6; ++run) {
      EXPECT_FALSE(sink->WantsRun());
      for (uint64_t sequence = 1; !sink->WantsRun(); ++sequence) {
        ASSERT_LT(sequence, 100'000u);
        ASSERT_TRUE(sink->Put(MakeNoise(sequence, 3000)));
        // The sink counts what is written, on its own thread.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      sink->StartRun();
    }
    sink->Put(Make(1, 10));
  }
  EXPECT_EQ(began, (std::vector<uint32_t>{2, 3, 4, 5, 6, 7}));
  EXPECT_LE(BytesThere(), 20'000u);
  const auto runs = Runs();
  ASSERT_GE(runs.size(), 2u);
  EXPECT_EQ(runs.back().number, 7u);
  for (const RunFiles& run : runs) {
    std::string error;
    EXPECT_GT(CountRecords(run, &error), 0u);
    EXPECT_EQ(error, "");
  }
}

TEST_F(Directory, GoesOnWithAnotherRunAfterTheEnd) {
  DirectoryOptions options = Options();
  options.max_bytes = 20'000;
  std::promise<std::string> ended;
  {
    auto sink = DirectorySink::Open(options, [&](const std::string& reason) {
                  ended.set_value(reason);
                }).value();
    for (uint64_t sequence = 1; sequence <= 10; ++sequence) sink->Put(MakeNoise(sequence, 3000));
    ended.get_future().wait();
    EXPECT_FALSE(sink->Put(Make(100, 1)));
    EXPECT_TRUE(sink->WantsRun());
    EXPECT_TRUE(sink->CanResume());
    sink->StartRun();
    EXPECT_FALSE(sink->HasEnded());
    EXPECT_TRUE(sink->Put(MakeNoise(1, 3000)));
  }
  EXPECT_LE(BytesThere(), 20'000u);
  ASSERT_FALSE(Runs().empty());
  EXPECT_EQ(Runs().back().number, 2u);
  std::string error;
  EXPECT_EQ(CountRecords(Runs().back(), &error), 1u);
  EXPECT_EQ(error, "");
}

TEST_F(Directory, KnowsWhenARunBegan) {
  { DirectorySink::Open(Options(), nullptr).value()->Put(Make(1, 3)); }
  EXPECT_EQ(BeginOf(Runs().at(0)), 0);  // the batch says so
  EXPECT_EQ(LastTimeOf(Runs().at(0)), 0);
  RunFiles damaged = Runs().at(0);
  fs::resize_file(damaged.segments.front().path, 30);
  EXPECT_EQ(BeginOf(damaged), std::nullopt);
  EXPECT_EQ(LastTimeOf(damaged), std::nullopt);
}

TEST_F(Directory, ADiskThatIsTooSlowEndsIt) {
  DirectoryOptions options = Options();
  options.waiting_bytes = 1;
  int told = 0;
  std::string why;
  auto sink = DirectorySink::Open(options, [&](const std::string& reason) {
                ++told;
                why = reason;
              }).value();
  // Compressing a batch takes many times as long as handing the next one over: soon two wait.
  Batch noise = MakeNoise(1, 1'000'000);
  uint64_t sequence = 1;
  while (sequence < 500 && sink->Put(Batch(noise))) noise.first_sequence = ++sequence;
  EXPECT_FALSE(sink->Put(Make(sequence, 1)));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(why, "the disk is too slow: more than 1 bytes wait for it");
  EXPECT_TRUE(sink->HasEnded());
}

TEST_F(Directory, ASegmentThatCannotBeMadeEndsIt) {
  std::promise<std::string> ended;
  DirectoryOptions options = Options();
  options.segment_bytes = 1000;
  auto sink = DirectorySink::Open(options, [&](const std::string& reason) {
                ended.set_value(reason);
              }).value();
  // The next segment cannot be made: its name is taken.
  std::ofstream(dir_ / SegmentName({1, 2})) << "";
  for (uint64_t sequence = 1; sequence <= 2; ++sequence) sink->Put(MakeNoise(sequence, 3000));
  EXPECT_NE(ended.get_future().get().find("File exists"), std::string::npos);
}

TEST_F(Directory, SaysWhyItCannotBeUsed) {
  DirectoryOptions options = Options();
  options.dir = "/proc/nothing/here";
  EXPECT_NE(DirectorySink::Open(options, nullptr).error().Message().find("cannot make /proc"),
            std::string::npos);
  EXPECT_NE(ListRuns("/proc/nothing").error().Message().find("cannot read /proc/nothing"),
            std::string::npos);
}

}  // namespace
}  // namespace berth::record
