package main

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

func (e *env) postFilter(f *fwkEnv, state fwk.CycleState, pod *v1.Pod, fe *framework.FitError, res *PodResult) {
	if !f.HasPostFilterPlugins() {
		return
	}
	p := &PreemptionJSON{}
	res.Preemption = p
	// full candidate list, from the real DryRunPreemption
	var candidates []preemption.Candidate
	if f.dp != nil {
		ok, _ := f.dp.PodEligibleToPreemptOthers(e.ctx, pod, fe.Diagnosis.NodeToStatus.Get(pod.Status.NominatedNodeName))
		nodes, err := fe.Diagnosis.NodeToStatus.NodesForStatusCode(f.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
		if ok && err == nil && len(nodes) > 0 {
			pdbs, _ := e.inf.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
			cands, nodeStatus, err := f.dp.Evaluator.DryRunPreemption(e.ctx, state, pod, nodes, pdbs, 0, int32(len(nodes)))
			_ = err // reported by PostFilter below, if it matters
			candidates = cands
			p.NodeStatus = map[string]StatusJSON{}
			nodeStatus.ForEachExplicitNode(func(n string, s *fwk.Status) { p.NodeStatus[n] = statusJSON(s) })
		}
	} else {
		candidates = e.otherCandidates(f, state, pod, fe)
	}
	vm := map[string]*extenderv1.Victims{}
	for _, c := range candidates {
		vm[c.Name()] = c.Victims()
	}
	for _, n := range sortedKeys(vm) {
		p.Candidates = append(p.Candidates, CandidateJSON{Node: n, Victims: e.victimKeys(vm[n].Pods), NumPDBViolations: vm[n].NumPDBViolations})
	}
	p.Best = bestCandidates(vm)

	result, s := f.RunPostFilterPlugins(e.ctx, state, pod, fe.Diagnosis.NodeToStatus)
	p.StatusJSON = statusJSON(s)
	p.Message = s.Message()
	fe.Diagnosis.PostFilterMsg = p.Message
	if strings.Contains(p.Message, "deallocation of ResourceClaim completed") {
		time.Sleep(100 * time.Millisecond) // let the informer see it
	}
	nominated := ""
	if result != nil && result.NominatingInfo != nil {
		nominated = result.NominatedNodeName
	}
	if s.IsSuccess() && len(p.Best) > 0 && nominated != p.Best[0] && vm[nominated] != nil {
		// since 1.37 the text names the node, chosen at random among the tied ones, and the
		// number of victims: put those of the first of best
		was := fmt.Sprintf("on node %v, preempting %d victims", nominated, len(vm[nominated].Pods))
		is := fmt.Sprintf("on node %v, preempting %d victims", p.Best[0], len(vm[p.Best[0]].Pods))
		p.Message = strings.ReplaceAll(p.Message, was, is)
		for i := range p.Reasons {
			p.Reasons[i] = strings.ReplaceAll(p.Reasons[i], was, is)
		}
		fe.Diagnosis.PostFilterMsg = p.Message
	}
	if s.IsSuccess() != (len(p.Best) > 0) || (nominated != "" && !sets.New(p.Best...).Has(nominated)) {
		res.Inconsistency = fmt.Sprintf("PostFilter nominated %q (%v), oracle %v", nominated, p.StatusJSON, p.Best)
		return
	}
	if len(p.Best) == 0 {
		// a nomination is cleared when PostFilter says so
		if result != nil && result.NominatingInfo.Mode() == modeOverride && pod.Status.NominatedNodeName != "" {
			np := pod.DeepCopy()
			np.Status.NominatedNodeName = ""
			e.updatePending(pod, np)
		}
		return
	}
	p.NominatedNode = p.Best[0]
	victims := vm[p.NominatedNode].Pods
	p.Victims = e.victimKeys(victims)
	// apply: lower-priority pods nominated to the node lose the nomination,
	for _, pi := range f.Framework.NominatedPodsForNode(p.NominatedNode) {
		other := pi.GetPod()
		if corev1helpers.PodPriority(other) < corev1helpers.PodPriority(pod) {
			if cur := e.pending[key(other)]; cur != nil {
				np := cur.DeepCopy()
				np.Status.NominatedNodeName = ""
				e.updatePending(cur, np)
			}
			e.sched.SchedulingQueue.DeleteNominatedPodIfExists(other)
		}
	}
	// the victims are deleted,
	for _, v := range victims {
		if err := e.sched.Cache.RemovePod(e.logger, v); err != nil {
			res.Error = "remove victim: " + err.Error()
		}
		e.inf.Core().V1().Pods().Informer().GetStore().Delete(v)
		e.podRemoved(v)
	}
	// and the preemptor is nominated.
	np := pod.DeepCopy()
	np.Status.NominatedNodeName = p.NominatedNode
	e.updatePending(pod, np)
}

// clearNomination does what upstream does when the cycle fails with an error.
func (e *env) clearNomination(pod *v1.Pod) {
	if pod.Status.NominatedNodeName != "" {
		np := pod.DeepCopy()
		np.Status.NominatedNodeName = ""
		e.updatePending(pod, np)
	}
}

func (e *env) updatePending(old, np *v1.Pod) {
	if e.updateGroupPod(old, np) {
		return
	}
	e.inf.Core().V1().Pods().Informer().GetStore().Update(np)
	e.queueUpdate(old, np)
	e.pending[key(np)] = np
}

// victimKeys: upstream gives the pods of a group that is a victim in map order, so with pod groups
// the victims are sorted by name.
func (e *env) victimKeys(pods []*v1.Pod) []string {
	r := podKeys(pods)
	if e.groups {
		sort.Strings(r)
	}
	return r
}

func podKeys(pods []*v1.Pod) []string {
	r := []string{}
	for _, p := range pods {
		r = append(r, key(p))
	}
	return r
}

// bestCandidates applies the criteria of pickOneNodeForPreemption and returns
// all the nodes that are still tied at the end (upstream picks one of them at
// random); checked against the real PostFilter on each use.
func bestCandidates(vm map[string]*extenderv1.Victims) []string {
	nodes := sortedKeys(vm)
	if len(nodes) == 0 {
		return nil
	}
	fns := []func(string) int64{
		func(n string) int64 { return -vm[n].NumPDBViolations },
		func(n string) int64 { return -int64(corev1helpers.PodPriority(vm[n].Pods[0])) },
		func(n string) int64 {
			var s int64
			for _, p := range vm[n].Pods {
				s += int64(corev1helpers.PodPriority(p)) + int64(math.MaxInt32+1)
			}
			return -s
		},
		func(n string) int64 { return -int64(len(vm[n].Pods)) },
		func(n string) int64 {
			t := util.GetEarliestPodStartTime(vm[n])
			if t == nil {
				return math.MinInt64
			}
			return t.UnixNano()
		},
	}
	for _, fn := range fns {
		var sel []string
		max := int64(math.MinInt64)
		for _, n := range nodes {
			s := fn(n)
			if s > max {
				max = s
				sel = nil
			}
			if s == max {
				sel = append(sel, n)
			}
		}
		nodes = sel
		if len(nodes) == 1 {
			break
		}
	}
	return nodes
}

// ---------------------------------------------------------------- cases
