// Client certificates: is it signed by somebody we trust, and whose is it?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "server/auth/user.h"

namespace berth::server {

struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string uid;          // 1.3.6.1.4.1.57683.2, when there is exactly one
  std::string fingerprint;  // SHA-256 of the certificate, in hex
};

// Verifies `chain` (DER, the client's own certificate first, then intermediates) for client
// authentication against the authorities in `ca_pem`.
Result<CertificateSubject> VerifyClientCertificate(const std::vector<std::string>& chain,
                                                   std::string_view ca_pem);

// The user a certificate speaks for: its common name, in the groups of its organizations. Without a
// common name it speaks for nobody.
UserInfo UserOf(const CertificateSubject& subject);

}  // namespace berth::server
