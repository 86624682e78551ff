package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sort"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
)

// ---------------------------------------------------------------- config

func loadConfig(data []byte) (*schedulerapi.KubeSchedulerConfiguration, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return latest.Default()
	}
	obj, gvk, err := configscheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	cfg, ok := obj.(*schedulerapi.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("not a KubeSchedulerConfiguration: %v", gvk)
	}
	cfg.TypeMeta.APIVersion = gvk.GroupVersion().String()
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return nil, err
	}
	return cfg, nil
}

// ---------------------------------------------------------------- environment

type env struct {
	ctx     context.Context
	cancel  context.CancelFunc
	logger  klog.Logger
	sched   *scheduler.Scheduler
	inf     informers.SharedInformerFactory
	fwks    map[string]*fwkEnv
	pending map[string]*v1.Pod // current version of the pods to schedule
	client  *fake.Clientset
	groups  bool // GenericWorkload is on
	out     outOfTree
	groupState
}

type fwkEnv struct {
	framework.Framework
	plugins  map[string]fwPlugin
	scorePls []fwScorePlugin
	weights  map[string]int
	dp       *defaultpreemption.DefaultPreemption
	vb       *recordingBinder
}

func unexported[T any](obj interface{}, field string) T {
	f := reflect.ValueOf(obj).Elem().FieldByName(field)
	return *(*T)(unsafe.Pointer(f.UnsafeAddr()))
}

func setUnexported[T any](obj interface{}, field string, v T) {
	f := reflect.ValueOf(obj).Elem().FieldByName(field)
	*(*T)(unsafe.Pointer(f.UnsafeAddr())) = v
}

// noNominated hides nominated pods from the preemption evaluator's clean-up
// (which would clear nominations on a randomly selected node): the oracle
// does that clean-up itself for the node it selects. The filters do not use
// this handle for the nominated pods, they use the framework's own nominator.
type noNominated struct{ fwHandle }

func (noNominated) NominatedPodsForNode(string) []fwk.PodInfo { return nil }

type recordingBinder struct {
	volumebinding.SchedulerVolumeBinder
	last *volumebinding.PodVolumes
}

func (r *recordingBinder) AssumePodVolumes(logger klog.Logger, assumedPod *v1.Pod, nodeName string, pv *volumebinding.PodVolumes) (bool, error) {
	r.last = pv
	return r.SchedulerVolumeBinder.AssumePodVolumes(logger, assumedPod, nodeName, pv)
}

func newScheduler(ctx context.Context, objs []runtime.Object, cfg *schedulerapi.KubeSchedulerConfiguration, percentage *int32, more ...scheduler.Option) (*scheduler.Scheduler, informers.SharedInformerFactory, *fake.Clientset, error) {
	client := fake.NewSimpleClientset(objs...)
	inf := newInformerFactory(client)
	options := append([]scheduler.Option{
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(percentage),
		scheduler.WithParallelism(cfg.Parallelism),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds),
		scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds),
	}, more...)
	sched, err := scheduler.New(ctx, client, inf, nil, recorderFactory, options...)
	if err != nil {
		return nil, nil, nil, err
	}
	// make sure the lister-only informers exist before starting
	inf.Core().V1().Pods().Informer()
	inf.Core().V1().Nodes().Informer()
	inf.Policy().V1().PodDisruptionBudgets().Informer()
	inf.Core().V1().Namespaces().Informer()
	inf.Start(ctx.Done())
	inf.WaitForCacheSync(ctx.Done())
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return nil, nil, nil, err
	}
	return sched, inf, client, nil
}

