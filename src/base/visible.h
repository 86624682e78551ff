// Text from outside, made safe to show: on a terminal and in a line of a log.
//
// Control characters (C0, DEL, C1), bytes that are not UTF-8 and characters that hide or reorder
// others (spaces of other widths, marks of direction) become escapes as strconv.Quote writes them:
// \n, \x1b, \u009b. Everything else stays as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth {

// The code point at *pos, which is advanced; invalid UTF-8 gives false and advances by one byte.
bool NextRune(std::string_view text, size_t* pos, uint32_t* rune);

// False: what must not be hidden. (Go decides by Unicode's categories; here they are merged into
// ranges.)
bool IsPrintable(uint32_t rune);

// Appends the escape of a code point, or with `valid` false of a byte.
void AppendEscape(uint32_t rune, bool valid, std::string* out);

// `kept`: characters that stay although they are control characters, as "\n" where lines are meant.
void AppendVisible(std::string_view text, std::string* out, std::string_view kept = {});
std::string Visible(std::string_view text, std::string_view kept = {});

// JSON whose strings hold no such characters any more: they hold the escapes as text. REQUIRES:
// `json` is well formed.
std::string VisibleJson(std::string_view json);

}  // namespace berth
