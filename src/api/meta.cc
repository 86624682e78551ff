#include "api/meta.h"

namespace berth::api {

const TypeInfo& OwnerReference::Type() {
  static const TypeInfo type =
      Describe<OwnerReference>("OwnerReference")
          .Always(5, "apiVersion", &OwnerReference::api_version)
          .Always(1, "kind", &OwnerReference::kind)
          .Always(3, "name", &OwnerReference::name)
          .Always(4, "uid", &OwnerReference::uid)
          .Field(6, "controller", &OwnerReference::controller)
          .Field(7, "blockOwnerDeletion", &OwnerReference::block_owner_deletion)
          .Build();
  return type;
}

const TypeInfo& ObjectMeta::Type() {
  static const TypeInfo type =
      Describe<ObjectMeta>("ObjectMeta")
          .Field(1, "name", &ObjectMeta::name)
          .Field(2, "generateName", &ObjectMeta::generate_name)
          .Field(3, "namespace", &ObjectMeta::namespace_)
          .Field(5, "uid", &ObjectMeta::uid)
          .Field(6, "resourceVersion", &ObjectMeta::resource_version)
          .Field(7, "generation", &ObjectMeta::generation)
          .Field(8, "creationTimestamp", &ObjectMeta::creation_timestamp)
          .Field(9, "deletionTimestamp", &ObjectMeta::deletion_timestamp)
          .Field(10, "deletionGracePeriodSeconds", &ObjectMeta::deletion_grace_period_seconds)
          .Field(11, "labels", &ObjectMeta::labels)
          .Field(12, "annotations", &ObjectMeta::annotations)
          .Field(13, "ownerReferences", &ObjectMeta::owner_references)
          .Field(14, "finalizers", &ObjectMeta::finalizers)
          .Ignore({"selfLink", "managedFields"})
          .Build();
  return type;
}

const TypeInfo& ListMeta::Type() {
  static const TypeInfo type = Describe<ListMeta>("ListMeta")
                                   .Field(2, "resourceVersion", &ListMeta::resource_version)
                                   .Field(3, "continue", &ListMeta::continue_)
                                   .Field(4, "remainingItemCount", &ListMeta::remaining_item_count)
                                   .Ignore({"selfLink"})
                                   .Build();
  return type;
}

const TypeInfo& LabelSelectorRequirement::Type() {
  static const TypeInfo type = Describe<LabelSelectorRequirement>("LabelSelectorRequirement")
                                   .Always(1, "key", &LabelSelectorRequirement::key)
                                   .Always(2, "operator", &LabelSelectorRequirement::operator_)
                                   .Field(3, "values", &LabelSelectorRequirement::values)
                                   .Build();
  return type;
}

const TypeInfo& LabelSelector::Type() {
  static const TypeInfo type = Describe<LabelSelector>("LabelSelector")
                                   .Field(1, "matchLabels", &LabelSelector::match_labels)
                                   .Field(2, "matchExpressions", &LabelSelector::match_expressions)
                                   .Build();
  return type;
}

const TypeInfo& Condition::Type() {
  static const TypeInfo type =
      Describe<Condition>("Condition")
          .Always(1, "type", &Condition::type)
          .Always(2, "status", &Condition::status)
          .Field(3, "observedGeneration", &Condition::observed_generation)
          .Always(4, "lastTransitionTime", &Condition::last_transition_time)
          .Always(5, "reason", &Condition::reason)
          .Always(6, "message", &Condition::message)
          .Build();
  return type;
}

const TypeInfo& StatusCause::Type() {
  static const TypeInfo type = Describe<StatusCause>("StatusCause")
                                   .Field(1, "reason", &StatusCause::reason)
                                   .Field(2, "message", &StatusCause::message)
                                   .Field(3, "field", &StatusCause::field)
                                   .Build();
  return type;
}

const TypeInfo& StatusDetails::Type() {
  static const TypeInfo type =
      Describe<StatusDetails>("StatusDetails")
          .Field(1, "name", &StatusDetails::name)
          .Field(2, "group", &StatusDetails::group)
          .Field(3, "kind", &StatusDetails::kind)
          .Field(6, "uid", &StatusDetails::uid)
          .Field(4, "causes", &StatusDetails::causes)
          .Field(5, "retryAfterSeconds", &StatusDetails::retry_after_seconds)
          .Build();
  return type;
}

const TypeInfo& Status::Type() {
  static const TypeInfo type = Describe<Status>("Status")
                                   .Always(1, "metadata", &Status::metadata)
                                   .Field(2, "status", &Status::status)
                                   .Field(3, "message", &Status::message)
                                   .Field(4, "reason", &Status::reason)
                                   .Field(5, "details", &Status::details)
                                   .Field(6, "code", &Status::code)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
