// Command cycles measures kube-scheduler's scheduling cycles in process, as berth-bench measures berth's: from a popped
// pod to an assumed pod, one after the other, on the same clusters and pods, without an API server. It prints what
// berth-bench --json prints, one object per workload.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

var (
	workload   = flag.String("workload", "basic", "names separated by commas, or all")
	nodes      = flag.Int("nodes", 5000, "how many nodes")
	pods       = flag.Int("pods", 100, "how many pods to schedule and measure")
	percentage = flag.Int("percentage", 0, "percentageOfNodesToScore; 0: the default, which samples large clusters")
	limit      = flag.Duration("limit", time.Minute, "stop measuring a workload after this long")
)

// Figures of one workload, under the names berth-bench gives them.
type figures struct {
	Workload   string  `json:"workload"`
	Nodes      int     `json:"nodes"`
	Pods       int     `json:"pods"`
	Percentage int     `json:"percentage"`
	MeanUs     float64 `json:"mean_us"`
	P50Us      float64 `json:"p50_us"`
	P99Us      float64 `json:"p99_us"`
	CpuUs      float64 `json:"cpu_us"`
	Failed     int     `json:"failed"`
}

func main() {
	flag.Parse()
	wanted := map[string]bool{}
	for _, name := range strings.Split(*workload, ",") {
		wanted[name] = true
	}
	known := 0
	for _, w := range workloads() {
		if !wanted["all"] && !wanted[w.name] {
			continue
		}
		known++
		line, err := json.Marshal(measure(w))
		check(err)
		fmt.Println(string(line))
	}
	if known == 0 {
		log.Fatalf("cycles: there is no workload %s", *workload)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal("cycles: ", err)
	}
}

// A cluster in kube-scheduler's own terms: nodes and pods are in its cache, everything else came through informers.
type bench struct {
	ctx       context.Context
	logger    klog.Logger
	sched     *scheduler.Scheduler
	framework framework.Framework
	informers informers.SharedInformerFactory
	victims   *victims
}

func newBench(ctx context.Context, w workloadSpec, warm int) *bench {
	b := &bench{ctx: ctx, logger: klog.FromContext(ctx), victims: &victims{}}
	config, err := latest.Default()
	check(err)
	b.victims.useIn(&config.Profiles[0])
	share := int32(*percentage)
	client := fake.NewSimpleClientset(w.allObjects(*nodes, warm+*pods)...)
	b.informers = newInformers(client)
	b.sched, err = scheduler.New(ctx, client, b.informers, nil,
		noEvents,
		scheduler.WithComponentConfigVersion(config.APIVersion),
		scheduler.WithProfiles(config.Profiles...),
		scheduler.WithPercentageOfNodesToScore(&share),
		scheduler.WithParallelism(config.Parallelism),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{measuredPreemption: b.victims.newPlugin}))
	check(err)
	b.informers.Start(ctx.Done())
	b.informers.WaitForCacheSync(ctx.Done())
	check(b.sched.WaitForHandlersSync(ctx))
	time.Sleep(200 * time.Millisecond) // caches behind the informers take their objects up on their own
	b.framework = b.sched.Profiles["default-scheduler"]
	for i := 0; i < *nodes; i++ {
		b.sched.Cache.AddNode(b.logger, makeNode(i))
	}
	if w.setup != nil {
		w.setup(b, *nodes, warm+*pods)
	}
	return b
}

// place puts a pod on a node without asking.
func (b *bench) place(pod *v1.Pod, node string) {
	placed := pod.DeepCopy()
	placed.Spec.NodeName = node
	check(b.sched.Cache.AddPod(b.logger, placed))
}

// cycle is what is measured: the decision, and assuming and reserving, or the search for victims.
func (b *bench) cycle(w workloadSpec, pod *v1.Pod) (failed bool, nominated string) {
	state := framework.NewCycleState()
	result, err := b.schedule(state, pod)
	var unfit *framework.FitError
	switch {
	case err == nil:
		assumed := pod.DeepCopy()
		assumed.Spec.NodeName = result.SuggestedHost
		check(b.sched.Cache.AssumePod(b.logger, assumed))
		check(b.framework.RunReservePluginsReserve(b.ctx, state, assumed, result.SuggestedHost).AsError())
		return false, ""
	case errors.As(err, &unfit) && w.preempts:
		b.victims.pods = b.victims.pods[:0]
		proposal, status := b.framework.RunPostFilterPlugins(b.ctx, state, pod, unfit.Diagnosis.NodeToStatus)
		if !status.IsSuccess() {
			check(status.AsError())
			return true, ""
		}
		return false, proposal.NominatedNodeName
	case errors.As(err, &unfit):
		return true, ""
	}
	check(err)
	return true, ""
}

func measure(w workloadSpec) figures {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	defer cancel()
	warm := *nodes / 5
	if w.preempts {
		warm = 0
	}
	b := newBench(ctx, w, warm)
	all := make([]*v1.Pod, warm+*pods)
	for i := range all {
		all[i] = makePod(i, w.shape)
		if i < warm {
			b.place(all[i], nodeName(i))
		} else {
			check(b.informers.Core().V1().Pods().Informer().GetStore().Add(all[i])) // preemption looks it up
		}
	}
	for i := 0; i < 10; i++ { // not measured
		_, _ = b.schedule(framework.NewCycleState(), all[warm])
	}
	runtime.GC()
	f := figures{Workload: w.name, Nodes: *nodes, Percentage: *percentage}
	var took []float64
	began, cpu := time.Now(), cpuSeconds()
	for i, pod := range all[warm:] {
		if w.between != nil {
			w.between(b, i)
		}
		start := time.Now()
		failed, nominated := b.cycle(w, pod)
		took = append(took, float64(time.Since(start).Nanoseconds())/1000)
		if failed {
			f.Failed++
		}
		if nominated != "" { // the victims are gone and the pod is where they were
			for _, victim := range b.victims.pods {
				check(b.sched.Cache.RemovePod(b.logger, victim))
			}
			b.place(pod, nominated)
		}
		if time.Since(began) > *limit {
			break
		}
	}
	f.Pods = len(took)
	f.CpuUs = (cpuSeconds() - cpu) * 1e6 / float64(f.Pods)
	for _, us := range took {
		f.MeanUs += us / float64(f.Pods)
	}
	sort.Float64s(took)
	f.P50Us, f.P99Us = took[f.Pods/2], took[f.Pods*99/100]
	return f
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	check(os.NewSyscallError("getrusage", syscall.Getrusage(syscall.RUSAGE_SELF, &usage)))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