func newEnv(c *Case, defaultCfg []byte) (e *env, err error) {
	logger := logr.Discard()
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	data := []byte(c.Config)
	if len(data) == 0 || string(data) == "null" {
		data = defaultCfg
	}
	cfg, err := loadConfig(data)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	hundred := int32(100)
	for i := range cfg.Profiles {
		cfg.Profiles[i].PercentageOfNodesToScore = &hundred
		for j := range cfg.Profiles[i].PluginConfig {
			if a, ok := cfg.Profiles[i].PluginConfig[j].Args.(*schedulerapi.DefaultPreemptionArgs); ok {
				a.MinCandidateNodesPercentage = 100
			}
		}
	}
	// Everything except nodes and pods goes through the API and the informers.
	// Nodes and pods are put into the scheduler cache and informer stores
	// directly, to have a deterministic order.
	o := &c.Objects
	var objs []runtime.Object
	add := func(list interface{}) {
		v := reflect.ValueOf(list)
		for i := 0; i < v.Len(); i++ {
			objs = append(objs, v.Index(i).Interface().(runtime.Object))
		}
	}
	for _, l := range []interface{}{o.Namespaces, o.Services, o.ReplicaSets, o.StatefulSets, o.ReplicationControllers, o.PVs, o.PVCs, o.StorageClasses,
		o.CSINodes, o.CSIDrivers, o.CSIStorageCapacities, o.VolumeAttachments, o.PDBs, o.PriorityClasses, o.ResourceClaims, o.ResourceSlices, o.DeviceClasses} {
		add(l)
	}
	objs = append(objs, groupObjects(o)...)
	var out outOfTree
	sched, inf, client, err := newScheduler(ctx, objs, cfg, &hundred, out.options(c)...)
	if err != nil {
		out.close()
		return nil, err
	}
	if len(o.PVs)+len(o.PVCs)+len(o.ResourceClaims)+len(o.ResourceSlices)+len(o.CSINodes) > 0 {
		time.Sleep(60 * time.Millisecond) // assume caches have their own handlers
	}
	e = &env{ctx: ctx, cancel: cancel, out: out, logger: logger, sched: sched, inf: inf, fwks: map[string]*fwkEnv{}, pending: map[string]*v1.Pod{}, client: client, groups: c.FeatureGates["GenericWorkload"]}
	for name, f := range sched.Profiles {
		fe := &fwkEnv{Framework: f}
		fe.plugins = unexported[map[string]fwPlugin](f, "pluginsMap")
		fe.scorePls = unexported[[]fwScorePlugin](f, "scorePlugins")
		fe.weights = unexported[map[string]int](f, "scorePluginWeight")
		if dp, ok := fe.plugins[names.DefaultPreemption].(*defaultpreemption.DefaultPreemption); ok {
			fe.dp = dp
			setupPreemption(dp)
		}
		if vb, ok := fe.plugins[names.VolumeBinding].(*volumebinding.VolumeBinding); ok {
			fe.vb = &recordingBinder{SchedulerVolumeBinder: vb.Binder}
			vb.Binder = fe.vb
		}
		e.fwks[name] = fe
	}
	e.settle(c)
	nodeStore := inf.Core().V1().Nodes().Informer().GetStore()
	podStore := inf.Core().V1().Pods().Informer().GetStore()
	for _, n := range o.Nodes {
		nodeStore.Add(n)
		sched.Cache.AddNode(logger, n)
	}
	for _, p := range o.Pods {
		podStore.Add(p)
		if p.Spec.NodeName != "" {
			if p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
				continue // the scheduler's informer does not see terminal pods
			}
			if err := sched.Cache.AddPod(logger, p); err != nil {
				return nil, err
			}
			e.podAdded(p)
		}
	}
	for _, p := range c.Pods {
		podStore.Add(p)
		e.pending[key(p)] = p
	}
	for _, p := range c.Pods {
		if _, ok := e.fwks[p.Spec.SchedulerName]; ok {
			if c.FeatureGates["GenericWorkload"] {
				e.groupQueueAdd(p)
			} else {
				e.queueAdd(p)
			}
		}
	}
	return e, nil
}

func key(p *v1.Pod) string { return p.Namespace + "/" + p.Name }

func statusJSON(s *fwk.Status) StatusJSON {
	if s == nil {
		return StatusJSON{Code: "Success"}
	}
	// Some plugins give the reasons in map order (NodeResourcesFit with
	// several scalar resources), so sort them.
	reasons := append([]string(nil), s.Reasons()...)
	sort.Strings(reasons)
	return StatusJSON{Code: s.Code().String(), Plugin: s.Plugin(), Reasons: reasons}
}

