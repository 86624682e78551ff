package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func (g *G) labelSelector() *metav1.LabelSelector {
	switch g.Intn(10) {
	case 0:
		return &metav1.LabelSelector{} // matches everything
	case 1:
		if g.chance(0.3) {
			return nil // matches nothing
		}
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: g.some([]string{"web", "db", "cache"}, g.rng(1, 2))}}}
	case 3:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	case 4:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: g.some([]string{"web", "db", "cache", "job"}, 2)}}}
	default:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.pick("web", "db", "cache")}}
	}
}

func (g *G) appLabels() map[string]string {
	l := map[string]string{}
	if g.chance(0.95) {
		l["app"] = g.pick("web", "db", "cache", "job")
	}
	if g.chance(0.5) {
		l["tier"] = g.pick("front", "back")
	}
	if g.chance(0.5) {
		l["version"] = g.pick("v1", "v2")
	}
	if len(l) == 0 {
		return nil
	}
	return l
}

func (g *G) podTerm(p *v1.Pod) v1.PodAffinityTerm {
	t := v1.PodAffinityTerm{LabelSelector: g.labelSelector(), TopologyKey: g.pick(hostLabel, hostLabel, zoneLabel, zoneLabel, regionLabel, "rack")}
	switch g.Intn(7) {
	case 0:
		t.Namespaces = g.some([]string{"team-a", "team-b", "default"}, g.rng(1, 2))
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"env": g.pick("prod", "dev")}}
	case 2:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 3:
		if g.chance(0.5) {
			t.Namespaces = []string{g.pick("team-a", "team-b")}
			t.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{g.pick("a", "b", "c")}}}}
		}
	}
	if t.LabelSelector != nil && g.chance(0.15) {
		if g.chance(0.5) {
			t.MatchLabelKeys = []string{"version"}
		} else {
			t.MismatchLabelKeys = []string{"version"}
		}
	}
	return t
}

func (g *G) podAffinity(p *v1.Pod, preq, ppref, pareq, papref float64) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &v1.Affinity{}
	}
	a, aa := &v1.PodAffinity{}, &v1.PodAntiAffinity{}
	if g.chance(preq) {
		for i := 0; i < g.pickI(1, 1, 2); i++ {
			a.RequiredDuringSchedulingIgnoredDuringExecution = append(a.RequiredDuringSchedulingIgnoredDuringExecution, g.podTerm(p))
		}
	}
	if g.chance(ppref) {
		for i := 0; i < g.rng(1, 2); i++ {
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution, v1.WeightedPodAffinityTerm{Weight: int32(g.pickI(1, 5, 10, 50, 100)), PodAffinityTerm: g.podTerm(p)})
		}
	}
	if g.chance(pareq) {
		for i := 0; i < g.pickI(1, 1, 2); i++ {
			aa.RequiredDuringSchedulingIgnoredDuringExecution = append(aa.RequiredDuringSchedulingIgnoredDuringExecution, g.podTerm(p))
		}
	}
	if g.chance(papref) {
		for i := 0; i < g.rng(1, 2); i++ {
			aa.PreferredDuringSchedulingIgnoredDuringExecution = append(aa.PreferredDuringSchedulingIgnoredDuringExecution, v1.WeightedPodAffinityTerm{Weight: int32(g.pickI(1, 5, 10, 50, 100)), PodAffinityTerm: g.podTerm(p)})
		}
	}
	if len(a.RequiredDuringSchedulingIgnoredDuringExecution)+len(a.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
		p.Spec.Affinity.PodAffinity = a
	}
	if len(aa.RequiredDuringSchedulingIgnoredDuringExecution)+len(aa.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
		p.Spec.Affinity.PodAntiAffinity = aa
	}
}

func (g *G) topoNodes(n int) {
	for i := 0; i < n; i++ {
		g.randNode(i, func(nd *v1.Node) {
			if g.chance(0.12) {
				delete(nd.Labels, zoneLabel)
			}
			if g.chance(0.4) {
				nd.Labels["rack"] = g.pick("r1", "r2", "r3")
			}
			if g.chance(0.2) {
				nd.Labels["disk"] = "ssd"
			}
		})
	}
}

func genInterPodAffinity(g *G) {
	g.stdNamespaces()
	g.topoNodes(g.rng(4, 14))
	for i := 0; i < g.rng(2, 20); i++ {
		p := g.smallReq(g.newPod(g.pick("default", "default", "team-a", "team-b", "team-c"), "e", g.appLabels()))
		if g.chance(0.45) {
			g.podAffinity(p, 0.15, 0.4, 0.25, 0.4)
		}
		g.existing(p, g.anyNode())
	}
	for i := 0; i < g.rng(8, 14); i++ {
		p := g.smallReq(g.newPod(g.pick("default", "default", "team-a", "team-b"), "p", g.appLabels()))
		g.podAffinity(p, 0.35, 0.4, 0.35, 0.4)
		if g.chance(0.1) && len(p.Labels) > 0 && p.Labels["app"] != "" {
			// the self-match rule
			p.Spec.Affinity.PodAffinity = &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}, TopologyKey: zoneLabel}}}
		}
		if g.chance(0.06) {
			p.Labels = map[string]string{"app": "lonely", "n": fmt.Sprint(i)}
			p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"n": fmt.Sprint(i)}}, TopologyKey: zoneLabel}}}}
		}
		g.pend(p)
	}
	if g.chance(0.4) {
		args := J{"hardPodAffinityWeight": g.pickI(0, 1, 5, 50, 100)}
		if g.chance(0.4) {
			args["ignorePreferredTermsOfExistingPods"] = true
		}
		g.setConfig(J{"pluginConfig": []J{pluginArgs("InterPodAffinity", args)}})
	}
}

