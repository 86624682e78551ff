#include "net/http/tls_records.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::net {
namespace {

std::string RecordOf(size_t size) {
  std::string record("\x17\x03\x03", 3);
  record += static_cast<char>(size >> 8);
  record += static_cast<char>(size & 0xff);
  return record.append(size, 'x');
}

TEST(TlsRecords, TakesOneRecordAtATime) {
  TlsRecords records;
  const std::string two = RecordOf(300) + RecordOf(7);
  EXPECT_EQ(records.Take(two), 305u);
  EXPECT_EQ(records.Take(std::string_view(two).substr(305)), 12u);
}

TEST(TlsRecords, GoesOnWhereAPieceEnded) {
  TlsRecords records;
  const std::string record = RecordOf(300);
  EXPECT_EQ(records.Take(std::string_view(record).substr(0, 3)), 3u) << "within the header";
  EXPECT_EQ(records.Take(std::string_view(record).substr(3, 100)), 100u) << "within the body";
  EXPECT_EQ(records.Take(std::string(record.substr(103)) + RecordOf(1)), 202u);
}

TEST(TlsRecords, ARecordMayBeEmpty) {
  TlsRecords records;
  const std::string two = RecordOf(0) + RecordOf(2);
  EXPECT_EQ(records.Take(two), 5u);
  EXPECT_EQ(records.Take(std::string_view(two).substr(5)), 7u);
}

// Whatever the pieces, every record ends at the end of something taken.
TEST(TlsRecords, FindsAllEndsInRandomPieces) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::string stream;
    std::vector<size_t> ends;
    for (int i = 0; i < 20; ++i) {
      stream += RecordOf(random.Below(40));
      ends.push_back(stream.size());
    }
    TlsRecords records;
    std::vector<size_t> stops;
    for (size_t at = 0; at < stream.size();) {
      const size_t piece = 1 + random.Below(60);
      const size_t taken = records.Take(std::string_view(stream).substr(at, piece));
      ASSERT_GT(taken, 0u);
      ASSERT_LE(taken, piece);
      at += taken;
      stops.push_back(at);
    }
    size_t next = 0;
    for (const size_t stop : stops) {
      ASSERT_LE(stop, ends[next]) << "nothing taken crosses an end";
      if (stop == ends[next]) ++next;
    }
    EXPECT_EQ(next, ends.size());
  }
}

}  // namespace
}  // namespace berth::net
