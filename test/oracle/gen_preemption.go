package main

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func genNominated(g *G) {
	g.stdNamespaces()
	n := g.rng(3, 8)
	for i := 0; i < n; i++ {
		g.node(i, rl("cpu", g.pick("2", "4"), "memory", "8Gi", "pods", g.pick("110", "4")), withLabels("rack", g.pick("r1", "r2")))
	}
	for i := 0; i < g.rng(0, 8); i++ {
		p := g.newPod("default", "e", g.appLabels())
		setReq(&p.Spec.Containers[0], "cpu", g.pick("200m", "500m", "1"), "memory", "256Mi")
		p.Spec.Priority = ptr.To[int32](int32(g.pickI(0, 10, 100)))
		g.existing(p, g.anyNode())
	}
	for i := 0; i < g.rng(8, 12); i++ {
		p := g.newPod("default", "p", g.appLabels())
		setReq(&p.Spec.Containers[0], "cpu", g.pick("500m", "1", "1500m", "3"), "memory", g.pick("256Mi", "2Gi"))
		p.Spec.Priority = ptr.To[int32](int32(g.pickI(0, 0, 10, 50, 100)))
		if g.chance(0.4) {
			p.Status.NominatedNodeName = g.anyNode()
			if g.chance(0.06) {
				p.Status.NominatedNodeName = "gone-node"
			}
		}
		if g.chance(0.25) {
			g.podAffinity(p, 0.2, 0.1, 0.6, 0.2)
		}
		if g.chance(0.2) {
			p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
		}
		if g.chance(0.2) {
			g.addSpread(p)
		}
		if g.chance(0.1) {
			p.Spec.NodeSelector = map[string]string{"rack": "r1"}
		}
		if g.chance(0.1) {
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{g.anyNode()}}}}}}}}
		}
		g.pend(p)
	}
}

// ---------------------------------------------------------------- preemption

func genPreemption(g *G) {
	g.stdNamespaces()
	prios := map[string]int32{"low": -10, "batch": 0, "mid": 100, "high": 1000, "critical": 100000}
	for _, n := range []string{"low", "batch", "mid", "high", "critical"} {
		g.priorityClass(n, prios[n])
	}
	n := g.rng(3, 10)
	sameStart := g.chance(0.25)
	sameSize := g.chance(0.2)
	uniform := g.chance(0.15) // ties between candidates
	if uniform {
		sameStart, sameSize = true, true
	}
	for i := 0; i < n; i++ {
		g.node(i, rl("cpu", g.pick("2", "4", "4"), "memory", g.pick("4Gi", "8Gi"), "pods", g.pick("110", "110", "5")), func(nd *v1.Node) {
			nd.Labels["rack"] = g.pick("r1", "r2", "r3")
			if g.chance(0.1) {
				nd.Spec.Taints = append(nd.Spec.Taints, v1.Taint{Key: "dedicated", Value: "x", Effect: v1.TaintEffectNoSchedule})
			}
			if g.chance(0.15) {
				nd.Labels["disk"] = "ssd"
			}
		})
	}
	mk := func(prefix, cls string) *v1.Pod {
		p := g.newPod(g.pick("default", "default", "team-a"), prefix, g.appLabels())
		p.Spec.PriorityClassName = cls
		p.Spec.Priority = ptr.To(prios[cls])
		return p
	}
	// fill the nodes
	for _, nd := range g.o.Nodes {
		cpu := nd.Status.Allocatable.Cpu().MilliValue()
		for k := 0; k < 10 && cpu > 0 && (uniform || g.chance(0.93)); k++ {
			p := mk("e", g.pick("low", "batch", "batch", "mid", "mid", "high"))
			if uniform {
				p = mk("e", "batch")
			}
			m := int64(g.pickI(100, 250, 500, 500, 1000, 1500))
			if sameSize {
				m = 500
			}
			if m > cpu {
				m = cpu
			}
			cpu -= m
			setReq(&p.Spec.Containers[0], "cpu", fmt.Sprintf("%dm", m), "memory", g.pick("64Mi", "256Mi", "512Mi", "1Gi"))
			if g.chance(0.12) {
				p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: int32(g.pickI(8080, 9090))}}
			}
			if g.chance(0.12) {
				g.podAffinity(p, 0, 0.1, 0.7, 0.1)
			}
			t := metav1.NewTime(baseTime.Add(time.Duration(g.npod*7919%5000) * time.Second))
			if sameStart {
				t = metav1.NewTime(baseTime)
			}
			p.Status.StartTime = &t
			if g.chance(0.08) {
				dt := metav1.NewTime(baseTime.Add(time.Hour * 2))
				p.DeletionTimestamp = &dt
				p.DeletionGracePeriodSeconds = ptr.To[int64](30)
				p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: g.pick(v1.PodReasonPreemptionByScheduler, "EvictionByEvictionAPI"), LastTransitionTime: metav1.NewTime(baseTime)})
			}
			g.existing(p, nd.Name)
		}
	}
	for i := 0; i < g.rng(0, 3); i++ {
		g.pdb(g.pick("default", "default", "team-a"))
	}
	for i := 0; i < g.rng(5, 10); i++ {
		p := mk("p", g.pick("batch", "mid", "high", "high", "critical", "critical"))
		setReq(&p.Spec.Containers[0], "cpu", g.pick("500m", "1", "1500m", "2", "3", "5"), "memory", g.pick("256Mi", "1Gi", "2Gi"))
		if g.chance(0.12) {
			p.Spec.PreemptionPolicy = ptr.To(v1.PreemptNever)
		}
		if g.chance(0.2) {
			g.podAffinity(p, 0.2, 0.1, 0.6, 0.1)
		}
		if g.chance(0.15) {
			g.addSpread(p)
		}
		if g.chance(0.15) {
			p.Spec.NodeSelector = map[string]string{"rack": g.pick("r1", "r2")}
		}
		if g.chance(0.1) {
			p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
		}
		if g.chance(0.2) {
			p.Status.NominatedNodeName = g.anyNode()
			for _, x := range g.o.Pods {
				if x.DeletionTimestamp != nil && *x.Spec.Priority < *p.Spec.Priority && g.chance(0.7) {
					p.Status.NominatedNodeName = x.Spec.NodeName
					break
				}
			}
		}
		g.pend(p)
	}
	if g.chance(0.12) {
		g.setConfig(J{"plugins": J{"postFilter": J{"disabled": []J{{"name": "DefaultPreemption"}}}}})
	}
}