func sortedKeys[V any](m map[string]V) []string {
	r := make([]string, 0, len(m))
	for k := range m {
		r = append(r, k)
	}
	sort.Strings(r)
	return r
}

// ---------------------------------------------------------------- one pod

func runCase(c *Case, defaultCfg []byte) CaseResult {
	r := CaseResult{Name: c.Name, Results: []PodResult{}}
	e, err := newEnv(c, defaultCfg)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	defer e.out.close()
	defer e.cancel()
	if c.FeatureGates["GenericWorkload"] {
		e.runGroups(c, &r)
		return r
	}
	var retry []string
	for _, p := range c.Pods {
		pr, preempted := e.schedule(e.pending[key(p)], 1)
		r.Results = append(r.Results, pr)
		if preempted {
			retry = append(retry, key(p))
		}
	}
	for _, k := range retry {
		p := e.pending[k]
		if p.Status.NominatedNodeName == "" && false {
			continue
		}
		pr, _ := e.schedule(p, 2)
		r.Results = append(r.Results, pr)
	}
	return r
}

func openIn(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".gz") {
		return gzip.NewReader(f)
	}
	return f, nil
}

func readCases(path string) ([]*Case, error) {
	f, err := openIn(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var cases []*Case
	rd := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := rd.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			c := &Case{}
			if err := json.Unmarshal(line, c); err != nil {
				return nil, fmt.Errorf("case %d: %w", len(cases)+1, err)
			}
			cases = append(cases, c)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return cases, nil
}

func cmdRun(in, out, cfgFile string, stats bool, statsJSON string, workers int, verify bool) error {
	var defaultCfg []byte
	if cfgFile != "" {
		var err error
		if defaultCfg, err = os.ReadFile(cfgFile); err != nil {
			return err
		}
	}
	cases, err := readCases(in)
	if err != nil {
		return err
	}
	if len(cases) > 0 {
		for _, c := range cases {
			if !reflect.DeepEqual(c.FeatureGates, cases[0].FeatureGates) {
				return fmt.Errorf("case %s: other feature gates than the first case of the file", c.Name)
			}
		}
		setGates(cases[0].FeatureGates)
	}
	results := make([][]byte, len(cases))
	parsed := make([]CaseResult, len(cases))
	var wg sync.WaitGroup
	ch := make(chan int)
	var mu sync.Mutex
	bad := 0
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range ch {
				r := runCase(cases[i], defaultCfg)
				b, _ := json.Marshal(r)
				if verify {
					b2, _ := json.Marshal(runCase(cases[i], defaultCfg))
					if !bytes.Equal(b, b2) {
						mu.Lock()
						bad++
						fmt.Fprintf(os.Stderr, "NOT DETERMINISTIC: %s\n", r.Name)
						diffHint(b, b2)
						mu.Unlock()
					}
				}
				results[i] = b
				parsed[i] = r
			}
		}()
	}
	for i := range cases {
		ch <- i
	}
	close(ch)
	wg.Wait()
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		for _, b := range results {
			w.Write(b)
			w.WriteByte('\n')
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	st := computeStats(parsed)
	st.NonDeterministic = bad
	if stats {
		st.print(os.Stdout)
	}
	if statsJSON != "" {
		b, _ := json.MarshalIndent(st, "", " ")
		if err := os.WriteFile(statsJSON, b, 0o644); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d cases are not deterministic", bad)
	}
	return nil
}

func diffHint(a, b []byte) {
	n := min(len(a), len(b))
	for i := 0; i < n; i++ {
		if a[i] != b[i] {
			lo := max(0, i-200)
			fmt.Fprintf(os.Stderr, "  a: ...%s\n  b: ...%s\n", a[lo:min(len(a), i+200)], b[lo:min(len(b), i+200)])
			return
		}
	}
}
