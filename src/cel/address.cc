#include "cel/address.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "api/go/go_text.h"

namespace berth::cel {
namespace {

// An address as it is written, zone included.
struct Parsed {
  Address address;
  bool zone = false;
};

class AddressParser {
 public:
  explicit AddressParser(std::string_view text) : text_(text) {}

  // The first character that is in no number tells which kind it is.
  Result<Parsed> Run() const {
    const size_t mark = text_.find_first_of(".:%");
    if (mark == std::string_view::npos) return Refuse("unable to parse IP");
    if (text_[mark] == '%') return Refuse("missing IPv6 address");
    return text_[mark] == '.' ? V4() : V6();
  }

 private:
  tl::unexpected<Error> Refuse(std::string_view why, std::string_view at = {}) const {
    std::string message = fmt::format("ParseAddr({}): {}", api::GoQuote(text_), why);
    if (!at.empty()) message += fmt::format(" (at {})", api::GoQuote(at));
    return Fail(std::move(message));
  }

  Result<Parsed> V4() const {
    Parsed parsed;
    parsed.address.v4 = true;
    if (auto read = Octets(text_, std::span(parsed.address.bytes).first<4>()); !read) {
      return Fail(read.error());
    }
    return parsed;
  }

  // "10.0.0.1", which is `text_` or its end.
  Result<void> Octets(std::string_view s, std::span<uint8_t, 4> octets) const {
    size_t octet = 0;
    int value = 0;
    int digits = 0;
    for (size_t i = 0; i < s.size(); ++i) {
      if (s[i] >= '0' && s[i] <= '9') {
        if (digits == 1 && value == 0) return Refuse("IPv4 field has octet with leading zero");
        value = value * 10 + (s[i] - '0');
        ++digits;
        if (value > 255) return Refuse("IPv4 field has value >255");
        continue;
      }
      if (s[i] != '.') return Refuse("unexpected character", s.substr(i));
      if (digits == 0 || i + 1 == s.size()) {
        return Refuse("IPv4 field must have at least one digit", s.substr(i));
      }
      if (octet == 3) return Refuse("IPv4 address too long");
      octets[octet++] = static_cast<uint8_t>(value);
      value = digits = 0;
    }
    if (octet < 3) return Refuse("IPv4 address too short");
    octets[3] = static_cast<uint8_t>(value);
    return {};
  }

  // The number of leading hexadecimal digits, and their value.
  Result<size_t> Group(std::string_view s, uint32_t* value) const {
    *value = 0;
    size_t digits = 0;
    for (; digits < s.size(); ++digits) {
      uint32_t digit = 0;
      if (std::from_chars(&s[digits], &s[digits] + 1, digit, 16).ec != std::errc()) break;
      if (digits > 3) return Refuse("each group must have 4 or less digits", s);
      *value = *value * 16 + digit;
    }
    if (digits == 0) {
      return Refuse("each colon-separated field must have at least one digit", s);
    }
    return digits;
  }

  Result<Parsed> V6() const {
    Parsed parsed;
    std::string_view s = text_;
    if (const size_t percent = s.find('%'); percent != std::string_view::npos) {
      if (percent + 1 == s.size()) return Refuse("zone must be a non-empty string");
      parsed.zone = true;
      s = s.substr(0, percent);
    }
    std::array<uint8_t, 16>& bytes = parsed.address.bytes;
    size_t gap = std::string_view::npos;  // where "::" stands
    if (s.starts_with("::")) {
      gap = 0;
      s.remove_prefix(2);
      if (s.empty()) return parsed;
    }
    size_t filled = 0;
    while (filled < 16) {
      uint32_t value = 0;
      const Result<size_t> digits = Group(s, &value);
      if (!digits) return Fail(digits.error());
      if (*digits < s.size() && s[*digits] == '.') {
        if (gap == std::string_view::npos && filled != 12) {
          return Refuse("embedded IPv4 address must replace the final 2 fields of the address", s);
        }
        if (filled > 12) {
          return Refuse("too many hex fields to fit an embedded IPv4 at the end of the address", s);
        }
        const auto octets = std::span<uint8_t, 4>(bytes.data() + filled, 4);
        if (auto read = Octets(s, octets); !read) return Fail(read.error());
        filled += 4;
        s = {};
        break;
      }
      bytes[filled] = static_cast<uint8_t>(value >> 8);
      bytes[filled + 1] = static_cast<uint8_t>(value);
      filled += 2;
      s.remove_prefix(*digits);
      if (s.empty()) break;
      if (s[0] != ':') return Refuse("unexpected character, want colon", s);
      if (s.size() == 1) return Refuse("colon must be followed by more characters", s);
      s.remove_prefix(1);
      if (s[0] != ':') continue;
      if (gap != std::string_view::npos) return Refuse("multiple :: in address", s);
      gap = filled;
      s.remove_prefix(1);
      if (s.empty()) break;
    }
    if (!s.empty()) return Refuse("trailing garbage after address", s);
    if (filled == 16 && gap != std::string_view::npos) {
      return Refuse("the :: must expand to at least one field of zeros");
    }
    if (filled < 16) {
      if (gap == std::string_view::npos) return Refuse("address string too short");
      std::rotate(bytes.begin() + static_cast<ptrdiff_t>(gap),
                  bytes.begin() + static_cast<ptrdiff_t>(filled), bytes.end());
    }
    return parsed;
  }

