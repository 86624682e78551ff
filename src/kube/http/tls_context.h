// What tls.cc and tls_context.cc share: OpenSSL's handles with owners.
#pragma once

#include <memory>
#include <string>

#include <openssl/err.h>
#include <openssl/ssl.h>

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

struct OpenSslContext final : TlsContext {
  SslContextPtr context;
  std::string server_name;  // empty: the host
  bool insecure = false;
};

// Why `ssl` failed, from OpenSSL's error queue (which is emptied) and the check of the certificate.
std::string TlsFailureWords(SSL* ssl, const std::string& host);

}  // namespace berth::kube
