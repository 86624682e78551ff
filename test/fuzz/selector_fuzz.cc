// Any text is a label selector or an error, and a selector that was read is written so that it
// reads the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/rules/label_selector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::api::Selector;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto selector = Selector::Parse(text);
  if (!selector) {
    if (selector.error().Message().empty()) std::abort();
    return 0;
  }
  const std::string written = selector->String();
  const auto again = Selector::Parse(written);
  if (!again || again->String() != written) std::abort();
  const berth::api::StringMap labels = {{"app", "web"}, {"tier", "1"}};
  if (selector->Matches(labels) != again->Matches(labels)) std::abort();
  return 0;
}
