// ServedCertificate: what a client needs to trust this server and nobody else.
#pragma once

#include <string>

// As in <openssl/types.h>, which would be a heavy include for every user of a server.
typedef struct ssl_ctx_st SSL_CTX;  // NOLINT(modernize-use-using)

namespace berth::server {

struct ServedCertificate {
  std::string pem;   // the certificate, then its chain
  std::string name;  // a host name or address that it is made out to; empty: there is none
};

class Server;

// Of the context's own certificate.
ServedCertificate CertificateOf(SSL_CTX* context);
// What a server shows at this moment to clients that ask for no name; empty without a listener.
// From any thread.
ServedCertificate CertificateOf(const Server& server);

}  // namespace berth::server
