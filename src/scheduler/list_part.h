// ListPart: which part of a list of all objects of a kind somebody is given.
#pragma once

#include <cstdint>

namespace berth::scheduler {

// A list that is too long to be held in memory whole comes as first, middle and last parts, in
// order. Another first part means that the list before it broke off.
enum class ListPart : uint8_t { kWhole, kFirst, kMiddle, kLast };

}  // namespace berth::scheduler
