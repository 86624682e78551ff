//go:build schedulerplugins

package main

import (
	"encoding/json"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The profiles of scheduler-plugins take the place of kube-scheduler's own.
func init() {
	profiles = map[string]profileFn{
		"capacityscheduling":   genCapacityScheduling,
		"networkoverhead":      genNetworkOverhead,
		"noderesourcetopology": genNodeResourceTopology,
		"preemptiontoleration": genPreemptionToleration,
		"sysched":              genSySched,
		"allplugins":           genAllPlugins,
	}
}

// custom adds a custom resource.
func (g *G) custom(apiVersion, kind, namespace, name string, fields J) {
	meta := J{"name": name, "uid": fmt.Sprintf("%s-%s-%s", kind, namespace, name), "resourceVersion": "1", "creationTimestamp": "2025-01-01T00:00:00Z"}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	object := J{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
	for k, v := range fields {
		object[k] = v
	}
	// Numbers as a decoder gives them.
	text, _ := json.Marshal(object)
	o := &customObj{}
	if err := o.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	g.o.Custom = append(g.o.Custom, o)
}

// enable is a profile with plugins at all of their points. preempts: the plugin takes the place of DefaultPreemption.
func (g *G) enable(config []J, preempts bool, names ...string) {
	enabled := []J{}
	for _, name := range names {
		entry := J{"name": name}
		if g.chance(0.4) {
			entry["weight"] = g.rng(1, 5)
		}
		enabled = append(enabled, entry)
	}
	multi := J{"enabled": enabled}
	if preempts {
		multi["disabled"] = []J{{"name": "DefaultPreemption"}}
	}
	g.setConfig(J{"plugins": J{"multiPoint": multi}, "pluginConfig": config})
}

// ---------------------------------------------------------------- PreemptionToleration

func (g *G) tolerations() {
	for _, class := range g.o.PriorityClasses {
		if g.chance(0.3) {
			continue
		}
		class.Annotations = map[string]string{}
		if g.chance(0.8) {
			class.Annotations["preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority"] =
				g.pick("0", "100", "1000", "100000", "100001", "-5", "x", "99999999999")
		}
		if g.chance(0.8) {
			class.Annotations["preemption-toleration.scheduling.x-k8s.io/toleration-seconds"] =
				g.pick("0", "60", "2000", "3000", "3600", "3600", "3000000000", "10000000000", "-1", "-1", "", "1.5")
		}
	}
	g.c.Now = &metav1.Time{Time: baseTime.Add(time.Hour)}
	for _, p := range g.o.Pods {
		if g.chance(0.7) {
			p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(baseTime.Add(time.Duration(g.Intn(1000)) * time.Second))})
		}
		if g.chance(0.02) {
			p.Spec.PriorityClassName = "gone"
		}
		if g.chance(0.05) {
			p.Spec.PriorityClassName = ""
		}
	}
}

func genPreemptionToleration(g *G) {
	genPreemption(g)
	g.tolerations()
	config := []J{}
	if g.chance(0.5) {
		config = append(config, pluginArgs("PreemptionToleration", J{"minCandidateNodesPercentage": g.rng(1, 100)}))
	}
	g.enable(config, true, "PreemptionToleration")
}

// ---------------------------------------------------------------- CapacityScheduling

func (g *G) quota(namespace string) {
	amounts := func(cpu, memory, gpu []string) J {
		list := J{"cpu": g.pick(cpu...), "memory": g.pick(memory...)}
		if v := g.pick(gpu...); v != "" {
			list["example.com/gpu"] = v
		}
		return list
	}
	spec := J{}
	if g.chance(0.93) {
		spec["min"] = amounts([]string{"1", "2", "4", "6", "8"}, []string{"2Gi", "8Gi", "16Gi", "32Gi"}, []string{"", "", "2", "4"})
	}
	if g.chance(0.8) {
		spec["max"] = amounts([]string{"4", "8", "16", "16", "32"}, []string{"8Gi", "32Gi", "64Gi"}, []string{"", "", "4", "8"})
	}
	g.custom("scheduling.x-k8s.io/v1alpha1", "ElasticQuota", namespace, "quota", J{"spec": spec})
}

