#include "files/read.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include <fmt/format.h>

namespace berth::files {
namespace {

struct CloseFile {
  void operator()(FILE* f) const {
    if (f != stdin) fclose(f);
  }
};

tl::unexpected<Error> TooLarge(const std::string& name, std::string_view how, size_t most) {
  return Fail(
      fmt::format("{}: {}more than {} MiB, which is the most that is read", name, how, most >> 20));
}

// Grows by a quarter: what doubles takes up to three times the memory of the input.
void Append(std::string_view piece, std::string* out) {
  if (out->capacity() - out->size() < piece.size()) {
    out->reserve(out->size() + std::max(piece.size(), out->size() / 4 + (size_t{1} << 20)));
  }
  out->append(piece);
}

}  // namespace

Result<std::string> ReadFile(const std::string& path, size_t most) {
  std::unique_ptr<FILE, CloseFile> file(path == "-" ? stdin : fopen(path.c_str(), "rb"));
  if (!file) return Fail(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string bytes;
  char buffer[1 << 16];
  while (size_t n = fread(buffer, 1, sizeof buffer, file.get())) {
    if (n > most - bytes.size()) return TooLarge(path, "", most);
    Append({buffer, n}, &bytes);
  }
  if (ferror(file.get())) return Fail(fmt::format("{}: {}", path, std::strerror(errno)));
  return MaybeGunzip(std::move(bytes), path, most);
}

Result<std::string> MaybeGunzip(std::string bytes, const std::string& name, size_t most) {
  if (bytes.size() < 2 || bytes[0] != '\x1f' || bytes[1] != '\x8b') return bytes;
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return Fail(name + ": cannot start inflating");
  std::unique_ptr<z_stream, decltype(&inflateEnd)> guard(&stream, &inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  size_t left = bytes.size();
  std::string out;
  std::string chunk(1 << 18, '\0');
  for (;;) {
    const uInt step = static_cast<uInt>(std::min<size_t>(left, 1U << 30));
    stream.avail_in = step;
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    left -= step - stream.avail_in;
    const std::string_view piece(chunk.data(), chunk.size() - stream.avail_out);
    if (piece.size() > most - out.size()) return TooLarge(name, "unpacks to ", most);
    Append(piece, &out);
    if (code == Z_STREAM_END) {
      if (left == 0) return out;
      if (inflateReset(&stream) != Z_OK) return Fail(name + ": broken gzip data");
    } else if (code != Z_OK) {
      return Fail(fmt::format("{}: broken gzip data{}{}", name, stream.msg ? ": " : "",
                              stream.msg ? stream.msg : ""));
    } else if (left == 0 && stream.avail_out != 0) {
      return Fail(name + ": gzip data ends too early");
    }
  }
}

}  // namespace berth::files
