// Trimming as Go's strings.TrimSpace does it: every Unicode white space, in UTF-8.
#pragma once

#include <string_view>

namespace berth::api {

// Bytes of white space at the start (at the end) of `text`, 0 if there is none.
size_t LeadingSpace(std::string_view text);
size_t TrailingSpace(std::string_view text);

std::string_view TrimUnicodeSpace(std::string_view text);

}  // namespace berth::api
