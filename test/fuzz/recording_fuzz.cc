// Any bytes as a recording: read to their end or refused, and records that can be read can be
// written again to the same effect.
//
// The first byte chooses: a segment as it comes (checksums stop nearly all of these early), or the
// records of a block that is made here.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "record/records.h"
#include "record/run_reader.h"
#include "record/segment.h"

namespace {

using namespace berth::record;

// Reads to the end or the first damage.
uint64_t CountRecords(std::vector<std::string> segments) {
  RunReader reader(1, std::move(segments));
  uint64_t count = 0;
  for (;;) {
    auto record = reader.Next();
    if (!record && record.error().Message().empty()) abort();  // damage is named
    if (!record || *record == nullptr) return count;
    if (reader.Sequence() != ++count) abort();
  }
}

// The records of a block that can be read, as bytes.
std::string Rewritten(std::string_view records, uint64_t* count) {
  std::string out;
  RecordWriter writer(out);
  ByteReader reader(records);
  for (*count = 0; !reader.AtEnd(); ++*count) {
    const auto record = DecodeRecord(reader);
    if (!record) break;
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::is_same_v<T, Begin>) {
            writer.Add(value);
          } else if constexpr (std::is_same_v<T, Advance>) {
            writer.AddAdvance(value.time_ns);
          } else if constexpr (std::is_same_v<T, Upsert>) {
            writer.AddUpsert(value.object);
          } else if constexpr (std::is_same_v<T, UpdateStatus>) {
            writer.AddStatus(value.pod);
          } else if constexpr (std::is_same_v<T, Delete>) {
            writer.AddDelete(value.object);
          } else if constexpr (std::is_same_v<T, Replace>) {
            writer.AddReplace(value.kind, value.part, value.objects);
          } else if constexpr (std::is_same_v<T, Complete>) {
            writer.AddComplete(value.result);
          } else if constexpr (std::is_same_v<T, Step>) {
            writer.AddStep(value.tried);
          } else if constexpr (std::is_same_v<T, Taken>) {
            writer.AddTaken(value.digests);
          } else if constexpr (std::is_same_v<T, Synced>) {
            writer.AddSynced();
          } else if constexpr (std::is_same_v<T, Metrics>) {
            writer.AddMetrics(value.node, value.metrics);
          } else {
            writer.AddEnd();
          }
        },
        *record);
  }
  return out;
}

std::string SegmentOf(std::string_view records) {
  return SegmentHeader({1, 1}) + MakeBlock({1, 0}, records);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    CountRecords({std::string(bytes)});
    return 0;
  }
  if (bytes.empty()) return 0;
  uint64_t count = 0;
  const std::string again = Rewritten(bytes, &count);
  if (CountRecords({SegmentOf(bytes)}) != count) abort();
  uint64_t count_again = 0;
  if (Rewritten(again, &count_again) != again || count_again != count) abort();
  return 0;
}
