#include "net/http/tls_context.h"

#include <arpa/inet.h>

#include <ctime>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "net/http/url.h"

namespace berth::net {
namespace {

constexpr size_t kReadAhead = 32 << 10;

// Without it OpenSSL would ask the terminal for the passphrase of an encrypted key.
int NoPassphrase(char*, int, int, void*) { return -1; }

BioPtr Reader(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<void> AddAuthorities(SSL_CTX* context, const std::string& pem) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  const BioPtr bio = Reader(pem);
  size_t count = 0;
  while (X509Ptr certificate{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    if (X509_STORE_add_cert(store, certificate.get()) == 1) ++count;
  }
  ERR_clear_error();
  if (count == 0) {
    return Fail("unable to load root certificates: unable to parse bytes as PEM block");
  }
  return {};
}

Result<void> UseCertificate(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = Reader(pem);
  X509Ptr leaf{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)};
  if (!leaf) return Fail("tls: failed to find any PEM data in certificate input");
  if (SSL_CTX_use_certificate(context, leaf.get()) != 1) {
    return Fail("tls: failed to parse certificate");
  }
  while (X509Ptr next{PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)}) {
    if (SSL_CTX_add0_chain_cert(context, next.get()) == 1) {
      [[maybe_unused]] X509* owned_by_context = next.release();
    }
  }
  ERR_clear_error();
  return {};
}

Result<void> UseKey(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = Reader(pem);
  const KeyPtr key{PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr)};
  if (!key) {
    return Fail(pem.find("-----BEGIN") == pem.npos ? "tls: failed to find any PEM data in key input"
                                                   : "tls: failed to parse private key");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return Fail("tls: private key does not match public key");
  }
  return {};
}

// "2026-01-02T15:04:05Z"
std::string TimeWords(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "?";
  char text[32];
  return {text, strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string ExpiryWords(X509* certificate) {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const std::string current(text, strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts));
  std::string words = "x509: certificate has expired or is not yet valid: current time " + current;
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
    return words + " is before " + TimeWords(X509_get0_notBefore(certificate));
  }
  return words + " is after " + TimeWords(X509_get0_notAfter(certificate));
}

std::string AddressWords(const ASN1_OCTET_STRING* address) {
  const unsigned char* b = ASN1_STRING_get0_data(address);
  const int size = ASN1_STRING_length(address);
  char text[64] = "?";
  if (size == 4) inet_ntop(AF_INET, b, text, sizeof text);
  if (size == 16) inet_ntop(AF_INET6, b, text, sizeof text);
  return text;
}

// The names the certificate is for, of the kind `host` is.
std::string ValidNames(X509* certificate, bool addresses) {
  std::string names;
  auto* all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  constexpr size_t kMaxLength = 4096;
  for (int i = 0; i < sk_GENERAL_NAME_num(all) && names.size() < kMaxLength; ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all, i);
    std::string text;
    if (addresses && name->type == GEN_IPADD) {
      text = AddressWords(name->d.iPAddress);
    } else if (!addresses && name->type == GEN_DNS) {
      text.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                  static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else {
      continue;
    }
    if (!names.empty()) names += ", ";
    names += text;
  }
  GENERAL_NAMES_free(all);
  return names;
}

std::string MismatchWords(X509* certificate, const std::string& host, bool address) {
  const std::string names = ValidNames(certificate, address);
  if (!names.empty()) return "x509: certificate is valid for " + names + ", not " + host;
  if (address) {
    return "x509: cannot validate certificate for " + host +
           " because it doesn't contain any IP SANs";
  }
  return "x509: certificate is not valid for any names, but wanted to match " + host;
}

std::string ChainWords(int error) {
  switch (error) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "x509: certificate signed by unknown authority";
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "x509: certificate has expired or is not yet valid";
    case X509_V_ERR_INVALID_CA:
      return "x509: invalid signature: parent certificate cannot sign this kind of certificate";
    case X509_V_ERR_INVALID_PURPOSE:
      return "x509: certificate specifies an incompatible key usage";
    case X509_V_ERR_PATH_LENGTH_EXCEEDED:
      return "x509: too many intermediates for path length constraint";
    default:
      return std::string("x509: ") + X509_verify_cert_error_string(error);
  }
}

bool IsFor(X509* certificate, const std::string& host, bool address) {
  if (address) return X509_check_ip_asc(certificate, host.c_str(), 0) == 1;
  return X509_check_host(certificate, host.data(), host.size(), kHostFlags, nullptr) == 1;
}