func genCapacityScheduling(g *G) {
	g.stdNamespaces()
	for _, n := range []string{"team-a", "team-b", "team-c"} {
		if g.chance(0.85) {
			g.quota(n)
		}
	}
	gpus := g.chance(0.5)
	for i, n := 0, g.rng(2, 6); i < n; i++ {
		a := rl("cpu", g.pick("2", "4", "4", "8"), "memory", g.pick("8Gi", "16Gi"), "pods", g.pick("110", "110", "6"))
		if gpus && g.chance(0.7) {
			a["example.com/gpu"] = q(g.pick("2", "4"))
		}
		g.node(i, a)
	}
	mk := func(prefix string) *v1.Pod {
		p := g.newPod(g.pick("team-a", "team-a", "team-b", "team-b", "team-c", "default"), prefix, g.appLabels())
		p.Spec.Priority = ptr.To(int32(g.pickI(-10, 0, 0, 10, 100, 1000)))
		setReq(&p.Spec.Containers[0], "cpu", g.pick("100m", "250m", "500m", "1", "1500m"), "memory", g.pick("64Mi", "512Mi", "1Gi", "2Gi"))
		if gpus && g.chance(0.2) {
			setReq(&p.Spec.Containers[0], "example.com/gpu", g.pick("1", "1", "2"))
		}
		if g.chance(0.1) {
			p.Spec.InitContainers = []v1.Container{{Name: "i0", Image: "registry.example.com/app:v1"}}
			setReq(&p.Spec.InitContainers[0], "cpu", g.pick("200m", "2"))
			if g.chance(0.5) {
				p.Spec.InitContainers[0].RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
			}
		}
		return p
	}
	for _, nd := range g.o.Nodes {
		for k := g.rng(0, 8); k > 0; k-- {
			p := mk("e")
			t := metav1.NewTime(baseTime.Add(time.Duration(g.npod*7919%5000) * time.Second))
			p.Status.StartTime = &t
			g.existing(p, nd.Name)
		}
	}
	for i := g.rng(0, 3); i > 0; i-- {
		g.pdb(g.pick("team-a", "team-b"))
	}
	for i := g.rng(5, 10); i > 0; i-- {
		p := mk("p")
		if g.chance(0.3) {
			setReq(&p.Spec.Containers[0], "cpu", g.pick("2", "3", "5"))
		}
		if g.chance(0.1) {
			p.Spec.PreemptionPolicy = ptr.To(v1.PreemptNever)
		}
		if g.chance(0.15) {
			p.Status.NominatedNodeName = g.anyNode()
		}
		if g.chance(0.15) {
			g.podAffinity(p, 0.2, 0.1, 0.6, 0.1)
		}
		g.pend(p)
	}
	g.enable(nil, true, "CapacityScheduling")
}

// ---------------------------------------------------------------- NetworkOverhead

const workloads = 5

func (g *G) appGroup(namespace, name string) {
	members := []J{}
	for w := 0; w < workloads; w++ {
		dependencies := []J{}
		for i := g.rng(0, 3); i > 0; i-- {
			dependencies = append(dependencies, J{"workload": workload(g.Intn(workloads)), "maxNetworkCost": g.pickI(0, 5, 10, 20, 60, 100), "minBandwidth": "0"})
		}
		members = append(members, J{"workload": workload(w), "dependencies": dependencies})
	}
	order := []J{}
	for i, w := range g.Perm(workloads) {
		order = append(order, J{"workload": workload(i), "index": w})
	}
	g.custom("appgroup.diktyo.x-k8s.io/v1alpha1", "AppGroup", namespace, name, J{
		"spec":   J{"numMembers": workloads, "topologySortingAlgorithm": "KahnSort", "workloads": members},
		"status": J{"topologyOrder": order}})
}

func workload(i int) J {
	return J{"kind": "Deployment", "name": fmt.Sprint("w", i), "selector": fmt.Sprint("w", i), "apiVersion": "apps/v1", "namespace": "default"}
}

