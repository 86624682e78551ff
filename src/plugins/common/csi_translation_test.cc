#include "plugins/common/csi_translation.h"

#include <gtest/gtest.h>

#include "plugins/common/testing/volumes.h"

namespace berth::plugins {
namespace {

std::string Handle(const Result<std::string>& handle) {
  return handle ? *handle : "error: " + handle.error().Message();
}

TEST(CsiTranslation, HandlesOfVolumes) {
  struct Row {
    const char* what;
    const char* volume;
    const char* handle;
  };
  const Row rows[] = {
      {"EBS, bare", "{'spec':{'awsElasticBlockStore':{'volumeID':'vol-1'}}}", "vol-1"},
      {"EBS, with its zone",
       "{'spec':{'awsElasticBlockStore':{'volumeID':'aws://us-east-1a/vol-1'}}}", "vol-1"},
      {"EBS, without", "{'spec':{'awsElasticBlockStore':{'volumeID':'aws:///vol-1/'}}}", "vol-1"},
      {"EBS, escaped", "{'spec':{'awsElasticBlockStore':{'volumeID':'aws:///vol-%31'}}}", "vol-1"},
      {"EBS, something else", "{'spec':{'awsElasticBlockStore':{'volumeID':'aws://x/disk'}}}",
       "error: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume "
       "(aws://x/disk)"},
      {"EBS, bad escape", "{'spec':{'awsElasticBlockStore':{'volumeID':'aws://x/%zz'}}}",
       "error: failed to translate Kubernetes ID to EBS Volume ID Invalid disk name (aws://x/%zz): "
       "parse \"aws://x/%zz\": invalid URL escape \"%zz\""},
      {"GCE, no zone", "{'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
       "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
      {"GCE, one zone",
       "{'metadata':{'labels':{'topology.kubernetes.io/zone':'us-x1-a'}},"
       "'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
       "projects/UNSPECIFIED/zones/us-x1-a/disks/d"},
      {"GCE, two zones of a region",
       "{'metadata':{'labels':{'failure-domain.beta.kubernetes.io/zone':'us-x1-a__us-x1-b'}},"
       "'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
       "projects/UNSPECIFIED/regions/us-x1/disks/d"},
      {"GCE, zones of two regions",
       "{'metadata':{'labels':{'topology.kubernetes.io/zone':'us-x1-a__eu-y1-b'}},"
       "'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
       "error: failed to get region from zones: multiple or no regions gotten from zones, got: "
       "map[eu-y1:{} us-x1:{}]"},
      {"GCE, zones that are none",
       "{'metadata':{'labels':{'topology.kubernetes.io/zone':'a__b'}},"
       "'spec':{'gcePersistentDisk':{'pdName':'d'}}}",
       "error: failed to get region from zones: zone in unexpected format, expected: "
       "{locale}-{region}-{zone}, got: a"},
      {"Cinder", "{'spec':{'cinder':{'volumeID':'c'}}}", "c"},
      {"Azure disk", "{'spec':{'azureDisk':{'diskURI':'u','kind':'managed'}}}", "u"},
      {"Azure disk of another kind", "{'spec':{'azureDisk':{'diskURI':'u','kind':'Shared'}}}",
       "error: kind(Shared) is not supported in csi migration"},
      {"Portworx", "{'spec':{'portworxVolume':{'volumeID':'p'}}}", "p"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Handle(TranslatedHandle(Parse<api::PersistentVolume>(row.volume))), row.handle)
        << row.what;
  }
  EXPECT_EQ(Handle(TranslatedHandle(Parse<api::Volume>("{'gcePersistentDisk':{'pdName':'d'}}"))),
            "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d");
}

TEST(CsiTranslation, AffinityOfVolumes) {
  struct Row {
    const char* what;
    const char* labels;
    const char* affinity;  // match expressions of the one term; empty: no affinity
    const char* translated;
  };
  const std::string key = "topology.ebs.csi.aws.com/zone";
  const Row rows[] = {
      {"nothing said", "", "", ""},
      {"the zone changes its name", "",
       "{'key':'topology.kubernetes.io/zone','operator':'In','values':['a']}",
       "{'key':'topology.ebs.csi.aws.com/zone','operator':'In','values':['a']}"},
      {"so do old labels, and the region with them", "",
       "{'key':'failure-domain.beta.kubernetes.io/zone','operator':'In','values':['a']},"
       "{'key':'failure-domain.beta.kubernetes.io/region','operator':'In','values':['r']}",
       "{'key':'topology.ebs.csi.aws.com/zone','operator':'In','values':['a']},"
       "{'key':'topology.kubernetes.io/region','operator':'In','values':['r']}"},
      {"labels of the volume make an affinity", "'topology.kubernetes.io/zone':'b__a__b'", "",
       "{'key':'topology.ebs.csi.aws.com/zone','operator':'In','values':['a','b']}"},
      {"and are added to one that speaks of something else", "'topology.kubernetes.io/zone':'a'",
       "{'key':'disk','operator':'Exists'}",
       "{'key':'disk','operator':'Exists'},"
       "{'key':'topology.ebs.csi.aws.com/zone','operator':'In','values':['a']}"},
      {"but not to one that speaks of zones", "'topology.kubernetes.io/zone':'a'",
       "{'key':'topology.kubernetes.io/zone','operator':'In','values':['b']}",
       "{'key':'topology.ebs.csi.aws.com/zone','operator':'In','values':['b']}"},
  };
  const auto affinity = [](const char* expressions) {
    return *expressions == 0 ? std::string("{}")
                             : "{'required':{'nodeSelectorTerms':[{'matchExpressions':[" +
                                   std::string(expressions) + "]}]}}";
  };
  for (const Row& row : rows) {
    const auto volume = Parse<api::PersistentVolume>(
        "{'metadata':{'labels':{" + std::string(row.labels) +
        "}},'spec':{'awsElasticBlockStore':{'volumeID':'vol-1'},'nodeAffinity':" +
        affinity(row.affinity) + "}}");
    const auto translated = TranslatedAffinity(volume);
    ASSERT_TRUE(translated) << row.what;
    EXPECT_EQ(*translated, Parse<api::VolumeNodeAffinity>(affinity(row.translated)).required)
        << row.what;
  }
}

TEST(CsiTranslation, KindsByNameAndWhoHasTakenOver) {
  EXPECT_EQ(InTreeKindNamed("kubernetes.io/cinder"), InTreeKind::kCinder);
  EXPECT_EQ(InTreeKindNamed("ebs.csi.aws.com"), InTreeKind::kNone);
  EXPECT_EQ(InTreeKindNamed(""), InTreeKind::kNone);
  EXPECT_TRUE(IsMigrated(InTreeKind::kPortworx));
  EXPECT_FALSE(IsMigrated(InTreeKind::kAzureFile));
  EXPECT_TRUE(ListsPlugin("x,kubernetes.io/gce-pd", InTreeKind::kGcePd));
  EXPECT_FALSE(ListsPlugin("kubernetes.io/gce-pd2", InTreeKind::kGcePd));
  EXPECT_FALSE(ListsPlugin("", InTreeKind::kGcePd));
}

}  // namespace
}  // namespace berth::plugins
