package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func hintUnschedulable(g *G, t *tuple) bool {
	p := g.basic("p")
	for g.chance(0.5) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, g.toleration("a", v1.TaintNodeUnschedulable))
	}
	if t.pod = g.pending(p); t.pod == nil {
		return false
	}
	if g.chance(0.4) {
		return g.podEvent(t, func() *v1.Pod { return g.basic("o") }, func(p *v1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, g.toleration("a", v1.TaintNodeUnschedulable, v1.TaintNodeUnschedulable))
		})
	}
	t.events, t.old, t.new = g.nodeEvent(func(n *v1.Node) {
		n.Spec.Unschedulable = g.chance(0.6)
		if g.chance(0.3) {
			n.Spec.Taints = []v1.Taint{g.taint()}
		}
	}, func(n *v1.Node) {
		if g.chance(0.7) {
			n.Spec.Unschedulable = !n.Spec.Unschedulable
		} else {
			n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "k", Effect: "NoSchedule"})
		}
	})
	return true
}

func hintNodeName(g *G, t *tuple) bool {
	if t.pod = g.pending(g.basic("p")); t.pod == nil {
		return false
	}
	t.events, t.old, t.new = g.nodeEvent(nil, nil)
	return true
}

func hintTaint(g *G, t *tuple) bool {
	p := g.basic("p")
	for g.chance(0.5) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, g.toleration("a", "b"))
	}
	if t.pod = g.pending(p); t.pod == nil {
		return false
	}
	if g.chance(0.25) {
		return g.podEvent(t, func() *v1.Pod { return g.basic("o") }, func(p *v1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, g.toleration("a", "b"))
		})
	}
	taints := func() (l []v1.Taint) {
		seen := map[string]bool{}
		for i := 0; i < g.rng(0, 2); i++ {
			x := g.taint()
			if !seen[x.Key+string(x.Effect)] {
				l = append(l, x)
			}
			seen[x.Key+string(x.Effect)] = true
		}
		return
	}
	t.events, t.old, t.new = g.nodeEvent(func(n *v1.Node) { n.Spec.Taints = taints() }, func(n *v1.Node) { n.Spec.Taints = taints() })
	return true
}

func hintNodeAffinity(g *G, t *tuple) bool {
	g.affinityNodes(3)
	p := g.basic("p")
	if g.chance(0.5) {
		p.Spec.NodeSelector = map[string]string{g.pick("disk", "team"): g.pick("ssd", "hdd", "a", "b")}
	}
	if g.chance(0.75) {
		g.nodeAffinity(p)
	}
	if g.chance(0.08) { // selector that does not parse: Error
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
			{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "gen", Operator: g.pickOp("Gt", "Lt"), Values: []string{g.pick("abc", "1.5", "")}}}}}}}}
		if g.chance(0.5) {
			l := &p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
			*l = append(*l, g.nodeTerm(true))
		}
	}
	if t.pod = g.pending(p); t.pod == nil {
		return false
	}
	if g.chance(0.25) {
		g.setConfig(J{"pluginConfig": []J{pluginArgs("NodeAffinity", J{"addedAffinity": J{"requiredDuringSchedulingIgnoredDuringExecution": J{"nodeSelectorTerms": []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
			{Key: zoneLabel, Operator: v1.NodeSelectorOpIn, Values: []string{"z1", "z2"}}}}}}}})}})
		t.config = g.c.Config
	}
	lab := func(n *v1.Node) {
		for _, k := range []string{"disk", "gen", "team", "example.com/dedicated", zoneLabel} {
			switch g.Intn(3) {
			case 0:
				delete(n.Labels, k)
			case 1:
				n.Labels[k] = g.pick("ssd", "hdd", "a", "b", "1", "7", "z1", "z2")
			}
		}
	}
	t.events, t.old, t.new = g.nodeEvent(lab, lab)
	return true
}

func (g *G) pickOp(l ...string) v1.NodeSelectorOperator { return v1.NodeSelectorOperator(g.pick(l...)) }

