// Clerk: creates objects in the model API as kubectl would, through admission.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/admission/defaults.h"
#include "api/object.h"
#include "base/error.h"
#include "sim/host/model_api.h"

namespace berth::sim {

class Clerk {
 public:
  // `api` outlives it.
  explicit Clerk(ModelApi& api) : api_(api) {}
  Clerk(const Clerk&) = delete;
  Clerk& operator=(const Clerk&) = delete;

  // Priority classes and the like, before the objects that mention them.
  void Learn(const std::vector<api::Object>& objects);
  // Creates the object, or replaces the one of its name. A generateName gets a number. An object
  // that admission refuses is an error, and so is a workload whose pods it would refuse.
  Result<void> Apply(api::Object object);
  // Creates an object for a controller; returns the API's result.
  Result<ApiAnswer> Create(api::Object object);

 private:
  ModelApi& api_;
  api::Admission admission_;
  std::map<std::string, int64_t> generated_;
};

// "Deployment shop/web".
std::string Describe(const api::Object& object);

}  // namespace berth::sim
