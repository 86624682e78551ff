#include "server/auth/client_certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "net/http/openssl_ptr.h"

namespace berth::server {
namespace {

using Certificate = net::X509Ptr;
using Bio = net::BioPtr;
using Store = std::unique_ptr<X509_STORE, net::FreeWith<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, net::FreeWith<X509_STORE_CTX_free>>;
struct StackFreer {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_pop_free(stack, X509_free); }
};
using Stack = std::unique_ptr<STACK_OF(X509), StackFreer>;

Certificate FromDer(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  return Certificate(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
}

// Null when there is no certificate in the text.
Store StoreOf(std::string_view ca_pem) {
  Store store(X509_STORE_new());
  const Bio bio(BIO_new_mem_buf(ca_pem.data(), static_cast<int>(ca_pem.size())));
  size_t count = 0;
  while (store != nullptr && bio != nullptr) {
    const Certificate cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (cert == nullptr) break;
    X509_STORE_add_cert(store.get(), cert.get());
    ++count;
  }
  ERR_clear_error();
  return count == 0 ? nullptr : std::move(store);
}

std::string TextOf(const X509_NAME_ENTRY* entry) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
  std::string text = size > 0
                         ? std::string(reinterpret_cast<char*>(utf8), static_cast<size_t>(size))
                         : std::string();
  OPENSSL_free(utf8);
  return text;
}

Result<CertificateSubject> SubjectOf(X509* cert) {
  CertificateSubject subject;
  std::vector<std::string> uids;
  const X509_NAME* name = X509_get_subject_name(cert);
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const ASN1_OBJECT* object = X509_NAME_ENTRY_get_object(entry);
    char oid[64] = "";
    OBJ_obj2txt(oid, sizeof oid, object, 1);
    if (OBJ_obj2nid(object) == NID_commonName) subject.common_name = TextOf(entry);
    if (OBJ_obj2nid(object) == NID_organizationName) subject.organizations.push_back(TextOf(entry));
    if (std::string_view(oid) == "1.3.6.1.4.1.57683.2") uids.push_back(TextOf(entry));
  }
  if (uids.size() > 1) return Fail("expected 1 UID, but found multiple");
  if (!uids.empty()) {
    if (uids[0].empty()) return Fail("UID cannot be an empty string");
    subject.uid = uids[0];
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (X509_digest(cert, EVP_sha256(), digest, &size) == 1) {
    static constexpr char kHex[] = "0123456789abcdef";
    for (unsigned i = 0; i < size; ++i) {
      subject.fingerprint += kHex[digest[i] >> 4];
      subject.fingerprint += kHex[digest[i] & 15];
    }
  }
  return subject;
}

}  // namespace

Result<CertificateSubject> VerifyClientCertificate(const std::vector<std::string>& chain,
                                                   std::string_view ca_pem) {
  if (chain.empty()) return Fail("no certificate");
  const Certificate leaf = FromDer(chain[0]);
  if (leaf == nullptr) return Fail("x509: malformed certificate");
  const Store store = StoreOf(ca_pem);
  if (store == nullptr) return Fail("x509: certificate signed by unknown authority");
  const Stack intermediates(sk_X509_new_null());
  for (size_t i = 1; i < chain.size(); ++i) {
    Certificate cert = FromDer(chain[i]);
    if (cert != nullptr && sk_X509_push(intermediates.get(), cert.get()) > 0) {
      static_cast<void>(cert.release());
    }
  }
  const StoreContext context(X509_STORE_CTX_new());
  if (context == nullptr ||
      X509_STORE_CTX_init(context.get(), store.get(), leaf.get(), intermediates.get()) != 1) {
    return Fail("x509: cannot verify");
  }
  // An intermediate authority in the bundle is trusted as it is, as Go does.
  X509_STORE_CTX_set_flags(context.get(), X509_V_FLAG_PARTIAL_CHAIN);
  X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_CLIENT);
  if (X509_verify_cert(context.get()) != 1) {
    const int error = X509_STORE_CTX_get_error(context.get());
    ERR_clear_error();
    return Fail(std::string("x509: ") + X509_verify_cert_error_string(error));
  }
  return SubjectOf(leaf.get());
}

UserInfo UserOf(const CertificateSubject& subject) {
  UserInfo user;
  user.name = subject.common_name;
  user.uid = subject.uid;
  user.groups = subject.organizations;
  user.extra["authentication.kubernetes.io/credential-id"] = {"X509SHA256=" + subject.fingerprint};
  return user;
}

}  // namespace berth::server
