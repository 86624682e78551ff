// ByteBuffer: bytes to append to and hand on, whose memory is kept and never cleared.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace berth::net {

class ByteBuffer {
 public:
  std::string_view View() const { return {data_.get(), size_}; }
  void Clear() { size_ = 0; }
  // `room` bytes behind the content, to be written and then counted with Commit.
  char* Prepare(size_t room) {
    if (capacity_ - size_ < room) Grow(size_ + room);
    return data_.get() + size_;
  }
  void Commit(size_t bytes) { size_ += bytes; }

 private:
  void Grow(size_t least) {
    const size_t capacity = std::max(least, 2 * capacity_);
    std::unique_ptr<char[]> data(new char[capacity]);
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace berth::net
