// FieldReader: the fields of a protobuf message, one after the other.
//
// As protozero's reader, and throws what it throws, but small enough to become part of its callers:
// most of a decoder's work is here. Callers catch std::exception.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "api/codec/protozero.h"

namespace berth::api {

class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  // To the next field, whose value is to be read or skipped. False: there is none.
  bool Next() {
    if (at_ == end_) return false;
    const auto head = static_cast<uint32_t>(Varint());
    tag_ = head >> 3;
    wire_type_ = static_cast<protozero::pbf_wire_type>(head & 7);
    if (tag_ == 0 || (tag_ >= 19'000 && tag_ <= 19'999)) throw protozero::invalid_tag_exception();
    constexpr uint32_t kKnown = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5;
    if ((kKnown >> (head & 7) & 1) == 0) throw protozero::unknown_pbf_wire_type_exception();
    return true;
  }
  uint32_t Tag() const { return tag_; }
  protozero::pbf_wire_type WireType() const { return wire_type_; }

  std::string_view View() {
    Require(protozero::pbf_wire_type::length_delimited);
    const auto size = static_cast<uint32_t>(Varint());
    return {Advance(size), size};
  }
  int64_t Int() {
    Require(protozero::pbf_wire_type::varint);
    return static_cast<int64_t>(Varint());
  }
  double Double() {
    Require(protozero::pbf_wire_type::fixed64);
    double value = 0;
    std::memcpy(&value, Advance(sizeof value), sizeof value);
    return value;
  }
  void Skip() {
    switch (wire_type_) {
      case protozero::pbf_wire_type::varint:
        Varint();
        break;
      case protozero::pbf_wire_type::fixed64:
        Advance(8);
        break;
      case protozero::pbf_wire_type::fixed32:
        Advance(4);
        break;
      default:
        View();
    }
  }
  // Of packed numbers: the next one, while there is one.
  bool AtEnd() const { return at_ == end_; }
  size_t Left() const { return static_cast<size_t>(end_ - at_); }
  uint64_t Varint() {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) return static_cast<uint8_t>(*at_++);
    return protozero::decode_varint(&at_, end_);
  }

 private:
  void Require(protozero::pbf_wire_type type) const {
    if (wire_type_ != type) ThrowWireTypeError();
  }
  const char* Advance(size_t size) {
    if (size > static_cast<size_t>(end_ - at_)) throw protozero::end_of_buffer_exception();
    return std::exchange(at_, at_ + size);
  }

  const char* at_;
  const char* end_;
  uint32_t tag_ = 0;
  protozero::pbf_wire_type wire_type_ = protozero::pbf_wire_type::unknown;
};

}  // namespace berth::api
