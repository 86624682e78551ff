package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func (g *G) affinityNodes(n int) {
	for i := 0; i < n; i++ {
		var kv []string
		if g.chance(0.8) {
			kv = append(kv, "disk", g.pick("ssd", "hdd", "nvme", ""))
		}
		if g.chance(0.7) {
			kv = append(kv, "gen", g.pick("1", "2", "3", "7", "10", "x7", "007"))
		}
		if g.chance(0.5) {
			kv = append(kv, "team", g.pick("a", "b", "c"))
		}
		if g.chance(0.3) {
			kv = append(kv, "example.com/dedicated", "true")
		}
		g.randNode(i, withLabels(kv...))
	}
}

func (g *G) nodeReq() v1.NodeSelectorRequirement {
	switch g.Intn(9) {
	case 0:
		return v1.NodeSelectorRequirement{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: g.some([]string{"ssd", "hdd", "nvme", ""}, g.rng(1, 3))}
	case 1:
		return v1.NodeSelectorRequirement{Key: "disk", Operator: v1.NodeSelectorOpNotIn, Values: g.some([]string{"ssd", "hdd", "nvme"}, g.rng(1, 2))}
	case 2:
		return v1.NodeSelectorRequirement{Key: g.pick("team", "example.com/dedicated", "gen"), Operator: v1.NodeSelectorOpExists}
	case 3:
		return v1.NodeSelectorRequirement{Key: g.pick("team", "example.com/dedicated", "gen"), Operator: v1.NodeSelectorOpDoesNotExist}
	case 4:
		return v1.NodeSelectorRequirement{Key: "gen", Operator: v1.NodeSelectorOpGt, Values: []string{g.pick("0", "1", "2", "5", "6", "9")}}
	case 5:
		return v1.NodeSelectorRequirement{Key: "gen", Operator: v1.NodeSelectorOpLt, Values: []string{g.pick("0", "2", "3", "8", "100")}}
	case 6:
		return v1.NodeSelectorRequirement{Key: zoneLabel, Operator: v1.NodeSelectorOpIn, Values: g.some(g.zones, g.rng(1, 2))}
	case 7:
		return v1.NodeSelectorRequirement{Key: "team", Operator: v1.NodeSelectorOpIn, Values: g.some([]string{"a", "b", "c", "d"}, g.rng(1, 2))}
	default:
		return v1.NodeSelectorRequirement{Key: hostLabel, Operator: v1.NodeSelectorOpNotIn, Values: []string{g.anyNode()}}
	}
}

func (g *G) nodeTerm(fields bool) v1.NodeSelectorTerm {
	t := v1.NodeSelectorTerm{}
	if fields && g.chance(0.3) {
		op := v1.NodeSelectorOpIn
		if g.chance(0.35) {
			op = v1.NodeSelectorOpNotIn
		}
		name := g.anyNode()
		if g.chance(0.1) {
			name = "no-such-node"
		}
		t.MatchFields = []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: op, Values: []string{name}}}
		if g.chance(0.12) { // conflict, or the same twice
			t.MatchFields = append(t.MatchFields, v1.NodeSelectorRequirement{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{g.anyNode()}})
		}
		if g.chance(0.5) {
			return t
		}
	}
	if g.chance(0.04) {
		return t // empty term: matches nothing
	}
	for i := 0; i < g.rng(1, 2); i++ {
		t.MatchExpressions = append(t.MatchExpressions, g.nodeReq())
	}
	return t
}

