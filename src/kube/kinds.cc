#include "kube/kinds.h"

#include <algorithm>
#include <array>

namespace berth::kube {

namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";
constexpr size_t kPathRoom = 96;  // of most

constexpr std::array<bool, 256> kUnreserved = [] {
  std::array<bool, 256> is{};
  for (char c = 'a'; c <= 'z'; ++c) is[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) is[static_cast<unsigned char>(c)] = true;
  for (char c = '0'; c <= '9'; ++c) is[static_cast<unsigned char>(c)] = true;
  for (const char c : std::string_view("-_.~")) is[static_cast<unsigned char>(c)] = true;
  return is;
}();

bool IsUnreserved(char c) { return kUnreserved[static_cast<unsigned char>(c)]; }

void AppendEscaped(std::string& out, std::string_view value, bool plus) {
  if (std::all_of(value.begin(), value.end(), IsUnreserved)) {
    out += value;
    return;
  }
  for (const char c : value) {
    if (IsUnreserved(c)) {
      out += c;
    } else if (c == ' ' && plus) {
      out += '+';
    } else {
      const auto byte = static_cast<uint8_t>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

void AppendSegment(std::string& path, std::string_view segment) {
  path += '/';
  AppendEscaped(path, segment, false);
}

std::string Root(const Kind& kind) {
  const bool core = kind.api_version.find('/') == std::string_view::npos;
  std::string path;
  path.reserve(kPathRoom);
  path += core ? "/api/" : "/apis/";
  path += kind.api_version;
  return path;
}

}  // namespace

bool SchedulersWrite(std::string_view kind) {
  bool write = false;
  cluster::ForEachKind([&]<class T>(const cluster::KindRow<T>& row) {
    if (T::kKind == kind) write = !row.writes.front().verbs.empty();
  });
  return write;
}

std::string CollectionPath(const Kind& kind) {
  std::string path = Root(kind);
  AppendSegment(path, kind.plural);
  return path;
}

std::string NamespacePath(const Kind& kind, std::string_view namespace_) {
  std::string path = Root(kind);
  if (kind.namespaced && !namespace_.empty()) {
    path += "/namespaces";
    AppendSegment(path, namespace_);
  }
  AppendSegment(path, kind.plural);
  return path;
}

std::string ObjectPath(const Kind& kind, std::string_view namespace_, std::string_view name,
                       std::string_view subresource) {
  std::string path = NamespacePath(kind, namespace_);
  AppendSegment(path, name);
  if (!subresource.empty()) AppendSegment(path, subresource);
  return path;
}

std::string QueryEscape(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  AppendEscaped(out, value, true);
  return out;
}

}  // namespace berth::kube
