// What tls.cc and tls_context.cc share: OpenSSL's handles with owners.
#pragma once

#include <memory>
#include <string>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "kube/http/tls.h"

namespace berth::kube {

template <auto kFree>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using SslContextPtr = std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, FreeWith<SSL_free>>;
using BioPtr = std::unique_ptr<BIO, FreeWith<BIO_free_all>>;
using X509Ptr = std::unique_ptr<X509, FreeWith<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;

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

}  // namespace berth::kube
