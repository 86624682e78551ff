package main

import (
	"fmt"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"sigs.k8s.io/yaml"
)

const cfgHead = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

func head(s string) func(*G) string { return func(*G) string { return cfgHead + s } }

// alt picks one of the texts in turn, so that each occurs.
func alt(l ...string) func(g *G) string {
	return func(g *G) string { return l[g.seq%len(l)] }
}

func headAlt(l ...string) func(g *G) string {
	return func(g *G) string { return cfgHead + l[g.seq%len(l)] }
}

func toYAML(o interface{}) string {
	b, err := yaml.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func cfgDoc(top J) string {
	top["apiVersion"] = "kubescheduler.config.k8s.io/v1"
	top["kind"] = "KubeSchedulerConfiguration"
	return toYAML(top)
}

func oneProfile(p J) string { return cfgDoc(J{"profiles": []J{p}}) }

func args1(name string, a J) string {
	return oneProfile(J{"pluginConfig": []J{{"name": name, "args": a}}})
}

var allPoints = []string{"preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind", "postBind", "multiPoint"}

// which in-tree plugins implement which point
var pointPlugins = map[string][]string{
	"preEnqueue": {names.SchedulingGates, names.DefaultPreemption, names.DynamicResources},
	"queueSort":  {names.PrioritySort},
	"preFilter":  {names.NodeAffinity, names.NodePorts, names.NodeResourcesFit, names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone, names.PodTopologySpread, names.InterPodAffinity, names.DynamicResources},
	"filter":     {names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit, names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone, names.PodTopologySpread, names.InterPodAffinity, names.DynamicResources},
	"postFilter": {names.DefaultPreemption, names.DynamicResources},
	"preScore":   {names.TaintToleration, names.NodeAffinity, names.NodeResourcesFit, names.VolumeBinding, names.PodTopologySpread, names.InterPodAffinity, names.NodeResourcesBalancedAllocation},
	"score":      {names.TaintToleration, names.NodeAffinity, names.NodeResourcesFit, names.VolumeBinding, names.PodTopologySpread, names.InterPodAffinity, names.NodeResourcesBalancedAllocation, names.ImageLocality},
	"reserve":    {names.VolumeBinding, names.DynamicResources},
	"preBind":    {names.VolumeBinding, names.DynamicResources},
	"bind":       {names.DefaultBinder},
}

var allPlugins = []string{names.SchedulingGates, names.PrioritySort, names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit, names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone, names.PodTopologySpread, names.InterPodAffinity, names.DynamicResources, names.DefaultPreemption, names.NodeResourcesBalancedAllocation, names.ImageLocality, names.DefaultBinder}

func (g *G) pluginList(l []string, weights bool) []J {
	var r []J
	for _, n := range l {
		j := J{"name": n}
		if weights && g.chance(0.6) {
			j["weight"] = g.pickI(0, 1, 2, 3, 5, 10, 100)
		}
		r = append(r, j)
	}
	return r
}

// randPlugins is a random valid Plugins value (mostly).
func (g *G) randPlugins() J {
	pl := J{}
	if g.chance(0.6) {
		mp := J{}
		switch g.Intn(4) {
		case 0:
			mp["disabled"] = []J{{"name": "*"}}
			keep := append([]string{names.PrioritySort, names.DefaultBinder}, g.some([]string{names.NodeResourcesFit, names.TaintToleration, names.NodeAffinity, names.NodeName, names.VolumeBinding, names.InterPodAffinity, names.ImageLocality, names.DefaultPreemption, names.DynamicResources}, g.rng(0, 5))...)
			mp["enabled"] = g.pluginList(keep, true)
		case 1:
			var d []J
			for _, n := range g.some(allPlugins, g.rng(1, 4)) {
				if n != names.PrioritySort && n != names.DefaultBinder || g.chance(0.15) {
					d = append(d, J{"name": n})
				}
			}
			mp["disabled"] = d
		case 2: // re-configured
			mp["enabled"] = g.pluginList(g.some(allPlugins, g.rng(1, 4)), true)
		default: // disabled and enabled again: moves to the end
			l := g.some(allPlugins, g.rng(1, 3))
			mp["disabled"] = g.pluginList(l, false)
			mp["enabled"] = g.pluginList(l, true)
		}
		pl["multiPoint"] = mp
	}
	for _, pt := range allPoints[:12] {
		c := pointPlugins[pt]
		if len(c) == 0 || !g.chance(0.25) {
			continue
		}
		s := J{}
		switch g.Intn(5) {
		case 0:
			if pt != "queueSort" && pt != "bind" || g.chance(0.2) {
				s["disabled"] = []J{{"name": "*"}}
			}
			if g.chance(0.6) {
				s["enabled"] = g.pluginList(g.some(c, g.rng(1, 3)), pt == "score")
			}
		case 1:
			if pt != "queueSort" && pt != "bind" {
				s["disabled"] = g.pluginList(g.some(c, g.rng(1, 3)), false)
			}
		case 2:
			s["enabled"] = g.pluginList(g.some(c, g.rng(1, 4)), pt == "score")
		default:
			l := g.some(c, g.rng(1, 3))
			if pt != "queueSort" && pt != "bind" || len(l) > 0 {
				s["disabled"] = g.pluginList(l, false)
				s["enabled"] = g.pluginList(l, pt == "score")
			}
		}
		pl[pt] = s
	}
	return pl
}

func (g *G) i32() int { return g.pickI(0, 1, 2, 5, 10, 16, 33, 50, 99, 100) }

func (g *G) randArgs() []J {
	var l []J
	add := func(n string, a J) {
		if g.chance(0.3) {
			a["apiVersion"] = "kubescheduler.config.k8s.io/v1"
			a["kind"] = n + "Args"
		}
		l = append(l, J{"name": n, "args": a})
	}
	if g.chance(0.4) {
		add(names.DefaultPreemption, J{"minCandidateNodesPercentage": g.i32(), "minCandidateNodesAbsolute": g.rng(1, 200)})
	}
	if g.chance(0.4) {
		a := J{"hardPodAffinityWeight": g.i32()}
		if g.chance(0.5) {
			a["ignorePreferredTermsOfExistingPods"] = g.chance(0.5)
		}
		add(names.InterPodAffinity, a)
	}
	if g.chance(0.4) {
		st := J{"type": g.pick("LeastAllocated", "MostAllocated")}
		if g.chance(0.4) {
			st = J{"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": J{"shape": g.shape()}}
		}
		if g.chance(0.7) {
			rs := g.resWeights(true)
			if g.chance(0.3) {
				delete(rs[0], "weight")
			}
			st["resources"] = rs
		}
		a := J{"scoringStrategy": st}
		if g.chance(0.3) {
			a["ignoredResources"] = []string{"example.com/foo"}
			a["ignoredResourceGroups"] = []string{"example.com"}
		}
		add(names.NodeResourcesFit, a)
	}
	if g.chance(0.3) {
		rs := g.resWeights(true)
		for i := range rs {
			rs[i]["weight"] = g.pickI(0, 1)
		}
		add(names.NodeResourcesBalancedAllocation, J{"resources": rs})
	}
	if g.chance(0.3) {
		add(names.PodTopologySpread, J{"defaultingType": "List", "defaultConstraints": []J{{"maxSkew": g.rng(1, 5), "topologyKey": g.pick(zoneLabel, hostLabel), "whenUnsatisfiable": g.pick("DoNotSchedule", "ScheduleAnyway")}}})
	}
	if g.chance(0.3) {
		add(names.VolumeBinding, J{"bindTimeoutSeconds": g.pickI(0, 1, 300, 600, 100000)})
	}
	if g.chance(0.3) {
		add(names.DynamicResources, J{"filterTimeout": g.pick("0s", "5s", "1m30s", "250ms")})
	}
	if g.chance(0.2) {
		add(names.NodeAffinity, J{"addedAffinity": J{"requiredDuringSchedulingIgnoredDuringExecution": J{"nodeSelectorTerms": []J{{"matchExpressions": []J{{"key": "disk", "operator": "In", "values": []string{"ssd"}}}}}}}})
	}
	if g.chance(0.1) {
		l = append(l, J{"name": "OutOfTree", "args": J{"foo": "bar", "n": g.rng(1, 9)}})
	}
	return l
}

func (g *G) ext(i int) J {
	e := J{"urlPrefix": fmt.Sprintf("http://ext-%d.example.com:8080/scheduler", i)}
	if g.chance(0.7) {
		e["filterVerb"] = "filter"
	}
	if g.chance(0.5) {
		e["prioritizeVerb"] = "prioritize"
		e["weight"] = g.rng(1, 10)
	}
	if g.chance(0.3) {
		e["preemptVerb"] = "preempt"
	}
	if g.chance(0.5) {
		e["httpTimeout"] = g.pick("0s", "100ms", "5s", "1m30s", "1h", "1.5s")
	}
	if g.chance(0.4) {
		e["nodeCacheCapable"] = true
	}
	if g.chance(0.4) {
		e["ignorable"] = true
	}
	if g.chance(0.3) {
		e["enableHTTPS"] = true
		if g.chance(0.6) {
			e["tlsConfig"] = J{"insecure": true, "serverName": "ext"}
		}
	}
	if g.chance(0.5) {
		e["managedResources"] = []J{{"name": fmt.Sprintf("example.com/r%d", i), "ignoredByScheduler": g.chance(0.5)}}
	}
	return e
}

func (g *G) randConfig() string {
	top := J{}
	if g.chance(0.4) {
		top["parallelism"] = g.rng(1, 64)
	}
	if g.chance(0.4) {
		top["percentageOfNodesToScore"] = g.rng(0, 100)
	}
	if g.chance(0.3) {
		top["podInitialBackoffSeconds"] = g.rng(1, 5)
		top["podMaxBackoffSeconds"] = g.rng(5, 60)
	}
	if g.chance(0.3) {
		le := J{"leaderElect": g.chance(0.5)}
		if g.chance(0.5) {
			le["leaseDuration"], le["renewDeadline"], le["retryPeriod"] = g.pick("20s", "1m", "15s"), "10s", "2s"
		}
		if g.chance(0.3) {
			le["resourceName"], le["resourceNamespace"] = "sched", "ns"
		}
		top["leaderElection"] = le
	}
	if g.chance(0.3) {
		top["clientConnection"] = J{"qps": g.pickI(0, 20, 1000), "burst": g.rng(0, 400), "kubeconfig": g.pick("", "/etc/kubernetes/scheduler.conf"), "contentType": g.pick("", "application/json")}
	}
	if g.chance(0.2) {
		top["enableProfiling"] = g.chance(0.5)
	}
	if g.chance(0.2) {
		top["enableContentionProfiling"] = g.chance(0.5)
	}
	if g.chance(0.2) {
		top["delayCacheUntilActive"] = true
	}
	n := g.pickI(0, 1, 1, 1, 2, 3)
	var profs []J
	for i := 0; i < n; i++ {
		p := J{}
		if n > 1 || g.chance(0.5) {
			p["schedulerName"] = fmt.Sprintf("sched-%d", i)
		}
		if g.chance(0.3) {
			p["percentageOfNodesToScore"] = g.rng(0, 100)
		}
		if g.chance(0.75) {
			p["plugins"] = g.randPlugins()
			if n > 1 {
				delete(p["plugins"].(J), "queueSort")
			}
		}
		if g.chance(0.6) {
			if a := g.randArgs(); len(a) > 0 {
				p["pluginConfig"] = a
			}
		}
		profs = append(profs, p)
	}
	if n > 0 {
		top["profiles"] = profs
	}
	if g.chance(0.25) {
		var l []J
		for i := 0; i < g.rng(1, 3); i++ {
			l = append(l, g.ext(i))
		}
		top["extenders"] = l
	}
	return cfgDoc(top)
}
