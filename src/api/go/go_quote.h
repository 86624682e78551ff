// The quoting used in error messages of Go's time package: quotes and backslashes are escaped,
// control characters and everything beyond ASCII appear as \xNN.
#pragma once

#include <string>
#include <string_view>

namespace berth::api {

std::string QuoteForTimeError(std::string_view text);

}  // namespace berth::api
