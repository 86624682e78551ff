// Any text is a quantity or an error, and every operation on it ends. What is printed need not be
// the same amount when read again: like kube-scheduler, amounts beyond 64 bits are capped in one
// way of writing and not in another.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/rules/quantity.h"

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
  berth::api::Quantity sum = *amount;
  if (auto again = berth::api::Quantity::Parse(amount->Canonical())) sum.Add(*again);
  sum.Sub(*amount);
  return 0;
}
