// berth replay --serve: the dashboard and /apis/explain/v1 over a recording, as of a moment that
// /apis/replay/v1 chooses (docs/replay.md).
//
//   GET /apis/replay/v1/timeline   the time that is recorded, and the moment
//   PUT /apis/replay/v1/moment     {"time":"2026-05-01T12:00:00Z"} or {"nextCycle":true}
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/plugins.h"
#include "cli/replay/choose_run.h"

namespace berth::cli {

// Without authentication, for browsers of this machine alone: plain HTTP on 127.0.0.1, and requests
// that other sites cause are refused.
class ReplayServer {
 public:
  // Reads the runs and opens the port; 0: any. `choice.number`: that run alone. `plugins` outlive
  // the server.
  static Result<std::unique_ptr<ReplayServer>> Make(const RunChoice& choice, int port,
                                                    const Plugins& plugins);
  virtual ~ReplayServer() = default;

  // Answers, and goes to `choice.time_ns`, or to the end.
  virtual void Start() = 0;
  virtual void Stop() = 0;
  virtual int Port() const = 0;
};

// Until SIGINT or SIGTERM. Returns the exit code.
int ServeRecording(const RunChoice& choice, int port, const Plugins& plugins);

}  // namespace berth::cli
