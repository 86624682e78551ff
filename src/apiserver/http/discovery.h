// Discovery: which groups, versions and resources there are, and enough of OpenAPI for kubectl to
// know that the server validates fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/json/value.h"
#include "apiserver/resource.h"

namespace berth::apiserver {

// The answer to GET of a discovery path: /api, /apis, /api/v1, /apis/GROUP, /apis/GROUP/VERSION.
// `aggregated`: the client takes APIGroupDiscoveryList. nullopt: the path is none of these.
std::optional<Json> Discover(const Catalog& catalog, std::string_view path, bool aggregated);

// /openapi/v2, and the same in the protobuf form older clients take alone. They ask for it with an
// @ in its name, which they cannot read in an answer.
Json DescribeOpenApiV2(const Catalog& catalog);
std::string OpenApiV2ToProtobuf(const Json& document);
inline constexpr std::string_view kOpenApiV2Type =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

// /openapi/v3 and below it.
std::optional<Json> DescribeOpenApi(const Catalog& catalog, std::string_view path);

// The content type of aggregated discovery.
inline constexpr std::string_view kAggregatedType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
bool AcceptsAggregated(std::string_view accept);

Json VersionInfo(const Catalog& catalog);

}  // namespace berth::apiserver
