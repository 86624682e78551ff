// CSI migration: volumes of the old in-tree kinds as the CSI volumes that replace them.
//
// Scheduling reads two properties of a translated volume: its handle (limits count by it) and the
// node affinity it would have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/core/node_selector.h"
#include "api/core/persistent_volume.h"
#include "api/core/volume.h"
#include "base/error.h"

namespace berth::plugins {

// The in-tree volume kinds that a CSI driver replaces.
enum class InTreeKind : uint8_t {
  kNone,
  kAwsEbs,
  kGcePd,
  kCinder,
  kAzureDisk,
  kAzureFile,
  kVsphere,
  kPortworx,
};
inline constexpr size_t kInTreeKinds = 8;

InTreeKind InTreeKindOf(const api::PersistentVolumeSpec& spec);
InTreeKind InTreeKindOf(const api::Volume& volume);
// By the name of the in-tree plugin, e.g. "kubernetes.io/aws-ebs".
InTreeKind InTreeKindNamed(std::string_view plugin);
std::string_view InTreePluginName(InTreeKind kind);
std::string_view CsiDriverName(InTreeKind kind);

// Is this kind served by its CSI driver on nodes that declare it? Other kinds are mounted in-tree.
bool IsMigrated(InTreeKind kind);

// The annotation of a CSINode that lists the in-tree plugins its drivers replace.
inline constexpr std::string_view kMigratedPluginsAnnotation =
    "storage.alpha.kubernetes.io/migrated-plugins";
// Is the plugin in a comma-separated list of them?
bool ListsPlugin(std::string_view list, InTreeKind kind);

// The handle the volume has as a CSI volume. REQUIRES: IsMigrated(InTreeKindOf(...)).
Result<std::string> TranslatedHandle(const api::PersistentVolume& volume);
Result<std::string> TranslatedHandle(const api::Volume& volume);

// The node affinity the volume has as a CSI volume. REQUIRES: IsMigrated(InTreeKindOf(...)).
Result<std::optional<api::NodeSelector>> TranslatedAffinity(const api::PersistentVolume& volume);

}  // namespace berth::plugins
