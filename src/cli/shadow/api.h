// /apis/shadow/v1 (docs/shadow.md): what a running `berth shadow` has found, as JSON. Read-only.
#pragma once

#include <string_view>

#include "cli/shadow/board.h"
#include "server/http/mount.h"

namespace berth::cli {

inline constexpr std::string_view kShadowPrefix = "/apis/shadow/v1";

server::Response AnswerShadow(const Board& board, const server::Request& request);

// `board` outlives the server.
server::Mount ShadowMount(const Board& board);

}  // namespace berth::cli
