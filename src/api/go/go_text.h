// Text as Go's standard library writes it, where Kubernetes' output or error messages show it:
// numbers (strconv), quoted strings (%q) and JSON (encoding/json). Independent of the locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::api {

// strconv.FormatFloat(value, 'g', -1, bits): the shortest text that reads back as the same double
// (bits 64) or float (bits 32); exponents outside [-4, 6) in the form 1e+06.
std::string FormatGoFloat(double value, int bits = 64);

// encoding/json's form of a number; `bits` as above. REQUIRES: value is finite.
void AppendJsonNumber(std::string& out, double value, int bits = 64);

// encoding/json's string: quoted, with control characters, <, > and & and the separators U+2028 and
// U+2029 escaped; bytes that are no UTF-8 become U+FFFD.
void AppendJsonString(std::string& out, std::string_view value);

// strconv.Quote: the form of %q and of %#v.
std::string GoQuote(std::string_view value);

// The next code point of `text` at `*pos`, which is advanced. Invalid UTF-8 gives 0xFFFD with *pos
// advanced by one and *valid false.
uint32_t DecodeUtf8(std::string_view text, size_t* pos, bool* valid);

void AppendUtf8(std::string& out, uint32_t code_point);

}  // namespace berth::api
