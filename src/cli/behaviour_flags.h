// --kubernetes-version and --feature-gates of commands other than the
// scheduler.
#pragma once

#include <string>

#include "base/error.h"
#include "config/behaviour.h"
#include "term/flags.h"

namespace berth::cli {

class BehaviourFlags {
 public:
  // Both flags.
  void Add(term::Flags& flags);
  // --feature-gates alone: the version is berth's choice.
  void AddGates(term::Flags& flags);

  // One of the flags was given.
  bool Given() const { return !version_.empty() || !gates_.empty(); }
  // The minor where --kubernetes-version is not given.
  void SetDefault(int minor) { default_ = minor; }

  // What was asked for; warnings go to standard error in the name of `program`.
  Result<config::Behaviour> Make(std::string_view program) const;
  // The same as gates, for whoever needs more of them than the scheduler does.
  Result<config::FeatureGates> Gates(std::string_view program) const;

 private:
  std::string version_;
  int default_ = config::DefaultKubernetes();  // without version_
  std::string gates_;
};

}  // namespace berth::cli
