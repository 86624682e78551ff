package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	api "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	internalresource "k8s.io/kubernetes/pkg/apis/resource"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	"k8s.io/kubernetes/pkg/apis/resource/validation"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/utils/ptr"
)

var baseTime = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	hostLabel   = "kubernetes.io/hostname"
	zoneLabel   = "topology.kubernetes.io/zone"
	regionLabel = "topology.kubernetes.io/region"
)

// G generates one case.
type G struct {
	*rand.Rand
	c       *Case
	o       *Objects
	seq     int
	npod    int
	zones   []string
	invalid int

	ephemeral []ephemeralRef
	allocated []string
	templated []templRef
}

type profileFn func(g *G)

// profileGates are the feature gates a profile needs, besides the defaults of the version. Generate and
// run each of these profiles in its own process.
var profileGates = map[string]map[string]bool{}

var profiles = map[string]profileFn{
	"resources":        genResources,
	"scoring":          genScoring,
	"nodeaffinity":     genNodeAffinity,
	"taints":           genTaints,
	"interpodaffinity": genInterPodAffinity,
	"topologyspread":   genTopologySpread,
	"imagelocality":    genImageLocality,
	"nodeports":        genNodePorts,
	"volumes":          genVolumes,
	"gates":            genGates,
	"nominated":        genNominated,
	"preemption":       genPreemption,
	"dra":              genDRA,
	"mixed":            genMixed,
}

func profileNames() []string {
	var l []string
	for k := range profiles {
		l = append(l, k)
	}
	sort.Strings(l)
	return l
}

