#include "plugins/common/csi_translation.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "api/go/unicode_space.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kRegion = "topology.kubernetes.io/region";
constexpr std::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr std::string_view kBetaRegion = "failure-domain.beta.kubernetes.io/region";
// Between the zones of a volume that is in several.
constexpr std::string_view kZoneDelimiter = "__";

struct KindRow {
  std::string_view in_tree;
  std::string_view driver;
  std::string_view zone_key;  // what the driver calls a zone; empty: it has no zones
  bool migrated;
};

constexpr std::array<KindRow, kInTreeKinds> kKinds = {{
    {"", "", "", false},
    {"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", true},
    {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone", true},
    {"kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone",
     true},
    {"kubernetes.io/azure-disk", "disk.csi.azure.com", "", true},
    {"kubernetes.io/azure-file", "file.csi.azure.com", "", false},
    {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "", false},
    {"kubernetes.io/portworx-volume", "pxd.portworx.com", "", true},
}};

const KindRow& Row(InTreeKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::vector<std::string> Split(std::string_view text, std::string_view delimiter) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t at = text.find(delimiter);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + delimiter.size());
  }
}

std::string_view Label(const api::StringMap& labels, std::string_view key) {
  const auto it = labels.find(key);
  return it == labels.end() ? std::string_view() : std::string_view(it->second);
}

// --- Handles

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The path of a URL with an authority, unescaped.
Result<std::string> UrlPath(std::string_view url) {
  const auto fail = [&](const std::string& why) {
    return Fail(fmt::format("parse {}: {}", api::GoQuote(url), why));
  };
  if (std::any_of(url.begin(), url.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    return fail("net/url: invalid control character in URL");
  }
  std::string_view rest = url.substr(0, url.find('#'));
  rest = rest.substr(0, rest.find('?'));
  rest.remove_prefix(rest.find("//") + 2);
  const size_t slash = rest.find('/');
  rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
  std::string path;
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] != '%') {
      path += rest[i];
      continue;
    }
    const int high = i + 2 < rest.size() ? HexDigit(rest[i + 1]) : -1;
    const int low = i + 2 < rest.size() ? HexDigit(rest[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return fail("invalid URL escape " + api::GoQuote(rest.substr(i, 3)));
    }
    path += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return path;
}

// "vol-1", "aws:///vol-1" and "aws://zone/vol-1" name the same volume.
Result<std::string> EbsHandle(const std::string& id) {
  const auto fail = [](const std::string& why) {
    return Fail("failed to translate Kubernetes ID to EBS Volume ID " + why);
  };
  if (!id.starts_with("aws://")) return id;
  Result<std::string> path = UrlPath(id);
  if (!path) return fail(fmt::format("Invalid disk name ({}): {}", id, path.error().Message()));
  std::string_view handle = *path;
  while (handle.starts_with('/')) handle.remove_prefix(1);
  while (handle.ends_with('/')) handle.remove_suffix(1);
  if (!handle.starts_with("vol-") || handle.find('/') != std::string_view::npos) {
    return fail(fmt::format("Invalid format for AWS volume ({})", id));
  }
  return std::string(handle);
}

Result<std::string> GceRegionOf(const std::vector<std::string>& zones) {
  std::set<std::string> regions;
  for (const std::string& zone : zones) {
    const std::vector<std::string> parts = Split(zone, "-");
    if (parts.size() != 3) {
      return Fail("zone in unexpected format, expected: {locale}-{region}-{zone}, got: " + zone);
    }
    regions.insert(parts[0] + "-" + parts[1]);
  }
  if (regions.size() != 1) {
    std::string list;
    for (const std::string& region : regions) list += (list.empty() ? "" : " ") + region + ":{}";
    return Fail(fmt::format("multiple or no regions gotten from zones, got: map[{}]", list));
  }
  return *regions.begin();
}

std::string GceZonalHandle(std::string_view zone, std::string_view disk) {
  return fmt::format("projects/UNSPECIFIED/zones/{}/disks/{}", zone, disk);
}

Result<std::string> GceHandle(const api::PersistentVolume& volume) {
  const std::string& disk = volume.spec.gce_persistent_disk->pd_name;
  std::string_view label = Label(volume.metadata.labels, kBetaZone);
  if (label.empty()) label = Label(volume.metadata.labels, kZone);
  if (label.empty()) return GceZonalHandle("UNSPECIFIED", disk);
  const std::vector<std::string> zones = Split(label, kZoneDelimiter);
  if (zones.size() == 1) return GceZonalHandle(zones[0], disk);
  const Result<std::string> region = GceRegionOf(zones);
  if (!region) return Fail("failed to get region from zones: " + region.error().Message());
  return fmt::format("projects/UNSPECIFIED/regions/{}/disks/{}", *region, disk);
}

