#include "server/auth/reviews.h"

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "kube/client/api_client.h"

namespace berth::server {

using api::Describe;
using api::TypeInfo;

namespace {
constexpr uint32_t kJsonOnly = 0;  // maps of lists have no protobuf form here
}

const TypeInfo& ReviewedUser::Type() {
  static const TypeInfo type = Describe<ReviewedUser>("UserInfo")
                                   .Field(1, "username", &ReviewedUser::username)
                                   .Field(2, "uid", &ReviewedUser::uid)
                                   .Field(3, "groups", &ReviewedUser::groups)
                                   .Field(kJsonOnly, "extra", &ReviewedUser::extra)
                                   .Build();
  return type;
}

const TypeInfo& TokenReviewSpec::Type() {
  static const TypeInfo type = Describe<TokenReviewSpec>("TokenReviewSpec")
                                   .Field(1, "token", &TokenReviewSpec::token)
                                   .Field(2, "audiences", &TokenReviewSpec::audiences)
                                   .Build();
  return type;
}

const TypeInfo& TokenReviewStatus::Type() {
  static const TypeInfo type = Describe<TokenReviewStatus>("TokenReviewStatus")
                                   .Field(1, "authenticated", &TokenReviewStatus::authenticated)
                                   .Always(2, "user", &TokenReviewStatus::user)
                                   .Field(4, "audiences", &TokenReviewStatus::audiences)
                                   .Field(3, "error", &TokenReviewStatus::error)
                                   .Build();
  return type;
}

const TypeInfo& TokenReview::Type() {
  static const TypeInfo type = Describe<TokenReview>("TokenReview")
                                   .Always(1, "metadata", &TokenReview::metadata)
                                   .Always(2, "spec", &TokenReview::spec)
                                   .Always(3, "status", &TokenReview::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

const TypeInfo& NonResourceAttributes::Type() {
  static const TypeInfo type = Describe<NonResourceAttributes>("NonResourceAttributes")
                                   .Field(1, "path", &NonResourceAttributes::path)
                                   .Field(2, "verb", &NonResourceAttributes::verb)
                                   .Build();
  return type;
}

const TypeInfo& SubjectAccessReviewSpec::Type() {
  static const TypeInfo type =
      Describe<SubjectAccessReviewSpec>("SubjectAccessReviewSpec")
          .Field(2, "nonResourceAttributes", &SubjectAccessReviewSpec::non_resource_attributes)
          .Field(3, "user", &SubjectAccessReviewSpec::user)
          .Field(4, "groups", &SubjectAccessReviewSpec::groups)
          .Field(kJsonOnly, "extra", &SubjectAccessReviewSpec::extra)
          .Field(6, "uid", &SubjectAccessReviewSpec::uid)
          .Ignore({"resourceAttributes"})
          .Build();
  return type;
}

const TypeInfo& SubjectAccessReviewStatus::Type() {
  static const TypeInfo type =
      Describe<SubjectAccessReviewStatus>("SubjectAccessReviewStatus")
          .Always(1, "allowed", &SubjectAccessReviewStatus::allowed)
          .Field(4, "denied", &SubjectAccessReviewStatus::denied)
          .Field(2, "reason", &SubjectAccessReviewStatus::reason)
          .Field(3, "evaluationError", &SubjectAccessReviewStatus::evaluation_error)
          .Build();
  return type;
}

const TypeInfo& SubjectAccessReview::Type() {
  static const TypeInfo type = Describe<SubjectAccessReview>("SubjectAccessReview")
                                   .Always(1, "metadata", &SubjectAccessReview::metadata)
                                   .Always(2, "spec", &SubjectAccessReview::spec)
                                   .Always(3, "status", &SubjectAccessReview::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

const TypeInfo& ConfigMap::Type() {
  static const TypeInfo type = Describe<ConfigMap>("ConfigMap")
                                   .Always(1, "metadata", &ConfigMap::metadata)
                                   .Field(2, "data", &ConfigMap::data)
                                   .Ignore({"binaryData", "immutable"})
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

const TypeInfo& ConfigMapEvent::Type() {
  static const TypeInfo type = Describe<ConfigMapEvent>("WatchEvent")
                                   .Field(1, "type", &ConfigMapEvent::type)
                                   .Always(kJsonOnly, "object", &ConfigMapEvent::object)
                                   .Build();
  return type;
}

Result<void> DecodeAnswer(const TypeInfo& type, void* value, std::string_view content_type,
                          std::string_view body) {
  if (!content_type.starts_with(kube::kProtobuf)) {
    return api::JsonDecoder().DecodeInto(type, value, body);
  }
  const auto envelope = api::UnwrapEnvelope(body);
  if (!envelope) return Fail(envelope.error());
  return api::DecodeProto(type, value, envelope->raw);
}

Result<ConfigMapEvent> DecodeConfigMapEvent(std::string_view content_type, std::string_view frame) {
  if (!content_type.starts_with(kube::kProtobuf)) return api::FromJson<ConfigMapEvent>(frame);
  const auto outer = api::DecodeWatchFrame(frame);
  if (!outer) return Fail(outer.error());
  ConfigMapEvent event;
  event.type = outer->type;
  if (event.type == "ERROR") return event;
  if (auto ok = DecodeAnswer(ConfigMap::Type(), &event.object, content_type, outer->object); !ok) {
    return Fail(ok.error());
  }
  return event;
}

}  // namespace berth::server
