#include "api/storage/volume_attachment.h"

namespace berth::api {

const TypeInfo& VolumeAttachmentSource::Type() {
  static const TypeInfo type =
      Describe<VolumeAttachmentSource>("VolumeAttachmentSource")
          .Field(1, "persistentVolumeName", &VolumeAttachmentSource::persistent_volume_name)
          .Field(2, "inlineVolumeSpec", &VolumeAttachmentSource::inline_volume_spec)
          .Build();
  return type;
}

const TypeInfo& VolumeAttachmentSpec::Type() {
  static const TypeInfo type = Describe<VolumeAttachmentSpec>("VolumeAttachmentSpec")
                                   .Always(1, "attacher", &VolumeAttachmentSpec::attacher)
                                   .Always(2, "source", &VolumeAttachmentSpec::source)
                                   .Always(3, "nodeName", &VolumeAttachmentSpec::node_name)
                                   .Build();
  return type;
}

const TypeInfo& VolumeAttachmentStatus::Type() {
  static const TypeInfo type =
      Describe<VolumeAttachmentStatus>("VolumeAttachmentStatus")
          .Always(1, "attached", &VolumeAttachmentStatus::attached)
          .Field(2, "attachmentMetadata", &VolumeAttachmentStatus::attachment_metadata)
          .Ignore({"attachError", "detachError"})
          .Build();
  return type;
}

const TypeInfo& VolumeAttachment::Type() {
  static const TypeInfo type = Describe<VolumeAttachment>("VolumeAttachment")
                                   .Always(1, "metadata", &VolumeAttachment::metadata)
                                   .Always(2, "spec", &VolumeAttachment::spec)
                                   .Always(3, "status", &VolumeAttachment::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
