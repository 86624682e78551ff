// Redactor: replaces names, labels, images and all other words of a cluster by pseudonyms.
//
// Everything is replaced word by word, and in every string alike: in names, keys and values of
// labels, images, references, configurations and messages. So what the engine composes of strings,
// such as the claim "web-0-data" of the pod "web-0", is composed of the same pseudonyms, and an
// engine that gets the redacted inputs decides the same about redacted objects. What stays:
//
// - words of Kubernetes and of the scheduler's own messages: those of all strings in its sources
//   (vocabulary.inc). Engines write them themselves.
// - digits, at the beginning of words too, and durations;
// - uids, resource versions, kinds, times and quantities.
//
// Owned by a Recorder and used on its thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "record/pseudonyms.h"

namespace berth::record {

class Redactor {
 public:
  // The text with its words replaced. A word is letters, digits and bytes beyond ASCII; a backslash
  // and the character behind it belong to none, so JSON stays JSON.
  std::string Text(std::string_view text);
  // The same for a message of `type` in Kubernetes' protobuf, as api::EncodeProto writes it.
  std::string Proto(const api::TypeInfo& type, std::string_view message);

  // The table of words has become large. It is emptied by Reset, after which words have other
  // pseudonyms.
  bool IsFull() const { return pseudonyms_.Size() > kManyWords; }
  void Reset() { pseudonyms_.Clear(); }

 private:
  static constexpr size_t kManyWords = size_t{1} << 20;

  void Word(std::string_view word, std::string* out);
  void Message(const api::TypeInfo& type, std::string_view message, std::string* out);
  void Field(const api::FieldInfo& field, const api::TypeInfo& type, std::string_view bytes,
             std::string_view payload, std::string* out);
  std::string Entry(const api::TypeInfo& element, std::string_view entry, std::string* key);

  Pseudonyms pseudonyms_;
};

}  // namespace berth::record
