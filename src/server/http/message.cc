#include "server/http/message.h"

#include <zlib.h>

#include <algorithm>

namespace berth::server {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Calls fn(key, value) for every well-formed entry until it says false.
template <class Fn>
void ForEachEntry(std::string_view query, Fn&& fn) {
  std::string key, value;
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view entry = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (entry.empty() || entry.find(';') != std::string_view::npos) continue;
    const size_t equals = entry.find('=');
    const std::string_view raw =
        equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
    if (!PercentDecode(entry.substr(0, equals), true, &key)) continue;
    if (!PercentDecode(raw, true, &value)) continue;
    if (!fn(key, value)) return;
  }
}

}  // namespace

std::pair<int, std::string> CheckFraming(const Request& request, unsigned version) {
  size_t hosts = 0, encodings = 0;
  std::string_view encoding;
  for (const auto& [name, value] : request.headers) {
    hosts += name == "host";
    if (name == "transfer-encoding") {
      ++encodings;
      encoding = value;
    }
  }
  if (version == 11 && hosts == 0) return {400, "400 Bad Request: missing required Host header"};
  if (hosts > 1) return {400, "400 Bad Request: too many Host headers"};
  if (encodings == 0) return {};
  if (version != 11) return {400, "400 Bad Request: Transfer-Encoding needs HTTP/1.1"};
  constexpr std::string_view kChunked = "chunked";
  const bool chunked =
      std::equal(encoding.begin(), encoding.end(), kChunked.begin(), kChunked.end(),
                 [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
  if (encodings > 1 || !chunked) return {501, "501 Not Implemented: unsupported transfer encoding"};
  return {};
}

bool PercentDecode(std::string_view text, bool plus_is_space, std::string* out) {
  out->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return false;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return false;
      *out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      *out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return true;
}

bool ParseTarget(std::string_view target, std::string* path, std::string* query) {
  // "http://host/path" and "https://host/path", as proxies send.
  if (!target.starts_with('/')) {
    const size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) {
      *path = target;
      query->clear();
      return target == "*";
    }
    const size_t slash = target.find('/', scheme + 3);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  const size_t mark = target.find('?');
  *query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  return PercentDecode(target.substr(0, mark), false, path);
}

std::vector<std::string> QueryValues(std::string_view query, std::string_view key) {
  std::vector<std::string> values;
  ForEachEntry(query, [&](const std::string& name, const std::string& value) {
    if (name == key) values.push_back(value);
    return true;
  });
  return values;
}

bool QueryHas(std::string_view query, std::string_view key) {
  bool found = false;
  ForEachEntry(query, [&](const std::string& name, const std::string&) {
    found = name == key;
    return !found;
  });
  return found;
}

Response TextError(int status, std::string_view text) {
  Response response;
  response.status = status;
  response.Set("Content-Type", "text/plain; charset=utf-8");
  response.Set("X-Content-Type-Options", "nosniff");
  response.body = std::string(text) + "\n";
  return response;
}

bool AcceptsGzip(const Request& request) {
  std::string_view rest = request.Header("accept-encoding");
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    std::string_view coding = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const size_t semicolon = coding.find(';');
    const std::string_view parameters =
        semicolon == std::string_view::npos ? "" : Trim(coding.substr(semicolon + 1));
    coding = Trim(coding.substr(0, semicolon));
    if (coding != "gzip" && coding != "*") continue;
    return parameters != "q=0" && parameters != "q=0.0" && parameters != "q=0.00" &&
           parameters != "q=0.000";
  }
  return false;
}

std::string Gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(result == Z_STREAM_END ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

}  // namespace berth::server
