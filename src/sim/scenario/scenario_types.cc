// The tables of the scenario file's types.
#include "sim/scenario/scenario.h"

namespace berth::sim {

using api::Describe;
using api::TypeInfo;

const TypeInfo& NodeGroup::Type() {
  static const TypeInfo type = Describe<NodeGroup>("NodeGroup")
                                   .Always(0, "count", &NodeGroup::count)
                                   .Always(0, "name", &NodeGroup::name)
                                   .Always(0, "cpu", &NodeGroup::cpu)
                                   .Always(0, "memory", &NodeGroup::memory)
                                   .Field(0, "pods", &NodeGroup::pods)
                                   .Field(0, "resources", &NodeGroup::resources)
                                   .Field(0, "labels", &NodeGroup::labels)
                                   .Field(0, "taints", &NodeGroup::taints)
                                   .Field(0, "zones", &NodeGroup::zones)
                                   .Build();
  return type;
}

const TypeInfo& NodePick::Type() {
  static const TypeInfo type = Describe<NodePick>("Nodes")
                                   .Field(0, "name", &NodePick::name)
                                   .Field(0, "selector", &NodePick::selector)
                                   .Field(0, "count", &NodePick::count)
                                   .Build();
  return type;
}

const TypeInfo& TaintNodes::Type() {
  static const TypeInfo type = Describe<TaintNodes>("Taint")
                                   .Always(0, "nodes", &TaintNodes::nodes)
                                   .Always(0, "taints", &TaintNodes::taints)
                                   .Build();
  return type;
}

const TypeInfo& LabelNodes::Type() {
  static const TypeInfo type = Describe<LabelNodes>("Label")
                                   .Always(0, "nodes", &LabelNodes::nodes)
                                   .Field(0, "labels", &LabelNodes::labels)
                                   .Field(0, "remove", &LabelNodes::remove)
                                   .Build();
  return type;
}

const TypeInfo& ResizeNodes::Type() {
  static const TypeInfo type = Describe<ResizeNodes>("Resize")
                                   .Always(0, "nodes", &ResizeNodes::nodes)
                                   .Field(0, "cpu", &ResizeNodes::cpu)
                                   .Field(0, "memory", &ResizeNodes::memory)
                                   .Field(0, "pods", &ResizeNodes::pods)
                                   .Build();
  return type;
}

const TypeInfo& DeleteObjects::Type() {
  static const TypeInfo type = Describe<DeleteObjects>("Delete")
                                   .Always(0, "kind", &DeleteObjects::kind)
                                   .Field(0, "namespace", &DeleteObjects::namespace_)
                                   .Field(0, "name", &DeleteObjects::name)
                                   .Field(0, "selector", &DeleteObjects::selector)
                                   .Build();
  return type;
}

const TypeInfo& ScaleWorkload::Type() {
  static const TypeInfo type = Describe<ScaleWorkload>("Scale")
                                   .Always(0, "kind", &ScaleWorkload::kind)
                                   .Field(0, "namespace", &ScaleWorkload::namespace_)
                                   .Always(0, "name", &ScaleWorkload::name)
                                   .Always(0, "replicas", &ScaleWorkload::replicas)
                                   .Build();
  return type;
}

const TypeInfo& PodArrivals::Type() {
  static const TypeInfo type = Describe<PodArrivals>("Pods")
                                   .Field(0, "count", &PodArrivals::count)
                                   .Field(0, "perSecond", &PodArrivals::per_second)
                                   .Field(0, "for", &PodArrivals::for_)
                                   .Always(0, "name", &PodArrivals::name)
                                   .Field(0, "namespace", &PodArrivals::namespace_)
                                   .Field(0, "cpu", &PodArrivals::cpu)
                                   .Field(0, "memory", &PodArrivals::memory)
                                   .Field(0, "priorityClassName", &PodArrivals::priority_class_name)
                                   .Field(0, "priority", &PodArrivals::priority)
                                   .Field(0, "labels", &PodArrivals::labels)
                                   .Field(0, "template", &PodArrivals::template_)
                                   .Field(0, "lifetime", &PodArrivals::lifetime)
                                   .Build();
  return type;
}

const TypeInfo& CrashScheduler::Type() {
  static const TypeInfo type =
      Describe<CrashScheduler>("CrashScheduler").Field(0, "down", &CrashScheduler::down).Build();
  return type;
}

const TypeInfo& ScenarioEvent::Type() {
  static const TypeInfo type = Describe<ScenarioEvent>("Event")
                                   .Field(0, "name", &ScenarioEvent::name)
                                   .Field(0, "at", &ScenarioEvent::at)
                                   .Field(0, "every", &ScenarioEvent::every)
                                   .Field(0, "until", &ScenarioEvent::until)
                                   .Field(0, "times", &ScenarioEvent::times)
                                   .Field(0, "apply", &ScenarioEvent::apply)
                                   .Field(0, "applyFile", &ScenarioEvent::apply_file)
                                   .Field(0, "delete", &ScenarioEvent::delete_)
                                   .Field(0, "scale", &ScenarioEvent::scale)
                                   .Field(0, "cordon", &ScenarioEvent::cordon)
                                   .Field(0, "uncordon", &ScenarioEvent::uncordon)
                                   .Field(0, "drain", &ScenarioEvent::drain)
                                   .Field(0, "taint", &ScenarioEvent::taint)
                                   .Field(0, "untaint", &ScenarioEvent::untaint)
                                   .Field(0, "label", &ScenarioEvent::label)
                                   .Field(0, "resize", &ScenarioEvent::resize)
                                   .Field(0, "addNodes", &ScenarioEvent::add_nodes)
                                   .Field(0, "removeNodes", &ScenarioEvent::remove_nodes)
                                   .Field(0, "pods", &ScenarioEvent::pods)
                                   .Field(0, "crashScheduler", &ScenarioEvent::crash_scheduler)
                                   .Build();
  return type;
}

const TypeInfo& NetworkSpec::Type() {
  static const TypeInfo type = Describe<NetworkSpec>("Network")
                                   .Field(0, "writes", &NetworkSpec::writes)
                                   .Field(0, "watches", &NetworkSpec::watches)
                                   .Field(0, "cycle", &NetworkSpec::cycle)
                                   .Build();
  return type;
}

const TypeInfo& ReferencePod::Type() {
  static const TypeInfo type = Describe<ReferencePod>("ReferencePod")
                                   .Always(0, "cpu", &ReferencePod::cpu)
                                   .Always(0, "memory", &ReferencePod::memory)
                                   .Build();
  return type;
}

const TypeInfo& ScenarioFile::Type() {
  static const TypeInfo type = Describe<ScenarioFile>("Scenario")
                                   .Always(0, "apiVersion", &ScenarioFile::api_version)
                                   .Always(0, "kind", &ScenarioFile::kind)
                                   .Field(0, "seed", &ScenarioFile::seed)
                                   .Field(0, "duration", &ScenarioFile::duration)
                                   .Field(0, "sampleEvery", &ScenarioFile::sample_every)
                                   .Field(0, "config", &ScenarioFile::config)
                                   .Field(0, "cluster", &ScenarioFile::cluster)
                                   .Field(0, "objects", &ScenarioFile::objects)
                                   .Field(0, "network", &ScenarioFile::network)
                                   .Field(0, "podStartup", &ScenarioFile::pod_startup)
                                   .Field(0, "referencePod", &ScenarioFile::reference_pod)
                                   .Field(0, "nodes", &ScenarioFile::nodes)
                                   .Field(0, "events", &ScenarioFile::events)
                                   .Build();
  return type;
}

}  // namespace berth::sim
