#include "apiserver/registry/time_zone.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace berth::apiserver {
namespace {

constexpr std::string_view kFolder = "/usr/share/zoneinfo/";
constexpr size_t kMaxFile = 1 << 16;
constexpr size_t kHeaderSize = 44;
// Changes by a rule are known up to here.
constexpr int kLastYear = 2100;

bool GoodName(std::string_view name) {
  constexpr size_t kMaxPart = 14;
  for (size_t pos = 0; pos <= name.size();) {
    const size_t end = std::min(name.find('/', pos), name.size());
    const std::string_view part = name.substr(pos, end - pos);
    const bool letters = std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '-' || c == '_' || c == '+';
    });
    if (part.empty() || part.size() > kMaxPart || part == "." || part == ".." || part[0] == '-' ||
        !letters) {
      return false;
    }
    pos = end + 1;
  }
  return true;
}

// Big-endian numbers, one after the other. Past the end all are zero.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t Unsigned(size_t size) {
    uint64_t value = 0;
    for (const char c : Take(size)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  int64_t Signed(size_t size) {
    const uint64_t value = Unsigned(size);
    return size == 8 ? static_cast<int64_t>(value)
                     : static_cast<int64_t>(static_cast<int32_t>(value));
  }
  std::string_view Take(size_t size) {
    if (size > bytes_.size()) {
      failed_ = true;
      size = bytes_.size();
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view Left() const { return bytes_; }
  bool Failed() const { return failed_; }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

struct Header {
  char version = 0;
  size_t utc_marks = 0, standard_marks = 0, leaps = 0, times = 0, types = 0, letters = 0;

  size_t BlockSize(size_t time_size) const {
    return times * (time_size + 1) + types * 6 + letters + leaps * (time_size + 4) +
           standard_marks + utc_marks;
  }
};

std::optional<Header> ReadHeader(Reader& reader) {
  Header header;
  if (reader.Left().size() < kHeaderSize || reader.Take(4) != "TZif") return std::nullopt;
  header.version = reader.Take(1)[0];
  reader.Take(15);
  for (size_t* count : {&header.utc_marks, &header.standard_marks, &header.leaps, &header.times,
                        &header.types, &header.letters}) {
    *count = reader.Unsigned(4);
  }
  return header;
}

// A rule of POSIX: "CET-1CEST,M3.5.0,M10.5.0/3".
class Rule {
 public:
  struct Day {
    int month = 0;
    int week = 0;  // 5: the last
    int weekday = 0;
    int64_t time = 7200;
  };

  explicit Rule(std::string_view text) : text_(text) {
    Name();
    standard = -Time();
    if (text_.empty()) return;
    Name();
    daylight = text_.starts_with(',') ? standard + 3600 : -Time();
    begin = ReadDay();
    end = ReadDay();
    changes = !failed_ && text_.empty();
  }

  // When the day's time comes, in seconds of local time as if it were UTC.
  static int64_t When(const Day& day, int year) {
    namespace chrono = std::chrono;
    const chrono::month month(static_cast<unsigned>(day.month));
    const chrono::weekday weekday(static_cast<unsigned>(day.weekday));
    const chrono::sys_days date =
        day.week == 5 ? chrono::sys_days(chrono::year(year) / month / weekday[chrono::last])
                      : chrono::sys_days(chrono::year(year) / month /
                                         weekday[static_cast<unsigned>(day.week)]);
    return int64_t{date.time_since_epoch().count()} * 86400 + day.time;
  }

  int64_t standard = 0;
  int64_t daylight = 0;
  Day begin, end;  // of daylight saving
  bool changes = false;

 private:
  bool Eat(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void Name() {
    const bool quoted = Eat('<');
    const auto letter = [&](char c) {
      return quoted ? c != '>' : (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    while (!text_.empty() && letter(text_[0])) text_.remove_prefix(1);
    if (quoted) Eat('>');
  }
  int Number() {
    int value = 0;
    size_t digits = 0;
    for (; !text_.empty() && text_[0] >= '0' && text_[0] <= '9' && digits < 4; ++digits) {
      value = value * 10 + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    failed_ = failed_ || digits == 0;
    return value;
  }
  // [+-]HOURS[:MINUTES[:SECONDS]]
  int64_t Time() {
    const bool negative = Eat('-');
    if (!negative) Eat('+');
    int64_t seconds = int64_t{Number()} * 3600;
    if (Eat(':')) seconds += int64_t{Number()} * 60;
    if (Eat(':')) seconds += Number();
    return negative ? -seconds : seconds;
  }
  Day ReadDay() {
    Day day;
    if (!Eat(',') || !Eat('M')) failed_ = true;
    day.month = Number();
    if (!Eat('.')) failed_ = true;
    day.week = Number();
    if (!Eat('.')) failed_ = true;
    day.weekday = Number();
    if (Eat('/')) day.time = Time();
    failed_ = failed_ || day.month < 1 || day.month > 12 || day.week < 1 || day.week > 5 ||
              day.weekday > 6;
    return day;
  }

  std::string_view text_;
  bool failed_ = false;
};

}  // namespace

Result<TimeZone> TimeZone::Load(const std::string& name) {
  if (name == "UTC") return TimeZone();
  const auto unknown = [&] { return Fail(fmt::format("unknown time zone {}", name)); };
  if (!GoodName(name)) return unknown();
  std::ifstream file(std::string(kFolder) + name, std::ios::binary);
  std::string bytes(kMaxFile, '\0');
  if (!file) return unknown();
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad()) return unknown();  // a folder, say
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  auto zone = Parse(bytes);
  if (!zone) return unknown();
  return zone;
}

Result<TimeZone> TimeZone::Parse(std::string_view bytes) {
  Reader reader(bytes);
  auto header = ReadHeader(reader);
  if (!header) return Fail("no TZif file");
  size_t time_size = 4;
  if (header->version >= '2') {
    // What follows says the same with larger numbers.
    reader.Take(header->BlockSize(4));
    header = ReadHeader(reader);
    time_size = 8;
  }
  if (!header || header->types == 0 || reader.Left().size() < header->BlockSize(time_size)) {
    return Fail("the TZif file is cut off");
  }
  TimeZone zone;
  for (size_t i = 0; i < header->times; ++i) {
    zone.changes_.push_back({reader.Signed(time_size), 0});
  }
  const std::string_view types = reader.Take(header->times);
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < header->types; ++i) {
    offsets.push_back(reader.Signed(4));
    reader.Take(2);  // whether it is daylight saving, and its letters
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const size_t type = static_cast<unsigned char>(types[i]);
    if (type >= offsets.size()) return Fail("the TZif file names a type it does not have");
    zone.changes_[i].offset = offsets[type];
  }
  const bool sorted = std::is_sorted(zone.changes_.begin(), zone.changes_.end(),
                                     [](const Change& a, const Change& b) { return a.at < b.at; });
  if (!sorted) return Fail("the changes of the TZif file are in disorder");
  zone.first_ = offsets[0];
  reader.Take(header->letters + header->leaps * (time_size + 4) + header->standard_marks +
              header->utc_marks);
  if (time_size == 8 && reader.Take(1) == "\n") {
    const std::string_view rule = reader.Left();
    zone.AddRule(rule.substr(0, rule.find('\n')));
  }
  return zone;
}

// The rule says what comes after the changes that are listed.
void TimeZone::AddRule(std::string_view text) {
  const Rule rule(text);
  if (!rule.changes) return;
  const int64_t last = changes_.empty() ? INT64_MIN : changes_.back().at;
  int year = 1970;
  if (last > 0) {
    const std::chrono::sys_days day{std::chrono::days(last / 86400)};
    year = static_cast<int>(std::chrono::year_month_day(day).year());
  }
  for (; year <= kLastYear; ++year) {
    Change begin{Rule::When(rule.begin, year) - rule.standard, rule.daylight};
    Change end{Rule::When(rule.end, year) - rule.daylight, rule.standard};
    if (end.at < begin.at) std::swap(begin, end);
    for (const Change& change : {begin, end}) {
      if (change.at > last) changes_.push_back(change);
    }
  }
}

int64_t TimeZone::Offset(int64_t time) const {
  const auto after =
      std::upper_bound(changes_.begin(), changes_.end(), time,
                       [](int64_t t, const Change& change) { return t < change.at; });
  return after == changes_.begin() ? first_ : std::prev(after)->offset;
}

std::optional<int64_t> TimeZone::NextChange(int64_t time) const {
  const auto after =
      std::upper_bound(changes_.begin(), changes_.end(), time,
                       [](int64_t t, const Change& change) { return t < change.at; });
  if (after == changes_.end()) return std::nullopt;
  return after->at;
}

}  // namespace berth::apiserver