func cmdGen(seed int64, cases int, prof, out string) error {
	list := []string{prof}
	if prof == "all" {
		list = nil
		for _, p := range profileNames() {
			if len(profileGates[p]) == 0 {
				list = append(list, p)
			}
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, p := range list {
		fn, ok := profiles[p]
		if !ok {
			return fmt.Errorf("unknown profile %q", p)
		}
		f, err := os.Create(filepath.Join(out, p+".jsonl"))
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		invalid := 0
		setGates(profileGates[p])
		for i := 0; i < cases; i++ {
			h := fnv.New64a()
			fmt.Fprintf(h, "%s/%d", p, seed+int64(i))
			c := &Case{Name: fmt.Sprintf("%s-%d", p, seed+int64(i)), FeatureGates: profileGates[p]}
			g := &G{Rand: rand.New(rand.NewSource(int64(h.Sum64() >> 1))), c: c, o: &c.Objects, zones: []string{"z1", "z2", "z3"}}
			fn(g)
			if reproducible {
				for _, p := range c.Pods {
					fixTimes(p)
				}
			}
			invalid += g.invalid
			b, err := json.Marshal(c)
			if err != nil {
				return err
			}
			w.Write(b)
			w.WriteByte('\n')
		}
		if err := w.Flush(); err != nil {
			return err
		}
		f.Close()
		if invalid > 0 {
			fmt.Fprintf(os.Stderr, "%s: %d invalid objects dropped\n", p, invalid)
		}
	}
	return nil
}

// ---------------------------------------------------------------- basics

func (g *G) chance(p float64) bool   { return g.Float64() < p }
func (g *G) rng(lo, hi int) int      { return lo + g.Intn(hi-lo+1) }
func (g *G) pick(l ...string) string { return l[g.Intn(len(l))] }
func (g *G) pickI(l ...int) int      { return l[g.Intn(len(l))] }
func (g *G) some(l []string, n int) []string {
	p := g.Perm(len(l))
	if n > len(l) {
		n = len(l)
	}
	r := make([]string, 0, n)
	for _, i := range p[:n] {
		r = append(r, l[i])
	}
	return r
}

func q(s string) resource.Quantity { return resource.MustParse(s) }

func (g *G) meta(m *metav1.ObjectMeta) {
	g.seq++
	m.UID = types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", g.seq))
	m.CreationTimestamp = metav1.NewTime(baseTime.Add(time.Duration(g.seq) * time.Second))
	m.ResourceVersion = fmt.Sprint(1000 + g.seq)
}

// def runs the apiserver's defaulting and sets the type meta.
func (g *G) def(o runtime.Object) {
	legacyscheme.Scheme.Default(o)
	gvks, _, err := legacyscheme.Scheme.ObjectKinds(o)
	if err == nil && len(gvks) > 0 {
		o.GetObjectKind().SetGroupVersionKind(gvks[0])
	}
}

func (g *G) drop(kind, name string, err interface{}) {
	g.invalid++
	if os.Getenv("ORACLE_VERBOSE") != "" {
		fmt.Fprintf(os.Stderr, "%s: invalid %s %s: %v\n", g.c.Name, kind, name, err)
	}
}

// ---------------------------------------------------------------- config

type J = map[string]interface{}

func (g *G) setConfig(profile J) {
	if _, ok := profile["schedulerName"]; !ok {
		profile["schedulerName"] = "default-scheduler"
	}
	g.setConfigs(profile)
}

func (g *G) setConfigs(profiles ...J) {
	b, _ := json.Marshal(J{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles})
	g.c.Config = b
}

func pluginArgs(name string, args J) J {
	args["apiVersion"] = "kubescheduler.config.k8s.io/v1"
	args["kind"] = name + "Args"
	return J{"name": name, "args": args}
}

// ---------------------------------------------------------------- nodes

type nodeOpt func(n *v1.Node)

func rl(kv ...string) v1.ResourceList {
	r := v1.ResourceList{}
	for i := 0; i+1 < len(kv); i += 2 {
		if kv[i+1] != "" {
			r[v1.ResourceName(kv[i])] = q(kv[i+1])
		}
	}
	return r
}

func (g *G) node(i int, alloc v1.ResourceList, opts ...nodeOpt) *v1.Node {
	name := fmt.Sprintf("node-%03d", i)
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		hostLabel: name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
	}}}
	if len(g.zones) > 0 {
		n.Labels[zoneLabel] = g.zones[i%len(g.zones)]
		n.Labels[regionLabel] = "r" + fmt.Sprint(1+(i%len(g.zones))/2)
	}
	if alloc == nil {
		alloc = rl("cpu", "4", "memory", "8Gi", "ephemeral-storage", "100Gi", "pods", "110")
	}
	if _, ok := alloc["pods"]; !ok {
		alloc["pods"] = q("110")
	}
	n.Status.Allocatable = alloc
	n.Status.Capacity = alloc.DeepCopy()
	n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady",
		LastHeartbeatTime: metav1.NewTime(baseTime), LastTransitionTime: metav1.NewTime(baseTime)}}
	for _, f := range opts {
		f(n)
	}
	g.meta(&n.ObjectMeta)
	g.def(n)
	var in api.Node
	if err := legacyscheme.Scheme.Convert(n, &in, nil); err != nil {
		panic(err)
	}
	if errs := corevalidation.ValidateNode(&in); len(errs) > 0 {
		g.drop("node", name, errs)
		return n
	}
	g.o.Nodes = append(g.o.Nodes, n)
	return n
}

func (g *G) randNode(i int, opts ...nodeOpt) *v1.Node {
	a := rl("cpu", g.pick("2", "4", "8", "3920m", "1"), "memory", g.pick("4Gi", "8Gi", "16Gi", "7918Mi", "2Gi"), "ephemeral-storage", "100Gi", "pods", g.pick("110", "110", "30", "8"))
	return g.node(i, a, opts...)
}

func withLabels(kv ...string) nodeOpt {
	return func(n *v1.Node) {
		for i := 0; i+1 < len(kv); i += 2 {
			n.Labels[kv[i]] = kv[i+1]
		}
	}
}

func withTaint(k, v string, e v1.TaintEffect) nodeOpt {
	return func(n *v1.Node) { n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: k, Value: v, Effect: e}) }
}

// ---------------------------------------------------------------- pods

func (g *G) newPod(ns, prefix string, labels map[string]string) *v1.Pod {
	g.npod++
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", prefix, g.npod), Namespace: ns, Labels: labels}}
	p.Spec.Containers = []v1.Container{{Name: "c0", Image: "registry.example.com/app:v1"}}
	return p
}

