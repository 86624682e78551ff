// Reading whole inputs: a file, standard input, plain or gzip-compressed.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace berth::files {

// Larger inputs are refused, as read or as unpacked: a small file may unpack to more than there is
// memory, and some files have no end.
inline constexpr size_t kMaxInput = size_t{2} << 30;

// The bytes of `path` ("-" is standard input). Gzip content is recognised by its magic bytes,
// whatever the name.
Result<std::string> ReadFile(const std::string& path, size_t most = kMaxInput);

// `bytes` inflated if they are gzip (all members of a multi-member file), else unchanged. `name` is
// for error messages.
Result<std::string> MaybeGunzip(std::string bytes, const std::string& name,
                                size_t most = kMaxInput);

}  // namespace berth::files
