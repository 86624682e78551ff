// TlsRecords: finds where one record of TLS ends and the next begins, in a stream that comes in
// pieces of any size. It looks at lengths alone; whether a record is any good is OpenSSL's to say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::net {

class TlsRecords {
 public:
  // How many of `bytes`, which come next in the stream, are of the record that they begin in; these
  // have been passed then. REQUIRES: !bytes.empty().
  size_t Take(std::string_view bytes) {
    size_t taken = 0;
    while (header_seen_ < kHeaderSize && taken < bytes.size()) {
      // The last two bytes of the header are the length of the rest.
      rest_ = (rest_ << 8 | static_cast<uint8_t>(bytes[taken++])) & 0xffff;
      ++header_seen_;
    }
    if (header_seen_ < kHeaderSize) return taken;
    const size_t part = std::min(rest_, bytes.size() - taken);
    rest_ -= part;
    if (rest_ == 0) header_seen_ = 0;
    return taken + part;
  }

 private:
  static constexpr size_t kHeaderSize = 5;

  size_t header_seen_ = 0;  // bytes of this record's header
  size_t rest_ = 0;         // of this record, once its header is seen
};

}  // namespace berth::net
