package main

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime/debug"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func (e *env) schedule(pod *v1.Pod, attempt int) (res PodResult, preempted bool) {
	res = PodResult{Pod: key(pod), Attempt: attempt, Feasible: []string{}}
	defer func() {
		if r := recover(); r != nil {
			res.Error = fmt.Sprintf("panic: %v", r)
			fmt.Fprintf(os.Stderr, "panic in %s: %v\n%s\n", res.Pod, r, debug.Stack())
		}
	}()
	f, ok := e.fwks[pod.Spec.SchedulerName]
	if !ok {
		res.Error = fmt.Sprintf("profile not found for scheduler name %q", pod.Spec.SchedulerName)
		return
	}
	ctx := e.ctx
	// PreEnqueue, in the order of the plugins (the queue iterates a map; the
	// pods of the corpus are rejected by at most one plugin).
	for _, pl := range f.PreEnqueuePlugins() {
		if s := pl.PreEnqueue(ctx, pod); !s.IsSuccess() {
			sj := statusJSON(s)
			sj.Plugin = pl.Name()
			res.Gated = true
			res.GatedBy = &sj
			return
		}
	}
	snap := f.SnapshotSharedLister().(*internalcache.Snapshot)
	if err := e.sched.Cache.UpdateSnapshot(e.logger, snap); err != nil {
		res.Error = err.Error()
		return
	}
	all, _ := snap.NodeInfos().List()
	if len(all) == 0 {
		res.Message = scheduler.ErrNoNodesAvailable.Error()
		return
	}
	// ---- manual evaluation of all the nodes
	state := framework.NewCycleState()
	state.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
	preRes, st, unsched := f.RunPreFilterPlugins(ctx, state, pod)
	pf := &PreFilterJSON{StatusJSON: statusJSON(st)}
	if !preRes.AllNodes() {
		l := sets.List(preRes.NodeNames)
		if l == nil {
			l = []string{}
		}
		pf.NodeNames = &l
	}
	res.PreFilter = pf
	var feasible []fwk.NodeInfo
	if st.IsSuccess() {
		res.Filter = map[string]StatusJSON{}
		nn := pod.Status.NominatedNodeName
		if nn != "" {
			// Upstream filters the nominated node first, and a rejection adds
			// the plugin to the same set that is then used for the message of
			// the nodes excluded by PreFilter.
			if ni, err := snap.Get(nn); err == nil {
				if s := f.RunFilterPluginsWithNominatedPods(ctx, state, pod, ni); s.IsRejected() && s.Plugin() != "" {
					unsched.Insert(s.Plugin())
				}
			}
		}
		absent := fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(unsched)))
		var filterErrs []string
		for _, ni := range all {
			name := ni.Node().Name
			if !preRes.AllNodes() && !preRes.NodeNames.Has(name) {
				res.Filter[name] = statusJSON(absent)
				continue
			}
			s := f.RunFilterPluginsWithNominatedPods(ctx, state, pod, ni)
			res.Filter[name] = statusJSON(s)
			if s.IsSuccess() {
				feasible = append(feasible, ni)
			} else if s.Code() == fwk.Error {
				filterErrs = append(filterErrs, s.AsError().Error())
			}
		}
		if nn != "" {
			if !preRes.AllNodes() && !preRes.NodeNames.Has(nn) {
				// evaluateNominatedNode ignores the PreFilter result: the
				// nominated node is filtered anyway, its status is explicit.
				if ni, err := snap.Get(nn); err == nil {
					s := f.RunFilterPluginsWithNominatedPods(ctx, state, pod, ni)
					res.Filter[nn] = statusJSON(s)
					if s.IsSuccess() {
						feasible = append(feasible, ni)
					}
				}
			}
			for _, ni := range feasible {
				if ni.Node().Name == nn {
					feasible = []fwk.NodeInfo{ni}
					res.NominatedFirst = true
					break
				}
			}
		}
		if len(filterErrs) > 0 && !res.NominatedFirst {
			sort.Strings(filterErrs)
			res.Error = filterErrs[0]
		}
	}
	for _, ni := range feasible {
		res.Feasible = append(res.Feasible, ni.Node().Name)
	}
	sort.Strings(res.Feasible)

	// ---- the real algorithm, as a cross-check and for the FitError
	state2 := framework.NewCycleState()
	state2.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
	sr, err := schedulePod(e.sched, ctx, f.Framework, state2, pod)
	var inconsistent []string
	if err != nil {
		fe, isFit := err.(*framework.FitError)
		if !isFit {
			if res.Error == "" { // else the first of the filter errors, in sorted order
				res.Error = err.Error()
			}
			res.Feasible = []string{}
			e.clearNomination(pod)
			return
		}
		if len(feasible) > 0 {
			inconsistent = append(inconsistent, "SchedulePod failed but feasible nodes exist")
		}
		e.postFilter(f, state2, pod, fe, &res)
		preempted = res.Preemption != nil && res.Preemption.NominatedNode != ""
		res.Message = fe.Error()
		res.EventMessage = truncate(res.Message)
		if res.EventMessage == res.Message {
			res.EventMessage = ""
		}
		res.UnschedulablePlugins = sets.List(fe.Diagnosis.UnschedulablePlugins)
		res.PendingPlugins = sets.List(fe.Diagnosis.PendingPlugins)
		// cross-check of the statuses
		for n, sj := range res.Filter {
			if got := statusJSON(fe.Diagnosis.NodeToStatus.Get(n)); !reflect.DeepEqual(got, sj) {
				inconsistent = append(inconsistent, fmt.Sprintf("node %s: %v != %v", n, got, sj))
			}
		}
		res.Inconsistency = strings.Join(inconsistent, "; ")
		return
	}
	if sr.FeasibleNodes != len(feasible) {
		inconsistent = append(inconsistent, fmt.Sprintf("SchedulePod: %d feasible, oracle %d", sr.FeasibleNodes, len(feasible)))
	}
	// ---- scores
	if err := e.score(f, state, pod, feasible, &res); err != nil {
		res.Error = err.Error()
		e.clearNomination(pod)
		return
	}
	if !sets.New(res.Best...).Has(sr.SuggestedHost) {
		inconsistent = append(inconsistent, fmt.Sprintf("SchedulePod selected %s, not among the best", sr.SuggestedHost))
	}
	res.Selected = res.Best[0]
	e.commit(f, state, pod, &res)
	res.Inconsistency = strings.Join(inconsistent, "; ")
	return
}

