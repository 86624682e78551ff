// MakeSelfSigned: a certificate authority for one certificate, and that certificate.
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <ctime>

#include "net/http/openssl_ptr.h"
#include "server/http/tls.h"

namespace berth::server {
namespace {

using Key = net::KeyPtr;
using Certificate = net::X509Ptr;
using Bio = net::BioPtr;
using Extension = std::unique_ptr<X509_EXTENSION, net::FreeWith<X509_EXTENSION_free>>;

constexpr long kSecondsPerHour = 3600;
constexpr long kSecondsPerYear = 365 * 24 * kSecondsPerHour;

bool AddExtension(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(cert, extension.get(), -1) == 1;
}

bool SetName(X509_NAME* name, const std::string& common_name) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name.c_str()), -1,
                                    -1, 0) == 1;
}

bool SetRandomSerial(X509* cert) {
  uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1) == 1;
}

// All that authority and certificate have in common; valid from an hour ago, for a year.
Certificate NewCertificate(EVP_PKEY* key, const std::string& subject, const std::string& issuer) {
  Certificate cert(X509_new());
  constexpr long kVersion3 = 2;
  if (cert == nullptr || X509_set_version(cert.get(), kVersion3) != 1 ||
      !SetRandomSerial(cert.get()) ||
      X509_gmtime_adj(X509_getm_notBefore(cert.get()), -kSecondsPerHour) == nullptr ||
      X509_gmtime_adj(X509_getm_notAfter(cert.get()), kSecondsPerYear - kSecondsPerHour) ==
          nullptr ||
      !SetName(X509_get_subject_name(cert.get()), subject) ||
      !SetName(X509_get_issuer_name(cert.get()), issuer) || X509_set_pubkey(cert.get(), key) != 1) {
    return nullptr;
  }
  return cert;
}

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : std::string();
}

}  // namespace

Result<CertificatePem> MakeSelfSigned(const std::string& host,
                                      const std::vector<std::string>& dns_names,
                                      const std::vector<std::string>& ip_addresses) {
  constexpr unsigned kKeyBits = 2048;
  const std::string now = std::to_string(std::time(nullptr));
  const std::string subject = host + "@" + now;
  const std::string authority = host + "-ca@" + now;
  const Key ca_key(EVP_EC_gen("P-256"));  // used once: an RSA key would only take longer to make
  const Key key(EVP_RSA_gen(kKeyBits));
  if (ca_key == nullptr || key == nullptr) return Fail("unable to generate a key");

  std::string names;
  for (const std::string& name : dns_names) names += ",DNS:" + name;
  for (const std::string& address : ip_addresses) names += ",IP:" + address;

  const Certificate ca = NewCertificate(ca_key.get(), authority, authority);
  if (ca == nullptr ||
      !AddExtension(ca.get(), ca.get(), NID_basic_constraints, "critical,CA:TRUE") ||
      !AddExtension(ca.get(), ca.get(), NID_key_usage,
                    "critical,digitalSignature,keyEncipherment,keyCertSign") ||
      !AddExtension(ca.get(), ca.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(ca.get(), ca_key.get(), EVP_sha256()) == 0) {
    return Fail("unable to generate self signed cert: the authority");
  }
  const Certificate cert = NewCertificate(key.get(), subject, authority);
  if (cert == nullptr ||
      !AddExtension(cert.get(), ca.get(), NID_key_usage,
                    "critical,digitalSignature,keyEncipherment") ||
      !AddExtension(cert.get(), ca.get(), NID_ext_key_usage, "serverAuth") ||
      !AddExtension(cert.get(), ca.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(cert.get(), ca.get(), NID_authority_key_identifier, "keyid") ||
      (!names.empty() &&
       !AddExtension(cert.get(), ca.get(), NID_subject_alt_name, names.substr(1))) ||
      X509_sign(cert.get(), ca_key.get(), EVP_sha256()) == 0) {
    return Fail("unable to generate self signed cert");
  }
  const Bio cert_pem(BIO_new(BIO_s_mem()));
  const Bio key_pem(BIO_new(BIO_s_mem()));
  const Bio ca_pem(BIO_new(BIO_s_mem()));
  if (cert_pem == nullptr || key_pem == nullptr || ca_pem == nullptr ||
      PEM_write_bio_X509(ca_pem.get(), ca.get()) != 1 ||
      PEM_write_bio_X509(cert_pem.get(), cert.get()) != 1 ||
      PEM_write_bio_X509(cert_pem.get(), ca.get()) != 1 ||
      PEM_write_bio_PrivateKey_traditional(key_pem.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                           nullptr) != 1) {
    return Fail("unable to encode the self signed cert");
  }
  return CertificatePem{Text(cert_pem.get()), Text(key_pem.get()), Text(ca_pem.get())};
}

}  // namespace berth::server
