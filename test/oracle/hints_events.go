package main

import (
	"fmt"
	"hash/fnv"
	"math/rand"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"
)

func newG(kind string, seed int64, i int) *G {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/%d", kind, seed, i)
	c := &Case{Name: fmt.Sprintf("%s-%d", kind, i)}
	return &G{Rand: rand.New(rand.NewSource(int64(h.Sum64() >> 1))), c: c, o: &c.Objects, zones: []string{"z1", "z2", "z3"}}
}

func bump(m *metav1.ObjectMeta) { m.ResourceVersion += "1" }

// pending finishes the pod; an invalid pod gives nil.
func (g *G) pending(p *v1.Pod) *v1.Pod {
	if !g.finish(p) {
		return nil
	}
	fixTimes(p)
	return p
}

// fixTimes replaces the current time in the conditions set on creation (SchedulingGated).
func fixTimes(p *v1.Pod) {
	for i := range p.Status.Conditions {
		if !p.Status.Conditions[i].LastTransitionTime.IsZero() {
			p.Status.Conditions[i].LastTransitionTime = metav1.NewTime(baseTime)
		}
	}
}

// assigned finishes a pod which runs on a node.
func (g *G) assigned(p *v1.Pod) *v1.Pod {
	p.Spec.NodeName = g.pick("node-000", "node-001", "node-002")
	t := metav1.NewTime(baseTime)
	p.Status.StartTime = &t
	return g.pending(p)
}

func (g *G) nodeEvent(tw, mut func(n *v1.Node)) ([]fwk.ClusterEvent, runtime.Object, runtime.Object) {
	n := g.randNode(g.Intn(4), func(n *v1.Node) {
		if tw != nil {
			tw(n)
		}
	})
	ev := func(a fwk.ActionType) []fwk.ClusterEvent {
		return []fwk.ClusterEvent{{Resource: fwk.Node, ActionType: a}}
	}
	switch k := g.Intn(20); {
	case k < 6:
		return ev(fwk.Add), nil, n
	case k == 6:
		return ev(fwk.Delete), n, nil
	default:
		m := n.DeepCopy()
		bump(&m.ObjectMeta)
		if mut != nil && g.chance(0.85) {
			mut(m)
		} else {
			g.mutateNode(m)
		}
		if g.chance(0.15) {
			g.mutateNode(m)
		}
		if g.chance(0.25) { // the other direction
			n, m = m, n
		}
		return framework.NodeSchedulingPropertiesChange(m, n), n, m
	}
}

func (g *G) mutateNode(n *v1.Node) {
	switch g.Intn(13) {
	case 0:
		n.Labels[g.pick("disk", "gen", "team", "rack", zoneLabel)] = g.pick("ssd", "hdd", "1", "7", "a", "z9")
	case 1:
		for _, k := range []string{"rack", zoneLabel, "disk", hostLabel} {
			if _, ok := n.Labels[k]; ok {
				delete(n.Labels, k)
				break
			}
		}
	case 2:
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: g.pick("a", "b"), Effect: v1.TaintEffect(g.pick("NoSchedule", "NoExecute", "PreferNoSchedule"))})
	case 3:
		n.Spec.Taints = nil
	case 4:
		n.Spec.Unschedulable = !n.Spec.Unschedulable
	case 5:
		n.Status.Allocatable["cpu"] = q(g.pick("1", "2", "2000m", "8", "100m", "16"))
	case 6:
		n.Status.Allocatable["memory"] = q(g.pick("1Gi", "64Gi", "1024Mi"))
	case 7:
		n.Status.Conditions[0].Status = v1.ConditionStatus(g.pick("True", "False", "Unknown"))
	case 8:
		n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(baseTime.Add(time.Minute))
		if g.chance(0.3) {
			n.Status.Conditions = append(n.Status.Conditions, v1.NodeCondition{Type: v1.NodeMemoryPressure, Status: v1.ConditionFalse})
		}
	case 9:
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[g.pick("x", "y")] = g.pick("1", "2")
	case 10:
		n.Status.Allocatable["example.com/gpu"] = q(g.pick("0", "2"))
	case 11:
		delete(n.Status.Allocatable, "ephemeral-storage")
	case 12:
		n.Status.Images = append(n.Status.Images, v1.ContainerImage{Names: []string{"x:y"}, SizeBytes: 5})
	}
}

// podEvent makes an event of another pod, or of the pending pod itself.
// mk makes an unfinished other pod, mut changes a finished one.
func (g *G) podEvent(t *tuple, mk func() *v1.Pod, mut func(p *v1.Pod)) bool {
	assigned := func(a fwk.ActionType) []fwk.ClusterEvent {
		return []fwk.ClusterEvent{{Resource: resAssigned, ActionType: a}}
	}
	change := func(p *v1.Pod) *v1.Pod {
		m := p.DeepCopy()
		bump(&m.ObjectMeta)
		if g.chance(0.85) {
			mut(m)
		} else {
			g.mutatePod(m)
		}
		if g.chance(0.15) {
			g.mutatePod(m)
		}
		return m
	}
	switch k := g.Intn(20); {
	case k < 4: // assigned pod added
		p := g.assigned(mk())
		if p == nil {
			return false
		}
		t.events, t.new = assigned(fwk.Add), p
	case k < 9: // assigned pod deleted
		p := g.assigned(mk())
		if p == nil {
			return false
		}
		t.events, t.old = assigned(fwk.Delete), p
	case k < 10: // unscheduled pod deleted, nominated or waiting on permit
		p := mk()
		if g.chance(0.6) {
			p.Status.NominatedNodeName = "node-001"
		}
		if p = g.pending(p); p == nil {
			return false
		}
		t.events, t.old = assigned(fwk.Delete), p
	case k < 15: // assigned pod updated
		p := g.assigned(mk())
		if p == nil {
			return false
		}
		m := change(p)
		if g.chance(0.3) {
			p, m = m, p
		}
		t.events, t.old, t.new = podChangeEvents(m, p, false), p, m
	case k < 16: // another unscheduled pod updated
		p := g.pending(mk())
		if p == nil {
			return false
		}
		m := change(p)
		t.events, t.old, t.new = podChangeEvents(m, p, false), p, m
	default: // the pending pod itself
		m := change(t.pod)
		t.events, t.old, t.new = podChangeEvents(m, t.pod, true), t.pod, m
		t.pod = m
	}
	return true
}

