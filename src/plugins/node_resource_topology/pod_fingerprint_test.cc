#include "plugins/node_resource_topology/pod_fingerprint.h"

#include <gtest/gtest.h>

namespace berth::plugins::node_resource_topology {
namespace {

TEST(XxHash64Test, HasThePublishedValues) {
  EXPECT_EQ(XxHash64("", 0), 0xef46db3751d8e999U);
  EXPECT_EQ(XxHash64("abc", 0), 0x44bc2cf5ad770999U);
  EXPECT_EQ(XxHash64("Nobody inspects the spammish repetition", 0), 0xfbcea83c8a378bf1U)
      << "longer than one stripe";
}

TEST(PodFingerprintTest, DoesNotDependOnOrder) {
  PodFingerprint one;
  PodFingerprint other;
  EXPECT_EQ(one.Sign(), "pfp0v001ef46db3751d8e999") << "of no pods";
  one.Add("ns1", "n1");
  one.Add("ns1", "n2");
  one.Add("ns2", "n1");
  one.Add("ns3", "n1");
  one.Add("ns3", "n2");
  other.Add("ns3", "n2");
  other.Add("ns2", "n1");
  other.Add("ns1", "n2");
  other.Add("ns3", "n1");
  other.Add("ns1", "n1");
  EXPECT_EQ(one.Sign(), "pfp0v001b92008c14168b3a6");
  EXPECT_EQ(other.Sign(), one.Sign());
}

}  // namespace
}  // namespace berth::plugins::node_resource_topology
