#include "api/rules/resource_name.h"

#include <string>

#include "api/rules/qualified_name.h"

namespace berth::api {
namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

bool IsHugePageResource(std::string_view name) { return name.starts_with("hugepages-"); }

bool IsExtendedResource(std::string_view name) {
  if (!Contains(name, "/") || Contains(name, "kubernetes.io/") || name.starts_with("requests."))
    return false;
  // Quotas name it requests.NAME, which must be a good name too.
  return IsQualifiedName("requests." + std::string(name));
}

bool IsScalarResource(std::string_view name) {
  return IsHugePageResource(name) || Contains(name, "kubernetes.io/") ||
         name.starts_with("attachable-volumes-") || IsExtendedResource(name);
}

bool IsPodLevelResource(std::string_view name) {
  return name == kCpu || name == kMemory || IsHugePageResource(name);
}

}  // namespace berth::api