func truncate(message string) string {
	const max = 1024
	if len(message) <= max {
		return message
	}
	suffix := " ..."
	return message[:max-len(suffix)] + suffix
}

func (e *env) score(f *fwkEnv, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo, res *PodResult) error {
	res.Scores = map[string]NodeScoreJSON{}
	if !f.HasScorePlugins() {
		for _, ni := range nodes {
			res.Scores[ni.Node().Name] = NodeScoreJSON{Plugins: map[string][3]int64{}, Total: 1}
		}
		res.Best = res.Feasible
		return nil
	}
	if s := f.RunPreScorePlugins(e.ctx, state, pod, nodes); !s.IsSuccess() {
		return fmt.Errorf("prescore: %w", s.AsError())
	}
	ref, s := f.RunScorePlugins(e.ctx, state, pod, nodes)
	if !s.IsSuccess() {
		return fmt.Errorf("score: %w", s.AsError())
	}
	for _, ni := range nodes {
		res.Scores[ni.Node().Name] = NodeScoreJSON{Plugins: map[string][3]int64{}}
	}
	res.SkippedScore = sets.List(state.GetSkipScorePlugins())
	for _, pl := range f.scorePls {
		if state.GetSkipScorePlugins().Has(pl.Name()) {
			continue
		}
		list := make(fwNodeScoreList, len(nodes))
		raw := make([]int64, len(nodes))
		for i, ni := range nodes {
			sc, st := pl.Score(e.ctx, state, pod, ni)
			if !st.IsSuccess() {
				return fmt.Errorf("score %s: %w", pl.Name(), st.AsError())
			}
			raw[i] = sc
			list[i] = fwNodeScore{Name: ni.Node().Name, Score: sc}
		}
		if ext := pl.ScoreExtensions(); ext != nil {
			if st := ext.NormalizeScore(e.ctx, state, pod, list); !st.IsSuccess() {
				return fmt.Errorf("normalize %s: %w", pl.Name(), st.AsError())
			}
		}
		w := int64(f.weights[pl.Name()])
		for i := range list {
			ns := res.Scores[list[i].Name]
			ns.Plugins[pl.Name()] = [3]int64{raw[i], list[i].Score, list[i].Score * w}
			ns.Total += list[i].Score * w
			res.Scores[list[i].Name] = ns
		}
	}
	best := int64(math.MinInt64)
	for _, r := range ref {
		ns := res.Scores[r.Name]
		if ns.Total != r.TotalScore {
			return fmt.Errorf("oracle bug: total %d != %d on %s", ns.Total, r.TotalScore, r.Name)
		}
		for _, ps := range r.Scores {
			if ns.Plugins[ps.Name][2] != ps.Score {
				return fmt.Errorf("oracle bug: %s %v != %d on %s", ps.Name, ns.Plugins[ps.Name], ps.Score, r.Name)
			}
		}
		if ns.Total > best {
			best = ns.Total
		}
	}
	for n, ns := range res.Scores {
		if ns.Total == best {
			res.Best = append(res.Best, n)
		}
	}
	sort.Strings(res.Best)
	return nil
}

