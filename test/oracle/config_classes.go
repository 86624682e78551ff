package main

import (
	"fmt"
	"strings"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"sigs.k8s.io/yaml"
)

type cfgClass struct {
	name string
	n    int
	fn   func(g *G) string
}

const certPEM = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="

var cfgClasses = []cfgClass{
	{"minimal", 1, head("")},
	{"random", 110, func(g *G) string { return g.randConfig() }},
	{"random-json", 8, func(g *G) string {
		b, _ := yaml.YAMLToJSON([]byte(g.randConfig()))
		return string(b)
	}},
	{"plugins", 60, func(g *G) string { return oneProfile(J{"plugins": g.randPlugins()}) }},
	{"not-a-config", 12, alt("", "\n", "# nothing\n", "null\n", "[]\n", "hello\n", "42\n", "---\n", "{}\n", "- a\n- b\n", "\"\"\n", "true\n")},
	{"typemeta", 9, alt(
		"kind: KubeSchedulerConfiguration\n",
		"apiVersion: kubescheduler.config.k8s.io/v1\n",
		"parallelism: 3\n",
		"apiVersion: 1\nkind: KubeSchedulerConfiguration\n",
		"apiVersion: kubescheduler.config.k8s.io/v1\nkind: [a]\n",
		"apiVersion: \"\"\nkind: KubeSchedulerConfiguration\n",
		"apiVersion: kubescheduler.config.k8s.io/v1\nkind: \"\"\n",
		"apiVersion: a/b/c\nkind: KubeSchedulerConfiguration\n",
		"ApiVersion: kubescheduler.config.k8s.io/v1\nKind: KubeSchedulerConfiguration\n")},
	{"version", 10, func(g *G) string {
		v := []string{"kubescheduler.config.k8s.io/v1beta3", "kubescheduler.config.k8s.io/v1beta2", "kubescheduler.config.k8s.io/v1beta1", "kubescheduler.config.k8s.io/v1alpha1", "kubescheduler.config.k8s.io/v2", "v1", "kubescheduler.config.k8s.io/__internal", "kubescheduler.config.k8s.io", "kubecontrollermanager.config.k8s.io/v1", "componentconfig/v1alpha1"}[g.seq%10]
		s := "apiVersion: " + v + "\nkind: KubeSchedulerConfiguration\n"
		if g.chance(0.4) {
			s += "profiles:\n- schedulerName: x\n"
		}
		return s
	}},
	{"kind", 7, func(g *G) string {
		k := []string{"KubeSchedulerConfig", "DefaultPreemptionArgs", "InterPodAffinityArgs", "Pod", "kubeSchedulerConfiguration", "KubeSchedulerConfigurationList", "NodeResourcesFitArgs"}[g.seq%7]
		return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: " + k + "\n"
	}},
	{"unknown-field", 14, headAlt(
		"foo: 1\n", "Parallelism: 4\n", "algorithmSource:\n  provider: DefaultProvider\n", "healthzBindAddress: 0.0.0.0:10251\nmetricsBindAddress: 0.0.0.0:10251\n",
		"profiles:\n- schedulername: x\n", "profiles:\n- schedulerName: x\n  plugin: {}\n", "profiles:\n- plugins:\n    Filter:\n      enabled:\n      - name: NodeName\n",
		"profiles:\n- plugins:\n    filter:\n      enabled:\n      - name: NodeName\n        wieght: 3\n", "leaderElection:\n  leaderElected: true\n", "clientConnection:\n  kubeConfig: x\n",
		"extenders:\n- urlPrefix: http://x\n  filterverb: f\n", "extenders:\n- urlPrefix: http://x\n  tlsConfig:\n    insecureSkipVerify: true\n",
		"profiles:\n- schedulerName: a\n  foo: 1\n- schedulerName: b\n  bar: 2\nbaz: 3\n", "profiles:\n- plugins:\n    postfilter: {}\n    normalizeScore: {}\n")},
	{"duplicate-key", 8, headAlt(
		"parallelism: 1\nparallelism: 2\n", "kind: KubeSchedulerConfiguration\n", "profiles:\n- schedulerName: a\n  schedulerName: b\n", "profiles: []\nprofiles: []\n",
		"profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: 1\n      hardPodAffinityWeight: 2\n",
		"leaderElection:\n  leaderElect: true\n  leaderElect: false\n", "foo: 1\nparallelism: 1\nparallelism: 2\n",
		"profiles:\n- plugins:\n    score:\n      enabled: []\n    score:\n      disabled: []\n")},
	{"wrong-type", 36, headAlt(
		"parallelism: abc\n", "parallelism: 1.5\n", "parallelism: true\n", "parallelism: \"16\"\n", "parallelism: [1]\n", "parallelism: {}\n", "parallelism: null\n", "parallelism: 3000000000\n", "parallelism: -2147483649\n", "parallelism: 1e1\n", "parallelism: 16.0\n", "parallelism: 0x10\n", "parallelism: 010\n", "parallelism: 1_6\n", "parallelism: +16\n",
		"percentageOfNodesToScore: 50%\n", "profiles: {}\n", "profiles: x\n", "profiles:\n- a\n", "profiles:\n- schedulerName: 5\n", "profiles:\n- schedulerName: true\n", "profiles:\n- null\n", "profiles: null\n",
		"leaderElection: []\n", "leaderElection:\n  leaderElect: \"true\"\n", "leaderElection:\n  leaderElect: yes\n", "leaderElection:\n  leaseDuration: 15\n", "leaderElection:\n  leaseDuration: 15x\n", "leaderElection:\n  leaseDuration: \"15\"\n", "clientConnection:\n  qps: fast\n", "clientConnection:\n  burst: 3000000000\n", "clientConnection:\n  qps: 1e40\n",
		"podInitialBackoffSeconds: 9223372036854775808\n", "podMaxBackoffSeconds: 1.5\n", "enableProfiling: 1\n", "extenders: {}\n")},
	{"wrong-type-nested", 12, headAlt(
		"profiles:\n- plugins: []\n", "profiles:\n- plugins:\n    filter: []\n", "profiles:\n- plugins:\n    filter:\n      enabled: NodeName\n", "profiles:\n- plugins:\n    filter:\n      enabled:\n      - NodeName\n", "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeAffinity\n        weight: high\n", "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeAffinity\n        weight: 2147483648\n", "profiles:\n- plugins:\n    score:\n      enabled:\n      - weight: 2\n", "profiles:\n- pluginConfig: {}\n", "profiles:\n- pluginConfig:\n  - name: 1\n", "extenders:\n- urlPrefix: 5\n", "extenders:\n- urlPrefix: x\n  weight: 1.5\n", "extenders:\n- urlPrefix: x\n  tlsConfig:\n    caData: \"***\"\n")},
	{"yaml-syntax", 18, headAlt(
		"\tparallelism: 3\n", "parallelism: [1\n", "profiles:\n - schedulerName: a\n- schedulerName: b\n", "parallelism: \"3\n", "profiles:\n  - schedulerName: a\n   plugins: {}\n", "a: b: c\n", "parallelism: *x\n", "? parallelism\n: 3\n", "parallelism: 3\n---\nparallelism: 4\n", "---\nparallelism: 3\n", "...\nfoo: bar\n", "parallelism: !!str 3\n", "parallelism: !!int \"3\"\n", "%YAML 1.1\n", "profiles: &p\n- schedulerName: a\nextenders: *p\n", "parallelism: 3 # comment\n# more\n", "x: &a\n  parallelism: 3\n<<: *a\n", "profiles: [{schedulerName: a}, {schedulerName: b},]\n")},
	{"yaml-style", 12, func(g *G) string {
		l := []string{
			strings.ReplaceAll(cfgHead+"parallelism: 4\n", "\n", "\r\n"),
			"\ufeff" + cfgHead + "parallelism: 4\n",
			"---\n" + cfgHead + "parallelism: 4\n",
			"# c\n\n---\n# d\n" + cfgHead,
			cfgHead + "profiles:\n- schedulerName: \"sch\\u00e9d\"\n",
			cfgHead + "profiles:\n- schedulerName: 'it''s'\n",
			cfgHead + "profiles:\n- schedulerName: >-\n    folded\n    name\n",
			cfgHead + "profiles:\n- schedulerName: |\n    literal\n",
			cfgHead + "profiles:\n- &p\n  schedulerName: a\n  percentageOfNodesToScore: 10\n- <<: *p\n  schedulerName: b\n",
			"{\"apiVersion\": \"kubescheduler.config.k8s.io/v1\", \"kind\": \"KubeSchedulerConfiguration\", \"parallelism\": 4,}",
			"{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, parallelism: 4}",
			"'apiVersion': \"kubescheduler.config.k8s.io/v1\"\n\"kind\": 'KubeSchedulerConfiguration'\n",
		}
		return l[g.seq%len(l)]
	}},
	{"validation-top", 24, func(g *G) string {
		l := []string{
			fmt.Sprintf("parallelism: %d\n", -g.Intn(5)),
			fmt.Sprintf("percentageOfNodesToScore: %d\n", g.pickI(-1, -50)),
			fmt.Sprintf("percentageOfNodesToScore: %d\n", g.pickI(101, 1000)),
			"podInitialBackoffSeconds: 0\n",
			fmt.Sprintf("podInitialBackoffSeconds: %d\n", -g.rng(1, 9)),
			fmt.Sprintf("podInitialBackoffSeconds: %d\npodMaxBackoffSeconds: %d\n", g.rng(5, 9), g.rng(1, 4)),
			fmt.Sprintf("podInitialBackoffSeconds: %d\n", g.rng(11, 99)),
			"podMaxBackoffSeconds: 0\n",
			fmt.Sprintf("clientConnection:\n  burst: %d\n", -g.rng(1, 9)),
			"clientConnection:\n  qps: -1\n",
			"leaderElection:\n  leaseDuration: 10s\n  renewDeadline: 10s\n",
			"leaderElection:\n  leaseDuration: 5s\n",
			"leaderElection:\n  leaseDuration: -5s\n",
			"leaderElection:\n  leaseDuration: 0s\n  renewDeadline: 0s\n  retryPeriod: 0s\n",
			"leaderElection:\n  retryPeriod: -1s\n",
			"leaderElection:\n  resourceLock: endpoints\n",
			"leaderElection:\n  resourceLock: " + g.pick("configmaps", "endpointsleases", "Leases", "lease") + "\n",
			"leaderElection:\n  leaderElect: false\n  resourceLock: endpoints\n  leaseDuration: -1s\n",
			"leaderElection:\n  leaderElect: true\n  leaseDuration: 1m\n  renewDeadline: 45s\n  retryPeriod: 300ms\n  resourceName: a\n  resourceNamespace: b\n",
			fmt.Sprintf("parallelism: 0\npercentageOfNodesToScore: %d\npodInitialBackoffSeconds: -1\npodMaxBackoffSeconds: -2\nclientConnection:\n  burst: -1\n", g.rng(101, 120)),
			"parallelism: 0\nparallelism: 0\n",
			"enableProfiling: false\n", "enableProfiling: false\nenableContentionProfiling: true\n", "enableContentionProfiling: false\n",
		}
		return cfgHead + l[g.seq%len(l)]
	}},
	{"profiles", 14, func(g *G) string {
		l := []string{
			"profiles: []\n", "profiles:\n- {}\n", "profiles:\n- {}\n- {}\n", "profiles:\n- schedulerName: a\n- schedulerName: a\n", "profiles:\n- schedulerName: a\n- schedulerName: b\n- schedulerName: a\n- schedulerName: a\n",
			"profiles:\n- schedulerName: \"\"\n", "profiles:\n- schedulerName: a\n- {}\n", "profiles:\n- schedulerName: a\n- schedulerName: \"\"\n",
			"profiles:\n- schedulerName: a\n  percentageOfNodesToScore: 101\n- schedulerName: b\n  percentageOfNodesToScore: -1\n",
			"profiles:\n- schedulerName: \"Not A DNS Name!\"\n",
			"profiles:\n- schedulerName: a\n  plugins: {}\n  pluginConfig: []\n- schedulerName: b\n  plugins: null\n",
			"profiles:\n- schedulerName: default-scheduler\n- schedulerName: no-scoring\n  plugins:\n    preScore:\n      disabled:\n      - name: '*'\n    score:\n      disabled:\n      - name: '*'\n",
			fmt.Sprintf("profiles:\n- schedulerName: a\n  percentageOfNodesToScore: %d\n- schedulerName: b\n  percentageOfNodesToScore: 0\npercentageOfNodesToScore: %d\n", g.rng(0, 100), g.rng(0, 100)),
			"profiles:\n- schedulerName: a\n  plugins:\n    multiPoint: {}\n",
		}
		return cfgHead + l[g.seq%len(l)]
	}},
	{"queue-sort", 10, func(g *G) string {
		ps := "- name: PrioritySort"
		l := []string{
			"profiles:\n- schedulerName: a\n  plugins:\n    queueSort:\n      enabled:\n      " + ps + "\n- schedulerName: b\n",
			"profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    queueSort:\n      disabled:\n      - name: '*'\n",
			"profiles:\n- plugins:\n    queueSort:\n      disabled:\n      - name: PrioritySort\n",
			"profiles:\n- plugins:\n    queueSort:\n      disabled:\n      - name: '*'\n",
			"profiles:\n- plugins:\n    queueSort:\n      enabled:\n      " + ps + "\n      " + ps + "\n",
			"profiles:\n- plugins:\n    queueSort:\n      enabled:\n      " + ps + "\n      - name: NodeName\n",
			"profiles:\n- plugins:\n    queueSort:\n      enabled:\n      - name: NodeName\n",
			"profiles:\n- plugins:\n    queueSort:\n      enabled:\n      " + ps + "\n",
			"profiles:\n- schedulerName: a\n  plugins:\n    queueSort:\n      enabled:\n      " + ps + "\n- schedulerName: b\n  plugins:\n    queueSort:\n      enabled:\n      " + ps + "\n        weight: 2\n",
			"profiles:\n- plugins:\n    multiPoint:\n      disabled:\n      - name: PrioritySort\n",
		}
		return cfgHead + l[g.seq%len(l)]
	}},
	{"unknown-plugin", 14, func(g *G) string {
		pt := g.pick(allPoints...)
		return oneProfile(J{"plugins": J{pt: J{g.pick("enabled", "enabled", "enabled", "disabled"): []J{{"name": g.pick("Foo", "Coscheduling", "nodename", "NodeResourcesLeastAllocated", "ServiceAffinity", "NodeLabel", "")}}}}})
	}},
	{"removed-plugin", 10, func(g *G) string {
		pt := g.pick("filter", "filter", "multiPoint", "score", "preFilter")
		n := g.pick("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
		switch g.seq % 4 {
		case 0:
			return oneProfile(J{"pluginConfig": []J{{"name": n, "args": J{}}}})
		case 1:
			return oneProfile(J{"plugins": J{pt: J{"disabled": []J{{"name": n}}}}})
		default:
			return oneProfile(J{"plugins": J{pt: J{"enabled": []J{{"name": "NodeName"}, {"name": n}}}}})
		}
	}},
	{"wrong-point", 14, func(g *G) string {
		for {
			pt := g.pick(allPoints[:12]...)
			n := g.pick(allPlugins...)
			ok := false
			for _, x := range pointPlugins[pt] {
				ok = ok || x == n
			}
			if !ok {
				return oneProfile(J{"plugins": J{pt: J{"enabled": []J{{"name": n}}}}})
			}
		}
	}},
	{"duplicate-plugin", 8, func(g *G) string {
		pt := g.pick("filter", "score", "multiPoint", "preFilter", "postFilter")
		c := pointPlugins[pt]
		if pt == "multiPoint" {
			c = allPlugins
		}
		n := g.pick(c...)
		return oneProfile(J{"plugins": J{pt: J{"enabled": []J{{"name": n, "weight": g.rng(1, 3)}, {"name": n, "weight": g.rng(1, 3)}}}}})
	}},
	{"missing-bind", 3, headAlt("profiles:\n- plugins:\n    bind:\n      disabled:\n      - name: '*'\n", "profiles:\n- plugins:\n    bind:\n      disabled:\n      - name: DefaultBinder\n", "profiles:\n- plugins:\n    multiPoint:\n      disabled:\n      - name: DefaultBinder\n")},
	{"weights", 10, func(g *G) string {
		var e []J
		for _, n := range g.some(pointPlugins["score"], g.rng(1, 3)) {
			if n == names.VolumeBinding {
				continue
			}
			e = append(e, J{"name": n, "weight": g.pickI(-1, 0, 1, 2147483647, -2147483648, 1000000, 7)})
		}
		pt := g.pick("score", "multiPoint")
		d := []J{}
		if g.chance(0.5) {
			d = append(d, J{"name": "*"})
			if pt == "multiPoint" {
				e = append(e, J{"name": "PrioritySort"}, J{"name": "DefaultBinder"})
			}
		}
		return oneProfile(J{"plugins": J{pt: J{"enabled": e, "disabled": d}}})
	}},
	{"pluginconfig", 22, headAlt(
		"profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n", "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args: null\n", "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args: {}\n", "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args: 5\n", "profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args: []\n",
		"profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      kind: NodeAffinityArgs\n      apiVersion: kubescheduler.config.k8s.io/v1\n",
		"profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      apiVersion: kubescheduler.config.k8s.io/v1beta3\n      kind: InterPodAffinityArgs\n",
		"profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      kind: InterPodAffinityArgs\n",
		"profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      apiVersion: kubescheduler.config.k8s.io/v1\n",
		"profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      apiVersion: v1\n      kind: Pod\n",
		"profiles:\n- pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: 5\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: 6\n",
		"profiles:\n- pluginConfig:\n  - name: NodeName\n    args:\n      foo: bar\n", "profiles:\n- pluginConfig:\n  - name: NodeName\n", "profiles:\n- pluginConfig:\n  - name: Foo\n    args:\n      a: [1, 2.5, x, null]\n", "profiles:\n- pluginConfig:\n  - args: {}\n", "profiles:\n- pluginConfig:\n  - {}\n",
		"profiles:\n- pluginConfig:\n  - name: Foo\n  - name: Foo\n",
		"profiles:\n- pluginConfig:\n  - name: NodeResourcesFitArgs\n    args: {}\n",
		"profiles:\n- plugins:\n    multiPoint:\n      disabled:\n      - name: InterPodAffinity\n  pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: 7\n",
		"profiles:\n- pluginConfig:\n  - name: PrioritySort\n    args: {a: 1}\n",
		"profiles:\n- pluginConfig:\n  - name: DynamicResources\n    args: {}\n  - name: DefaultPreemption\n    args: {}\n  - name: VolumeBinding\n    args: {}\n  - name: PodTopologySpread\n    args: {}\n  - name: NodeResourcesFit\n    args: {}\n  - name: NodeResourcesBalancedAllocation\n    args: {}\n  - name: NodeAffinity\n    args: {}\n",
		"profiles:\n- schedulerName: a\n  pluginConfig:\n  - name: InterPodAffinity\n    args:\n      foo: 1\n- schedulerName: b\n  pluginConfig:\n  - name: NodeAffinity\n    args:\n      bar: 1\n  - name: VolumeBinding\n    args:\n      baz: 1\nqux: 1\n")},
	{"args-unknown", 12, func(g *G) string {
		n := []string{"DefaultPreemption", "InterPodAffinity", "NodeAffinity", "NodeResourcesBalancedAllocation", "NodeResourcesFit", "PodTopologySpread", "VolumeBinding", "DynamicResources"}[g.seq%8]
		a := J{"foo": 1}
		if g.chance(0.3) {
			a["Bar"] = J{"x": 1}
		}
		return args1(n, a)
	}},
	{"args-wrong-type", 14, func(g *G) string {
		l := []func() string{
			func() string { return args1("DefaultPreemption", J{"minCandidateNodesPercentage": "10"}) },
			func() string { return args1("DefaultPreemption", J{"minCandidateNodesAbsolute": 1.5}) },
			func() string { return args1("InterPodAffinity", J{"hardPodAffinityWeight": true}) },
			func() string { return args1("InterPodAffinity", J{"ignorePreferredTermsOfExistingPods": "false"}) },
			func() string { return args1("NodeAffinity", J{"addedAffinity": []J{}}) },
			func() string { return args1("NodeResourcesBalancedAllocation", J{"resources": J{"cpu": 1}}) },
			func() string { return args1("NodeResourcesFit", J{"scoringStrategy": "LeastAllocated"}) },
			func() string { return args1("NodeResourcesFit", J{"ignoredResources": "a"}) },
			func() string { return args1("PodTopologySpread", J{"defaultConstraints": []J{{"maxSkew": "1"}}}) },
			func() string { return args1("VolumeBinding", J{"bindTimeoutSeconds": "600s"}) },
			func() string { return args1("VolumeBinding", J{"bindTimeoutSeconds": 1e20}) },
			func() string { return args1("DynamicResources", J{"filterTimeout": 10}) },
			func() string { return args1("DynamicResources", J{"filterTimeout": "ten"}) },
			func() string {
				return args1("NodeResourcesFit", J{"scoringStrategy": J{"resources": []J{{"name": "cpu", "weight": "1"}}}})
			},
		}
		return l[g.seq%len(l)]()
	}},
	{"args-preemption", 9, func(g *G) string {
		a := J{}
		if g.chance(0.85) {
			a["minCandidateNodesPercentage"] = g.pickI(-1, 0, 0, 100, 101, 50)
		}
		if g.chance(0.7) {
			a["minCandidateNodesAbsolute"] = g.pickI(-5, 0, 0, 1, 100000)
		}
		return args1("DefaultPreemption", a)
	}},
	{"args-interpod", 6, func(g *G) string {
		return args1("InterPodAffinity", J{"hardPodAffinityWeight": []int{-1, 0, 100, 101, 1000, 42}[g.seq%6]})
	}},
	{"args-fit", 22, func(g *G) string {
		st := func(x J) string { return args1("NodeResourcesFit", J{"scoringStrategy": x}) }
		shape := func(x ...int) []J {
			var l []J
			for i := 0; i+1 < len(x); i += 2 {
				l = append(l, J{"utilization": x[i], "score": x[i+1]})
			}
			return l
		}
		rtc := func(s []J) string {
			return st(J{"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": J{"shape": s}})
		}
		l := []func() string{
			func() string { return st(J{"type": "Foo"}) },
			func() string { return st(J{"type": ""}) },
			func() string { return st(J{}) },
			func() string {
				return st(J{"type": "LeastAllocated", "resources": []J{{"name": "cpu", "weight": g.pickI(101, 1000)}}})
			},
			func() string {
				return st(J{"type": "LeastAllocated", "resources": []J{{"name": "cpu", "weight": -1}, {"name": "memory", "weight": 500}}})
			},
			func() string {
				return st(J{"type": "MostAllocated", "resources": []J{{"name": "cpu"}, {"name": "cpu", "weight": 3}}})
			},
			func() string { return st(J{"type": "MostAllocated", "resources": []J{}}) },
			func() string { return rtc(nil) },
			func() string { return st(J{"type": "RequestedToCapacityRatio"}) },
			func() string { return rtc(shape(0, 0, 100, 10)) },
			func() string { return rtc(shape(100, 0, 0, 10)) },
			func() string { return rtc(shape(0, 0, 0, 10)) },
			func() string { return rtc(shape(-1, 0, 101, 10)) },
			func() string { return rtc(shape(0, -1, 100, 11)) },
			func() string { return rtc(shape(50, 5)) },
			func() string {
				return st(J{"type": "LeastAllocated", "requestedToCapacityRatio": J{"shape": shape(100, 0, 0, 11)}})
			},
			func() string {
				return args1("NodeResourcesFit", J{"ignoredResources": []string{"example.com/foo", g.pick("a b", "-x", "/x", "")}})
			},
			func() string {
				return args1("NodeResourcesFit", J{"ignoredResourceGroups": []string{g.pick("example.com/foo", "a/b/c")}})
			},
			func() string {
				return args1("NodeResourcesFit", J{"ignoredResourceGroups": []string{"example.com", "b_c"}, "ignoredResources": []string{"example.com/foo", "bar"}})
			},
			func() string {
				return st(J{"type": "LeastAllocated", "resources": []J{{"name": "example.com/gpu", "weight": 100}, {"name": "", "weight": 1}}})
			},
			func() string { return st(J{"resources": []J{{"name": "cpu", "weight": 0}}, "type": "LeastAllocated"}) },
			func() string { return st(nil) },
		}
		return l[g.seq%len(l)]()
	}},
	{"args-balanced", 6, func(g *G) string {
		l := [][]J{{{"name": "cpu", "weight": 2}}, {{"name": "cpu"}, {"name": "cpu"}}, {{"name": "cpu", "weight": 1}, {"name": "example.com/gpu", "weight": 0}}, {}, {{"name": "cpu", "weight": -1}, {"name": "memory", "weight": 3}, {"name": "cpu", "weight": 5}}, {{"name": "", "weight": 1}}}
		return args1("NodeResourcesBalancedAllocation", J{"resources": l[g.seq%len(l)]})
	}},
	{"args-spread", 16, func(g *G) string {
		c := func(x ...J) string {
			return args1("PodTopologySpread", J{"defaultConstraints": x, "defaultingType": "List"})
		}
		l := []func() string{
			func() string { return args1("PodTopologySpread", J{"defaultingType": "Foo"}) },
			func() string { return args1("PodTopologySpread", J{"defaultingType": "System"}) },
			func() string { return args1("PodTopologySpread", J{"defaultingType": "List"}) },
			func() string {
				return args1("PodTopologySpread", J{"defaultConstraints": []J{{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}}})
			},
			func() string {
				return c(J{"maxSkew": -g.Intn(3), "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"})
			},
			func() string { return c(J{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}) },
			func() string {
				return c(J{"maxSkew": 1, "topologyKey": g.pick("a b", "/x", "x/"), "whenUnsatisfiable": "DoNotSchedule"})
			},
			func() string { return c(J{"maxSkew": 1, "topologyKey": "a"}) },
			func() string { return c(J{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "Never"}) },
			func() string {
				return c(J{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": J{"matchLabels": J{"a": "b"}}})
			},
			func() string {
				return c(J{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}, J{"maxSkew": 2, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"})
			},
			func() string {
				return c(J{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}, J{"maxSkew": 2, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway"})
			},
			func() string { return c(J{}) },
			func() string {
				return c(J{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3, "nodeTaintsPolicy": "Honor", "matchLabelKeys": []string{"x"}})
			},
			func() string {
				return c(J{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": J{}})
			},
			func() string { return c(J{"maxskew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}) },
		}
		return l[g.seq%len(l)]()
	}},
	{"args-volumebinding", 6, func(g *G) string {
		l := []J{{"bindTimeoutSeconds": -1}, {"bindTimeoutSeconds": 0}, {"shape": []J{{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}}}, {"shape": []J{}}, {"bindTimeoutSeconds": -5, "shape": []J{{"utilization": 0, "score": 0}}}, {"bindTimeoutSeconds": nil}}
		return args1("VolumeBinding", l[g.seq%len(l)])
	}},
	{"args-dra", 5, func(g *G) string {
		return args1("DynamicResources", []J{{"filterTimeout": "-1s"}, {"filterTimeout": "0s"}, {"filterTimeout": "1h0m0.5s"}, {"filterTimeout": nil}, {"filterTimeout": ""}}[g.seq%5])
	}},
	{"args-nodeaffinity", 14, func(g *G) string {
		req := func(t ...J) J {
			return J{"addedAffinity": J{"requiredDuringSchedulingIgnoredDuringExecution": J{"nodeSelectorTerms": t}}}
		}
		ex := func(k, op string, v ...string) J {
			return J{"matchExpressions": []J{{"key": k, "operator": op, "values": v}}}
		}
		l := []J{
			req(), req(ex("a", "In", "b")), req(ex("a", "In")), req(ex("a", "Foo", "b")), req(ex("a", "Exists", "b")), req(ex("a", "Gt", "x")), req(ex("a", "Gt", "1", "2")), req(ex("", "In", "b")), req(ex("a b", "In", "b")), req(ex("a", "In", "b c")),
			req(J{"matchFields": []J{{"key": "metadata.name", "operator": "In", "values": []string{"n"}}}}), req(J{"matchFields": []J{{"key": "metadata.uid", "operator": "In", "values": []string{"n"}}}}),
			{"addedAffinity": J{"preferredDuringSchedulingIgnoredDuringExecution": []J{{"weight": g.pickI(0, 5, 101, -1), "preference": ex("a", "In", "b")}}}},
			{"addedAffinity": J{"preferredDuringSchedulingIgnoredDuringExecution": []J{{"weight": 5, "preference": ex("a", "Lt", "b")}, {"weight": 6, "preference": ex("c", "NotIn")}}, "requiredDuringSchedulingIgnoredDuringExecution": J{"nodeSelectorTerms": []J{ex("a", "Bar", "b")}}}},
		}
		return args1("NodeAffinity", l[g.seq%len(l)])
	}},
	{"extenders", 34, func(g *G) string {
		x := func(l ...J) string { return cfgDoc(J{"extenders": l}) }
		u := "http://127.0.0.1:8888"
		mr := func(l ...J) string { return x(J{"urlPrefix": u, "filterVerb": "f", "managedResources": l}) }
		l := []func() string{
			func() string { return x(J{"urlPrefix": u, "prioritizeVerb": "p"}) },
			func() string { return x(J{"urlPrefix": u, "prioritizeVerb": "p", "weight": -g.rng(1, 5)}) },
			func() string { return x(J{"urlPrefix": u, "filterVerb": "f", "weight": -1}) },
			func() string { return x(J{"urlPrefix": u, "bindVerb": "b"}, J{"urlPrefix": u, "bindVerb": "b"}) },
			func() string {
				return x(J{"urlPrefix": u, "bindVerb": "b"}, J{"urlPrefix": u, "bindVerb": "b"}, J{"urlPrefix": u, "bindVerb": "b", "prioritizeVerb": "p"})
			},
			func() string { return x(J{"urlPrefix": u, "bindVerb": "b"}) },
			func() string { return x(J{}) },
			func() string { return x(J{"urlPrefix": ""}) },
			func() string { return x(J{"urlPrefix": "not a url"}) },
			func() string { return mr(J{"name": "example.com/foo"}, J{"name": "example.com/foo"}) },
			func() string { return mr(J{"name": g.pick("cpu", "memory", "pods", "hugepages-2Mi")}) },
			func() string { return mr(J{"name": g.pick("kubernetes.io/foo", "requests.example.com/foo", "foo")}) },
			func() string { return mr(J{"name": g.pick("example.com/a b", "/foo", "a/b/c", "", "-.com/x")}) },
			func() string {
				return mr(J{"name": "example.com/foo", "ignoredByScheduler": true}, J{"name": "example.com/bar"})
			},
			func() string {
				return cfgDoc(J{"profiles": []J{{"plugins": J{"multiPoint": J{"disabled": []J{{"name": "NodeResourcesFit"}}}}}}, "extenders": []J{{"urlPrefix": u, "managedResources": []J{{"name": "example.com/foo", "ignoredByScheduler": true}}}}})
			},
			func() string {
				return cfgDoc(J{"profiles": []J{{"pluginConfig": []J{{"name": "NodeResourcesFit", "args": J{"ignoredResources": []string{"example.com/zed"}}}}}}, "extenders": []J{{"urlPrefix": u, "managedResources": []J{{"name": "example.com/foo", "ignoredByScheduler": true}}}}})
			},
			func() string { return x(J{"urlPrefix": u, "httpTimeout": "0s"}) },
			func() string { return x(J{"urlPrefix": u, "httpTimeout": g.pick("-1s", "-5m")}) },
			func() string { return x(J{"urlPrefix": u, "httpTimeout": 5}) },
			func() string { return x(J{"urlPrefix": u, "httpTimeout": "5"}) },
			func() string { return x(J{"urlPrefix": u, "httpTimeout": nil}) },
			func() string { return x(J{"urlPrefix": "https://x", "enableHTTPS": true}) },
			func() string {
				return x(J{"urlPrefix": "https://x", "enableHTTPS": true, "tlsConfig": J{"insecure": true, "caData": certPEM}})
			},
			func() string {
				return x(J{"urlPrefix": "https://x", "enableHTTPS": true, "tlsConfig": J{"caData": certPEM}})
			},
			func() string {
				return x(J{"urlPrefix": "https://x", "enableHTTPS": true, "tlsConfig": J{"certData": certPEM}})
			},
			func() string {
				return x(J{"urlPrefix": "https://x", "enableHTTPS": true, "tlsConfig": J{"keyData": certPEM}})
			},
			func() string {
				return x(J{"urlPrefix": "https://x", "enableHTTPS": true, "tlsConfig": J{"certFile": "/no/such/cert", "keyFile": "/no/such/key"}})
			},
			func() string { return x(J{"urlPrefix": "https://x", "tlsConfig": J{"caFile": "/no/such/ca"}}) },
			func() string { return x(J{"urlPrefix": "https://x", "tlsConfig": J{"serverName": "s"}}) },
			func() string {
				return x(J{"urlPrefix": "http://a", "ignorable": true}, J{"urlPrefix": "http://b"}, J{"urlPrefix": "http://c", "ignorable": true}, J{"urlPrefix": "http://d"})
			},
			func() string {
				return x(J{"urlPrefix": u, "filterVerb": "f", "prioritizeVerb": "p", "weight": 1, "preemptVerb": "e", "bindVerb": "b", "enableHTTPS": false, "httpTimeout": "1m30s", "nodeCacheCapable": true, "ignorable": true, "managedResources": []J{{"name": "example.com/foo", "ignoredByScheduler": false}}})
			},
			func() string {
				return x(J{"urlPrefix": u, "managedResources": []J{{"name": "example.com/foo"}}}, J{"urlPrefix": u, "managedResources": []J{{"name": "example.com/foo"}}})
			},
			func() string { return x(J{"urlPrefix": u, "weight": 9223372036854775807, "prioritizeVerb": "p"}) },
			func() string { return x(J{"urlPrefix": u, "managedResources": []J{{"ignoredByScheduler": true}}}) },
		}
		return l[g.seq%len(l)]()
	}},
}
