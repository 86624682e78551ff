// Journal: where changes are kept on disk.
#pragma once

#include <cstdint>
#include <string>

namespace berth::apiserver {

struct JournalEntry {
  std::string resource;  // "GROUP/PLURAL"
  std::string key;
  std::string text;  // the object; empty: it was deleted
  uint64_t version = 0;
};

class Journal {
 public:
  virtual ~Journal() = default;
  // Takes the entry; whoever made the journal is told when it is durable. Returns at once.
  virtual void Append(JournalEntry entry) = 0;
};

}  // namespace berth::apiserver