func (e *env) commit(f *fwkEnv, state fwk.CycleState, pod *v1.Pod, res *PodResult) {
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = res.Selected
	if assumed.Status.StartTime == nil {
		t := assumed.CreationTimestamp
		assumed.Status.StartTime = &t
	}
	if err := e.sched.Cache.AssumePod(e.logger, assumed); err != nil {
		res.Error = "assume: " + err.Error()
		return
	}
	e.sched.SchedulingQueue.DeleteNominatedPodIfExists(pod)
	if f.vb != nil {
		f.vb.last = nil
	}
	before := e.allocatedDevices(f)
	capBefore := e.consumedCapacity(f)
	s := f.RunReservePluginsReserve(e.ctx, state, assumed, res.Selected)
	r := &ReserveJSON{StatusJSON: statusJSON(s)}
	if !s.IsSuccess() {
		f.RunReservePluginsUnreserve(e.ctx, state, assumed, res.Selected)
		_ = e.sched.Cache.ForgetPod(e.logger, assumed)
		res.Reserve = r
		res.Selected = ""
		e.clearNomination(pod)
		return
	}
	if f.vb != nil && f.vb.last != nil {
		for _, b := range f.vb.last.StaticBindings {
			pvc := unexported[*v1.PersistentVolumeClaim](b, "pvc")
			pv := unexported[*v1.PersistentVolume](b, "pv")
			if r.StaticBindings == nil {
				r.StaticBindings = map[string]string{}
			}
			r.StaticBindings[pvc.Namespace+"/"+pvc.Name] = pv.Name
		}
		for _, d := range f.vb.last.DynamicProvisions {
			r.Provisioned = append(r.Provisioned, d.PVC.Namespace+"/"+d.PVC.Name)
		}
		sort.Strings(r.Provisioned)
	}
	for _, d := range sets.List(e.allocatedDevices(f).Difference(before)) {
		r.AllocatedDevices = append(r.AllocatedDevices, d)
	}
	for d, c := range e.consumedCapacity(f) {
		if !reflect.DeepEqual(c, capBefore[d]) {
			if r.ConsumedCapacity == nil {
				r.ConsumedCapacity = map[string]map[string]string{}
			}
			r.ConsumedCapacity[d] = c
		}
	}
	if len(r.StaticBindings)+len(r.Provisioned)+len(r.AllocatedDevices)+len(r.ConsumedCapacity) > 0 {
		res.Reserve = r
	}
	// confirmed by the informer
	if err := e.sched.Cache.AddPod(e.logger, assumed); err != nil {
		res.Error = "add: " + err.Error()
	}
	e.podAdded(assumed)
	e.queueDelete(pod)
	e.inf.Core().V1().Pods().Informer().GetStore().Update(assumed)
	e.pending[key(pod)] = assumed
}

func (e *env) allocatedDevices(f *fwkEnv) sets.Set[string] {
	r := sets.New[string]()
	m := f.SharedDRAManager()
	if m == nil {
		return r
	}
	devs, err := m.ResourceClaims().ListAllAllocatedDevices()
	if err != nil {
		return r
	}
	for d := range devs {
		r.Insert(d.String())
	}
	return r
}

func (e *env) consumedCapacity(f *fwkEnv) map[string]map[string]string {
	r := map[string]map[string]string{}
	m := f.SharedDRAManager()
	if m == nil {
		return r
	}
	st, err := m.ResourceClaims().GatherAllocatedState()
	if err != nil {
		return r
	}
	for id, c := range st.AggregatedCapacity {
		x := map[string]string{}
		for k, v := range c {
			x[string(k)] = v.String()
		}
		r[id.String()] = x
	}
	return r
}

// ---------------------------------------------------------------- preemption