  std::string_view text_;
};

bool IsMapped(const Address& address) {
  constexpr std::array<uint8_t, 12> kPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return !address.v4 && std::equal(kPrefix.begin(), kPrefix.end(), address.bytes.begin());
}

tl::unexpected<Error> RefuseMapped(std::string_view text) {
  return Fail(fmt::format("IPv4-mapped IPv6 address {} is not allowed", api::GoQuote(text)));
}

unsigned GroupAt(const Address& address, size_t i) {
  return static_cast<unsigned>(address.bytes[2 * i] << 8 | address.bytes[2 * i + 1]);
}

// No sign, no leading zero.
bool ParseBits(std::string_view text, int64_t* bits) {
  if (text.size() > 1 && (text[0] < '1' || text[0] > '9')) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *bits);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<Address> Address::Parse(std::string_view text) {
  const Result<Parsed> parsed = AddressParser(text).Run();
  if (!parsed) {
    return Fail(fmt::format("IP Address {} parse error during conversion from string: {}",
                            api::GoQuote(text), parsed.error().Message()));
  }
  if (parsed->zone) {
    return Fail(fmt::format("IP address {} with zone value is not allowed", api::GoQuote(text)));
  }
  if (IsMapped(parsed->address)) return RefuseMapped(text);
  return parsed->address;
}

std::string Address::Text() const {
  if (v4) return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
  size_t first = 8;  // of the longest run of at least two zeros
  size_t end = 8;
  for (size_t i = 0; i < 8; ++i) {
    size_t j = i;
    while (j < 8 && GroupAt(*this, j) == 0) ++j;
    if (j - i < 2 || j - i <= end - first) continue;
    first = i;
    end = j;
  }
  std::string text;
  for (size_t i = 0; i < 8; ++i) {
    if (i == first) {
      text += "::";
      i = end;
      if (i == 8) break;
    } else if (i > 0) {
      text += ':';
    }
    text += fmt::format("{:x}", GroupAt(*this, i));
  }
  return text;
}

Address Address::Masked(int bits) const {
  Address masked = *this;
  for (int i = 0; i < 16; ++i) {
    const int kept = std::clamp(bits - 8 * i, 0, 8);
    masked.bytes[static_cast<size_t>(i)] &= static_cast<uint8_t>(0xff00 >> kept);
  }
  return masked;
}

bool Address::IsUnspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}
bool Address::IsLoopback() const {
  if (v4) return bytes[0] == 127;
  return Masked(127).IsUnspecified() && bytes[15] == 1;
}
bool Address::IsMulticast() const { return v4 ? bytes[0] >> 4 == 0xe : bytes[0] == 0xff; }
bool Address::IsLinkLocalMulticast() const {
  if (v4) return bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
  return bytes[0] == 0xff && (bytes[1] & 0x0f) == 2;
}
bool Address::IsLinkLocalUnicast() const {
  if (v4) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}
bool Address::IsGlobalUnicast() const {
  const bool broadcast =
      v4 && std::all_of(bytes.begin(), bytes.begin() + 4, [](uint8_t byte) { return byte == 255; });
  return !broadcast && !IsUnspecified() && !IsLoopback() && !IsMulticast() && !IsLinkLocalUnicast();
}

Result<Network> Network::Parse(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return Fail(fmt::format(
        "network address parse error during conversion from string: netip.ParsePrefix({}): {}",
        api::GoQuote(text), why));
  };
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return refuse("no '/'");
  const Result<Parsed> parsed = AddressParser(text.substr(0, slash)).Run();
  if (!parsed) return refuse(parsed.error().Message());
  if (parsed->zone) return refuse("IPv6 zones cannot be present in a prefix");
  const std::string_view written = text.substr(slash + 1);
  int64_t bits = 0;
  if (!ParseBits(written, &bits)) return refuse("bad bits after slash: " + api::GoQuote(written));
  if (bits < 0 || bits > parsed->address.Bits()) return refuse("prefix length out of range");
  if (IsMapped(parsed->address)) return RefuseMapped(text);
  return Network{parsed->address, static_cast<int>(bits)};
}

std::string Network::Text() const { return fmt::format("{}/{}", address.Text(), bits); }

bool Network::Contains(const Address& other) const {
  return address.v4 == other.v4 && address.Masked(bits) == other.Masked(bits);
}

bool Network::Contains(const Network& other) const {
  return bits <= other.bits && Contains(other.address);
}

}  // namespace berth::cel
