// Address and Network: what ip() and cidr() make of a text. The grammar and the words of refusals
// are those of Go's net/netip, since users see them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::cel {

struct Address {
  bool v4 = false;
  std::array<uint8_t, 16> bytes{};  // of an IPv4 address the first four

  // Zones (fe80::1%eth0) and IPv4 addresses inside IPv6 ones (::ffff:10.0.0.1) are refused.
  static Result<Address> Parse(std::string_view text);
  // Canonical: lower case, the longest run of zeros as "::".
  std::string Text() const;

  int Bits() const { return v4 ? 32 : 128; }
  // With all bits behind the first `bits` cleared.
  Address Masked(int bits) const;

  bool IsUnspecified() const;
  bool IsLoopback() const;
  bool IsMulticast() const;
  bool IsLinkLocalMulticast() const;
  bool IsLinkLocalUnicast() const;
  bool IsGlobalUnicast() const;  // private ranges are

  bool operator==(const Address&) const = default;
};

struct Network {
  Address address;  // as written: bits beyond the prefix may be set
  int bits = 0;

  static Result<Network> Parse(std::string_view text);
  std::string Text() const;

  bool Contains(const Address& other) const;
  bool Contains(const Network& other) const;
  Network Masked() const { return {address.Masked(bits), bits}; }

  bool operator==(const Network&) const = default;
};

}  // namespace berth::cel
