#include "record/segment.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::record {
namespace {

const std::vector<std::string> kBlocks = {"first block", std::string(5000, 'x'), "z"};

std::string ThreeBlocks() {
  std::string bytes = SegmentHeader({3, 7});
  for (size_t i = 0; i < kBlocks.size(); ++i) {
    bytes += MakeBlock({10 * (i + 1), static_cast<int64_t>(i) - 1}, kBlocks[i]);
  }
  return bytes;
}

// The blocks up to the end or the error, which must be there if they are not all.
size_t WholeBlocks(std::string_view bytes, std::string* error) {
  auto reader = SegmentReader::Open(bytes, {3, 7});
  if (!reader) {
    *error = reader.error().Message();
    return 0;
  }
  std::string records;
  BlockInfo info;
  for (size_t count = 0;; ++count) {
    auto more = reader->Next(&records, &info);
    if (!more) *error = more.error().Message();
    if (!more || !*more) return count;
    EXPECT_EQ(records, kBlocks.at(count));
    EXPECT_EQ(info.first_sequence, 10 * (count + 1));
    EXPECT_EQ(info.time_ns, static_cast<int64_t>(count) - 1);
  }
}

TEST(Segment, ReturnsItsBlocks) {
  std::string error;
  EXPECT_EQ(WholeBlocks(ThreeBlocks(), &error), 3u);
  EXPECT_EQ(error, "");
}

TEST(Segment, CutAnywhereGivesTheBlocksBefore) {
  const std::string whole = ThreeBlocks();
  std::vector<size_t> ends = {kSegmentHeaderSize};
  for (size_t i = 0; i < kBlocks.size(); ++i) {
    ends.push_back(ends.back() + MakeBlock({10 * (i + 1), 0}, kBlocks[i]).size());
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    size_t expected = 0;
    while (expected + 1 < ends.size() && ends[expected + 1] <= size) ++expected;
    std::string error;
    EXPECT_EQ(WholeBlocks(whole.substr(0, size), &error), expected) << size;
    EXPECT_EQ(error.empty(), size == ends[expected]) << size << error;
  }
}

TEST(Segment, FindsEveryFlippedBit) {
  const std::string whole = ThreeBlocks();
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    std::string error;
    EXPECT_LT(WholeBlocks(damaged, &error), 3u) << bit;
    EXPECT_NE(error, "") << bit;
  }
}

TEST(Segment, SaysWhatIsWrong) {
  const auto error = [](std::string_view bytes, SegmentId id) {
    return SegmentReader::Open(bytes, id).error().Message();
  };
  const std::string header = SegmentHeader({3, 7});
  EXPECT_EQ(error("", {3, 7}), "cut within its header");
  EXPECT_EQ(error(std::string(100, 'x'), {3, 7}), "not a segment of a recording");
  EXPECT_EQ(error(header, {3, 8}), "this is segment 7 of run 3, renamed");
}

}  // namespace
}  // namespace berth::record
