// Numbers in text as Go's strconv reads them.
#pragma once

#include <string_view>

#include "base/error.h"

namespace berth {

// strconv.ParseFloat(text, 64), without digit separators and hexadecimal numbers; the errors read
// the same.
Result<double> ParseGoFloat(std::string_view text);

}  // namespace berth
