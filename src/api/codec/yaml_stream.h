// One YAML document to JSON straight from the events, without a tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/yaml.h"
#include "api/codec/yaml_events.h"
#include "api/codec/yaml_scalar.h"

namespace berth::api::yaml {

// Converts documents without anchors, aliases, merge keys and unusual keys; for the others it says
// so, and the caller reads the stream again with the tree decoder. Reusable for one document after
// another.
class StreamConverter {
 public:
  enum class Outcome { kDone, kNeedsTree };

  explicit StreamConverter(YamlOptions options) : options_(options) {}

  // REQUIRES: the current event is the start of a document. On kDone the current event is its end.
  Result<Outcome> Convert(Events& events);

  std::string TakeJson();

 private:
  // A member of an open or reordered mapping: where it lies in json_, without the comma.
  struct Member {
    size_t key_begin = 0;  // of the key in keys_
    size_t key_end = 0;
    size_t begin = 0;  // of the member in json_
    size_t end = 0;
    size_t value_line = 0;
    Kind key_kind = Kind::kString;
  };
  struct Frame {
    bool is_mapping = false;
    bool expects_key = true;
    bool in_order = true;  // keys so far are strictly ascending
    size_t begin = 0;      // of the bracket in json_
    size_t first_member = 0;
    size_t first_key = 0;
    size_t count = 0;  // members or elements so far
  };
  // A mapping whose members are not in key order in json_.
  struct Reordered {
    size_t begin = 0;
    size_t end = 0;
    std::vector<Member> members;  // in key order, of equal keys only the last
  };
  // A duplicate key. `position` orders the errors as they occur.
  struct Duplicate {
    size_t position = 0;
    std::string text;
  };

  void Reset();
  Outcome OnEvent(const Events& events);
  Outcome OnScalar(const Events& events);
  Outcome OnKey(const Events& events);
  void Open(bool is_mapping);
  void Close();
  void BeginValue(size_t line);
  void EndValue();
  void CloseMapping(const Frame& frame);
  void FindDuplicates(const std::vector<Member>& sorted);
  std::string_view KeyOf(const Member& member) const;
  Result<void> Verdict();
  void Emit(std::string& out, size_t begin, size_t end) const;

  YamlOptions options_;
  std::string json_;
  std::string keys_;
  std::string scratch_;
  std::vector<Frame> frames_;
  std::vector<Member> members_;
  std::vector<Reordered> reordered_;
  std::vector<Duplicate> duplicates_;
  std::string failure_;  // the first error of decoding, reported when the document has been parsed
  std::string json_failure_;  // the first value JSON cannot express
};

}  // namespace berth::api::yaml
