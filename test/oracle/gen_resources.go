package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// ---------------------------------------------------------------- resources

func (g *G) randReqs(c *v1.Container, scale int) {
	if g.chance(0.12) {
		return // best effort
	}
	if g.chance(0.9) {
		setReq(c, "cpu", fmt.Sprintf("%dm", g.pickI(1, 10, 100, 250, 333, 500, 750, 1000, 1500)*scale))
	}
	if g.chance(0.85) {
		setReq(c, "memory", g.pick("1", "1k", "64Mi", "100M", "128Mi", "200Mi", "333Mi", "500Mi", "1Gi", "1500M", "2Gi"))
	}
	if g.chance(0.06) {
		setReq(c, "cpu", g.pick("0", "0.5", "1e0", "1100u", "999999n", "0.1", "1.5"))
	}
	if g.chance(0.06) {
		setReq(c, "memory", g.pick("0", "128974848000m", "0.5Gi", "1e9", "1.5G", "1001m"))
	}
	if g.chance(0.25) {
		setReq(c, "ephemeral-storage", g.pick("1Gi", "5Gi", "500Mi", "20Gi", "8G"))
	}
	if g.chance(0.2) {
		c.Resources.Limits = v1.ResourceList{"cpu": q("4")}
		if r, ok := c.Resources.Requests["cpu"]; ok && r.Cmp(q("4")) > 0 {
			c.Resources.Limits["cpu"] = r
		}
	}
	if g.chance(0.05) { // limits only: requests are defaulted from limits
		c.Resources = v1.ResourceRequirements{Limits: v1.ResourceList{"cpu": q("300m"), "memory": q("256Mi")}}
	}
}

func (g *G) richPod(ns, prefix string, scale int) *v1.Pod {
	p := g.newPod(ns, prefix, map[string]string{"app": g.pick("a", "b", "c")})
	n := g.rng(1, 3)
	p.Spec.Containers = nil
	for i := 0; i < n; i++ {
		c := v1.Container{Name: fmt.Sprintf("c%d", i), Image: "registry.example.com/app:v1"}
		g.randReqs(&c, scale)
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	if g.chance(0.3) {
		for i := 0; i < g.rng(1, 3); i++ {
			c := v1.Container{Name: fmt.Sprintf("i%d", i), Image: "registry.example.com/init:v1"}
			g.randReqs(&c, g.rng(1, 2)*scale)
			if g.chance(0.5) {
				c.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	}
	if g.chance(0.15) {
		p.Spec.Overhead = rl("cpu", g.pick("50m", "250m"), "memory", g.pick("32Mi", "120Mi"))
	}
	if g.chance(0.25) {
		setReq(&p.Spec.Containers[0], "example.com/gpu", fmt.Sprint(g.rng(1, 4)))
	}
	if g.chance(0.08) {
		setReq(&p.Spec.Containers[0], "vendor.io/fpga", "1")
	}
	if g.chance(0.12) {
		setReq(&p.Spec.Containers[0], "cpu", "100m", "memory", "64Mi", "hugepages-2Mi", g.pick("2Mi", "32Mi", "128Mi"))
	} else if g.chance(0.05) {
		setReq(&p.Spec.Containers[0], "cpu", "100m", "memory", "64Mi", "hugepages-1Gi", "1Gi")
	}
	if g.chance(0.12) {
		// pod-level resources, at least as large as the sum of the containers
		p.Spec.Resources = &v1.ResourceRequirements{Requests: rl("cpu", fmt.Sprintf("%dm", g.pickI(4000, 5000, 7000)), "memory", g.pick("6Gi", "8Gi"))}
		if g.chance(0.5) {
			p.Spec.InitContainers = nil
			for i := range p.Spec.Containers {
				p.Spec.Containers[i].Resources = v1.ResourceRequirements{}
			}
			p.Spec.Resources.Requests = rl("cpu", g.pick("300m", "1", "2500m"), "memory", g.pick("100Mi", "1Gi", "3Gi"))
			if g.chance(0.4) {
				delete(p.Spec.Resources.Requests, "memory")
				setReq(&p.Spec.Containers[0], "memory", "200Mi")
			}
		}
	}
	return p
}

func (g *G) resourceNodes(n int) {
	for i := 0; i < n; i++ {
		a := rl("cpu", g.pick("1", "2", "4", "3920m", "500m", "8", "16"), "memory", g.pick("1Gi", "2Gi", "4Gi", "7918Mi", "16Gi", "3000000Ki"),
			"ephemeral-storage", g.pick("10Gi", "47093746742", "100Gi", ""), "pods", g.pick("2", "3", "5", "8", "110", "110"))
		if g.chance(0.4) {
			a["example.com/gpu"] = q(g.pick("0", "1", "2", "4", "8"))
		}
		if g.chance(0.15) {
			a["vendor.io/fpga"] = q("2")
		}
		if g.chance(0.35) {
			a["hugepages-2Mi"] = q(g.pick("0", "64Mi", "1Gi"))
		}
		if g.chance(0.2) {
			a["hugepages-1Gi"] = q("2Gi")
		}
		g.node(i, a)
	}
}

func (g *G) resizeStatus(p *v1.Pod) {
	// In-place resize in progress: the status has actual and allocated resources.
	for _, c := range p.Spec.Containers {
		act := rl("cpu", g.pick("100m", "800m", "2"), "memory", g.pick("64Mi", "1Gi"))
		cs := v1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true, Resources: &v1.ResourceRequirements{Requests: act}, AllocatedResources: act.DeepCopy()}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, cs)
	}
	if g.chance(0.4) {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: g.pick(v1.PodReasonInfeasible, v1.PodReasonDeferred), LastTransitionTime: metav1.NewTime(baseTime)})
	}
}

