// VolumeAttachment: a volume that is or should be attached to a node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/persistent_volume.h"
#include "api/meta.h"
#include "api/string_map.h"

namespace berth::api {

// The volume: by name, or spelled out.
struct VolumeAttachmentSource {
  std::optional<std::string> persistent_volume_name;
  Box<PersistentVolumeSpec> inline_volume_spec;

  bool operator==(const VolumeAttachmentSource&) const = default;
  static const TypeInfo& Type();
};

// Which volume, which node, by which driver.
struct VolumeAttachmentSpec {
  std::string attacher;
  VolumeAttachmentSource source;
  std::string node_name;

  bool operator==(const VolumeAttachmentSpec&) const = default;
  static const TypeInfo& Type();
};

// Whether it is attached.
struct VolumeAttachmentStatus {
  bool attached = false;
  StringMap attachment_metadata;

  bool operator==(const VolumeAttachmentStatus&) const = default;
  static const TypeInfo& Type();
};

// The wish to attach a volume to a node.
struct VolumeAttachment {
  static constexpr std::string_view kApiVersion = "storage.k8s.io/v1";
  static constexpr std::string_view kKind = "VolumeAttachment";

  ObjectMeta metadata;
  VolumeAttachmentSpec spec;
  VolumeAttachmentStatus status;

  bool operator==(const VolumeAttachment&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
