#include "cli/up/access.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <openssl/rand.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include "api/codec/base64.h"
#include "server/http/host_guard.h"

namespace berth::cli::up {
namespace {

bool IsUnspecified(const std::string& address) {
  return address.empty() || address == "0.0.0.0" || address == "::";
}

bool IsAddress(const std::string& text) {
  in6_addr any{};
  return inet_pton(AF_INET, text.c_str(), &any) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

// Addresses of this machine's interfaces. Link-local ones need a zone and are left out.
std::vector<std::string> OwnAddresses() {
  std::vector<std::string> addresses;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return addresses;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_UP) == 0) continue;
    char text[INET6_ADDRSTRLEN] = {};
    if (at->ifa_addr->sa_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
      inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    } else if (at->ifa_addr->sa_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(at->ifa_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
      inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    } else {
      continue;
    }
    addresses.emplace_back(text);
  }
  freeifaddrs(first);
  return addresses;
}

void AddOnce(std::vector<std::string>& list, const std::string& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

Result<server::CertificatePem> MakeCertificate(const std::string& bind_address,
                                               const std::vector<std::string>& hosts) {
  std::vector<std::string> names = {"localhost"};
  std::vector<std::string> addresses = {"127.0.0.1", "::1"};
  const auto add = [&](const std::string& host) {
    if (host == "*" || !server::HostGuard::CheckPattern(host)) return;
    AddOnce(IsAddress(host) ? addresses : names, host);
  };
  if (IsUnspecified(bind_address)) {
    for (const std::string& address : OwnAddresses()) add(address);
  } else {
    add(bind_address);
  }
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) add(name.data());
  for (const std::string& host : hosts) add(host);
  return server::MakeSelfSigned("berth-up", names, addresses);
}

Result<std::string> RandomToken() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Fail("no random bytes for a token");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace

Result<Access> MakeAccess(const std::string& bind_address, const std::vector<std::string>& hosts) {
  if (server::IsLoopbackHost(bind_address)) return Access{};
  auto token = RandomToken();
  if (!token) return Fail(token.error());
  auto certificate = MakeCertificate(bind_address, hosts);
  if (!certificate) return Fail(certificate.error());
  return Access{std::move(*token), std::move(*certificate)};
}

std::string ServerUrl(const std::string& bind_address, int port, const Access& access) {
  std::string host = bind_address;
  if (bind_address == "0.0.0.0" || bind_address.empty()) host = "127.0.0.1";
  if (bind_address == "::") host = "::1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return fmt::format("{}://{}:{}", access.certificate ? "https" : "http", host, port);
}

std::string KubeconfigText(const std::string& server, const Access& access) {
  std::string authority;
  if (access.certificate) {
    authority = "    certificate-authority-data: ";
    api::AppendBase64(authority, access.certificate->authority);
    authority += '\n';
  }
  return fmt::format(
      "apiVersion: v1\n"
      "kind: Config\n"
      "clusters:\n"
      "- name: berth\n"
      "  cluster:\n"
      "    server: {}\n"
      "{}"
      "users:\n"
      "- name: berth\n"
      "  user: {}\n"
      "contexts:\n"
      "- name: berth\n"
      "  context:\n"
      "    cluster: berth\n"
      "    user: berth\n"
      "current-context: berth\n",
      server, authority, access.token.empty() ? "{}" : "\n    token: " + access.token);
}

Result<void> WriteKubeconfig(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";
  // Not through a link somebody else has put there, and never readable by others: it may hold a
  // token.
  unlink(temporary.c_str());
  const int file =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return Fail(fmt::format("cannot write {}", temporary));
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (close(file) != 0 || !written) return Fail(fmt::format("cannot write {}", temporary));
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return Fail(fmt::format("cannot write {}", path));
  }
  return {};
}

void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace berth::cli::up
