// Pseudonyms: a table from words to made-up words, which keeps their alphabetical order.
//
// Ties in the scheduler are broken by name in some places (volumes of equal size, pools of devices,
// members of a group), so equal decisions need names in equal order. A word that comes between two
// others gets a pseudonym between theirs; nothing of its letters is in it but that order. The table
// is in memory only and grows with every new word. Used by a Redactor, on its thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace berth::record {

class Pseudonyms {
 public:
  // The same for a word each time; never equal for two words. Good until Clear.
  std::string_view Of(std::string_view word);
  size_t Size() const { return table_.size(); }
  void Clear() {
    table_.clear();
    last_.clear();
  }

 private:
  std::map<std::string, std::string, std::less<>> table_;
  std::string last_;  // the word that was added last
};

// Which part of a gap is used.
enum class Part : uint8_t { kMiddle, kBegin, kEnd };

// A string of 0-9 and a-z that does not end in 0 and comes after `low` and before `high`, which are
// such strings too; an empty one is no bound. REQUIRES: low < high.
std::string StringBetween(std::string_view low, std::string_view high, Part part);

}  // namespace berth::record
