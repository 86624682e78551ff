package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

func hintSpread(g *G, t *tuple) bool {
	p := g.smallReq(g.newPod("default", "p", g.appLabels()))
	if g.chance(0.85) {
		g.addSpread(p)
	}
	if g.chance(0.06) && len(p.Spec.TopologySpreadConstraints) == 0 {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{g.spread(p, v1.ScheduleAnyway)}
	}
	if len(p.Spec.TopologySpreadConstraints) == 0 || g.chance(0.1) {
		g.ownersFor("default")
		g.setOwner(p)
		g.setConfig(J{"pluginConfig": []J{pluginArgs("PodTopologySpread", J{"defaultingType": "List", "defaultConstraints": []J{
			{"maxSkew": 1, "topologyKey": zoneLabel, "whenUnsatisfiable": "DoNotSchedule"}, {"maxSkew": 2, "topologyKey": hostLabel, "whenUnsatisfiable": "ScheduleAnyway"}}})}})
		t.config = g.c.Config
	}
	if t.pod = g.pending(p); t.pod == nil {
		return false
	}
	if t.config != nil {
		t.objects = Objects{Services: g.o.Services, ReplicaSets: g.o.ReplicaSets, StatefulSets: g.o.StatefulSets, ReplicationControllers: g.o.ReplicationControllers}
	}
	if g.chance(0.6) {
		return g.podEvent(t, func() *v1.Pod {
			return g.smallReq(g.newPod(g.pick("default", "default", "default", "default", "team-a"), "o", g.appLabels()))
		}, func(p *v1.Pod) {
			if g.chance(0.6) {
				if p.Labels == nil {
					p.Labels = map[string]string{}
				}
				p.Labels[g.pick("app", "app", "tier", "version")] = g.pick("web", "db", "cache", "front", "v1", "v2")
				if g.chance(0.3) {
					delete(p.Labels, g.pick("app", "tier"))
				}
			} else {
				p.Spec.Tolerations = append(p.Spec.Tolerations, g.toleration("a", "b"))
			}
		})
	}
	lab := func(n *v1.Node) {
		for _, k := range []string{zoneLabel, "rack", regionLabel, hostLabel} {
			switch g.Intn(5) {
			case 0:
				delete(n.Labels, k)
			case 1:
				n.Labels[k] = g.pick("z1", "z2", "r1")
			}
		}
		if g.chance(0.25) {
			n.Spec.Taints = []v1.Taint{g.taint()}
		}
		if g.chance(0.2) {
			n.Labels["unrelated"] = g.pick("a", "b")
		}
	}
	t.events, t.old, t.new = g.nodeEvent(lab, lab)
	if t.new != nil && t.old == nil && g.chance(0.3) {
		t.events, t.old, t.new = []fwk.ClusterEvent{{Resource: fwk.Node, ActionType: fwk.Delete}}, t.new, nil
	}
	return true
}

func hintInterPod(g *G, t *tuple) bool {
	p := g.smallReq(g.newPod(g.pick("default", "team-a"), "p", g.appLabels()))
	g.podAffinity(p, 0.6, 0.1, 0.6, 0.1)
	if t.pod = g.pending(p); t.pod == nil {
		return false
	}
	if g.chance(0.65) {
		return g.podEvent(t, func() *v1.Pod {
			return g.smallReq(g.newPod(g.pick("default", "default", "team-a", "team-b"), "o", g.appLabels()))
		}, func(p *v1.Pod) {
			if p.Labels == nil {
				p.Labels = map[string]string{}
			}
			p.Labels["app"] = g.pick("web", "db", "cache", "job")
			if g.chance(0.3) {
				p.Labels["version"] = g.pick("v1", "v2")
			}
			if g.chance(0.3) {
				delete(p.Labels, g.pick("tier", "app"))
			}
		})
	}
	lab := func(n *v1.Node) {
		for _, k := range []string{zoneLabel, "rack", regionLabel, hostLabel} {
			switch g.Intn(4) {
			case 0:
				delete(n.Labels, k)
			case 1:
				n.Labels[k] = g.pick("z1", "z2", "r1")
			}
		}
	}
	t.events, t.old, t.new = g.nodeEvent(lab, lab)
	return true
}

func hintPreemption(g *G, t *tuple) bool {
	if t.pod = g.pending(g.basic("p")); t.pod == nil {
		return false
	}
	return g.podEvent(t, func() *v1.Pod { return g.basic("o") }, g.mutatePod)
}

func hintGates(g *G, t *tuple) bool {
	p := g.basic("p")
	for i := 0; i < g.rng(0, 2); i++ {
		p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, v1.PodSchedulingGate{Name: fmt.Sprintf("example.com/g%d", i)})
	}
	if t.pod = g.pending(p); t.pod == nil {
		return false
	}
	return g.podEvent(t, func() *v1.Pod {
		o := g.basic("o")
		o.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/g0"}}
		return o
	}, func(p *v1.Pod) {
		if len(p.Spec.SchedulingGates) > 1 && g.chance(0.3) {
			p.Spec.SchedulingGates = p.Spec.SchedulingGates[1:]
		} else {
			p.Spec.SchedulingGates = nil
		}
	})
}
