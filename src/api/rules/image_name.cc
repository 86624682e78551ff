#include "api/rules/image_name.h"

namespace berth::api {

std::string NormalizedImageName(std::string_view name) {
  // A colon before the last slash belongs to a registry's port. Absent counts as before the
  // beginning.
  const size_t colon = name.rfind(':') + 1;
  const size_t slash = name.rfind('/') + 1;
  std::string out(name);
  if (colon <= slash) out += ":latest";
  return out;
}

}  // namespace berth::api
