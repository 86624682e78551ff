// What a TLS handshake says about the client. Private to this folder.
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace berth::server {

// The certificates the client has shown, in DER.
inline PeerChain ChainOf(SSL* ssl) {
  X509* leaf = SSL_get0_peer_certificate(ssl);
  if (leaf == nullptr) return nullptr;
  auto chain = std::make_shared<std::vector<std::string>>();
  const auto add = [&](X509* cert) {
    unsigned char* der = nullptr;
    const int size = i2d_X509(cert, &der);
    if (size > 0) chain->emplace_back(reinterpret_cast<char*>(der), static_cast<size_t>(size));
    OPENSSL_free(der);
  };
  add(leaf);
  const STACK_OF(X509)* rest = SSL_get_peer_cert_chain(ssl);  // of a client: without its own
  for (int i = 0; i < sk_X509_num(rest); ++i) add(sk_X509_value(rest, i));
  return chain;
}

// What was agreed on in the handshake.
inline bool SpeaksHttp2(SSL* ssl) {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

}  // namespace berth::server
