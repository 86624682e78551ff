// Base64 with padding (RFC 4648), the form of bytes in JSON.
#pragma once

#include <string>
#include <string_view>

namespace berth::api {

void AppendBase64(std::string& out, std::string_view data);

// Replaces `out`. False if `text` is no base64; line breaks inside it are allowed, as in Go.
bool DecodeBase64(std::string_view text, std::string& out);

}  // namespace berth::api
