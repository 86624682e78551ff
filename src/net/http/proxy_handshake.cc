#include "net/http/proxy_handshake.h"

#include <arpa/inet.h>

#include <fmt/format.h>

namespace berth::net {
namespace {

class HttpConnect final : public ProxyHandshake {
 public:
  HttpConnect(const Url& proxy, const Url& target) : proxy_(proxy), target_(target) {}

  std::string Start() override {
    const std::string host = target_.HostPort();
    std::string head = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", host);
    if (proxy_.has_user) head += "Proxy-Authorization: " + proxy_.BasicAuthorization() + "\r\n";
    return head + "\r\n";
  }

  Result<bool> Receive(std::string_view bytes, std::string&) override {
    const size_t from = buffer_.size() < 3 ? 0 : buffer_.size() - 3;
    buffer_ += bytes;
    const size_t end = buffer_.find("\r\n\r\n", from);
    if (end == buffer_.npos) {
      if (buffer_.size() > kMaxHead) return Fail("proxyconnect tcp: response header too large");
      return false;
    }
    // "HTTP/1.1 200 Connection established"
    const std::string line = buffer_.substr(0, buffer_.find("\r\n"));
    if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') {
      return Fail(
          fmt::format("proxyconnect tcp: malformed HTTP response \"{}\"", line.substr(0, 64)));
    }
    if (line.compare(9, 3, "200") != 0) {
      return Fail(line.size() > 13 ? line.substr(13) : line.substr(9));
    }
    buffer_.erase(0, end + 4);
    return true;
  }

 private:
  static constexpr size_t kMaxHead = 64 << 10;
  const Url proxy_;
  const Url target_;
};

class Socks5 final : public ProxyHandshake {
 public:
  Socks5(const Url& proxy, const Url& target) : proxy_(proxy), target_(target) {}

  std::string Start() override {
    // Version 5; methods: none (0), and user and password (2).
    return proxy_.has_user ? std::string("\x05\x02\x00\x02", 4) : std::string("\x05\x01\x00", 3);
  }

  Result<bool> Receive(std::string_view bytes, std::string& reply) override {
    buffer_ += bytes;
    for (;;) {
      auto more = Step(reply);
      if (!more) return Fail(more.error().In(Name()));
      if (!*more) return false;
      if (step_ == kDone) return true;
    }
  }

 private:
  enum StepName { kMethod, kPassword, kConnect, kDone };

  std::string Name() const {
    return fmt::format("socks connect tcp {}->{}", proxy_.HostPort(), target_.HostPort());
  }
  uint8_t At(size_t i) const { return static_cast<uint8_t>(buffer_[i]); }

  // One message of the proxy's, if it is whole: true.
  Result<bool> Step(std::string& reply) {
    switch (step_) {
      case kMethod:
        return Method(reply);
      case kPassword:
        return Password(reply);
      case kConnect:
        return Connect();
      case kDone:
        return true;
    }
    return false;
  }

  Result<bool> Method(std::string& reply) {
    if (buffer_.size() < 2) return false;
    if (At(0) != 5) return Fail(fmt::format("unexpected protocol version {}", At(0)));
    const uint8_t method = At(1);
    buffer_.erase(0, 2);
    if (method == 0) return Ask(reply);
    if (method != 2 || !proxy_.has_user) return Fail("no acceptable authentication methods");
    if (proxy_.user.empty() || proxy_.user.size() > 255 || proxy_.password.size() > 255) {
      return Fail("invalid username/password");
    }
    reply += '\x01';
    reply += static_cast<char>(proxy_.user.size());
    reply += proxy_.user;
    reply += static_cast<char>(proxy_.password.size());
    reply += proxy_.password;
    step_ = kPassword;
    return true;
  }

  Result<bool> Password(std::string& reply) {
    if (buffer_.size() < 2) return false;
    if (At(0) != 1) return Fail("invalid username/password version");
    if (At(1) != 0) return Fail("username/password authentication failed");
    buffer_.erase(0, 2);
    return Ask(reply);
  }

  Result<bool> Ask(std::string& reply) {
    reply.append("\x05\x01\x00", 3);
    in_addr v4;
    in6_addr v6;
    if (inet_pton(AF_INET, target_.host.c_str(), &v4) == 1) {
      reply += '\x01';
      reply.append(reinterpret_cast<const char*>(&v4), sizeof v4);
    } else if (inet_pton(AF_INET6, target_.host.c_str(), &v6) == 1) {
      reply += '\x04';
      reply.append(reinterpret_cast<const char*>(&v6), sizeof v6);
    } else {
      reply += '\x03';
      reply += static_cast<char>(target_.host.size());  // ParseUrl allows 255
      reply += target_.host;
    }
    reply += static_cast<char>(target_.port >> 8);
    reply += static_cast<char>(target_.port & 0xff);
    step_ = kConnect;
    return true;
  }

  Result<bool> Connect() {
    if (buffer_.size() < 5) return false;
    if (At(0) != 5) return Fail(fmt::format("unexpected protocol version {}", At(0)));
    if (At(1) != 0) return Fail(fmt::format("unknown error {}", Word(At(1))));
    if (At(2) != 0) return Fail("non-zero reserved field");
    size_t address = 0;
    switch (At(3)) {
      case 1:
        address = 4;
        break;
      case 3:
        address = size_t{1} + At(4);
        break;
      case 4:
        address = 16;
        break;
      default:
        return Fail(fmt::format("unknown address type {}", At(3)));
    }
    if (buffer_.size() < 4 + address + 2) return false;
    buffer_.erase(0, 4 + address + 2);
    step_ = kDone;
    return true;
  }

  static std::string Word(uint8_t code) {
    static constexpr const char* kWords[] = {"succeeded",
                                             "general SOCKS server failure",
                                             "connection not allowed by ruleset",
                                             "network unreachable",
                                             "host unreachable",
                                             "connection refused",
                                             "TTL expired",
                                             "command not supported",
                                             "address type not supported"};
    return code < std::size(kWords) ? kWords[code] : fmt::format("unknown code: {}", code);
  }

  const Url proxy_;
  const Url target_;
  StepName step_ = kMethod;
};

}  // namespace

std::unique_ptr<ProxyHandshake> MakeProxyHandshake(const Url& proxy, const Url& target) {
  if (proxy.scheme.starts_with("socks5")) return std::make_unique<Socks5>(proxy, target);
  return std::make_unique<HttpConnect>(proxy, target);
}

}  // namespace berth::net