// ---------------------------------------------------------------- topology spread

func (g *G) spread(p *v1.Pod, when v1.UnsatisfiableConstraintAction) v1.TopologySpreadConstraint {
	c := v1.TopologySpreadConstraint{MaxSkew: int32(g.pickI(1, 1, 1, 2, 3, 5)), TopologyKey: g.pick(zoneLabel, zoneLabel, hostLabel, hostLabel, "rack", regionLabel), WhenUnsatisfiable: when}
	if g.chance(0.85) {
		app := "web"
		if p.Labels["app"] != "" {
			app = p.Labels["app"]
		}
		c.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	} else {
		c.LabelSelector = g.labelSelector()
	}
	if when == v1.DoNotSchedule && g.chance(0.25) {
		c.MinDomains = ptr.To[int32](int32(g.rng(1, 5)))
	}
	if g.chance(0.4) {
		c.NodeAffinityPolicy = ptr.To(v1.NodeInclusionPolicy(g.pick("Honor", "Ignore")))
	}
	if g.chance(0.4) {
		c.NodeTaintsPolicy = ptr.To(v1.NodeInclusionPolicy(g.pick("Honor", "Ignore")))
	}
	if c.LabelSelector != nil && g.chance(0.2) {
		c.MatchLabelKeys = []string{g.pick("version", "tier")}
	}
	return c
}

func (g *G) addSpread(p *v1.Pod) {
	seen := map[string]bool{}
	for i := 0; i < g.pickI(1, 1, 2, 3); i++ {
		w := v1.DoNotSchedule
		if g.chance(0.4) {
			w = v1.ScheduleAnyway
		}
		c := g.spread(p, w)
		if seen[c.TopologyKey+string(w)] {
			continue
		}
		seen[c.TopologyKey+string(w)] = true
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

func genTopologySpread(g *G) {
	g.stdNamespaces()
	if g.chance(0.3) {
		g.zones = []string{"z1", "z2", "z3", "z4", "z5"}[:g.rng(1, 5)]
	}
	n := g.rng(4, 15)
	for i := 0; i < n; i++ {
		g.randNode(i, func(nd *v1.Node) {
			if g.chance(0.1) {
				delete(nd.Labels, zoneLabel)
			}
			if g.chance(0.05) {
				delete(nd.Labels, hostLabel)
			}
			if g.chance(0.5) {
				nd.Labels["rack"] = g.pick("r1", "r2", "r3")
			}
			if g.chance(0.4) {
				nd.Labels["disk"] = g.pick("ssd", "hdd")
			}
			if g.chance(0.15) {
				nd.Spec.Taints = append(nd.Spec.Taints, v1.Taint{Key: "dedicated", Value: "x", Effect: v1.TaintEffectNoSchedule})
			}
			if g.chance(0.05) {
				nd.Spec.Unschedulable = true
			}
		})
	}
	g.ownersFor("default")
	for i := 0; i < g.rng(2, 25); i++ {
		p := g.smallReq(g.newPod(g.pick("default", "default", "default", "team-a"), "e", g.appLabels()))
		if g.chance(0.08) {
			t := metav1.NewTime(baseTime)
			p.DeletionTimestamp = &t
			p.DeletionGracePeriodSeconds = ptr.To[int64](30)
		}
		node := g.anyNode()
		if g.chance(0.5) { // skewed
			node = g.o.Nodes[g.Intn((len(g.o.Nodes)+2)/3)].Name
		}
		g.existing(p, node)
	}
	for i := 0; i < g.rng(8, 14); i++ {
		p := g.smallReq(g.newPod("default", "p", g.appLabels()))
		if g.chance(0.8) {
			g.addSpread(p)
		} else {
			g.setOwner(p) // default constraints
		}
		if g.chance(0.15) {
			p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		} else if g.chance(0.15) {
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: zoneLabel, Operator: v1.NodeSelectorOpNotIn, Values: []string{"z1"}}}}}}}}
		}
		if g.chance(0.3) {
			p.Spec.Tolerations = []v1.Toleration{{Key: "dedicated", Operator: v1.TolerationOpExists}}
		}
		g.pend(p)
	}
	if g.chance(0.35) {
		args := J{"defaultingType": "List"}
		var l []J
		for _, k := range g.some([]string{zoneLabel, hostLabel, "rack"}, g.rng(0, 2)) {
			l = append(l, J{"maxSkew": g.rng(1, 3), "topologyKey": k, "whenUnsatisfiable": g.pick("DoNotSchedule", "ScheduleAnyway")})
		}
		if len(l) > 0 {
			args["defaultConstraints"] = l
		}
		g.setConfig(J{"pluginConfig": []J{pluginArgs("PodTopologySpread", args)}})
	}
}

// ---------------------------------------------------------------- image locality
