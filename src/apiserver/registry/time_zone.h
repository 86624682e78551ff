// TimeZone: how far local time is from UTC, and when that changes, by the system's database of time
// zones (TZif files, RFC 8536).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::apiserver {

class TimeZone {
 public:
  // UTC.
  TimeZone() = default;
  // The zone of an IANA name, "Europe/Berlin". The error is the API server's.
  static Result<TimeZone> Load(const std::string& name);
  // The same from the bytes of a file.
  static Result<TimeZone> Parse(std::string_view bytes);

  // Seconds east of UTC at a time in seconds since 1970.
  int64_t Offset(int64_t time) const;
  // The first change of the offset after that time.
  std::optional<int64_t> NextChange(int64_t time) const;

 private:
  struct Change {
    int64_t at;
    int64_t offset;
  };

  void AddRule(std::string_view rule);

  int64_t first_ = 0;  // the offset before all changes
  std::vector<Change> changes_;
};

}  // namespace berth::apiserver
