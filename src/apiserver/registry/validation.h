// Validation of objects: names, labels, selectors, quantities and what the small controllers lean
// on, with the API server's words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json/value.h"
#include "apiserver/resource.h"
#include "apiserver/status.h"

namespace berth::apiserver {

// What is wrong with the object as a whole. REQUIRES: defaults are set.
std::vector<FieldError> Validate(const Resource& resource, const Json& object);

// What an update may not change.
std::vector<FieldError> ValidateUpdate(const Resource& resource, const Json& object,
                                       const Json& old);

// RFC 1123 names; what is wrong with `name`, in Kubernetes' words, empty if nothing is.
std::string SubdomainError(std::string_view name);
std::string DnsLabelError(std::string_view name);

}  // namespace berth::apiserver
