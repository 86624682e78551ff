// Any bytes, JSON or YAML, give objects or an error, strictly and leniently, and defaults apply to
// whatever was read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/admission/defaults.h"
#include "api/codec/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const berth::api::Admission admission;
  for (bool strict : {false, true}) {
    auto ok = berth::api::ForEachObject(text,
                                        [&](berth::api::Object object) -> berth::Result<void> {
                                          if (!admission.Apply(object)) return {};
                                          berth::api::Object twice = object;
                                          if (!admission.Apply(twice) || !(twice == object))
                                            std::abort();
                                          return {};
                                        },
                                        {.strict = strict});
    if (!ok && ok.error().Message().empty()) std::abort();
  }
  return 0;
}
