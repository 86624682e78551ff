package main

import (
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// requeueLine asks the queue itself, for a pod rejected by several plugins.
func requeueLine(g *G, e *hintEnv, plugin string, t *tuple, ev fwk.ClusterEvent) J {
	un, pe := sets.New[string](), sets.New[string]()
	all := []string{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DefaultPreemption", "SchedulingGates", "Extender", "OutOfTree"}
	if !hasLister(&t.objects) && len(t.pod.Spec.ResourceClaims) == 0 {
		all = append(all, "DynamicResources")
	}
	add := func(n string) {
		if g.chance(0.25) {
			pe.Insert(n)
		} else {
			un.Insert(n)
		}
	}
	if g.chance(0.9) {
		add(plugin)
	}
	for g.chance(0.5) {
		add(g.pick(all...))
	}
	var oldObj, newObj interface{}
	if t.old != nil {
		oldObj = t.old
	}
	if t.new != nil {
		newObj = t.new
	}
	switch g.Intn(14) {
	case 0:
		ev, oldObj, newObj = framework.EventUnschedulableTimeout, nil, nil
	case 1:
		ev, oldObj, newObj = framework.EventForceActivate, nil, t.pod
	case 2:
		o := t.pod.DeepCopy()
		o.UID, o.Name = "00000000-0000-4000-8000-999999999999", "other"
		ev, oldObj, newObj = framework.EventForceActivate, nil, o
	}
	pi, err := framework.NewPodInfo(t.pod)
	if err != nil {
		return nil
	}
	q := rejectedPod(pi, un, pe)
	var r int
	ok := func() (ok bool) {
		defer func() {
			if x := recover(); x != nil {
				ok = false
			}
		}()
		r = isPodWorthRequeuing(e.sched.SchedulingQueue.(*internalqueue.PriorityQueue), e.logger, q, ev, oldObj, newObj)
		return true
	}()
	if !ok {
		return nil
	}
	return J{"kind": "requeue", "unschedulablePlugins": sets.List(un), "pendingPlugins": sets.List(pe), "event": eventJSON(ev), "config": t.config, "pod": t.pod, "oldObj": oldObj, "newObj": newObj, "objects": &t.objects,
		"expected": []string{"queueSkip", "queueAfterBackoff", "queueImmediately"}[r]}
}
