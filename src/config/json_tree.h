// JSON as a tree that keeps what strict decoding reports: the order of members, repeated keys, the
// text of numbers. Syntax errors are worded as Go's encoding/json words them. Private to this room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::config {

struct JsonTree {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  std::string text;         // the characters of a string, the digits of a number
  std::string_view source;  // the part of the parsed text this value was read from
  std::vector<JsonTree> items;
  struct Member;
  std::vector<Member> members;

  // The last member of that name, null if there is none or it is null.
  const JsonTree* Find(std::string_view name) const;
};

struct JsonTree::Member {
  std::string name;
  JsonTree value;
};

// How Go names the kind of a value in its errors: "string", "number", ...
std::string_view KindName(JsonTree::Kind kind);

// `text` must outlive the tree.
Result<JsonTree> ParseJson(std::string_view text);

// The JSON text of the tree without blanks.
void AppendJson(std::string& out, const JsonTree& tree);

}  // namespace berth::config