func (g *G) nodeAffinity(p *v1.Pod) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &v1.Affinity{}
	}
	na := &v1.NodeAffinity{}
	if g.chance(0.6) {
		ns := &v1.NodeSelector{}
		if g.chance(0.12) { // only names: PreFilter restricts the nodes
			for i := 0; i < g.rng(1, 2); i++ {
				t := g.nodeTerm(true)
				for len(t.MatchFields) == 0 {
					t = g.nodeTerm(true)
				}
				ns.NodeSelectorTerms = append(ns.NodeSelectorTerms, t)
			}
		}
		for i := 0; i < g.rng(1, 3) && (i > 0 || len(ns.NodeSelectorTerms) == 0); i++ {
			ns.NodeSelectorTerms = append(ns.NodeSelectorTerms, g.nodeTerm(true))
		}
		na.RequiredDuringSchedulingIgnoredDuringExecution = ns
	}
	if g.chance(0.7) {
		for i := 0; i < g.rng(1, 4); i++ {
			t := g.nodeTerm(false)
			if g.chance(0.9) && len(t.MatchExpressions) == 0 {
				t.MatchExpressions = []v1.NodeSelectorRequirement{g.nodeReq()}
			}
			na.PreferredDuringSchedulingIgnoredDuringExecution = append(na.PreferredDuringSchedulingIgnoredDuringExecution,
				v1.PreferredSchedulingTerm{Weight: int32(g.pickI(1, 2, 5, 10, 33, 50, 100)), Preference: t})
		}
	}
	p.Spec.Affinity.NodeAffinity = na
}

func genNodeAffinity(g *G) {
	g.stdNamespaces()
	g.affinityNodes(g.rng(4, 14))
	for i := 0; i < g.rng(0, 10); i++ {
		g.existing(g.smallReq(g.newPod("default", "e", nil)), g.anyNode())
	}
	for i := 0; i < g.rng(8, 14); i++ {
		p := g.smallReq(g.newPod("default", "p", nil))
		if g.chance(0.3) {
			p.Spec.NodeSelector = map[string]string{g.pick("disk", "disk", "team"): g.pick("ssd", "hdd", "a", "b")}
			if g.chance(0.3) {
				p.Spec.NodeSelector[zoneLabel] = g.pick(g.zones...)
			}
		}
		if g.chance(0.85) {
			g.nodeAffinity(p)
		}
		g.pend(p)
	}
	if g.chance(0.35) {
		args := J{}
		aa := J{}
		if g.chance(0.6) {
			aa["requiredDuringSchedulingIgnoredDuringExecution"] = J{"nodeSelectorTerms": []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
				{Key: zoneLabel, Operator: v1.NodeSelectorOpIn, Values: g.some(g.zones, 2)}}}}}
		}
		if g.chance(0.7) || len(aa) == 0 {
			aa["preferredDuringSchedulingIgnoredDuringExecution"] = []J{{"weight": g.rng(1, 100), "preference": J{"matchExpressions": []v1.NodeSelectorRequirement{{Key: "disk", Operator: v1.NodeSelectorOpIn, Values: []string{"ssd"}}}}}}
		}
		args["addedAffinity"] = aa
		g.setConfig(J{"pluginConfig": []J{pluginArgs("NodeAffinity", args)}})
	}
}

// ---------------------------------------------------------------- taints

func genTaints(g *G) {
	g.stdNamespaces()
	effects := []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute}
	for i := 0; i < g.rng(4, 14); i++ {
		g.randNode(i, func(n *v1.Node) {
			seen := map[string]bool{}
			for j := 0; j < g.pickI(0, 1, 1, 2, 3); j++ {
				k, e := g.pick("dedicated", "gpu", "spot", "maintenance"), effects[g.Intn(3)]
				if seen[k+string(e)] {
					continue
				}
				seen[k+string(e)] = true
				n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: k, Value: g.pick("", "true", "team-a", "team-b"), Effect: e})
			}
			if g.chance(0.15) {
				n.Spec.Unschedulable = true
				if g.chance(0.7) {
					n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
				}
			}
			if g.chance(0.1) {
				n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoExecute})
			}
		})
	}
	for i := 0; i < g.rng(0, 10); i++ {
		g.existing(g.smallReq(g.newPod("default", "e", nil)), g.anyNode())
	}
	for i := 0; i < g.rng(8, 14); i++ {
		p := g.smallReq(g.newPod("default", "p", nil))
		for j := 0; j < g.pickI(0, 1, 2, 3); j++ {
			t := v1.Toleration{Key: g.pick("dedicated", "gpu", "spot", "maintenance", v1.TaintNodeUnschedulable), Operator: v1.TolerationOpEqual, Value: g.pick("", "true", "team-a", "team-b")}
			if g.chance(0.5) {
				t.Operator = v1.TolerationOpExists
				t.Value = ""
				if g.chance(0.1) {
					t.Key = ""
				}
			} else if g.chance(0.2) {
				t.Operator = ""
			}
			if g.chance(0.7) {
				t.Effect = effects[g.Intn(3)]
			}
			if t.Effect == v1.TaintEffectNoExecute && g.chance(0.4) {
				t.TolerationSeconds = ptr.To[int64](int64(g.rng(0, 600)))
			}
			p.Spec.Tolerations = append(p.Spec.Tolerations, t)
		}
		if g.chance(0.08) {
			p.Spec.NodeSelector = map[string]string{zoneLabel: g.pick(g.zones...)}
		}
		g.pend(p)
	}
}

