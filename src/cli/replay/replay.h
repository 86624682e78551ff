// berth replay: plays a recording again and says whether every decision is as recorded, or what
// other rules would have changed.
#pragma once

#include <string>
#include <vector>

namespace berth::cli {

// Exit code: 0 every decision is as recorded, 1 one differs or the recording is damaged, 2 bad
// flags or nothing to play.
int Replay(const std::vector<std::string>& args);

}  // namespace berth::cli
