// What the API server is asked about users and their rights, and the configuration it offers to
// those who ask: TokenReview, SubjectAccessReview, the ConfigMap of certificate authorities.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "base/error.h"

namespace berth::server {

using ExtraMap = boost::container::flat_map<std::string, std::vector<std::string>, std::less<>>;

struct ReviewedUser {
  std::string username;
  std::string uid;
  std::vector<std::string> groups;
  ExtraMap extra;  // in JSON only

  static const api::TypeInfo& Type();
};

struct TokenReviewSpec {
  std::string token;
  std::vector<std::string> audiences;

  static const api::TypeInfo& Type();
};

struct TokenReviewStatus {
  bool authenticated = false;
  ReviewedUser user;
  std::string error;
  std::vector<std::string> audiences;

  static const api::TypeInfo& Type();
};

struct TokenReview {
  static constexpr std::string_view kApiVersion = "authentication.k8s.io/v1";
  static constexpr std::string_view kKind = "TokenReview";
  static constexpr std::string_view kPath = "/apis/authentication.k8s.io/v1/tokenreviews";

  api::ObjectMeta metadata;
  TokenReviewSpec spec;
  TokenReviewStatus status;

  static const api::TypeInfo& Type();
};

struct NonResourceAttributes {
  std::string path;
  std::string verb;

  static const api::TypeInfo& Type();
};

struct SubjectAccessReviewSpec {
  std::optional<NonResourceAttributes> non_resource_attributes;
  std::string user;
  std::vector<std::string> groups;
  ExtraMap extra;  // in JSON only
  std::string uid;

  static const api::TypeInfo& Type();
};

struct SubjectAccessReviewStatus {
  bool allowed = false;
  bool denied = false;
  std::string reason;
  std::string evaluation_error;

  static const api::TypeInfo& Type();
};

struct SubjectAccessReview {
  static constexpr std::string_view kApiVersion = "authorization.k8s.io/v1";
  static constexpr std::string_view kKind = "SubjectAccessReview";
  static constexpr std::string_view kPath = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

  api::ObjectMeta metadata;
  SubjectAccessReviewSpec spec;
  SubjectAccessReviewStatus status;

  static const api::TypeInfo& Type();
};

struct ConfigMap {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "ConfigMap";

  api::ObjectMeta metadata;
  api::StringMap data;

  static const api::TypeInfo& Type();
};

// An answer of the API server, JSON or protobuf in its envelope.
Result<void> DecodeAnswer(const api::TypeInfo& type, void* value, std::string_view content_type,
                          std::string_view body);
template <class T>
Result<T> DecodeAnswer(std::string_view content_type, std::string_view body) {
  T value{};
  if (auto ok = DecodeAnswer(T::Type(), &value, content_type, body); !ok) return Fail(ok.error());
  return value;
}

// One frame of a watch on config maps.
struct ConfigMapEvent {
  std::string type;  // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR
  ConfigMap object;

  static const api::TypeInfo& Type();
};
Result<ConfigMapEvent> DecodeConfigMapEvent(std::string_view content_type, std::string_view frame);

}  // namespace berth::server
