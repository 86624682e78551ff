// Any text is a quantity or an error; printing and reading it again gives the same amount.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/quantity.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  berth::api::Quantity::ParseJson(text);
  auto amount = berth::api::Quantity::Parse(text);
  if (!amount) {
    if (amount.error().Message().empty()) std::abort();
    return 0;
  }
  amount->MilliValue();
  amount->AsApproxDouble();
  auto again = berth::api::Quantity::Parse(amount->Canonical());
  if (!again || again->Value() != amount->Value()) std::abort();
  berth::api::Quantity sum = *amount;
  sum.Add(*again);
  sum.Sub(*amount);
  return 0;
}
