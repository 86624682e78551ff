// DelegatedAuth: who may ask what, decided by the API server.
//
//   front proxy's headers, client certificate, bearer token (TokenReview), else anonymous
//   -> system:masters, open paths, SubjectAccessReview
//
// Answers are kept for a while, so that a probe every second is not a review every second. One
// review at a time is asked for the same thing.
//
// On one thread: the thread of options.loop, or any when there is none (then nothing is asked and
// answers come at once).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "server/auth/user.h"
#include "server/http/message.h"
#include "server/metrics/registry.h"
#include "server/server.h"

namespace berth::server {

struct AuthDecision {
  enum class Kind {
    kAllowed,
    kUnauthorized,  // 401: the credentials are no good
    kForbidden,     // 403
    kError,         // 500: nobody could be asked; reason says why
  };
  Kind kind = Kind::kForbidden;
  UserInfo user = {};
  std::string reason = {};
};

class DelegatedAuth {
 public:
  using Callback = std::function<void(AuthDecision)>;

  // Reads the files the options name. `registry` may be null.
  static Result<std::unique_ptr<DelegatedAuth>> Make(const AuthOptions& options,
                                                     Registry* registry);
  virtual ~DelegatedAuth() = default;

  // Starts to follow the cluster's certificate authorities.
  virtual void Start() = 0;
  // No callbacks after this.
  virtual void Stop() = 0;
  // Calls back once, now or later. Only method, path, headers and peer of the request are looked
  // at.
  virtual void Check(const Request& request, Callback done) = 0;
  // Reads the files again; keeps what it has when they cannot be read.
  virtual void ReloadFiles() = 0;
};

// Whether everybody may ask for the path: only then can a request without credentials be answered
// without Check. Patterns are as in --authorization-always-allow-paths: "/a" or "/a*".
bool IsOpenPath(const std::vector<std::string>& patterns, std::string_view path);
bool HasCredentials(const Request& request);
// The error is kube-scheduler's.
Result<void> ValidateOpenPaths(const std::vector<std::string>& patterns);

// The answer to a request that was not allowed.
Response RefusalOf(const AuthDecision& decision, const Request& request);

}  // namespace berth::server