bool EqualFold(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

Result<std::string> AzureDiskHandle(const api::AzureDiskVolumeSource& disk) {
  if (disk.kind && !EqualFold(*disk.kind, "Managed")) {
    return Fail(fmt::format("kind({}) is not supported in csi migration", *disk.kind));
  }
  return disk.disk_uri;
}

// --- Topology

template <class F>
void ForEachExpression(std::optional<api::NodeSelector>& affinity, F&& f) {
  if (!affinity) return;
  for (api::NodeSelectorTerm& term : affinity->node_selector_terms) {
    for (api::NodeSelectorRequirement& requirement : term.match_expressions) f(requirement);
  }
}

bool Mentions(std::optional<api::NodeSelector>& affinity, std::string_view key) {
  bool found = false;
  ForEachExpression(affinity, [&](const auto& r) { found |= r.key == key; });
  return found;
}

bool HasValues(std::optional<api::NodeSelector>& affinity, std::string_view key) {
  bool found = false;
  ForEachExpression(affinity, [&](const auto& r) { found |= r.key == key && !r.values.empty(); });
  return found;
}

void Rename(std::optional<api::NodeSelector>& affinity, std::string_view from,
            std::string_view to) {
  ForEachExpression(affinity, [&](auto& r) {
    if (r.key == from) r.key = to;
  });
}

// Adds "key in zones" to every term, and makes a term if there is none.
void Restrict(std::optional<api::NodeSelector>& affinity, std::string_view key,
              const std::vector<std::string>& zones) {
  std::set<std::string> unique;
  for (const std::string& zone : zones) unique.emplace(api::TrimUnicodeSpace(zone));
  unique.erase("");
  if (unique.empty()) return;
  if (!affinity) affinity.emplace();
  if (affinity->node_selector_terms.empty()) affinity->node_selector_terms.emplace_back();
  for (api::NodeSelectorTerm& term : affinity->node_selector_terms) {
    term.match_expressions.push_back(
        {std::string(key), "In", std::vector<std::string>(unique.begin(), unique.end())});
  }
}

// Does the volume speak of zones by the old labels? What its affinity says goes before its own
// labels.
bool UsesBetaLabels(std::optional<api::NodeSelector>& affinity, const api::StringMap& labels) {
  if (Mentions(affinity, kZone)) return false;
  if (Mentions(affinity, kBetaZone)) return true;
  return !labels.contains(kZone) && labels.contains(kBetaZone);
}

}  // namespace

InTreeKind InTreeKindOf(const api::PersistentVolumeSpec& spec) {
  if (spec.aws_elastic_block_store) return InTreeKind::kAwsEbs;
  if (spec.gce_persistent_disk) return InTreeKind::kGcePd;
  if (spec.cinder) return InTreeKind::kCinder;
  if (spec.azure_disk) return InTreeKind::kAzureDisk;
  if (spec.azure_file) return InTreeKind::kAzureFile;
  if (spec.vsphere_volume) return InTreeKind::kVsphere;
  if (spec.portworx_volume) return InTreeKind::kPortworx;
  return InTreeKind::kNone;
}

InTreeKind InTreeKindOf(const api::Volume& volume) {
  if (volume.aws_elastic_block_store) return InTreeKind::kAwsEbs;
  if (volume.gce_persistent_disk) return InTreeKind::kGcePd;
  if (volume.cinder) return InTreeKind::kCinder;
  if (volume.azure_disk) return InTreeKind::kAzureDisk;
  if (volume.azure_file) return InTreeKind::kAzureFile;
  if (volume.vsphere_volume) return InTreeKind::kVsphere;
  if (volume.portworx_volume) return InTreeKind::kPortworx;
  return InTreeKind::kNone;
}

InTreeKind InTreeKindNamed(std::string_view plugin) {
  for (size_t i = 1; i < kInTreeKinds; ++i) {
    if (kKinds[i].in_tree == plugin) return static_cast<InTreeKind>(i);
  }
  return InTreeKind::kNone;
}

std::string_view InTreePluginName(InTreeKind kind) { return Row(kind).in_tree; }
std::string_view CsiDriverName(InTreeKind kind) { return Row(kind).driver; }
bool IsMigrated(InTreeKind kind) { return Row(kind).migrated; }

bool ListsPlugin(std::string_view list, InTreeKind kind) {
  const std::string_view name = InTreePluginName(kind);
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

Result<std::string> TranslatedHandle(const api::PersistentVolume& volume) {
  const api::PersistentVolumeSpec& spec = volume.spec;
  if (spec.aws_elastic_block_store) return EbsHandle(spec.aws_elastic_block_store->volume_id);
  if (spec.gce_persistent_disk) return GceHandle(volume);
  if (spec.cinder) return spec.cinder->volume_id;
  if (spec.azure_disk) return AzureDiskHandle(*spec.azure_disk);
  return spec.portworx_volume->volume_id;
}

Result<std::string> TranslatedHandle(const api::Volume& volume) {
  if (volume.aws_elastic_block_store) return EbsHandle(volume.aws_elastic_block_store->volume_id);
  if (volume.gce_persistent_disk) {
    return GceZonalHandle("UNSPECIFIED", volume.gce_persistent_disk->pd_name);
  }
  if (volume.cinder) return volume.cinder->volume_id;
  if (volume.azure_disk) return AzureDiskHandle(*volume.azure_disk);
  return volume.portworx_volume->volume_id;
}

Result<std::optional<api::NodeSelector>> TranslatedAffinity(const api::PersistentVolume& volume) {
  // A volume that has no handle cannot be translated at all.
  if (const Result<std::string> handle = TranslatedHandle(volume); !handle) {
    return Fail(handle.error());
  }
  std::optional<api::NodeSelector> affinity;
  if (volume.spec.node_affinity) affinity = volume.spec.node_affinity->required;
  const std::string_view zone_key = Row(InTreeKindOf(volume.spec)).zone_key;
  if (zone_key.empty()) return affinity;
  const api::StringMap& labels = volume.metadata.labels;
  const bool beta = UsesBetaLabels(affinity, labels);
  const std::string_view zone = beta ? kBetaZone : kZone;
  if (HasValues(affinity, zone)) {
    Rename(affinity, zone, zone_key);
  } else if (labels.contains(zone)) {
    Restrict(affinity, zone_key, Split(Label(labels, zone), kZoneDelimiter));
  }
  if (beta && HasValues(affinity, kBetaRegion)) Rename(affinity, kBetaRegion, kRegion);
  return affinity;
}

}  // namespace berth::plugins
