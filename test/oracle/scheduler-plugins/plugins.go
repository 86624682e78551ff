package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/paypal/load-watcher/pkg/watcher"
	"github.com/paypal/load-watcher/pkg/watcher/api"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/scheduler-plugins/pkg/noderesources"
	"sigs.k8s.io/scheduler-plugins/pkg/podstate"
	"sigs.k8s.io/scheduler-plugins/pkg/qos"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/loadvariationriskbalancing"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/lowriskovercommitment"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/peaks"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/targetloadpacking"
)

type plugin struct {
	name     string
	generate func(*rand.Rand, *Case)
	run      func(*Case) (*Want, error)
}

var plugins = []plugin{
	{"NodeResourcesAllocatable", genAllocatable, scoreWith(noderesources.NewAllocatable)},
	{"PodState", genPodState, scoreWith(podstate.New)},
	{"QOSSort", genQueue, runQueue},
	{"TargetLoadPacking", genTargetLoad, scoreWith(targetloadpacking.New)},
	{"LoadVariationRiskBalancing", genVariation, scoreWith(loadvariationriskbalancing.New)},
	{"LowRiskOverCommitment", genLowRisk, scoreWith(lowriskovercommitment.New)},
	{"Peaks", genPeaks, scoreWith(peaks.New)},
}

type factory func(context.Context, runtime.Object, framework.Handle) (framework.Plugin, error)

// The load-watcher of the case at hand.
var (
	mutex   sync.Mutex
	answer  []byte
	service = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		w.Write(answer)
	}))
)

// serve answers with the metrics of the case. now: what the arrival of the pods is taken for.
func serve(c *Case, now int64) error {
	metrics := watcher.WatcherMetrics{Window: watcher.Window{Duration: "15m", End: now + c.WindowEnd - arrival},
		Data: watcher.Data{NodeMetricsMap: map[string]watcher.NodeMetrics{}}}
	for _, n := range c.Metrics {
		list := []watcher.Metric{}
		for _, m := range n.Metrics {
			list = append(list, watcher.Metric{Type: m.Type, Operator: m.Operator, Value: m.Value})
		}
		metrics.Data.NodeMetricsMap[n.Node] = watcher.NodeMetrics{Metrics: list}
	}
	mutex.Lock()
	answer, _ = json.Marshal(metrics)
	mutex.Unlock()
	if len(c.Metrics) == 0 {
		return nil
	}
	// The values as its client decodes them, which is not exact.
	client, err := api.NewServiceClient(service.URL)
	if err != nil {
		return err
	}
	decoded, err := client.GetLatestWatcherMetrics()
	if err != nil {
		return err
	}
	for _, n := range c.Metrics {
		for i := range n.Metrics {
			n.Metrics[i].Value = decoded.Data.NodeMetricsMap[n.Node].Metrics[i].Value
		}
	}
	return nil
}

// Stands for the address of the load-watcher in recorded arguments.
const addressInCases = "http://load-watcher:2020"

func scoreWith(make factory) func(*Case) (*Want, error) {
	return func(c *Case) (*Want, error) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		if err := serve(c, time.Now().Unix()); err != nil {
			return nil, err
		}
		obj, err := decodeArgs(bytes.ReplaceAll(c.Args, []byte(addressInCases), []byte(service.URL)))
		if err != nil {
			return nil, err
		}
		objects := []runtime.Object{}
		for _, p := range c.Pods {
			objects = append(objects, p)
		}
		h := &handle{factory: informers.NewSharedInformerFactory(fake.NewSimpleClientset(objects...), 0),
			nominated: map[string][]fwk.PodInfo{}}
		for _, p := range c.Nominated {
			info, _ := framework.NewPodInfo(p)
			h.nominated[p.Status.NominatedNodeName] = append(h.nominated[p.Status.NominatedNodeName], info)
		}
		made, err := make(ctx, obj, h)
		if err != nil {
			return &Want{Error: err.Error()}, nil
		}
		h.factory.Start(ctx.Done())
		h.factory.WaitForCacheSync(ctx.Done())
		if c.Plugin == targetloadpacking.Name {
			time.Sleep(30 * time.Millisecond) // its handler is called after that
		}
		return score(ctx, made.(framework.ScorePlugin), c), nil
	}
}

func genAllocatable(r *rand.Rand, c *Case) {
	cluster(r, c)
	fields := map[string]any{}
	maybe(r, fields, "mode", "Least", "Most")
	resources := []map[string]any{}
	for i := 0; i < r.Intn(4); i++ {
		resources = append(resources, map[string]any{
			"name":   pick(r, "cpu", "memory", "ephemeral-storage", "example.com/gpu"),
			"weight": pick(r, 1, 2, 1<<20, 7)})
	}
	maybe(r, fields, "resources", resources)
	args(c, fields)
	for _, n := range c.Nodes {
		if r.Intn(3) == 0 {
			n.Status.Allocatable["example.com/gpu"] = bytesOf(int64(r.Intn(9)))
		}
	}
}

