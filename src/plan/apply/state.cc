#include "plan/apply/state.h"

namespace berth::plan {

using api::Describe;
using api::TypeInfo;

const TypeInfo& PodRef::Type() {
  static const TypeInfo type = Describe<PodRef>("PodRef")
                                   .Always(1, "namespace", &PodRef::namespace_)
                                   .Always(2, "name", &PodRef::name)
                                   .Always(3, "uid", &PodRef::uid)
                                   .Build();
  return type;
}

const TypeInfo& Carried::Type() {
  static const TypeInfo type = Describe<Carried>("Carried")
                                   .Always(1, "namespace", &Carried::namespace_)
                                   .Always(2, "name", &Carried::name)
                                   .Always(3, "replacement", &Carried::replacement)
                                   .Always(4, "from", &Carried::from)
                                   .Always(5, "predicted", &Carried::predicted)
                                   .Always(6, "landed", &Carried::landed)
                                   .Field(7, "equal", &Carried::equal)
                                   .Build();
  return type;
}

const TypeInfo& InFlight::Type() {
  static const TypeInfo type = Describe<InFlight>("InFlight")
                                   .Always(1, "pod", &InFlight::pod)
                                   .Always(2, "ownerUID", &InFlight::owner_uid)
                                   .Always(3, "from", &InFlight::from)
                                   .Always(4, "predicted", &InFlight::predicted)
                                   .Field(5, "equal", &InFlight::equal)
                                   .Field(6, "labels", &InFlight::labels)
                                   .Field(7, "known", &InFlight::known)
                                   .Build();
  return type;
}

const TypeInfo& ApplyState::Type() {
  static const TypeInfo type = Describe<ApplyState>("ApplyState")
                                   .Always(1, "version", &ApplyState::version)
                                   .Field(2, "server", &ApplyState::server)
                                   .Always(3, "question", &ApplyState::question)
                                   .Field(4, "nodes", &ApplyState::nodes)
                                   .Field(5, "soft", &ApplyState::soft)
                                   .Field(6, "loseLocalData", &ApplyState::lose_local_data)
                                   .Always(7, "maxDisruption", &ApplyState::max_disruption)
                                   .Always(8, "evicted", &ApplyState::evicted)
                                   .Always(9, "replans", &ApplyState::replans)
                                   .Field(10, "inFlight", &ApplyState::in_flight)
                                   .Field(11, "carried", &ApplyState::carried)
                                   .Always(12, "outcome", &ApplyState::outcome)
                                   .Field(13, "message", &ApplyState::message)
                                   .Build();
  return type;
}

}  // namespace berth::plan
