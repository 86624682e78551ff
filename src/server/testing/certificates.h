// TestAuthority: a certificate authority and the client certificates it issues, for tests.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/http/openssl_ptr.h"
#include "server/http/message.h"

namespace berth::server {

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name) : key_(NewKey()), cert_(X509_new()) {
    Fill(cert_.get(), key_.get(), name, {});
    X509_set_issuer_name(cert_.get(), X509_get_subject_name(cert_.get()));
    Extend(cert_.get(), NID_basic_constraints, "critical,CA:TRUE");
    Extend(cert_.get(), NID_key_usage, "critical,keyCertSign");
    X509_sign(cert_.get(), key_.get(), EVP_sha256());
  }

  std::string Pem() const { return PemOf(cert_.get()); }

  struct Issued {
    std::string cert_pem;
    std::string key_pem;
    std::string der;
  };
  Issued IssuePair(const std::string& common_name, const std::vector<std::string>& organizations,
                   bool client = true, const std::string& dns_name = "") const {
    const Key key = NewKey();
    const Certificate cert(X509_new());
    Fill(cert.get(), key.get(), common_name, organizations);
    X509_set_issuer_name(cert.get(), X509_get_subject_name(cert_.get()));
    Extend(cert.get(), NID_ext_key_usage, client ? "clientAuth" : "serverAuth");
    if (!dns_name.empty()) {
      Extend(cert.get(), NID_subject_alt_name, ("DNS:" + dns_name).c_str());
    }
    X509_sign(cert.get(), key_.get(), EVP_sha256());
    Issued issued;
    issued.cert_pem = PemOf(cert.get());
    const Bio bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    issued.key_pem = TextOf(bio.get());
    unsigned char* der = nullptr;
    const int size = i2d_X509(cert.get(), &der);
    issued.der.assign(reinterpret_cast<char*>(der), static_cast<size_t>(size));
    OPENSSL_free(der);
    return issued;
  }
  PeerChain Issue(const std::string& common_name, const std::vector<std::string>& organizations,
                  bool client = true) const {
    return std::make_shared<std::vector<std::string>>(
        std::vector<std::string>{IssuePair(common_name, organizations, client).der});
  }

 private:
  using Key = net::KeyPtr;
  using Certificate = net::X509Ptr;
  using Bio = net::BioPtr;

  static Key NewKey() { return Key(EVP_EC_gen("P-256")); }

  static void Fill(X509* cert, EVP_PKEY* key, const std::string& common_name,
                   const std::vector<std::string>& organizations) {
    static long serial = 1;
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_NAME* name = X509_get_subject_name(cert);
    for (const std::string& organization : organizations) Add(name, "O", organization);
    Add(name, "CN", common_name);
    X509_set_pubkey(cert, key);
  }
  static void Add(X509_NAME* name, const char* field, const std::string& value) {
    X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
  }
  static void Extend(X509* cert, int nid, const char* value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
    X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
  }
  static std::string TextOf(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return std::string(data, static_cast<size_t>(size));
  }
  static std::string PemOf(X509* cert) {
    const Bio bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(bio.get(), cert);
    return TextOf(bio.get());
  }

  Key key_;
  Certificate cert_;
};

}  // namespace berth::server