func (g *G) networkTopology(namespace, name string) {
	costs := func(names ...string) []J {
		origins := []J{}
		for _, from := range names {
			list := []J{}
			for _, to := range names {
				if from != to && g.chance(0.85) {
					list = append(list, J{"destination": to, "networkCost": g.pickI(1, 5, 8, 15, 30, 80, 120), "bandwidthCapacity": "1Gi", "bandwidthAllocated": "0"})
				}
			}
			origins = append(origins, J{"origin": from, "costList": list})
		}
		g.Shuffle(len(origins), func(i, j int) { origins[i], origins[j] = origins[j], origins[i] })
		return origins
	}
	weights := []J{}
	for _, name := range g.some([]string{"UserDefined", "UserDefined", "Measured"}, 2) {
		weights = append(weights, J{"name": name, "topologyList": []J{
			{"topologyKey": zoneLabel, "originList": costs("z1", "z2", "z3", "z4")},
			{"topologyKey": regionLabel, "originList": costs("r1", "r2")}}})
	}
	g.custom("networktopology.diktyo.x-k8s.io/v1alpha1", "NetworkTopology", namespace, name,
		J{"spec": J{"weights": weights, "configmapName": "costs"}})
}

func (g *G) appPod(prefix string) *v1.Pod {
	labels := map[string]string{"app": "web"}
	if g.chance(0.9) {
		labels["appgroup.diktyo.x-k8s.io"] = g.pick("shop", "shop", "shop", "bank")
		labels["appgroup.diktyo.x-k8s.io.workload"] = fmt.Sprint("w", g.Intn(workloads+1))
	}
	return g.smallReq(g.newPod(g.pick("default", "team-a"), prefix, labels))
}

func (g *G) network() []J {
	other := g.pick("default", "team-a")
	g.appGroup("default", "shop")
	g.appGroup(other, "bank")
	g.networkTopology("default", "nt-default")
	args := J{"namespaces": []string{"default", "team-a"}}
	if g.chance(0.3) {
		g.networkTopology(other, "nt-own")
		args["networkTopologyName"] = "nt-own"
	}
	if g.chance(0.3) {
		args["weightsName"] = g.pick("Measured", "UserDefined", "None")
	}
	return []J{pluginArgs("NetworkOverhead", args)}
}

func genNetworkOverhead(g *G) {
	g.stdNamespaces()
	g.zones = []string{"z1", "z2", "z3", "z4"}
	for i, n := 0, g.rng(3, 9); i < n; i++ {
		g.randNode(i, func(nd *v1.Node) {
			if g.chance(0.1) {
				delete(nd.Labels, zoneLabel)
			}
			if g.chance(0.1) {
				delete(nd.Labels, regionLabel)
			}
		})
	}
	config := g.network()
	for i := g.rng(0, 8); i > 0; i-- {
		g.existing(g.appPod("e"), g.anyNode())
	}
	for i := g.rng(4, 9); i > 0; i-- {
		g.pend(g.appPod("p"))
	}
	g.enable(config, false, "NetworkOverhead")
}

// ---------------------------------------------------------------- all together

func genAllPlugins(g *G) {
	g.stdNamespaces()
	for _, n := range []string{"batch", "mid", "high"} {
		g.priorityClass(n, map[string]int32{"batch": 0, "mid": 100, "high": 1000}[n])
	}
	config := append(g.network(), pluginArgs("NodeResourcesAllocatable", J{"mode": g.pick("Least", "Most")}))
	numa := g.numaConfig()
	for i, n := 0, g.rng(3, 8); i < n; i++ {
		g.numaNode(i)
	}
	mk := func(prefix string) *v1.Pod {
		p := g.numaPod(prefix)
		p.Namespace = g.pick("default", "team-a", "team-b")
		p.Spec.PriorityClassName = g.pick("batch", "mid", "high")
		p.Spec.Priority = ptr.To(map[string]int32{"batch": 0, "mid": 100, "high": 1000}[p.Spec.PriorityClassName])
		if g.chance(0.5) {
			p.Labels = g.appPod("x").Labels
		}
		return p
	}
	for i := g.rng(0, 12); i > 0; i-- {
		g.existing(mk("e"), g.anyNode())
	}
	for i := g.rng(4, 9); i > 0; i-- {
		g.pend(mk("p"))
	}
	config = append(config, numa)
	names := []string{"NodeResourceTopologyMatch", "NodeResourcesAllocatable", "NetworkOverhead", "PodState"}
	preempts := g.chance(0.7)
	if preempts && g.chance(0.5) {
		g.tolerations()
		names = append(names, "PreemptionToleration")
	} else if preempts {
		g.quota("team-a")
		g.quota("team-b")
		names = append(names, "CapacityScheduling")
	}
	g.enable(config, preempts, names...)
}
