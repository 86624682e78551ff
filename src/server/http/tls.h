// Certificates the server shows, and how it speaks TLS.
//
// ServingCertificates holds what was read or made last as an SSL_CTX; new connections take the
// current one, old ones keep theirs. Reload reads the files again and keeps what it has when they
// are unusable, so a half-written pair never takes the server down.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "server/server.h"

namespace berth::server {

struct CertificatePem {
  std::string cert;  // the certificate, then the authority that signed it
  std::string key;
  std::string authority = {};  // alone, of one that was made here
};

// An SSL_CTX and those it may hand over to by the name the client asks for.
class TlsContext {
 public:
  virtual ~TlsContext() = default;
  // Not owned by the caller.
  virtual SSL_CTX* Native() = 0;
};

class ServingCertificates {
 public:
  // Reads or makes what the options name.
  static Result<std::unique_ptr<ServingCertificates>> Make(const ServingOptions& options);
  // One that is in memory and stays; the options' files are not looked at.
  static Result<std::unique_ptr<ServingCertificates>> FromPem(const ServingOptions& options,
                                                              const CertificatePem& pem);
  virtual ~ServingCertificates() = default;

  virtual std::shared_ptr<TlsContext> Current() const = 0;
  // True: the files held something new that is in use now. An error: they are unusable.
  virtual Result<bool> Reload() = 0;
};

// A certificate for `host` like the one kube-scheduler makes for itself: signed by an authority
// made for the purpose, valid for a year.
Result<CertificatePem> MakeSelfSigned(const std::string& host,
                                      const std::vector<std::string>& dns_names,
                                      const std::vector<std::string>& ip_addresses);

// Contexts of OpenSSL for one certificate; the options' files are not looked at.
Result<std::shared_ptr<TlsContext>> MakeTlsContext(const ServingOptions& options,
                                                   const CertificatePem& pem);

// What the file holds; the error is Go's ("open NAME: no such file or directory").
Result<std::string> ReadFile(const std::string& path);

}  // namespace berth::server
