// OpenSSL's handles with owners.
#pragma once

#include <memory>

#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace berth::net {

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

}  // namespace berth::net
