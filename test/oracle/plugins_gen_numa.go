//go:build schedulerplugins

package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// ---------------------------------------------------------------- NodeResourceTopologyMatch

func (g *G) numaConfig() J {
	args := J{}
	if g.chance(0.8) {
		strategy := J{"type": g.pick("LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes", "LeastNUMANodes")}
		if g.chance(0.5) {
			resources := []J{}
			for _, name := range g.some([]string{"cpu", "memory", "example.com/gpu", "hugepages-2Mi"}, g.rng(1, 4)) {
				resources = append(resources, J{"name": name, "weight": g.rng(1, 5)})
			}
			strategy["resources"] = resources
		}
		args["scoringStrategy"] = strategy
	}
	return pluginArgs("NodeResourceTopologyMatch", args)
}

// numaNode adds a node and mostly what its kubelet publishes about its cells.
func (g *G) numaNode(i int) {
	cells := g.pickI(1, 2, 2, 2, 4, 4, 8)
	gpus, huge := g.chance(0.6), g.chance(0.4)
	cpu, memory := g.pickI(4, 8, 16), g.pickI(8, 16, 32)
	alloc := rl("cpu", fmt.Sprint(cpu*cells), "memory", fmt.Sprintf("%dGi", memory*cells), "ephemeral-storage", "100Gi", "pods", "110")
	if gpus {
		alloc["example.com/gpu"] = q(fmt.Sprint(4 * cells))
	}
	if huge {
		alloc["hugepages-2Mi"] = q(fmt.Sprintf("%dMi", 512*cells))
	}
	if g.chance(0.2) {
		alloc["example.com/plain"] = q("8")
	}
	node := g.node(i, alloc)
	if g.chance(0.1) {
		return
	}
	costs := g.chance(0.6)
	zones := []J{}
	for c := 0; c < cells; c++ {
		resources := []J{}
		add := func(name, capacity, available string) {
			resources = append(resources, J{"name": name, "capacity": capacity, "allocatable": capacity, "available": available})
		}
		if g.chance(0.97) {
			add("cpu", fmt.Sprint(cpu), g.pick(fmt.Sprint(cpu), fmt.Sprint(g.rng(0, cpu)), fmt.Sprintf("%dm", 1000*cpu-250)))
		}
		if g.chance(0.97) {
			add("memory", fmt.Sprintf("%dGi", memory), fmt.Sprintf("%dMi", 1024*memory-g.rng(0, 1024*memory)))
		}
		if gpus && (costs || c == 0 || g.chance(0.8)) {
			add("example.com/gpu", "4", fmt.Sprint(g.rng(0, 4)))
		}
		if huge {
			add("hugepages-2Mi", "512Mi", fmt.Sprintf("%dMi", 2*g.rng(0, 256)))
		}
		zone := J{"name": fmt.Sprint("node-", c), "type": "Node", "resources": resources}
		if costs {
			list := []J{}
			for to := 0; to < cells; to++ {
				value := g.pickI(12, 20, 21, 30)
				if to == c {
					value = 10
				}
				if g.chance(0.95) {
					list = append(list, J{"name": fmt.Sprint("node-", to), "value": value})
				}
			}
			zone["costs"] = list
		}
		zones = append(zones, zone)
	}
	if g.chance(0.1) {
		zones = append(zones, J{"name": "die-0", "type": "Die"})
	}
	if g.chance(0.2) {
		g.Shuffle(len(zones), func(i, j int) { zones[i], zones[j] = zones[j], zones[i] })
	}
	fields := J{"zones": zones}
	if g.chance(0.2) {
		fields["topologyPolicies"] = []string{g.pick("SingleNUMANodePodLevel", "SingleNUMANodeContainerLevel", "BestEffortPodLevel", "RestrictedContainerLevel", "None", "Odd")}
	}
	if g.chance(0.85) {
		attributes := []J{}
		add := func(name string, values ...string) {
			attributes = append(attributes, J{"name": name, "value": g.pick(values...)})
		}
		add("topologyManagerPolicy", "single-numa-node", "single-numa-node", "single-numa-node", "single-numa-node", "restricted", "best-effort", "none", "odd")
		if g.chance(0.8) {
			add("topologyManagerScope", "container", "container", "pod", "pod", "odd")
		}
		if g.chance(0.3) {
			add("topologyManagerMaxNUMANodes", "8", "16", "1", "0", "-3", "4", "2000", "x")
		}
		fields["attributes"] = attributes
	}
	g.custom("topology.node.k8s.io/v1alpha2", "NodeResourceTopology", "", node.Name, fields)
}

// numaPod is a pod of one of the three classes of service, for container by container.
func (g *G) numaPod(prefix string) *v1.Pod {
	p := g.newPod("default", prefix, g.appLabels())
	for i := 1; i < g.pickI(1, 1, 2, 3); i++ {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: fmt.Sprint("c", i), Image: "registry.example.com/app:v1"})
	}
	for i := 0; i < g.pickI(0, 0, 0, 1, 2); i++ {
		c := v1.Container{Name: fmt.Sprint("i", i), Image: "registry.example.com/app:v1"}
		if g.chance(0.4) {
			c.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	kind := g.pick("Guaranteed", "Guaranteed", "Guaranteed", "Burstable", "BestEffort")
	fill := func(c *v1.Container) {
		if kind != "BestEffort" {
			setReq(c, "cpu", g.pick("1", "1", "2", "3", "4", "6", "500m", "1500m"), "memory", g.pick("256Mi", "1Gi", "2Gi", "6Gi"))
		}
		if kind == "Guaranteed" {
			if g.chance(0.15) {
				setReq(c, "hugepages-2Mi", g.pick("64Mi", "256Mi", "400Mi"))
			}
			c.Resources.Limits = c.Resources.Requests.DeepCopy()
		}
		if g.chance(0.2) {
			setReq(c, "example.com/gpu", g.pick("1", "1", "2", "3"))
		}
		if g.chance(0.05) {
			setReq(c, "example.com/plain", "1")
		}
		if g.chance(0.05) && c.Resources.Requests != nil {
			c.Resources.Requests["ephemeral-storage"] = q("1Gi")
		}
	}
	for i := range p.Spec.Containers {
		fill(&p.Spec.Containers[i])
	}
	for i := range p.Spec.InitContainers {
		fill(&p.Spec.InitContainers[i])
	}
	if g.chance(0.1) {
		p.Spec.RuntimeClassName = ptr.To("kata")
		p.Spec.Overhead = rl("cpu", g.pick("250m", "1"), "memory", "128Mi")
	}
	return p
}

func genNodeResourceTopology(g *G) {
	g.stdNamespaces()
	config := g.numaConfig()
	for i, n := 0, g.rng(3, 9); i < n; i++ {
		g.numaNode(i)
	}
	for i := g.rng(0, 6); i > 0; i-- {
		g.existing(g.numaPod("e"), g.anyNode())
	}
	for i := g.rng(5, 10); i > 0; i-- {
		g.pend(g.numaPod("p"))
	}
	g.enable([]J{config}, false, "NodeResourceTopologyMatch")
}
