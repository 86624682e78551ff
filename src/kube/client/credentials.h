// Credentials: who we are, in the headers and certificates of requests, kept fresh.
//
// - a token file is read again every minute, and at once when the server refuses its token;
// - certificates that came from files are read again every five minutes, and at once when the
//   server refuses us or no connection comes about;
// - an exec plugin is run when its credential has expired or was refused.
//
// When new ones cannot be had the old ones stay in use. On the loop's thread only. Nothing secret
// is ever logged or part of an error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kube/auth/kubeconfig.h"
#include "kube/auth/process_runner.h"
#include "net/http/http_client.h"
#include "net/loop.h"

namespace berth::kube {

class Credentials {
 public:
  struct Credential {
    uint64_t version = 0;              // a new one for every new content
    std::vector<net::Header> headers;  // Authorization, Impersonate-…
  };
  using Done = std::function<void(const Result<void>&)>;
  // Takes new certificates; an error leaves the old ones in use.
  using TlsListener = std::function<Result<void>(const net::TlsOptions&)>;
  using ListenerId = uint64_t;

  // `runner` is used for exec plugins only; null: the system's.
  static Result<std::shared_ptr<Credentials>> Make(net::Loop& loop, const ClientConfig& config,
                                                   std::unique_ptr<ProcessRunner> runner = nullptr);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // What to send now; null when it has to be fetched first. Valid until the next call.
  const Credential* Current();
  // `done` comes from the loop when Current() has an answer, or with why it has none.
  void Fetch(Done done);
  // What was fetched last, even if it is old by now: a plugin whose credentials have expired when
  // it prints them would otherwise be asked for ever.
  const Credential& Latest() const { return credential_; }
  // The server answered 401 to a request with that version. True: it is worth sending the request
  // again with what Current() or Fetch() give.
  bool Refused(uint64_t version);
  // No connection came about: maybe because of a certificate that has been replaced.
  void ConnectFailed() { CheckFiles(); }

  // The certificates at this moment.
  const net::TlsOptions& Tls() const { return tls_; }
  ListenerId AddListener(TlsListener listener);
  void RemoveListener(ListenerId id);

 private:
  Credentials(net::Loop& loop, const ClientConfig& config, std::unique_ptr<ProcessRunner> runner);

  bool UsesExec() const { return !config_.exec.command.empty(); }
  bool HasFiles() const { return !config_.ca_file.empty() || !config_.client_cert_file.empty(); }
  void SetToken(const std::string& token);
  void ReadToken();
  void ScheduleFileCheck();
  void CheckFiles();
  Result<void> ApplyTls(net::TlsOptions tls);
  void StartExec();
  void FinishExec(const ProcessResult& result);
  Result<void> TakeExecCredential(const ProcessResult& result);
  void AnswerAll(const Result<void>& answer);
  bool HintAllowed();
  void PostAnswer(Done done, Result<void> answer);

  net::Loop& loop_;
  ClientConfig config_;
  std::unique_ptr<ProcessRunner> runner_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  Credential credential_;
  std::string token_;
  net::Nanoseconds token_read_{0};
  std::vector<net::Header> impersonation_;

  net::TlsOptions tls_;
  net::Loop::TimerId file_timer_ = 0;
  std::optional<net::Nanoseconds> files_checked_;
  ListenerId next_listener_ = 1;
  std::vector<std::pair<ListenerId, TlsListener>> listeners_;

  bool exec_valid_ = false;
  bool exec_running_ = false;
  std::optional<api::Time> exec_expiration_;
  std::vector<Done> waiting_;
  net::Nanoseconds hint_window_{0};
  int hints_ = 0;
};

}  // namespace berth::kube