// ---------------------------------------------------------------- inter-pod affinity

func genImageLocality(g *G) {
	g.stdNamespaces()
	imgs := []string{"registry.example.com/app:v1", "registry.example.com/big:v2", "docker.io/library/nginx:1.27", "quay.io/x/y@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "registry.example.com/tiny:latest", "registry.example.com/huge:v9"}
	size := map[string]int64{}
	for _, im := range imgs {
		size[im] = []int64{5 << 20, 23 << 20, 24 << 20, 150 << 20, 700 << 20, 1000 << 20, 1200 << 20, 3000 << 20}[g.Intn(8)]
	}
	n := g.rng(3, 14)
	for i := 0; i < n; i++ {
		g.randNode(i, func(nd *v1.Node) {
			for _, im := range imgs {
				if g.chance(0.4) {
					ci := v1.ContainerImage{Names: []string{im}, SizeBytes: size[im]}
					if g.chance(0.3) {
						ci.Names = append(ci.Names, "mirror.local/"+fmt.Sprint(i)+"/alias:v1")
					}
					if g.chance(0.1) {
						ci.SizeBytes += 50 << 20
					}
					nd.Status.Images = append(nd.Status.Images, ci)
				}
			}
			if g.chance(0.35) {
				nd.Spec.Taints = append(nd.Spec.Taints, v1.Taint{Key: "t", Effect: v1.TaintEffectNoSchedule})
			}
			if g.chance(0.3) {
				nd.Labels["disk"] = "ssd"
			}
		})
	}
	for i := 0; i < g.rng(8, 12); i++ {
		p := g.newPod("default", "p", nil)
		if g.chance(0.2) {
			p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		}
		if g.chance(0.2) {
			p.Spec.Tolerations = []v1.Toleration{{Key: "t", Operator: v1.TolerationOpExists}}
		}
		nc := g.rng(1, 4)
		p.Spec.Containers = nil
		for j := 0; j < nc; j++ {
			im := imgs[g.Intn(len(imgs))]
			switch g.Intn(8) {
			case 0:
				im = "registry.example.com/app" // no tag: :latest is appended
			case 1:
				im = "registry.example.com/tiny"
			case 2:
				im = "registry.example.com/absent:v1"
			}
			c := v1.Container{Name: fmt.Sprintf("c%d", j), Image: im}
			setReq(&c, "cpu", "100m", "memory", "100Mi")
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
		if g.chance(0.3) {
			p.Spec.InitContainers = []v1.Container{{Name: "init", Image: imgs[g.Intn(len(imgs))]}}
		}
		if g.chance(0.2) {
			p.Spec.Volumes = []v1.Volume{{Name: "img", VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: imgs[g.Intn(len(imgs))]}}}}
		}
		g.pend(p)
	}
	if g.chance(0.5) {
		g.setConfig(J{"plugins": J{"score": J{"disabled": []J{{"name": "ImageLocality"}}, "enabled": []J{{"name": "ImageLocality", "weight": g.rng(1, 20)}}}}})
	}
}

// ---------------------------------------------------------------- node ports