func scaleList(l v1.ResourceList, g *G) {
	for _, k := range []v1.ResourceName{"cpu", "memory", "ephemeral-storage", "example.com/gpu"} {
		if v, ok := l[k]; ok && g.chance(0.6) {
			switch g.Intn(4) {
			case 0:
				delete(l, k)
			case 1:
				v.Add(q("1"))
				l[k] = v
			default:
				l[k] = q(g.pick("1m", "0", "1", "10m", "50m"))
				if k == "example.com/gpu" {
					l[k] = q("1")
				}
			}
		}
	}
}

func (g *G) mutatePod(p *v1.Pod) {
	switch g.Intn(22) {
	case 0, 1:
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[g.pick("app", "tier", "version", "new")] = g.pick("web", "db", "cache", "job", "v2", "back")
	case 2:
		delete(p.Labels, g.pick("app", "tier", "version"))
		if g.chance(0.2) {
			p.Labels = nil
		}
	case 3:
		if p.Labels == nil {
			p.Labels = map[string]string{}
		} else {
			p.Labels["app"] = p.Labels["app"] + ""
		}
	case 4, 5:
		for i := range p.Spec.Containers {
			scaleList(p.Spec.Containers[i].Resources.Requests, g)
		}
	case 6:
		for i := range p.Spec.InitContainers {
			scaleList(p.Spec.InitContainers[i].Resources.Requests, g)
		}
	case 7:
		if p.Spec.Resources != nil {
			scaleList(p.Spec.Resources.Requests, g)
		}
	case 8:
		for i := range p.Status.ContainerStatuses {
			if p.Status.ContainerStatuses[i].Resources != nil {
				scaleList(p.Status.ContainerStatuses[i].Resources.Requests, g)
			}
			if g.chance(0.4) {
				scaleList(p.Status.ContainerStatuses[i].AllocatedResources, g)
			}
		}
	case 9:
		p.Status.ContainerStatuses = nil
		g.resizeStatus(p)
	case 10:
		p.Status.ContainerStatuses = nil
	case 11:
		p.Spec.SchedulingGates = nil
	case 12:
		if len(p.Spec.SchedulingGates) > 0 {
			p.Spec.SchedulingGates = p.Spec.SchedulingGates[1:]
		}
	case 13, 14:
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: g.pick("dedicated", "gpu", "a", v1.TaintNodeUnschedulable), Operator: v1.TolerationOpExists})
	case 15:
		if len(p.Spec.Tolerations) > 0 {
			p.Spec.Tolerations[0].TolerationSeconds = ptr.To[int64](7)
		}
	case 16:
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, v1.PodResourceClaimStatus{Name: g.pick("d0", "d1", "d2"), ResourceClaimName: ptr.To(g.pick("c1", "c2"))})
	case 17:
		if n := len(p.Status.ResourceClaimStatuses); n > 1 {
			p.Status.ResourceClaimStatuses[0], p.Status.ResourceClaimStatuses[1] = p.Status.ResourceClaimStatuses[1], p.Status.ResourceClaimStatuses[0]
		} else if n == 1 {
			p.Status.ResourceClaimStatuses[0].ResourceClaimName = nil
		}
	case 18:
		p.Status.ExtendedResourceClaimStatus = &v1.PodExtendedResourceClaimStatus{ResourceClaimName: g.pick("x1", "x2"), RequestMappings: []v1.ContainerExtendedResourceRequest{{ContainerName: "c0", ResourceName: "example.com/gpu", RequestName: g.pick("r0", "r1")}}}
	case 19:
		p.Annotations = map[string]string{"note": g.pick("1", "2")}
	case 20:
		p.Status.NominatedNodeName = g.pick("node-001", "")
	case 21:
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: g.pick(v1.PodReasonInfeasible, v1.PodReasonDeferred)})
	}
}

func (g *G) basic(prefix string) *v1.Pod {
	return g.smallReq(g.newPod(g.pick("default", "default", "team-a"), prefix, g.appLabels()))
}

func (g *G) toleration(keys ...string) v1.Toleration {
	t := v1.Toleration{Key: g.pick(keys...), Operator: v1.TolerationOpEqual, Value: g.pick("", "true", "x")}
	if g.chance(0.5) {
		t.Operator, t.Value = v1.TolerationOpExists, ""
		if g.chance(0.1) {
			t.Key = ""
		}
	} else if g.chance(0.2) {
		t.Operator = ""
	}
	if g.chance(0.6) {
		t.Effect = v1.TaintEffect(g.pick("NoSchedule", "NoExecute", "PreferNoSchedule"))
	}
	return t
}

func (g *G) taint() v1.Taint {
	return v1.Taint{Key: g.pick("a", "b", "c", v1.TaintNodeUnschedulable), Value: g.pick("", "true", "x"), Effect: v1.TaintEffect(g.pick("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"))}
}