func genPodState(r *rand.Rand, c *Case) {
	cluster(r, c)
	for _, p := range c.Pods {
		if r.Intn(2) == 0 {
			p.DeletionTimestamp = ptr(metav1.NewTime(time.Unix(arrival, 0).UTC()))
			p.Finalizers = []string{"example.com/kept"}
		}
	}
	for i := 0; i < r.Intn(4); i++ {
		p := pod(r, fmt.Sprint("nominated", i))
		p.Status.NominatedNodeName = c.Nodes[r.Intn(len(c.Nodes))].Name
		c.Nominated = append(c.Nominated, p)
	}
}

func genQueue(r *rand.Rand, c *Case) {
	for i := 0; i < 6; i++ {
		p := pod(r, fmt.Sprint("p", i))
		if r.Intn(3) == 0 { // Guaranteed
			for j := range p.Spec.Containers {
				list := v1.ResourceList{v1.ResourceCPU: milli(100), v1.ResourceMemory: bytesOf(1 << 20)}
				p.Spec.Containers[j].Resources = v1.ResourceRequirements{Requests: list, Limits: list}
			}
			p.Spec.InitContainers = nil
		} else if r.Intn(3) == 0 { // BestEffort
			p.Spec.Containers = []v1.Container{{Name: "c", Image: "image"}}
			p.Spec.InitContainers = nil
		}
		p.Spec.Priority = ptr(int32(r.Intn(3)))
		c.Queue = append(c.Queue, Queued{p, arrival + int64(r.Intn(3))})
	}
}

func runQueue(c *Case) (*Want, error) {
	made, err := qos.New(context.Background(), nil, nil)
	if err != nil {
		return nil, err
	}
	infos := []fwk.QueuedPodInfo{}
	for _, q := range c.Queue {
		info, err := framework.NewPodInfo(q.Pod)
		if err != nil {
			return nil, err
		}
		infos = append(infos, &framework.QueuedPodInfo{PodInfo: info, Timestamp: time.Unix(q.Time, 0)})
	}
	want := &Want{}
	for i := range infos {
		for j := range infos {
			if i != j && made.(framework.QueueSortPlugin).Less(infos[i], infos[j]) {
				want.Less = append(want.Less, []int{i, j})
			}
		}
	}
	return want, nil
}

func genTargetLoad(r *rand.Rand, c *Case) {
	cluster(r, c)
	load(r, c)
	fields := map[string]any{"watcherAddress": addressInCases}
	maybe(r, fields, "targetUtilization", 0, 1, 30, 60, 85, 100)
	maybe(r, fields, "defaultRequestsMultiplier", "1", "2.25", "0", "1e-1")
	maybe(r, fields, "defaultRequests", map[string]string{"cpu": "300m"}, map[string]string{"memory": "1Gi"})
	args(c, fields)
}

func genVariation(r *rand.Rand, c *Case) {
	cluster(r, c)
	load(r, c)
	fields := map[string]any{"watcherAddress": addressInCases}
	maybe(r, fields, "safeVarianceMargin", 0, 0.5, 2.75, -1)
	maybe(r, fields, "safeVarianceSensitivity", 0, 0.5, 2, 3.3, -1)
	args(c, fields)
}

func genLowRisk(r *rand.Rand, c *Case) {
	cluster(r, c)
	load(r, c)
	fields := map[string]any{"watcherAddress": addressInCases}
	maybe(r, fields, "smoothingWindowSize", 0, 1, 7)
	maybe(r, fields, "riskLimitWeights", map[string]float64{"cpu": 0.1}, map[string]float64{"cpu": 0, "memory": 1},
		map[string]float64{"cpu": 2, "memory": 0.3})
	args(c, fields)
}

func genPeaks(r *rand.Rand, c *Case) {
	cluster(r, c)
	load(r, c)
	if r.Intn(5) == 0 {
		c.Pod.Spec.Resources = &v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: milli(r.Int63n(2000))}}
	}
	models := map[string]any{}
	for _, n := range c.Nodes {
		if r.Intn(6) == 0 {
			continue
		}
		models[n.Name] = map[string]float64{"k0": 400 * r.Float64(), "k1": -100 * r.Float64(), "k2": -0.1 * r.Float64()}
	}
	models["other"] = map[string]float64{"k0": 1, "k1": 1, "k2": 1}
	args(c, map[string]any{"WatcherAddress": addressInCases, "NodePowerModel": models})
}
