#include "cel/address.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::cel {
namespace {

template <class T>
std::string Read(const char* text) {
  const Result<T> parsed = T::Parse(text);
  return parsed ? parsed->Text() : "!" + parsed.error().Message();
}

TEST(Address, IsWrittenCanonically) {
  struct Row {
    const char* text;
    const char* want;
  };
  static constexpr Row kRows[] = {
      {"10.1.2.3", "10.1.2.3"},
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"0:0:1::", "0:0:1::"},
      {"64:ff9b::1.2.3.4", "64:ff9b::102:304"},
      {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
  };
  for (const Row& row : kRows) EXPECT_EQ(Read<Address>(row.text), row.want) << row.text;
}

TEST(Address, SaysWhatIsWrong) {
  struct Row {
    const char* text;
    const char* why;
  };
  static constexpr Row kRows[] = {
      {"", "unable to parse IP"},
      {"nope", "unable to parse IP"},
      {"1%eth0", "missing IPv6 address"},
      {"1.2.3", "IPv4 address too short"},
      {"1.2.3.4.5", "IPv4 address too long"},
      {"1.2.3.256", "IPv4 field has value >255"},
      {"1.2.3.04", "IPv4 field has octet with leading zero"},
      {"1..3.4", "IPv4 field must have at least one digit (at \".3.4\")"},
      {"1.2.3.", "IPv4 field must have at least one digit (at \".\")"},
      {"1.2.3.x", "unexpected character (at \"x\")"},
      {"::%", "zone must be a non-empty string"},
      {"12345::", "each group must have 4 or less digits (at \"12345::\")"},
      {":1", "each colon-separated field must have at least one digit (at \":1\")"},
      {"1:2", "address string too short"},
      {"1:", "colon must be followed by more characters (at \":\")"},
      {"1g::", "unexpected character, want colon (at \"g::\")"},
      {"1::2::3", "multiple :: in address (at \":3\")"},
      {"1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")"},
      {"1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros"},
      {"1:1.2.3.4",
       "embedded IPv4 address must replace the final 2 fields of the address (at \"1.2.3.4\")"},
      {"::1:2:3:4:5:6:7:1.2.3.4",
       "too many hex fields to fit an embedded IPv4 at the end of the address (at \"1.2.3.4\")"},
  };
  for (const Row& row : kRows) {
    const std::string text(row.text);
    EXPECT_EQ(Read<Address>(row.text), "!IP Address \"" + text +
                                           "\" parse error during conversion from string: "
                                           "ParseAddr(\"" +
                                           text + "\"): " + row.why);
  }
  EXPECT_EQ(Read<Address>("fe80::1%eth0"),
            "!IP address \"fe80::1%eth0\" with zone value is not allowed");
  EXPECT_EQ(Read<Address>("::ffff:1.2.3.4"),
            "!IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed");
}

TEST(Address, KnowsItsRange) {
  struct Row {
    const char* text;
    bool unspecified, loopback, link_multicast, link_unicast, global;
  };
  static constexpr Row kRows[] = {
      {"0.0.0.0", true, false, false, false, false},
      {"::", true, false, false, false, false},
      {"127.9.9.9", false, true, false, false, false},
      {"::1", false, true, false, false, false},
      {"::2", false, false, false, false, true},
      {"224.0.0.9", false, false, true, false, false},
      {"224.0.1.9", false, false, false, false, false},
      {"239.1.1.1", false, false, false, false, false},
      {"ff02::9", false, false, true, false, false},
      {"ff12::9", false, false, true, false, false},
      {"ff05::9", false, false, false, false, false},
      {"169.254.0.1", false, false, false, true, false},
      {"fe80::1", false, false, false, true, false},
      {"febf::1", false, false, false, true, false},
      {"fec0::1", false, false, false, false, true},
      {"10.0.0.1", false, false, false, false, true},
      {"fd00::1", false, false, false, false, true},
      {"255.255.255.255", false, false, false, false, false},
  };
  for (const Row& row : kRows) {
    const Address address = Address::Parse(row.text).value();
    EXPECT_EQ(address.IsUnspecified(), row.unspecified) << row.text;
    EXPECT_EQ(address.IsLoopback(), row.loopback) << row.text;
    EXPECT_EQ(address.IsLinkLocalMulticast(), row.link_multicast) << row.text;
    EXPECT_EQ(address.IsLinkLocalUnicast(), row.link_unicast) << row.text;
    EXPECT_EQ(address.IsGlobalUnicast(), row.global) << row.text;
  }
}

TEST(Network, HoldsAddressesAndNetworks) {
  struct Row {
    const char* network;
    const char* address;
    bool want;
  };
  static constexpr Row kRows[] = {
      {"10.0.0.0/8", "10.255.0.1", true}, {"10.0.0.0/8", "11.0.0.0", false},
      {"10.9.9.9/8", "10.0.0.1", true},   {"10.0.0.0/31", "10.0.0.1", true},
      {"10.0.0.0/31", "10.0.0.2", false}, {"0.0.0.0/0", "1.2.3.4", true},
      {"0.0.0.0/0", "::1", false},        {"2001:db8::/33", "2001:db8:7fff::1", true},
      {"::/0", "ffff::", true},           {"2001:db8::/33", "2001:db8:8000::1", false},
  };
  for (const Row& row : kRows) {
    const Network network = Network::Parse(row.network).value();
    const Address address = Address::Parse(row.address).value();
    EXPECT_EQ(network.Contains(address), row.want) << row.network << " " << row.address;
    EXPECT_EQ(network.Contains(Network{address, address.Bits()}), row.want);
  }
  const Network wide = Network::Parse("10.0.0.0/8").value();
  EXPECT_TRUE(wide.Contains(wide));
  EXPECT_FALSE(wide.Contains(Network::Parse("10.0.0.0/7").value()));
  EXPECT_EQ(Network::Parse("10.1.2.3/20")->Masked().Text(), "10.1.0.0/20");
}

TEST(Network, SaysWhatIsWrong) {
  const std::string head = "!network address parse error during conversion from string: ";
  const auto refused = [&](const std::string& text, const std::string& why) {
    EXPECT_EQ(Read<Network>(text.c_str()), head + "netip.ParsePrefix(\"" + text + "\"): " + why);
  };
  refused("10.0.0.0", "no '/'");
  refused("10.0.0/8", "ParseAddr(\"10.0.0\"): IPv4 address too short");
  refused("fe80::1%eth0/64", "IPv6 zones cannot be present in a prefix");
  for (const std::string bits : {"", "08", "+8", "-1", "x", "8x", "99999999999999999999"}) {
    refused("10.0.0.0/" + bits, "bad bits after slash: \"" + bits + "\"");
  }
  refused("10.0.0.0/33", "prefix length out of range");
  refused("::/129", "prefix length out of range");
  EXPECT_EQ(Read<Network>("::ffff:1.2.3.4/120"),
            "!IPv4-mapped IPv6 address \"::ffff:1.2.3.4/120\" is not allowed");
}

}  // namespace
}  // namespace berth::cel
