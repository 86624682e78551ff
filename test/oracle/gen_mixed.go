package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func genMixed(g *G) {
	g.stdNamespaces()
	g.namespace("kube-system")
	n := g.pickI(50, 60, 75, 100, 120, 150, 200)
	effects := []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute}
	for i := 0; i < n; i++ {
		a := rl("cpu", g.pick("2", "4", "8", "3920m"), "memory", g.pick("4Gi", "8Gi", "16Gi", "7918Mi"), "ephemeral-storage", "100Gi", "pods", g.pick("110", "110", "4"))
		if g.chance(0.2) {
			a["example.com/gpu"] = q(g.pick("1", "2", "4"))
		}
		g.node(i, a, func(nd *v1.Node) {
			nd.Labels["disk"] = g.pick("ssd", "hdd")
			nd.Labels["gen"] = g.pick("1", "2", "3")
			nd.Labels["rack"] = fmt.Sprintf("r%d", i%10)
			if g.chance(0.15) {
				nd.Spec.Taints = append(nd.Spec.Taints, v1.Taint{Key: g.pick("dedicated", "spot"), Value: "true", Effect: effects[g.Intn(3)]})
			}
			if g.chance(0.04) {
				nd.Spec.Unschedulable = true
				nd.Spec.Taints = append(nd.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
			}
			if g.chance(0.3) {
				nd.Status.Images = append(nd.Status.Images, v1.ContainerImage{Names: []string{"registry.example.com/app:v1"}, SizeBytes: 400 << 20})
			}
		})
	}
	g.ownersFor("default")
	if g.chance(0.4) {
		g.storageSetup()
	}
	withVol := len(g.o.StorageClasses) > 0
	withDRA := g.chance(0.3)
	if withDRA {
		g.draSetup()
	}
	for i := 0; i < n*g.pickI(1, 1, 2)/2; i++ {
		p := g.newPod(g.pick("default", "default", "team-a", "team-b"), "e", g.appLabels())
		setReq(&p.Spec.Containers[0], "cpu", g.pick("100m", "500m", "1", "2"), "memory", g.pick("128Mi", "1Gi", "2Gi"))
		p.Spec.Priority = ptr.To[int32](int32(g.pickI(0, 0, 10, 100)))
		if g.chance(0.15) {
			g.podAffinity(p, 0.1, 0.4, 0.3, 0.4)
		}
		if g.chance(0.1) {
			g.ports(p)
		}
		g.existing(p, g.anyNode())
	}
	if g.chance(0.5) {
		g.pdb("default")
	}
	two := g.chance(0.25)
	if two {
		g.setConfigs(J{"schedulerName": "default-scheduler"}, J{"schedulerName": "packer", "pluginConfig": []J{pluginArgs("NodeResourcesFit", J{"scoringStrategy": J{"type": "MostAllocated", "resources": g.resWeights(true)}})},
			"plugins": J{"score": J{"disabled": []J{{"name": "NodeResourcesBalancedAllocation"}, {"name": "ImageLocality"}}}}})
	}
	for i := 0; i < g.rng(8, 12); i++ {
		p := g.newPod(g.pick("default", "default", "default", "team-a"), "p", g.appLabels())
		if g.chance(0.3) {
			p = g.richPod("default", "p", g.pickI(1, 2, 3))
			p.Labels = g.appLabels()
		} else {
			setReq(&p.Spec.Containers[0], "cpu", g.pick("100m", "500m", "1", "2", "4"), "memory", g.pick("128Mi", "1Gi", "3Gi", "7Gi"))
		}
		p.Spec.Priority = ptr.To[int32](int32(g.pickI(0, 0, 10, 100, 1000)))
		if g.chance(0.3) {
			g.nodeAffinity(p)
		}
		if g.chance(0.35) {
			g.podAffinity(p, 0.25, 0.4, 0.4, 0.4)
		}
		if g.chance(0.35) {
			g.addSpread(p)
		} else if g.chance(0.5) {
			g.setOwner(p)
		}
		if g.chance(0.3) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: g.pick("dedicated", "spot"), Operator: v1.TolerationOpExists})
		}
		if g.chance(0.15) {
			g.ports(p)
		}
		if withVol && g.chance(0.35) {
			g.volumeFor(p, false)
		}
		if withDRA && p.Namespace == "default" && g.chance(0.3) {
			c := g.claim("claim-"+p.Name, g.claimSpec(), nil)
			useClaim(p, c.Name)
		}
		if g.chance(0.03) {
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
		}
		if g.chance(0.08) {
			p.Status.NominatedNodeName = g.anyNode()
		}
		if two && g.chance(0.4) {
			p.Spec.SchedulerName = "packer"
		}
		g.pend(p)
	}
	g.ephemeralClaims()
}
