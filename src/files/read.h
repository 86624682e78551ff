// Reading whole inputs: a file, standard input, plain or gzip-compressed.
#pragma once

#include <string>

#include "base/error.h"

namespace berth::files {

// The bytes of `path` ("-" is standard input). Gzip content is recognised by its magic bytes,
// whatever the name.
Result<std::string> ReadFile(const std::string& path);

// `bytes` inflated if they are gzip (all members of a multi-member file), else unchanged. `name` is
// for error messages.
Result<std::string> MaybeGunzip(std::string bytes, const std::string& name);

}  // namespace berth::files
