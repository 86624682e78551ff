#include "kube/client/credentials.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "api/codec/base64.h"
#include "api/go/go_text.h"
#include "kube/auth/exec_plugin.h"
#include "kube/auth/read_file.h"
#include "kube/client/rest_client.h"
#include "log/log.h"

namespace berth::kube {
namespace {

// The kubelet renews tokens well before they end; client-go counts a minute, less ten seconds.
constexpr net::Nanoseconds kTokenAge = std::chrono::seconds(50);
constexpr net::Nanoseconds kFileCheck = std::chrono::minutes(5);
constexpr net::Nanoseconds kFileCheckAtMost = std::chrono::seconds(1);
// How to install a plugin is said ten times an hour, not with every request.
constexpr int kHints = 10;
constexpr net::Nanoseconds kHintWindow = std::chrono::hours(1);

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Header names hold any key: what is no token character, and %, is percent-encoded.
std::string EscapeHeaderKey(std::string_view key) {
  constexpr std::string_view kToken = "!#$&'*+-.^_`|~";
  std::string out;
  for (char c : key) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || (c >= '0' && c <= '9') || kToken.find(c) != std::string_view::npos) {
      out += letter && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else {
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// A line break in a value would be a header of its own.
bool IsHeaderValue(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f;
  });
}

std::vector<net::Header> Impersonation(const ClientConfig& config) {
  std::vector<net::Header> headers;
  if (config.impersonate_user.empty()) return headers;
  headers.push_back({"impersonate-user", config.impersonate_user});
  if (!config.impersonate_uid.empty()) {
    headers.push_back({"impersonate-uid", config.impersonate_uid});
  }
  for (const std::string& group : config.impersonate_groups) {
    headers.push_back({"impersonate-group", group});
  }
  for (const auto& [key, values] : config.impersonate_extra) {
    for (const std::string& value : values) {
      headers.push_back({"impersonate-extra-" + EscapeHeaderKey(key), value});
    }
  }
  return headers;
}

}  // namespace

Result<std::shared_ptr<Credentials>> Credentials::Make(net::Loop& loop, const ClientConfig& config,
                                                       std::unique_ptr<ProcessRunner> runner) {
  std::shared_ptr<Credentials> credentials(new Credentials(loop, config, std::move(runner)));
  const auto& headers = credentials->impersonation_;
  const bool fine = IsHeaderValue(config.token) &&
                    std::all_of(headers.begin(), headers.end(),
                                [](const net::Header& h) { return IsHeaderValue(h.value); });
  if (!fine)
    return Fail("net/http: invalid header field value for \"Authorization\" or \"Impersonate-\"");
  return credentials;
}

Credentials::Credentials(net::Loop& loop, const ClientConfig& config,
                         std::unique_ptr<ProcessRunner> runner)
    : loop_(loop),
      config_(config),
      runner_(std::move(runner)),
      impersonation_(Impersonation(config)),
      tls_(config.tls) {
  if (UsesExec() && !runner_) runner_ = MakeProcessRunner(loop_);
  SetToken(config_.token);
  if (!config_.token_file.empty()) ReadToken();
  if (HasFiles()) ScheduleFileCheck();
}

Credentials::~Credentials() {
  *alive_ = false;
  loop_.Cancel(file_timer_);
}

void Credentials::SetToken(const std::string& token) {
  if (credential_.version != 0 && token == token_) return;
  token_ = token;
  ++credential_.version;
  credential_.headers = impersonation_;
  if (!token.empty()) {
    credential_.headers.push_back({"authorization", "Bearer " + token});
  } else if (!config_.username.empty()) {
    std::string basic = "Basic ";
    api::AppendBase64(basic, config_.username + ":" + config_.password);
    credential_.headers.push_back({"authorization", basic});
  }
}

void Credentials::ReadToken() {
  token_read_ = loop_.Steady();
  const auto text = ReadFile(config_.token_file);
  const std::string token(text ? TrimSpace(*text) : std::string_view());
  if (!token.empty() && IsHeaderValue(token)) {
    SetToken(token);
    return;
  }
  log::Error(text ? "read empty token from file " + api::GoQuote(config_.token_file)
                  : fmt::format("failed to read token file {}: {}",
                                api::GoQuote(config_.token_file), text.error().Message()),
             "Unable to rotate token");
}

const Credentials::Credential* Credentials::Current() {
  if (!config_.token_file.empty() && loop_.Steady() - token_read_ >= kTokenAge) ReadToken();
  if (!UsesExec()) return &credential_;
  if (exec_expiration_ && loop_.Now() > *exec_expiration_) exec_valid_ = false;
  return exec_valid_ ? &credential_ : nullptr;
}

void Credentials::PostAnswer(Done done, Result<void> answer) {
  loop_.Post([done = std::move(done), answer = std::move(answer), alive = alive_] {
    if (*alive) done(answer);
  });
}

void Credentials::Fetch(Done done) {
  if (Current() != nullptr) {
    PostAnswer(std::move(done), {});
    return;
  }
  waiting_.push_back(std::move(done));
  if (!exec_running_) StartExec();
}

bool Credentials::Refused(uint64_t version) {
  CheckFiles();
  if (version != credential_.version) return true;  // replaced in the meantime
  if (UsesExec()) {
    exec_valid_ = false;
    return true;
  }
  if (config_.token_file.empty()) return false;
  ReadToken();
  return version != credential_.version;
}

Credentials::ListenerId Credentials::AddListener(TlsListener listener) {
  listeners_.emplace_back(next_listener_, std::move(listener));
  return next_listener_++;
}

void Credentials::RemoveListener(ListenerId id) {
  std::erase_if(listeners_, [&](const auto& entry) { return entry.first == id; });
}

Result<void> Credentials::ApplyTls(net::TlsOptions tls) {
  if (tls == tls_) return {};
  for (size_t i = 0; i < listeners_.size(); ++i) {
    if (auto ok = listeners_[i].second(tls); !ok) {
      // Those who took it go back: all speak as the same user.
      while (i > 0) listeners_[--i].second(tls_);
      return ok;
    }
  }
  tls_ = std::move(tls);
  return {};
}

void Credentials::ScheduleFileCheck() {
  file_timer_ = loop_.After(kFileCheck, [this] {
    CheckFiles();
    ScheduleFileCheck();
  });
}

void Credentials::CheckFiles() {
  if (!HasFiles()) return;
  if (files_checked_ && loop_.Steady() - *files_checked_ < kFileCheckAtMost) return;
  files_checked_ = loop_.Steady();
  net::TlsOptions tls = tls_;
  Result<void> outcome;
  const auto read = [&](const std::string& file, std::string& into) {
    if (file.empty() || !outcome) return;
    auto text = ReadFile(file);
    if (text) {
      into = std::move(*text);
    } else {
      outcome = Fail(text.error());
    }
  };
  read(config_.ca_file, tls.ca_pem);
  // Of a pair of which one half is given inline neither changes.
  if (!config_.client_cert_file.empty() && !config_.client_key_file.empty()) {
    read(config_.client_cert_file, tls.client_cert_pem);
    read(config_.client_key_file, tls.client_key_pem);
  }
  const bool changed = outcome && tls != tls_;
  if (changed) outcome = ApplyTls(std::move(tls));
  if (!outcome) {
    log::Error(outcome.error().Message(), "Loading client cert failed");
  } else if (changed) {
    log::Info(1,
              "Certificate rotation detected, shutting down client connections to start using "
              "new credentials");
  }
}

void Credentials::StartExec() {
  const auto interactive = IsInteractive(config_.exec, isatty(STDIN_FILENO) == 1);
  exec_running_ = true;
  if (!interactive) {
    loop_.Post([this, alive = alive_, words = interactive.error().Message()] {
      if (!*alive) return;
      exec_running_ = false;
      AnswerAll(Fail(words));
    });
    return;
  }
  runner_->Run(ExecProcess(config_.exec, *interactive),
               [this](ProcessResult result) { FinishExec(result); });
}

bool Credentials::HintAllowed() {
  if (loop_.Steady() - hint_window_ >= kHintWindow) {
    hint_window_ = loop_.Steady();
    hints_ = 0;
  }
  return hints_++ < kHints;
}

Result<void> Credentials::TakeExecCredential(const ProcessResult& result) {
  const bool with_hint = result.kind == ProcessResult::Kind::kNotFound && HintAllowed();
  auto credential = ReadExecCredential(config_.exec, result, with_hint);
  if (!credential) return Fail(credential.error());
  if (!IsHeaderValue(credential->token)) return Fail("exec plugin returned a malformed token");
  net::TlsOptions tls = tls_;
  tls.client_cert_pem = std::move(credential->client_cert_pem);
  tls.client_key_pem = std::move(credential->client_key_pem);
  if (auto ok = ApplyTls(std::move(tls)); !ok) {
    return Fail(ok.error().In("failed parsing client key/certificate"));
  }
  exec_expiration_ = credential->expiration;
  // A new version even of the same token: the plugin was asked again.
  ++credential_.version;
  credential_.headers = impersonation_;
  if (!credential->token.empty()) {
    credential_.headers.push_back({"authorization", "Bearer " + credential->token});
  }
  exec_valid_ = true;
  return {};
}

void Credentials::FinishExec(const ProcessResult& result) {
  exec_running_ = false;
  AnswerAll(TakeExecCredential(result));
}

void Credentials::AnswerAll(const Result<void>& answer) {
  const std::shared_ptr<bool> alive = alive_;
  const std::vector<Done> waiting = std::exchange(waiting_, {});
  for (const Done& done : waiting) {
    if (*alive) done(answer);
  }
}

Result<std::shared_ptr<Credentials>> MakeCredentials(net::Loop& loop, const ClientConfig& config) {
  return Credentials::Make(loop, config);
}

}  // namespace berth::kube
