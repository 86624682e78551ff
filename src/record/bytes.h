// ByteWriter and ByteReader: the integers and strings of a record.
//
// Integers are varints as in protobuf, signed ones zigzag-encoded; strings are preceded by their
// length. A reader that has run past the end, or met a malformed varint, returns zeros and empty
// strings from then on; Ok() tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::record {

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void Byte(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void Bool(bool value) { Byte(value ? 1 : 0); }
  void Unsigned(uint64_t value) {
    for (; value >= 0x80; value >>= 7) Byte(static_cast<uint8_t>(value | 0x80));
    Byte(static_cast<uint8_t>(value));
  }
  void Signed(int64_t value) {
    Unsigned((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void Fixed64(uint64_t value) {
    for (int i = 0; i < 64; i += 8) Byte(static_cast<uint8_t>(value >> i));
  }
  void Fixed32(uint32_t value) {
    for (int i = 0; i < 32; i += 8) Byte(static_cast<uint8_t>(value >> i));
  }
  void String(std::string_view value) {
    Unsigned(value.size());
    out_.append(value);
  }

 private:
  std::string& out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  bool Ok() const { return ok_; }
  bool AtEnd() const { return bytes_.empty(); }
  size_t Left() const { return bytes_.size(); }

  uint8_t Byte() {
    if (bytes_.empty()) return Failed();
    const auto value = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  bool Bool() { return Byte() != 0; }
  uint64_t Unsigned() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return ok_ ? value : 0;
    }
    return Failed();
  }
  int64_t Signed() {
    const uint64_t value = Unsigned();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  uint64_t Fixed64() {
    uint64_t value = 0;
    for (int i = 0; i < 64; i += 8) value |= static_cast<uint64_t>(Byte()) << i;
    return value;
  }
  uint32_t Fixed32() {
    uint32_t value = 0;
    for (int i = 0; i < 32; i += 8) value |= static_cast<uint32_t>(Byte()) << i;
    return value;
  }
  std::string_view String() { return Bytes(Unsigned()); }
  std::string_view Bytes(uint64_t size) {
    if (size > bytes_.size()) {
      Failed();
      return {};
    }
    const std::string_view value = bytes_.substr(0, static_cast<size_t>(size));
    bytes_.remove_prefix(static_cast<size_t>(size));
    return value;
  }

 private:
  uint8_t Failed() {
    ok_ = false;
    bytes_ = {};
    return 0;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace berth::record
