// SHA-1, for names and labels that controllers derive from names. Not for security.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// 40 hexadecimal digits.
std::string Sha1Hex(std::string_view text);

}  // namespace berth
