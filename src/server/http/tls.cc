#include "server/http/tls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

#include "log/log.h"
#include "net/http/openssl_ptr.h"

namespace berth::server {
namespace {

using Key = net::KeyPtr;
using Certificate = net::X509Ptr;
using Bio = net::BioPtr;
using Context = net::SslContextPtr;

std::string ErrnoText(int error) {
  std::string text = std::strerror(error);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string OpenSslError() {
  char text[256] = "unknown error";
  const unsigned long code = ERR_get_error();
  if (code != 0) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

Bio Memory(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::vector<Certificate> ReadCertificates(const std::string& pem) {
  std::vector<Certificate> certs;
  const Bio bio = Memory(pem);
  while (bio != nullptr) {
    Certificate cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (cert == nullptr) break;
    certs.push_back(std::move(cert));
  }
  ERR_clear_error();
  return certs;
}

// Names a certificate is made out to.
std::vector<std::string> NamesOf(X509* cert) {
  std::vector<std::string> names;
  auto* alternatives =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(cert, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives, i);
    if (name->type != GEN_DNS) continue;
    names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  GENERAL_NAMES_free(alternatives);
  return names;
}

// The suites of TLS 1.2 by their names in Go; 1.3 has no choice.
Result<std::string> CipherList(const std::vector<std::string>& names) {
  std::string list;
  for (std::string name : names) {
    if (name.ends_with("_POLY1305")) name += "_SHA256";
    const char* known = OPENSSL_cipher_name(name.c_str());
    if (known == nullptr || std::strcmp(known, "(NONE)") == 0) {
      return Fail("Cipher suite " + name + " not supported or doesn't exist");
    }
    if (std::string_view(known).starts_with("TLS_")) continue;  // of TLS 1.3
    if (!list.empty()) list += ':';
    list += known;
  }
  return list;
}

// The groups that OpenSSL has: the hybrids with ML-KEM came with 3.5.
Result<void> UseKeyExchanges(SSL_CTX* context, const std::vector<int32_t>& numbers) {
  if (numbers.empty()) return {};
  // In Go's order of preference, whatever order they were given in.
  static constexpr std::pair<int32_t, const char*> kGroups[] = {
      {4588, "X25519MLKEM768"},
      {4587, "SecP256r1MLKEM768"},
      {4589, "SecP384r1MLKEM1024"},
      {29, "X25519"},
      {23, "P-256"},
      {24, "P-384"},
      {25, "P-521"},
  };
  std::string list;
  for (const auto& [number, name] : kGroups) {
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) continue;
    const bool known = SSL_CTX_set1_groups_list(context, name) == 1;
    ERR_clear_error();
    if (known) list += (list.empty() ? "" : ":") + std::string(name);
  }
  if (!list.empty() && SSL_CTX_set1_groups_list(context, list.c_str()) == 1) return {};
  return Fail(fmt::format("the TLS library here has none of the key exchanges {}",
                          fmt::join(numbers, ", ")));
}

// HTTP/2 if it is spoken here (`http2` is not null) and the client offers it, else HTTP/1.1.
int SelectAlpn(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
               unsigned int in_size, void* http2) {
  static constexpr std::string_view kBoth = "\x02h2\x08http/1.1";
  const std::string_view ours = http2 != nullptr ? kBoth : kBoth.substr(3);
  unsigned char* selected = nullptr;
  const int result = SSL_select_next_proto(&selected, out_size,
                                           reinterpret_cast<const unsigned char*>(ours.data()),
                                           static_cast<unsigned>(ours.size()), in, in_size);
  if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

// Who the client is, is decided per request (auth/), not by the handshake.
int TakeAnyClientCertificate(X509_STORE_CTX*, void*) { return 1; }

Result<void> UseProtocol(SSL_CTX* context, const ServingOptions& options) {
  // Go's order, but for suites without forward secrecy.
  static constexpr const char* kDefaultCiphers =
      "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
      "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
      "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA";
  static constexpr int kVersions[] = {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION};
  const int minor = std::clamp(options.min_tls_minor, 0, 3);
  SSL_CTX_set_min_proto_version(context, kVersions[minor]);
  if (minor < 2) SSL_CTX_set_security_level(context, 0);  // asked for: old versions need SHA-1
  auto list = CipherList(options.cipher_suites);
  if (!list) return Fail(list.error());
  if (options.cipher_suites.empty()) {
    *list = kDefaultCiphers;
  } else if (list->empty()) {
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  }
  if (!list->empty() && SSL_CTX_set_cipher_list(context, list->c_str()) != 1) {
    return Fail("no usable cipher suite: " + OpenSslError());
  }
  SSL_CTX_set_ciphersuites(
      context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
  if (auto used = UseKeyExchanges(context, options.key_exchanges); !used) return used;
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, &TakeAnyClientCertificate, nullptr);
  static char http2;  // any address
  SSL_CTX_set_alpn_select_cb(context, &SelectAlpn, options.http2 ? &http2 : nullptr);
  return {};
}

Result<Context> MakeContext(const ServingOptions& options, const CertificatePem& pem,
                            std::vector<std::string>* names) {
  std::vector<Certificate> certs = ReadCertificates(pem.cert);
  if (certs.empty()) return Fail("tls: failed to find any PEM data in certificate input");
  const Bio key_bio = Memory(pem.key);
  const Key key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (key == nullptr) return Fail("tls: failed to find any PEM data in key input");
  if (X509_check_private_key(certs[0].get(), key.get()) != 1) {
    ERR_clear_error();
    return Fail("tls: private key does not match public key");
  }
  if (names != nullptr) *names = NamesOf(certs[0].get());
  Context context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return Fail("tls: " + OpenSslError());
  if (auto ok = UseProtocol(context.get(), options); !ok) return Fail(ok.error());
  if (SSL_CTX_use_certificate(context.get(), certs[0].get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return Fail("tls: " + OpenSslError());
  }
  for (size_t i = 1; i < certs.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context.get(), certs[i].get()) != 1) {
      return Fail("tls: " + OpenSslError());
    }
  }
  return context;
}

bool NameMatches(std::string_view pattern, std::string_view name) {
  if (pattern.starts_with("*.")) {
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos || dot == 0) return false;
    return NameMatches(pattern.substr(2), name.substr(dot + 1));
  }
  return std::equal(pattern.begin(), pattern.end(), name.begin(), name.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

class Contexts final : public TlsContext {
 public:
  struct Named {
    std::vector<std::string> names;
    Context context;
  };

  explicit Contexts(Context main) : main_(std::move(main)) {
    SSL_CTX_set_tlsext_servername_callback(main_.get(), &Contexts::ByName);
    SSL_CTX_set_tlsext_servername_arg(main_.get(), this);
  }
  SSL_CTX* Native() override { return main_.get(); }
  void Add(Named named) { named_.push_back(std::move(named)); }

 private:
  static int ByName(SSL* ssl, int*, void* self) {
    const char* asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (asked == nullptr) return SSL_TLSEXT_ERR_NOACK;
    // Names in full go before wildcards.
    for (const bool wildcards : {false, true}) {
      for (const Named& named : static_cast<Contexts*>(self)->named_) {
        for (const std::string& name : named.names) {
          if (name.starts_with("*.") != wildcards || !NameMatches(name, asked)) continue;
          SSL_set_SSL_CTX(ssl, named.context.get());
          return SSL_TLSEXT_ERR_OK;
        }
      }
    }
    return SSL_TLSEXT_ERR_OK;
  }

  Context main_;
  std::vector<Named> named_;
};

// What was read, to see whether it has changed.
struct Pems {
  CertificatePem main;
  std::vector<CertificatePem> sni;
};

Result<CertificatePem> ReadPair(const std::string& cert_file, const std::string& key_file) {
  if (cert_file.empty() || key_file.empty()) return Fail("missing filename for serving cert");
  auto cert = ReadFile(cert_file);
  if (!cert) return Fail(cert.error());
  auto key = ReadFile(key_file);
  if (!key) return Fail(key.error());
  return CertificatePem{std::move(*cert), std::move(*key)};
}

Result<void> WriteFile(const std::string& path, const std::string& text, mode_t mode) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return Fail("open " + path + ": " + ErrnoText(errno));
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  const int error = errno;
  close(fd);
  if (written < text.size()) return Fail("write " + path + ": " + ErrnoText(error));
  return {};
}

bool IsUnspecified(const std::string& address) {
  return address.empty() || address == "0.0.0.0" || address == "::";
}

class FixedCertificates final : public ServingCertificates {
 public:
  explicit FixedCertificates(std::shared_ptr<TlsContext> context) : context_(std::move(context)) {}
  std::shared_ptr<TlsContext> Current() const override { return context_; }
  Result<bool> Reload() override { return false; }

 private:
  const std::shared_ptr<TlsContext> context_;
};

class FileCertificates final : public ServingCertificates {
 public:
  explicit FileCertificates(const ServingOptions& options) : options_(options) {}

  Result<void> Start() {
    if (options_.cert_file.empty() && options_.key_file.empty()) {
      if (auto made = MakeOwn(); !made) return made;
    }
    const auto loaded = Load();
    if (!loaded) return Fail(loaded.error());
    return {};
  }
  std::shared_ptr<TlsContext> Current() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return current_;
  }
  Result<bool> Reload() override { return Load(); }

 private:
  // Fills generated_, or the names of the files in cert_dir.
  Result<void> MakeOwn() {
    std::vector<std::string> dns = {"localhost"};
    std::vector<std::string> ips = {"127.0.0.1"};
    if (IsUnspecified(options_.bind_address)) {
      dns.push_back("localhost");
    } else {
      ips.push_back(options_.bind_address);
    }
    if (options_.cert_dir.empty()) {
      auto made = MakeSelfSigned("localhost", dns, ips);
      if (!made) return Fail(made.error());
      generated_ = std::move(*made);
      log::InfoLine(0, "Generated self-signed cert in-memory");
      return {};
    }
    const std::string stem = options_.cert_dir + "/kube-scheduler";
    options_.cert_file = stem + ".crt";
    options_.key_file = stem + ".key";
    std::error_code error;
    if (std::filesystem::exists(options_.cert_file, error) &&
        std::filesystem::exists(options_.key_file, error)) {
      return {};
    }
    std::filesystem::create_directories(options_.cert_dir, error);
    auto made = MakeSelfSigned("localhost", dns, ips);
    if (!made) return Fail(made.error());
    if (auto ok = WriteFile(options_.cert_file, made->cert, 0644); !ok) return ok;
    if (auto ok = WriteFile(options_.key_file, made->key, 0600); !ok) return ok;
    log::InfoLine(
        0, "Generated self-signed cert (" + options_.cert_file + ", " + options_.key_file + ")");
    return {};
  }

  Result<Pems> Read() const {
    Pems pems;
    if (options_.cert_file.empty() && options_.key_file.empty()) {
      pems.main = generated_;
    } else {
      auto pair = ReadPair(options_.cert_file, options_.key_file);
      if (!pair) return Fail(pair.error());
      pems.main = std::move(*pair);
    }
    for (const SniCertificate& sni : options_.sni) {
      auto pair = ReadPair(sni.cert_file, sni.key_file);
      if (!pair) return Fail("failed to load SNI cert and key: " + pair.error().Message());
      pems.sni.push_back(std::move(*pair));
    }
    return pems;
  }

  static bool Same(const Pems& a, const Pems& b) {
    const auto same = [](const CertificatePem& x, const CertificatePem& y) {
      return x.cert == y.cert && x.key == y.key;
    };
    return same(a.main, b.main) &&
           std::equal(a.sni.begin(), a.sni.end(), b.sni.begin(), b.sni.end(), same);
  }

  // False: nothing new.
  Result<bool> Load() {
    auto pems = Read();
    if (!pems) return Fail(pems.error());
    if (Current() != nullptr && Same(*pems, pems_)) return false;
    auto main = MakeContext(options_, pems->main, nullptr);
    if (!main) return Fail(main.error());
    auto contexts = std::make_shared<Contexts>(std::move(*main));
    for (size_t i = 0; i < pems->sni.size(); ++i) {
      Contexts::Named named;
      auto context = MakeContext(options_, pems->sni[i], &named.names);
      if (!context) {
        return Fail("failed to load SNI cert and key: " + context.error().Message());
      }
      if (!options_.sni[i].names.empty()) named.names = options_.sni[i].names;
      named.context = std::move(*context);
      contexts->Add(std::move(named));
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    pems_ = std::move(*pems);
    current_ = std::move(contexts);
    return true;
  }

  ServingOptions options_;
  CertificatePem generated_;
  Pems pems_;
  mutable std::mutex mutex_;
  std::shared_ptr<TlsContext> current_;
};

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Fail("open " + path + ": " + ErrnoText(errno));
  if (S_ISDIR(info.st_mode)) return Fail("read " + path + ": is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail("open " + path + ": " + ErrnoText(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<std::shared_ptr<TlsContext>> MakeTlsContext(const ServingOptions& options,
                                                   const CertificatePem& pem) {
  auto context = MakeContext(options, pem, nullptr);
  if (!context) return Fail(context.error());
  return std::shared_ptr<TlsContext>(std::make_shared<Contexts>(std::move(*context)));
}

Result<std::unique_ptr<ServingCertificates>> ServingCertificates::FromPem(
    const ServingOptions& options, const CertificatePem& pem) {
  auto context = MakeTlsContext(options, pem);
  if (!context) return Fail(context.error());
  return std::unique_ptr<ServingCertificates>(
      std::make_unique<FixedCertificates>(std::move(*context)));
}

Result<std::unique_ptr<ServingCertificates>> ServingCertificates::Make(
    const ServingOptions& options) {
  auto certificates = std::make_unique<FileCertificates>(options);
  if (auto ok = certificates->Start(); !ok) return Fail(ok.error());
  return std::unique_ptr<ServingCertificates>(std::move(certificates));
}

}  // namespace berth::server