func setReq(c *v1.Container, kv ...string) {
	if c.Resources.Requests == nil {
		c.Resources.Requests = v1.ResourceList{}
	}
	for k, v := range rl(kv...) {
		c.Resources.Requests[k] = v
		if strings.Contains(string(k), "hugepages") || strings.Contains(string(k), "/") {
			if c.Resources.Limits == nil {
				c.Resources.Limits = v1.ResourceList{}
			}
			c.Resources.Limits[k] = v
		}
	}
}

func (g *G) smallReq(p *v1.Pod) *v1.Pod {
	setReq(&p.Spec.Containers[0], "cpu", g.pick("50m", "100m", "250m", "500m"), "memory", g.pick("64Mi", "128Mi", "256Mi", "500Mi"))
	return p
}

// finish applies what the apiserver does on creation.
func (g *G) finish(p *v1.Pod) bool {
	g.meta(&p.ObjectMeta)
	if p.Spec.Priority == nil {
		p.Spec.Priority = ptr.To[int32](0)
	}
	if p.Spec.PreemptionPolicy == nil {
		p.Spec.PreemptionPolicy = ptr.To(v1.PreemptLowerPriority)
	}
	has := map[string]bool{}
	for _, t := range p.Spec.Tolerations {
		has[t.Key] = true
	}
	for _, k := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		if !has[k] && !has[""] {
			p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: k, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)})
		}
	}
	status := p.Status.DeepCopy()
	nodeName := p.Spec.NodeName
	g.def(p)
	var in api.Pod
	if err := legacyscheme.Scheme.Convert(p, &in, nil); err != nil {
		panic(err)
	}
	podregistry.Strategy.PrepareForCreate(context.Background(), &in)
	if errs := podregistry.Strategy.Validate(context.Background(), &in); len(errs) > 0 {
		g.drop("pod", p.Name, errs)
		return false
	}
	out := &v1.Pod{}
	if err := legacyscheme.Scheme.Convert(&in, out, nil); err != nil {
		panic(err)
	}
	out.Spec.NodeName = nodeName
	st := out.Status
	if nodeName != "" {
		st.Phase = v1.PodRunning
	}
	if status.Phase != "" {
		st.Phase = status.Phase
	}
	st.NominatedNodeName = status.NominatedNodeName
	st.StartTime = status.StartTime
	st.Conditions = append(st.Conditions, status.Conditions...)
	st.ContainerStatuses = status.ContainerStatuses
	st.InitContainerStatuses = status.InitContainerStatuses
	st.ResourceClaimStatuses = status.ResourceClaimStatuses
	out.Status = st
	*p = *out
	g.def(p)
	return true
}

// existing adds a pod bound to the node.
func (g *G) existing(p *v1.Pod, node string) *v1.Pod {
	p.Spec.NodeName = node
	if p.Status.StartTime == nil {
		t := metav1.NewTime(baseTime.Add(time.Duration(g.npod)*time.Minute + time.Duration(g.Intn(60))*time.Second))
		p.Status.StartTime = &t
	}
	if g.finish(p) {
		g.o.Pods = append(g.o.Pods, p)
	}
	return p
}

func (g *G) pend(p *v1.Pod) *v1.Pod {
	if g.finish(p) {
		g.c.Pods = append(g.c.Pods, p)
	}
	return p
}

func (g *G) anyNode() string { return g.o.Nodes[g.Intn(len(g.o.Nodes))].Name }

func (g *G) namespace(name string, kv ...string) {
	n := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name}}}
	for i := 0; i+1 < len(kv); i += 2 {
		n.Labels[kv[i]] = kv[i+1]
	}
	n.Spec.Finalizers = []v1.FinalizerName{v1.FinalizerKubernetes}
	n.Status.Phase = v1.NamespaceActive
	g.meta(&n.ObjectMeta)
	g.def(n)
	g.o.Namespaces = append(g.o.Namespaces, n)
}

func (g *G) stdNamespaces() {
	g.namespace("default")
	g.namespace("team-a", "team", "a", "env", "prod")
	g.namespace("team-b", "team", "b", "env", "dev")
	g.namespace("team-c", "team", "c", "env", "prod")
}

var _ = internalresource.ResourceClaim{}
var _ = validation.ValidateResourceClaim
