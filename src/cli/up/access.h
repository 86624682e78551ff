// Access: how clients reach the API server of `berth up`, and what they need for it.
//
// On loopback the server speaks plain HTTP without authentication, and server::HostGuard keeps web
// pages out. On any other address it speaks TLS with a certificate made for the purpose and wants a
// token; the kubeconfig holds the certificate's authority and the token.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "server/http/tls.h"

namespace berth::cli::up {

struct Access {
  std::string token;                                  // empty: none is needed
  std::optional<server::CertificatePem> certificate;  // empty: plain HTTP
};

// `hosts`: further names the server is reached by. They are put into the certificate.
Result<Access> MakeAccess(const std::string& bind_address, const std::vector<std::string>& hosts);

// The server as a client on this machine reaches it.
std::string ServerUrl(const std::string& bind_address, int port, const Access& access);

std::string KubeconfigText(const std::string& server, const Access& access);
// Replaces the file, which only its owner may read.
Result<void> WriteKubeconfig(const std::string& path, std::string_view text);

// Raises the limit of open files to what the system allows, as Go programs do.
void RaiseFileLimit();

}  // namespace berth::cli::up
