// Reading manifests into a World: files, folders, standard input, plain or compressed.
#pragma once

#include <string>
#include <vector>

#include "api/codec/manifest.h"
#include "base/error.h"
#include "sim/world.h"

namespace berth::cli {

// Reads every path: a file, "-", or a folder (its .yaml, .yml and .json files, also .gz, in order
// of name, subfolders too). Errors name the file, the document, the path inside it and the value.
// A path without any object is an error, and in files that no API server has written (no
// resourceVersion in them) so is what an API server would refuse: unknown fields, invalid names,
// pods without containers.
Result<void> ReadObjects(const std::vector<std::string>& paths, const api::ObjectConsumer& consume);
Result<void> ReadManifests(const std::vector<std::string>& paths, sim::World* world);

}  // namespace berth::cli
