// ProtoText: writes protobuf messages that consist mostly of strings, for the few bodies that are
// written for every pod. Sizes are told before contents, so that nothing is moved afterwards.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace berth::kube {

class ProtoText {
 public:
  using Texts = std::initializer_list<std::string_view>;

  static size_t NumberSize(uint64_t number) {
    size_t size = 1;
    for (; number >= 0x80; number >>= 7) ++size;
    return size;
  }
  static size_t Size(std::string_view text) { return 1 + NumberSize(text.size()) + text.size(); }
  // Of strings as fields 1, 2, …
  static size_t Size(Texts texts) {
    size_t size = 0;
    for (const std::string_view text : texts) size += Size(text);
    return size;
  }
  // Of a message with a content of that size, below field 16.
  static size_t MessageSize(size_t content) { return 1 + NumberSize(content) + content; }

  // `size` is what will be written, to the byte.
  explicit ProtoText(size_t size) : out_(size, '\0'), at_(out_.data()) {}

  void Bytes(std::string_view bytes) {
    std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  void Number(uint64_t number) {
    for (; number >= 0x80; number >>= 7) *at_++ = static_cast<char>(number | 0x80);
    *at_++ = static_cast<char>(number);
  }
  // The head of a string or message; `field` is below 16.
  void Head(int field, size_t size) {
    *at_++ = static_cast<char>(field << 3 | 2);
    Number(size);
  }
  void Text(int field, std::string_view text) {
    Head(field, text.size());
    if (!text.empty()) Bytes(text);
  }
  void Fields(Texts texts) {
    int field = 0;
    for (const std::string_view text : texts) Text(++field, text);
  }
  // The envelope up to the object's bytes, and what follows them.
  static size_t EnvelopeSize(Texts version_and_kind, size_t object) {
    return 4 + MessageSize(Size(version_and_kind)) + MessageSize(object) + 4;
  }
  void BeginEnvelope(Texts version_and_kind, size_t object) {
    Bytes(std::string_view("k8s\0", 4));
    Head(1, Size(version_and_kind));
    Fields(version_and_kind);
    Head(2, object);
  }
  void EndEnvelope() { Bytes(std::string_view("\x1a\0\x22\0", 4)); }

  std::string Take() && { return std::move(out_); }

 private:
  std::string out_;
  char* at_;
};

}  // namespace berth::kube