// Go looks at the certificate's time first, then at its names, then at who signed it.
std::string CertificateWords(X509* leaf, int error, const std::string& host) {
  if (X509_cmp_current_time(X509_get0_notBefore(leaf)) > 0 ||
      X509_cmp_current_time(X509_get0_notAfter(leaf)) < 0) {
    return ExpiryWords(leaf);
  }
  const bool address = IsIpAddress(host);
  if (!IsFor(leaf, host, address)) return MismatchWords(leaf, host, address);
  return ChainWords(error);
}

// Called by OpenSSL for everything it finds; the first complaint ends the check.
int OnVerify(int ok, X509_STORE_CTX* store) {
  if (ok == 1) return 1;
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* check = static_cast<CertificateCheck*>(SSL_get_app_data(ssl));
  X509* leaf = X509_STORE_CTX_get0_cert(store);
  if (check == nullptr || leaf == nullptr) return 0;
  check->words = CertificateWords(leaf, X509_STORE_CTX_get_error(store), check->host);
  return 0;
}

Result<void> Configure(SSL_CTX* context, const TlsOptions& options) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Takes all records that have come in one go, not head by head.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kReadAhead);
  // Go takes certificates with keys Debian's default level would refuse.
  SSL_CTX_set_security_level(context, 1);
  SSL_CTX_set_verify(context, options.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                     options.insecure ? nullptr : OnVerify);
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  if (!options.ca_pem.empty()) {
    if (auto added = AddAuthorities(context, options.ca_pem); !added) return added;
  } else if (!options.insecure) {
    SSL_CTX_set_default_verify_paths(context);
  }
  if (options.client_cert_pem.empty() != options.client_key_pem.empty()) {
    return Fail(options.client_key_pem.empty() ? "tls: client certificate without a key"
                                               : "tls: client key without a certificate");
  }
  if (options.client_cert_pem.empty()) return {};
  if (auto used = UseCertificate(context, options.client_cert_pem); !used) return used;
  return UseKey(context, options.client_key_pem);
}

// Go's names of the alerts a peer sends.
const char* AlertWords(int alert) {
  switch (alert) {
    case 10:
      return "unexpected message";
    case 20:
      return "bad record MAC";
    case 22:
      return "record overflow";
    case 40:
      return "handshake failure";
    case 42:
      return "bad certificate";
    case 43:
      return "unsupported certificate";
    case 44:
      return "revoked certificate";
    case 45:
      return "expired certificate";
    case 46:
      return "unknown certificate";
    case 47:
      return "illegal parameter";
    case 48:
      return "unknown certificate authority";
    case 49:
      return "access denied";
    case 50:
      return "error decoding message";
    case 51:
      return "error decrypting message";
    case 70:
      return "protocol version not supported";
    case 71:
      return "insufficient security level";
    case 80:
      return "internal error";
    case 86:
      return "inappropriate fallback";
    case 90:
      return "user canceled";
    case 109:
      return "missing extension";
    case 110:
      return "unsupported extension";
    case 112:
      return "unrecognized name";
    case 113:
      return "bad certificate status response";
    case 116:
      return "certificate required";
    case 120:
      return "no application protocol";
    default:
      return nullptr;
  }
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> MakeTlsContext(const TlsOptions& options) {
  ERR_clear_error();
  auto made = std::make_shared<OpenSslContext>();
  made->context.reset(SSL_CTX_new(TLS_client_method()));
  if (!made->context) return Fail("tls: cannot make a context");
  made->server_name = options.server_name;
  made->insecure = options.insecure;
  const auto configured = Configure(made->context.get(), options);
  ERR_clear_error();
  if (!configured) return Fail(configured.error());
  return std::shared_ptr<const TlsContext>(std::move(made));
}

std::string TlsFailureWords(const CertificateCheck& check) {
  const unsigned long error = ERR_peek_error();
  const int reason = ERR_GET_REASON(error);
  ERR_clear_error();
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    return "tls: failed to verify certificate: " +
           (check.words.empty() ? "x509: certificate not valid" : check.words);
  }
  if (reason >= SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256) {
    const int alert = reason - SSL_AD_REASON_OFFSET;
    const char* words = AlertWords(alert);
    return "remote error: tls: " + (words ? words : "alert(" + std::to_string(alert) + ")");
  }
  if (reason == SSL_R_WRONG_VERSION_NUMBER) {
    return "tls: first record does not look like a TLS handshake";
  }
  if (reason == SSL_R_UNSUPPORTED_PROTOCOL) {
    return "tls: server selected unsupported protocol version";
  }
  const char* words = ERR_reason_error_string(error);
  return std::string("tls: ") + (words != nullptr ? words : "protocol error");
}

}  // namespace berth::net
