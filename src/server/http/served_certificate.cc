#include "server/http/served_certificate.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string_view>

#include "net/http/openssl_ptr.h"

namespace berth::server {
namespace {

std::string_view Bytes(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string AddressText(std::string_view bytes) {
  char text[INET6_ADDRSTRLEN] = {};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return "";
  return inet_ntop(family, bytes.data(), text, sizeof text) == nullptr ? "" : text;
}

// A name before an address, and one of a wildcard's names before nothing.
std::string NameOf(X509* certificate) {
  std::string address;
  std::string wildcard;
  std::string plain;
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS) {
      const std::string_view text = Bytes(name->d.dNSName);
      if (text.starts_with("*.")) {
        wildcard = "replica" + std::string(text.substr(1));
      } else if (plain.empty()) {
        plain = text;
      }
    } else if (name->type == GEN_IPADD && address.empty()) {
      address = AddressText(Bytes(name->d.iPAddress));
    }
  }
  GENERAL_NAMES_free(names);
  if (!plain.empty()) return plain;
  return address.empty() ? wildcard : address;
}

void Append(X509* certificate, std::string& pem) {
  const net::BioPtr bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || PEM_write_bio_X509(bio.get(), certificate) != 1) return;
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  if (size > 0) pem.append(data, static_cast<size_t>(size));
}

}  // namespace

ServedCertificate CertificateOf(SSL_CTX* context) {
  ServedCertificate served;
  X509* certificate = SSL_CTX_get0_certificate(context);
  if (certificate == nullptr) return served;
  Append(certificate, served.pem);
  STACK_OF(X509)* chain = nullptr;
  if (SSL_CTX_get0_chain_certs(context, &chain) == 1) {
    for (int i = 0; i < sk_X509_num(chain); ++i) Append(sk_X509_value(chain, i), served.pem);
  }
  served.name = NameOf(certificate);
  ERR_clear_error();
  return served;
}

}  // namespace berth::server
