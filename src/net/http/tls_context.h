// What tls.cc and tls_context.cc share.
#pragma once

#include <memory>
#include <string>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "net/http/openssl_ptr.h"
#include "net/http/tls.h"

namespace berth::net {

// No partial wildcards, and the common name does not count.
inline constexpr unsigned kHostFlags =
    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;

struct OpenSslContext final : TlsContext {
  SslContextPtr context;
  std::string server_name;  // empty: the host
  bool insecure = false;
};

// What OpenSSL's check of a certificate needs to know and says; hangs on the SSL as its app data.
struct CertificateCheck {
  std::string host;   // a name or an address
  std::string words;  // why the certificate was not taken
};

// Why a connection failed, from OpenSSL's error queue (which is emptied) and that check.
std::string TlsFailureWords(const CertificateCheck& check);

}  // namespace berth::net
