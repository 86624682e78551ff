// Scans JSON without building a tree: to split a long list into its items, and to locate syntax
// errors. Time is linear, memory is at most one byte per open bracket.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth::api {

// Deeper documents are rejected; the parser has the same limit.
inline constexpr size_t kMaxJsonDepth = 1000;

// The first position at or after `pos` that is no JSON blank.
size_t SkipJsonBlanks(std::string_view text, size_t pos);

// The end of the value that starts at `pos`, found by its brackets and quotes alone; the parser
// checks whether it is well formed. nullopt if the text ends first or no value starts here.
std::optional<size_t> SkipJsonValue(std::string_view text, size_t pos);

// What is wrong with `text` as one JSON value, with line and column; nullopt if it is well formed
// (UTF-8 is not checked).
std::optional<std::string> FindJsonError(std::string_view text);

// The same JSON with numbers that need more than 64 bits written as strings. REQUIRES: `text` is
// well formed.
std::string QuoteHugeNumbers(std::string_view text);

}  // namespace berth::api
