//go:build schedulerplugins

package main

import (
	"fmt"
	"math/rand"
	"reflect"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/scheduler-plugins/pkg/coscheduling"
	"sigs.k8s.io/scheduler-plugins/pkg/coscheduling/core"
)

// Runs of Coscheduling (mode Permit): pods of several groups are tried one after the other, wait on Permit, are allowed or
// rejected together, run out of time, and go away. All steps of a run are recorded with what came of them.

// GangCase is a line of the corpus.
type GangCase struct {
	*Case
	Steps []*GangStep `json:"steps"`
	// Less has the pairs of c.Pods of which the first goes before the second after the last step. Queued has the times of their
	// first attempts, in seconds since 1970.
	Queued []int64 `json:"queued"`
	Less   [][]int `json:"less"`
}

// GangStep is one of: a pod is tried, the wait of a pod runs out, a pod is deleted.
type GangStep struct {
	Do  string `json:"do"` // schedule, timeout, delete
	Pod string `json:"pod"`

	Feasible   []string    `json:"feasible,omitempty"`
	Node       string      `json:"node,omitempty"`
	Permit     *StatusJSON `json:"permit,omitempty"`
	WaitsFor   float64     `json:"waitsFor,omitempty"`  // seconds
	Activated  []string    `json:"activated,omitempty"` // pods
	Message    string      `json:"message,omitempty"`   // of a pod that fits nowhere
	PostFilter *StatusJSON `json:"postfilter,omitempty"`
	Ended      []GangEnd   `json:"ended,omitempty"` // in order of names, and the consequences of one before the next
}