func (g *G) ports(p *v1.Pod) {
	used := map[string]bool{}
	for i := range p.Spec.Containers {
		for j := 0; j < g.pickI(1, 1, 2, 3); j++ {
			cp := v1.ContainerPort{ContainerPort: int32(g.pickI(80, 8080, 9000))}
			if g.chance(0.85) {
				cp.HostPort = int32(g.pickI(80, 8080, 9000, 9001))
			}
			cp.HostIP = g.pick("", "", "0.0.0.0", "127.0.0.1", "10.0.0.1", "10.0.0.2")
			cp.Protocol = v1.Protocol(g.pick("TCP", "TCP", "UDP", "SCTP"))
			k := fmt.Sprintf("%v/%v/%v", cp.HostPort, cp.HostIP, cp.Protocol)
			if used[k] {
				continue
			}
			used[k] = true
			p.Spec.Containers[i].Ports = append(p.Spec.Containers[i].Ports, cp)
		}
	}
}

func genNodePorts(g *G) {
	g.stdNamespaces()
	for i := 0; i < g.rng(2, 6); i++ {
		g.randNode(i)
	}
	mk := func(prefix string) *v1.Pod {
		p := g.smallReq(g.newPod("default", prefix, nil))
		if g.chance(0.3) {
			p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: "c1", Image: "registry.example.com/app:v1"})
		}
		g.ports(p)
		if g.chance(0.15) {
			p.Spec.HostNetwork = true
			for i := range p.Spec.Containers {
				for j := range p.Spec.Containers[i].Ports {
					p.Spec.Containers[i].Ports[j].HostPort = p.Spec.Containers[i].Ports[j].ContainerPort
				}
			}
		}
		if g.chance(0.15) {
			p.Spec.InitContainers = []v1.Container{{Name: "side", Image: "registry.example.com/app:v1", RestartPolicy: ptr.To(v1.ContainerRestartPolicyAlways), Ports: []v1.ContainerPort{{ContainerPort: 8080, HostPort: int32(g.pickI(8080, 9001)), Protocol: v1.ProtocolTCP}}}}
			if p.Spec.HostNetwork {
				p.Spec.InitContainers[0].Ports[0].HostPort = 8080
			}
		}
		if g.chance(0.08) {
			p.Spec.InitContainers = append(p.Spec.InitContainers, v1.Container{Name: "plain", Image: "registry.example.com/app:v1", Ports: []v1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: v1.ProtocolTCP}}})
		}
		return p
	}
	for i := 0; i < g.rng(4, 20); i++ {
		g.existing(mk("e"), g.anyNode())
	}
	for i := 0; i < g.rng(8, 16); i++ {
		g.pend(mk("p"))
	}
}

// ---------------------------------------------------------------- gates

func genGates(g *G) {
	g.stdNamespaces()
	for i := 0; i < g.rng(2, 6); i++ {
		g.randNode(i, func(nd *v1.Node) {
			if g.chance(0.3) {
				nd.Spec.Taints = append(nd.Spec.Taints, v1.Taint{Key: "t", Effect: v1.TaintEffectNoSchedule})
			}
			nd.Labels["disk"] = g.pick("ssd", "hdd")
		})
	}
	for i := 0; i < g.rng(6, 12); i++ {
		p := g.smallReq(g.newPod("default", "p", g.appLabels()))
		if g.chance(0.3) {
			p.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		}
		if g.chance(0.4) {
			for j := 0; j < g.rng(1, 3); j++ {
				p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, v1.PodSchedulingGate{Name: fmt.Sprintf("example.com/gate-%d", j)})
			}
		} else if g.chance(0.3) {
			// a claim which does not exist: DynamicResources rejects at PreEnqueue
			p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "dev", ResourceClaimName: ptr.To("missing-claim")}}
			p.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "dev"}}
		} else if g.chance(0.2) {
			// a template whose claim has not been created yet
			p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "dev", ResourceClaimTemplateName: ptr.To("tpl")}}
			p.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "dev"}}
		}
		if g.chance(0.2) {
			setReq(&p.Spec.Containers[0], "cpu", "50")
		}
		g.pend(p)
	}
}

// ---------------------------------------------------------------- nominated pods
