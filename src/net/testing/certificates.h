// Certificates made on the spot, for tests.
#pragma once

#include <memory>
#include <string>

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

namespace berth::net::testing {

struct Identity {
  std::string certificate;  // PEM
  std::string key;          // PEM, PKCS8
  std::string plain_key;    // PEM, as RSA or EC PRIVATE KEY
  std::shared_ptr<X509> x509;
  std::shared_ptr<EVP_PKEY> pkey;
};

struct CertificateRequest {
  std::string common_name = "test";
  std::string names = {};  // "DNS:localhost,IP:127.0.0.1"
  bool authority = false;
  bool elliptic = true;
  long from_seconds = -3600;
  long to_seconds = 3600;
};

inline std::string ReadAll(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

inline void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Signed by `issuer`, or by itself.
inline Identity MakeIdentity(const CertificateRequest& request, const Identity* issuer = nullptr) {
  static long serial = 1;
  Identity made;
  made.pkey.reset(request.elliptic ? EVP_EC_gen("P-256") : EVP_RSA_gen(2048), EVP_PKEY_free);
  made.x509.reset(X509_new(), X509_free);
  X509* x509 = made.x509.get();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), serial++);
  X509_gmtime_adj(X509_getm_notBefore(x509), request.from_seconds);
  X509_gmtime_adj(X509_getm_notAfter(x509), request.to_seconds);
  X509_set_pubkey(x509, made.pkey.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(request.common_name.c_str()),
                             -1, -1, 0);
  X509* signer = issuer != nullptr ? issuer->x509.get() : x509;
  X509_set_issuer_name(x509, X509_get_subject_name(signer));
  AddExtension(x509, signer, NID_basic_constraints,
               request.authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!request.names.empty()) AddExtension(x509, signer, NID_subject_alt_name, request.names);
  X509_sign(x509, issuer != nullptr ? issuer->pkey.get() : made.pkey.get(), EVP_sha256());

  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, x509);
  made.certificate = ReadAll(bio);
  bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PKCS8PrivateKey(bio, made.pkey.get(), nullptr, nullptr, 0, nullptr, nullptr);
  made.key = ReadAll(bio);
  bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey_traditional(bio, made.pkey.get(), nullptr, nullptr, 0, nullptr, nullptr);
  made.plain_key = ReadAll(bio);
  return made;
}

}  // namespace berth::net::testing