func genResources(g *G) {
	g.stdNamespaces()
	g.resourceNodes(g.rng(4, 12))
	for i := 0; i < g.rng(0, 20); i++ {
		p := g.richPod("default", "e", 1)
		if g.chance(0.12) {
			g.resizeStatus(p)
		}
		if g.chance(0.05) {
			p.Status.Phase = v1.PodSucceeded
		}
		g.existing(p, g.anyNode())
	}
	for i := 0; i < g.rng(6, 12); i++ {
		g.pend(g.richPod("default", "p", g.pickI(1, 1, 2, 3)))
	}
	if g.chance(0.2) {
		g.setConfig(J{"pluginConfig": []J{pluginArgs("NodeResourcesFit", J{
			"ignoredResources": []string{"vendor.io/fpga"}, "ignoredResourceGroups": []string{g.pick("example.com", "other.io")}})}})
	}
}

// ---------------------------------------------------------------- scoring

func (g *G) resWeights(withGPU bool) []J {
	var l []J
	for _, r := range []string{"cpu", "memory", "ephemeral-storage", "example.com/gpu"} {
		if (r == "cpu" && g.chance(0.9)) || (r == "memory" && g.chance(0.85)) || (r == "ephemeral-storage" && g.chance(0.25)) || (r == "example.com/gpu" && withGPU && g.chance(0.5)) {
			l = append(l, J{"name": r, "weight": g.pickI(1, 1, 2, 3, 5, 10, 100)})
		}
	}
	if len(l) == 0 {
		l = append(l, J{"name": "cpu", "weight": 1})
	}
	return l
}

func (g *G) shape() []J {
	switch g.Intn(5) {
	case 0:
		return []J{{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}}
	case 1:
		return []J{{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}}
	case 2:
		return []J{{"utilization": 0, "score": 2}, {"utilization": 40, "score": 10}, {"utilization": 80, "score": 3}, {"utilization": 100, "score": 0}}
	case 3:
		return []J{{"utilization": 50, "score": 7}}
	default:
		var l []J
		u := g.rng(0, 20)
		for u <= 100 && len(l) < 6 {
			l = append(l, J{"utilization": u, "score": g.rng(0, 10)})
			u += g.rng(5, 35)
		}
		return l
	}
}

func genScoring(g *G) {
	g.stdNamespaces()
	n := g.rng(4, 14)
	for i := 0; i < n; i++ {
		a := rl("cpu", g.pick("2", "4", "8", "16", "3920m"), "memory", g.pick("4Gi", "8Gi", "16Gi", "32Gi", "7918Mi"), "ephemeral-storage", g.pick("20Gi", "100Gi", ""), "pods", g.pick("110", "110", "6"))
		if g.chance(0.5) {
			a["example.com/gpu"] = q(g.pick("1", "2", "4", "8"))
		}
		if g.chance(0.1) {
			a["memory"] = q("0")
		}
		g.node(i, a)
	}
	for i := 0; i < g.rng(0, 25); i++ {
		g.existing(g.richPod("default", "e", 1), g.anyNode())
	}
	for i := 0; i < g.rng(6, 12); i++ {
		g.pend(g.richPod("default", "p", g.pickI(1, 1, 2)))
	}
	var pc []J
	switch g.Intn(4) {
	case 0:
		pc = append(pc, pluginArgs("NodeResourcesFit", J{"scoringStrategy": J{"type": "LeastAllocated", "resources": g.resWeights(true)}}))
	case 1:
		pc = append(pc, pluginArgs("NodeResourcesFit", J{"scoringStrategy": J{"type": "MostAllocated", "resources": g.resWeights(true)}}))
	case 2, 3:
		pc = append(pc, pluginArgs("NodeResourcesFit", J{"scoringStrategy": J{"type": "RequestedToCapacityRatio", "resources": g.resWeights(true), "requestedToCapacityRatio": J{"shape": g.shape()}}}))
	}
	if g.chance(0.6) {
		rs := g.resWeights(true)
		for i := range rs {
			rs[i]["weight"] = 1
		}
		pc = append(pc, pluginArgs("NodeResourcesBalancedAllocation", J{"resources": rs}))
	}
	prof := J{"pluginConfig": pc}
	if g.chance(0.4) {
		prof["plugins"] = J{"score": J{"disabled": []J{{"name": "NodeResourcesFit"}, {"name": "NodeResourcesBalancedAllocation"}},
			"enabled": []J{{"name": "NodeResourcesFit", "weight": g.rng(1, 20)}, {"name": "NodeResourcesBalancedAllocation", "weight": g.rng(1, 9)}}}}
	} else if g.chance(0.2) {
		prof["plugins"] = J{"score": J{"disabled": []J{{"name": "*"}}, "enabled": []J{{"name": "NodeResourcesFit", "weight": 1}}}}
	}
	g.setConfig(prof)
}

// ---------------------------------------------------------------- node affinity