func (g *G) hostPorts(p *v1.Pod, prob float64) *v1.Pod {
	seen := map[string]bool{}
	for g.chance(prob) {
		cp := v1.ContainerPort{ContainerPort: int32(g.pickI(8080, 8081, 9090)), HostPort: int32(g.pickI(0, 8080, 8081, 9090)), Protocol: v1.Protocol(g.pick("TCP", "TCP", "UDP", "SCTP", "")), HostIP: g.pick("", "", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::")}
		k := fmt.Sprint(cp.HostPort, cp.Protocol, cp.HostIP)
		if seen[k] {
			continue
		}
		seen[k] = true
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, cp)
	}
	if len(p.Spec.Containers[0].Ports) > 0 && g.chance(0.2) {
		ic := v1.Container{Name: "i0", Image: "x", Ports: p.Spec.Containers[0].Ports}
		if g.chance(0.5) {
			ic.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
		}
		p.Spec.Containers[0].Ports = nil
		p.Spec.InitContainers = []v1.Container{ic}
	}
	return p
}

func hintPorts(g *G, t *tuple) bool {
	if t.pod = g.pending(g.hostPorts(g.basic("p"), 0.7)); t.pod == nil {
		return false
	}
	if g.chance(0.2) {
		t.events, t.old, t.new = g.nodeEvent(nil, nil)
		return true
	}
	return g.podEvent(t, func() *v1.Pod { return g.hostPorts(g.basic("o"), 0.7) }, g.mutatePod)
}

func hintFit(g *G, t *tuple) bool {
	p := g.richPod("default", "p", g.pickI(1, 2, 3))
	if g.chance(0.05) {
		p = g.newPod("default", "p", nil) // no requests
	}
	if t.pod = g.pending(p); t.pod == nil {
		return false
	}
	if g.chance(0.55) {
		return g.podEvent(t, func() *v1.Pod {
			o := g.richPod("default", "o", 1)
			if g.chance(0.4) {
				g.resizeStatus(o)
			}
			return o
		}, func(p *v1.Pod) {
			switch g.Intn(4) {
			case 0:
				for i := range p.Status.ContainerStatuses {
					if r := p.Status.ContainerStatuses[i].Resources; r != nil {
						scaleList(r.Requests, g)
					}
				}
			case 1:
				if p.Spec.Resources != nil {
					scaleList(p.Spec.Resources.Requests, g)
				}
				fallthrough
			default:
				for i := range p.Spec.Containers {
					scaleList(p.Spec.Containers[i].Resources.Requests, g)
				}
			}
		})
	}
	alloc := func(n *v1.Node) {
		n.Status.Allocatable = rl("cpu", g.pick("1", "2", "4", "8", "16", "32"), "memory", g.pick("1Gi", "4Gi", "16Gi", "64Gi"), "ephemeral-storage", g.pick("10Gi", "100Gi", ""), "pods", g.pick("0", "1", "110", "110", "110"))
		if g.chance(0.6) {
			n.Status.Allocatable["example.com/gpu"] = q(g.pick("0", "2", "8"))
		}
		if g.chance(0.5) {
			n.Status.Allocatable["vendor.io/fpga"] = q("2")
		}
		if g.chance(0.5) {
			n.Status.Allocatable["hugepages-2Mi"] = q(g.pick("0", "64Mi", "1Gi"))
		}
		if g.chance(0.5) {
			n.Status.Allocatable["hugepages-1Gi"] = q("2Gi")
		}
	}
	mut := alloc
	if g.chance(0.5) { // one resource only
		mut = func(n *v1.Node) {
			k := v1.ResourceName(g.pick("cpu", "memory", "ephemeral-storage", "pods", "example.com/gpu"))
			v, ok := n.Status.Allocatable[k]
			if !ok {
				v = q("0")
			}
			v.Add(q(g.pick("1", "100", "10Gi", "-1")))
			if v.Sign() < 0 {
				v = q("0")
			}
			n.Status.Allocatable[k] = v
		}
		if g.chance(0.5) {
			alloc = func(n *v1.Node) {
				n.Status.Allocatable = rl("cpu", "64", "memory", "256Gi", "ephemeral-storage", "1000Gi", "pods", "110", "example.com/gpu", "8", "vendor.io/fpga", "8", "hugepages-2Mi", "1Gi", "hugepages-1Gi", "8Gi")
			}
		}
	}
	t.events, t.old, t.new = g.nodeEvent(alloc, mut)
	return true
}