// GangEnd is a wait that is over.
type GangEnd struct {
	Pod     string `json:"pod"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

const gangGroup = "scheduling.x-k8s.io/v1alpha1"

func genGangs(g *G) {
	g.stdNamespaces()
	for i, n := 0, g.rng(1, 4); i < n; i++ {
		g.node(i, rl("cpu", g.pick("2", "4", "8", "16"), "memory", "16Gi", "example.com/gpu", g.pick("", "2", "4"), "pods", g.pick("110", "110", "4")))
	}
	namespaces := []string{"team-a", "team-a", "team-a", "team-b"}
	names := []string{"red", "red", "red", "green", "blue"}
	for _, namespace := range namespaces[2:] {
		for _, name := range names[2:] {
			if g.chance(0.12) {
				continue
			}
			spec := J{"minMember": g.rng(2, 5)}
			if g.chance(0.3) {
				resources := J{}
				for name, amounts := range map[string][]string{"cpu": {"1", "4", "12"}, "memory": {"1Gi", "40Gi"}, "example.com/gpu": {"1", "6"}, "pods": {"3"}} {
					resources[name] = amounts
				}
				minimum := J{}
				for _, name := range []string{"cpu", "memory", "example.com/gpu", "pods"} {
					amounts := resources[name].([]string)
					if g.chance(0.4) {
						minimum[name] = amounts[g.Intn(len(amounts))]
					}
				}
				spec["minResources"] = minimum
			}
			if g.chance(0.4) {
				spec["scheduleTimeoutSeconds"] = g.pickI(0, 100, 300)
			}
			g.custom(gangGroup, "PodGroup", namespace, name, J{"spec": spec})
			g.o.Custom[len(g.o.Custom)-1].SetCreationTimestamp(metav1.NewTime(baseTime.Add(time.Duration(g.Intn(5)) * time.Minute)))
		}
	}
	mk := func(prefix string) *v1.Pod {
		labels := map[string]string{"app": "gang"}
		if g.chance(0.92) {
			labels["scheduling.x-k8s.io/pod-group"] = g.pick(names...)
		}
		p := g.newPod(g.pick(namespaces...), prefix, labels)
		setReq(&p.Spec.Containers[0], "cpu", g.pick("250m", "500m", "1", "1500m"), "memory", g.pick("64Mi", "1Gi"))
		if g.chance(0.1) {
			setReq(&p.Spec.Containers[0], "example.com/gpu", "1")
		}
		return p
	}
	for i := g.rng(0, 4); i > 0; i-- {
		g.existing(mk("e"), g.anyNode())
	}
	for i := g.rng(10, 22); i > 0; i-- {
		p := mk("p")
		p.Spec.Priority = ptr.To(int32(g.pickI(0, 0, 0, 10)))
		if g.chance(0.03) {
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/hold"}}
		}
		g.pend(p)
	}
	args := J{}
	if g.chance(0.5) {
		args["permitWaitingTimeSeconds"] = g.pickI(60, 200)
	}
	if g.chance(0.5) {
		args["podGroupBackoffSeconds"] = g.pickI(0, 1000)
	}
	if g.chance(0.6) {
		args["podGroupRejectPercentage"] = g.pickI(0, 30, 50, 100)
	}
	g.setConfig(J{"plugins": J{
		"queueSort":  J{"enabled": []J{{"name": "Coscheduling"}}, "disabled": []J{{"name": "*"}}},
		"multiPoint": J{"enabled": []J{{"name": "Coscheduling"}}, "disabled": []J{{"name": "DefaultPreemption"}}}},
		"pluginConfig": []J{pluginArgs("Coscheduling", args)}})
}

// gangRun drives the plugin as the scheduler does, in one goroutine.
type gangRun struct {
	*env
	f       *fwkEnv
	store   interface{ Delete(interface{}) error }
	waiting map[string]*gangWait // by key
	bound   map[string]*v1.Pod
}

type gangWait struct {
	pod   *v1.Pod // assumed
	state fwk.CycleState
}

func runGangs(seed int64) (*GangCase, error) {
	c := &Case{Name: fmt.Sprintf("gangs-%d", seed)}
	rnd := rand.New(rand.NewSource(seed))
	genGangs(&G{Rand: rnd, c: c, o: &c.Objects, zones: []string{"z1"}})
	for _, p := range c.Pods {
		fixTimes(p)
	}
	out := &GangCase{Case: c}
	e, err := newEnv(c, nil)
	if err != nil {
		return nil, err
	}
	defer e.out.close()
	defer e.cancel()
	r := &gangRun{env: e, f: e.fwks["default-scheduler"], store: e.inf.Core().V1().Pods().Informer().GetStore(),
		waiting: map[string]*gangWait{}, bound: map[string]*v1.Pod{}}
	for _, p := range c.Objects.Pods {
		r.bound[key(p)] = p
		core.AddPodFactory(r.manager())(p)
	}
	for n := 2 * len(c.Pods); n > 0; n-- {
		if step := r.next(rnd); step != nil {
			out.Steps = append(out.Steps, step)
		}
	}
	r.order(rnd, out)
	return out, nil
}

func (r *gangRun) manager() *core.PodGroupManager {
	plugin := r.f.plugins[coscheduling.Name].(*coscheduling.Coscheduling)
	return unexported[core.Manager](plugin, "pgMgr").(*core.PodGroupManager)
}

func (r *gangRun) next(rnd *rand.Rand) *GangStep {
	pending := []string{}
	for k, p := range r.pending {
		if _, waits := r.waiting[k]; !waits && len(p.Spec.SchedulingGates) == 0 {
			pending = append(pending, k)
		}
	}
	sort.Strings(pending)
	waiting, bound := sortedKeys(r.waiting), sortedKeys(r.bound)
	switch dice := rnd.Intn(20); {
	case dice == 0 && len(waiting) > 0:
		return r.timeout(waiting[rnd.Intn(len(waiting))])
	case dice == 1 && len(bound) > 0:
		return r.deleteBound(bound[rnd.Intn(len(bound))])
	case dice == 2 && len(pending) > 0:
		k := pending[rnd.Intn(len(pending))]
		r.store.Delete(r.pending[k])
		delete(r.pending, k)
		return &GangStep{Do: "delete", Pod: k}
	case len(pending) > 0:
		return r.try(pending[rnd.Intn(len(pending))])
	}
	return nil
}

func (r *gangRun) try(k string) *GangStep {
	step := &GangStep{Do: "schedule", Pod: k}
	pod := r.pending[k]
	snapshot := r.f.SnapshotSharedLister().(*internalcache.Snapshot)
	if err := r.sched.Cache.UpdateSnapshot(r.logger, snapshot); err != nil {
		panic(err)
	}
	state := framework.NewCycleState()
	activate := framework.NewPodsToActivate()
	state.Write(framework.PodsToActivateKey, activate)
	_, err := schedulePod(r.sched, r.ctx, r.f.Framework, state, pod)
	if err != nil {
		fit, ok := err.(*framework.FitError)
		if !ok {
			panic(err)
		}
		_, status := r.f.RunPostFilterPlugins(r.ctx, state, pod, fit.Diagnosis.NodeToStatus)
		fit.Diagnosis.PostFilterMsg = status.Message()
		s := statusJSON(status)
		step.PostFilter = &s
		step.Message = fit.Error()
		step.Ended = r.settleWaits()
		return step
	}
	nodes, _ := snapshot.NodeInfos().List()
	check := framework.NewCycleState()
	if _, s, _ := r.f.RunPreFilterPlugins(r.ctx, check, pod); !s.IsSuccess() {
		panic(s.Message())
	}
	for _, n := range nodes {
		if r.f.RunFilterPluginsWithNominatedPods(r.ctx, check, pod, n).IsSuccess() {
			step.Feasible = append(step.Feasible, n.Node().Name)
		}
	}
	sort.Strings(step.Feasible)
	step.Node = step.Feasible[0]
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = step.Node
	if err := r.sched.Cache.AssumePod(r.logger, assumed); err != nil {
		panic(err)
	}
	if s := r.f.RunReservePluginsReserve(r.ctx, state, assumed, step.Node); !s.IsSuccess() {
		panic(s.Message())
	}
	status := r.f.RunPermitPlugins(r.ctx, state, assumed, step.Node)
	p := statusJSON(status)
	step.Permit = &p
	step.Activated = sortedKeys(activate.Map)
	switch {
	case status.Code() == fwk.Wait:
		step.WaitsFor = r.waitOf(assumed)
		r.waiting[k] = &gangWait{assumed, state}
	case status.IsSuccess():
		r.bind(assumed)
	default:
		r.undo(assumed, state)
	}
	step.Ended = r.settleWaits()
	return step
}

// waitOf asks the plugin again how long the pod waits, which changes nothing.
func (r *gangRun) waitOf(pod *v1.Pod) float64 {
	_, d := r.f.plugins[coscheduling.Name].(*coscheduling.Coscheduling).Permit(r.ctx, framework.NewCycleState(), pod, pod.Spec.NodeName)
	return d.Seconds()
}

func (r *gangRun) bind(assumed *v1.Pod) {
	if err := r.sched.Cache.AddPod(r.logger, assumed); err != nil {
		panic(err)
	}
	r.inf.Core().V1().Pods().Informer().GetStore().Update(assumed)
	r.bound[key(assumed)] = assumed
	delete(r.pending, key(assumed))
}

func (r *gangRun) undo(assumed *v1.Pod, state fwk.CycleState) {
	r.f.RunReservePluginsUnreserve(r.ctx, state, assumed, assumed.Spec.NodeName)
	if err := r.sched.Cache.ForgetPod(r.logger, assumed); err != nil {
		panic(err)
	}
}

// settleWaits ends the waits that were answered, as their goroutines would.
func (r *gangRun) settleWaits() []GangEnd {
	ended := []GangEnd{}
	for again := true; again; {
		again = false
		for _, k := range sortedKeys(r.waiting) {
			if !answered(r.f.Framework.GetWaitingPod(r.waiting[k].pod.UID)) {
				continue
			}
			again = true
			w := r.waiting[k]
			delete(r.waiting, k)
			status := r.f.WaitOnPermit(r.ctx, w.pod)
			ended = append(ended, GangEnd{k, status.Code().String(), status.Message()})
			if status.IsSuccess() {
				r.bind(w.pod)
			} else {
				r.undo(w.pod, w.state)
			}
			break
		}
	}
	return ended
}

func answered(w framework.WaitingPod) bool {
	return reflect.ValueOf(w).Elem().FieldByName("s").Len() > 0
}

func (r *gangRun) timeout(k string) *GangStep {
	r.f.Framework.GetWaitingPod(r.waiting[k].pod.UID).Reject(coscheduling.Name, "out of time")
	return &GangStep{Do: "timeout", Pod: k, Ended: r.settleWaits()}
}

func (r *gangRun) deleteBound(k string) *GangStep {
	pod := r.bound[k]
	if err := r.sched.Cache.RemovePod(r.logger, pod); err != nil {
		panic(err)
	}
	r.store.Delete(pod)
	r.manager().Unreserve(r.ctx, pod)
	delete(r.bound, k)
	return &GangStep{Do: "delete", Pod: k, Ended: r.settleWaits()}
}

// order compares pods that are still there.
func (r *gangRun) order(rnd *rand.Rand, out *GangCase) {
	infos := make([]fwk.QueuedPodInfo, len(out.Pods))
	for i, p := range out.Pods {
		at := baseTime.Add(time.Duration(rnd.Intn(6)) * time.Minute)
		out.Queued = append(out.Queued, at.Unix())
		if r.pending[key(p)] != nil || r.bound[key(p)] != nil {
			info, _ := framework.NewPodInfo(p)
			infos[i] = &framework.QueuedPodInfo{PodInfo: info, InitialAttemptTimestamp: &at}
		}
	}
	out.Less = pairs(r.f.plugins[coscheduling.Name].(framework.QueueSortPlugin), infos)
}

func pairs(plugin framework.QueueSortPlugin, infos []fwk.QueuedPodInfo) [][]int {
	less := [][]int{}
	for i := range infos {
		for j := range infos {
			if i != j && infos[i] != nil && infos[j] != nil && plugin.Less(infos[i], infos[j]) {
				less = append(less, []int{i, j})
			}
		}
	}
	return less
}

func cmdGangs(seed int64, cases int, out string) error {
	return writeLines(out, cases, func(i int64) (interface{}, error) { return runGangs(seed*1_000_000 + i) })
}
