#include "plugins/node_ports/node_ports.h"

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::node_ports {
namespace {

const std::string kNo = "Unschedulable: node(s) didn't have free ports for the requested pod ports";

TEST(NodePorts, APortIsTakenOncePerNodeAndAddress) {
  struct Case {
    const char* what;
    MakePod pod;
    std::string want;
  };
  const auto pod = [] { return MakePod("p"); };
  const Case cases[] = {
      {"no host port", pod(), "skip"},
      {"a free port", pod().HostPort(81), "a ok | b ok"},
      {"a taken port", pod().HostPort(80), "a " + kNo + " | b ok"},
      {"the same port of another protocol", pod().HostPort(80, "UDP"), "a ok | b ok"},
      {"the same port of one address", pod().HostPort(80, "TCP", "10.0.0.1"),
       "a " + kNo + " | b ok"},
      {"a port taken at another address", pod().HostPort(90, "TCP", "10.0.0.2"), "a ok | b ok"},
      {"a port taken at that address", pod().HostPort(90, "TCP", "10.0.0.1"), "a ok | b " + kNo},
      {"a port taken at one address, wanted at all", pod().HostPort(90), "a ok | b " + kNo},
      {"one of two ports is taken", pod().HostPort(81).HostPort(80), "a " + kNo + " | b ok"},
      {"both nodes are out", pod().HostPort(80).HostPort(90), "a " + kNo + " | b " + kNo},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    cluster.SetNode(MakeNode("a"));
    cluster.SetNode(MakeNode("b"));
    cluster.AddPod(MakePod("x").HostPort(80).On("a"));
    cluster.AddPod(MakePod("y").HostPort(90, "", "10.0.0.1").On("b"));
    OnePlugin plugin(cluster, &Make);
    EXPECT_EQ(plugin.Filter(cluster.AddPod(c.pod)), c.want) << c.what;
  }
}

}  // namespace
}  // namespace berth::plugins::node_ports
