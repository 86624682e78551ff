//go:build schedulerplugins

package main

import (
	"context"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	_ "sigs.k8s.io/scheduler-plugins/apis/config/scheme"
	"sigs.k8s.io/scheduler-plugins/pkg/capacityscheduling"
	"sigs.k8s.io/scheduler-plugins/pkg/coscheduling"
	"sigs.k8s.io/scheduler-plugins/pkg/networkaware/networkoverhead"
	"sigs.k8s.io/scheduler-plugins/pkg/networkaware/topologicalsort"
	"sigs.k8s.io/scheduler-plugins/pkg/noderesources"
	"sigs.k8s.io/scheduler-plugins/pkg/noderesourcetopology"
	"sigs.k8s.io/scheduler-plugins/pkg/podstate"
	"sigs.k8s.io/scheduler-plugins/pkg/preemptiontoleration"
	"sigs.k8s.io/scheduler-plugins/pkg/qos"
	"sigs.k8s.io/scheduler-plugins/pkg/sysched"
)

// outOfTree has what the plugins of scheduler-plugins need besides the framework: an API server for their clients.
type outOfTree struct {
	server *customServer
}

func (o *outOfTree) options(c *Case) []scheduler.Option {
	o.server = newCustomServer(c.Objects.Custom)
	return []scheduler.Option{
		scheduler.WithKubeConfig(o.server.config()),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{
			capacityscheduling.Name:       capacityscheduling.New,
			coscheduling.Name:             coscheduling.New,
			networkoverhead.Name:          networkoverhead.New,
			noderesources.AllocatableName: noderesources.NewAllocatable,
			noderesourcetopology.Name:     noderesourcetopology.New,
			podstate.Name:                 podstate.New,
			preemptiontoleration.Name:     preemptiontoleration.New,
			qos.Name:                      qos.New,
			sysched.Name:                  sysched.New,
			topologicalsort.Name:          topologicalsort.New,
		}),
	}
}

func (o *outOfTree) close() {
	if o.server != nil {
		o.server.close()
	}
}

// The handlers of pod events. Pods are put into the informer's store directly, without events.

//go:linkname quotaPodAdded sigs.k8s.io/scheduler-plugins/pkg/capacityscheduling.(*CapacityScheduling).addPod
func quotaPodAdded(c *capacityscheduling.CapacityScheduling, obj interface{})

//go:linkname quotaPodDeleted sigs.k8s.io/scheduler-plugins/pkg/capacityscheduling.(*CapacityScheduling).deletePod
func quotaPodDeleted(c *capacityscheduling.CapacityScheduling, obj interface{})

//go:linkname syscallPodAdded sigs.k8s.io/scheduler-plugins/pkg/sysched.(*SySched).podAdded
func syscallPodAdded(s *sysched.SySched, obj interface{})

//go:linkname syscallPodDeleted sigs.k8s.io/scheduler-plugins/pkg/sysched.(*SySched).podDeleted
func syscallPodDeleted(s *sysched.SySched, obj interface{})

func (e *env) podAdded(pod *v1.Pod) {
	running := pod
	if pod.Status.StartTime != nil { // its kubelet has started it
		running = pod.DeepCopy()
		running.Status.Phase = v1.PodRunning
	}
	for _, f := range e.fwks {
		if s, ok := f.plugins[sysched.Name].(*sysched.SySched); ok {
			syscallPodAdded(s, running)
		}
		if c, ok := f.plugins[capacityscheduling.Name].(*capacityscheduling.CapacityScheduling); ok {
			quotaPodAdded(c, pod)
		}
	}
}

func (e *env) podRemoved(pod *v1.Pod) {
	for _, f := range e.fwks {
		if s, ok := f.plugins[sysched.Name].(*sysched.SySched); ok {
			syscallPodDeleted(s, pod)
		}
		if c, ok := f.plugins[capacityscheduling.Name].(*capacityscheduling.CapacityScheduling); ok {
			quotaPodDeleted(c, pod)
		}
	}
}

// settle sets clocks, accepts writes of pods, which the API has not, and waits until the plugins know the custom resources
// that they are notified of.
func (e *env) settle(c *Case) {
	for _, verb := range []string{"delete", "patch"} {
		e.client.PrependReactor(verb, "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, &v1.Pod{}, nil })
	}
	for _, f := range e.fwks {
		if pl, ok := f.plugins[preemptiontoleration.Name].(*preemptiontoleration.PreemptionToleration); ok && c.Now != nil {
			setUnexported[clock.Clock](pl, "clock", testingclock.NewFakeClock(c.Now.Time))
		}
		quotas, ok := f.plugins[capacityscheduling.Name].(*capacityscheduling.CapacityScheduling)
		if !ok {
			continue
		}
		namespaces := sets.New[string]()
		for _, o := range e.out.server.objects {
			if o.GetKind() == "ElasticQuota" {
				namespaces.Insert(o.GetNamespace())
			}
		}
		for known := -1; known != len(namespaces); time.Sleep(time.Millisecond) {
			quotas.RLock()
			known = len(unexported[capacityscheduling.ElasticQuotaInfos](quotas, "elasticQuotaInfos"))
			quotas.RUnlock()
		}
	}
}

// quotaPreemptor has the fields of CapacityScheduling's own preemption.Interface, in their order.
type quotaPreemptor struct {
	logger klog.Logger
	fh     framework.Handle
	state  fwk.CycleState
}

//go:linkname quotaEligible sigs.k8s.io/scheduler-plugins/pkg/capacityscheduling.(*preemptor).PodEligibleToPreemptOthers
func quotaEligible(p unsafe.Pointer, ctx context.Context, pod *v1.Pod, status *fwk.Status) (bool, string)

//go:linkname quotaVictims sigs.k8s.io/scheduler-plugins/pkg/capacityscheduling.(*preemptor).SelectVictimsOnNode
func quotaVictims(p unsafe.Pointer, ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, pdbs []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status)

func (p *quotaPreemptor) OrderedScoreFuncs(context.Context, map[string]*extenderv1.Victims) []func(string) int64 {
	return nil
}
func (p *quotaPreemptor) GetOffsetAndNumCandidates(n int32) (int32, int32) { return 0, n }
func (p *quotaPreemptor) CandidatesToVictimsMap([]preemption.Candidate) map[string]*extenderv1.Victims {
	return nil
}
func (p *quotaPreemptor) PodEligibleToPreemptOthers(ctx context.Context, pod *v1.Pod, status *fwk.Status) (bool, string) {
	return quotaEligible(unsafe.Pointer(p), ctx, pod, status)
}
func (p *quotaPreemptor) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo, pdbs []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	return quotaVictims(unsafe.Pointer(p), ctx, state, pod, node, pdbs)
}

// otherCandidates are the candidates of a plugin that takes the place of DefaultPreemption. Why other nodes are none is
// part of the message when no node is one.
func (e *env) otherCandidates(f *fwkEnv, state fwk.CycleState, pod *v1.Pod, fe *framework.FitError) []preemption.Candidate {
	var own preemption.Interface
	if pl, ok := f.plugins[preemptiontoleration.Name].(*preemptiontoleration.PreemptionToleration); ok {
		setUnexported(pl, "curTime", unexported[clock.Clock](pl, "clock").Now())
		own = pl
	} else if pl, ok := f.plugins[capacityscheduling.Name].(*capacityscheduling.CapacityScheduling); ok {
		own = &quotaPreemptor{unexported[klog.Logger](pl, "logger"), unexported[framework.Handle](pl, "fh"), state}
	} else {
		return nil
	}
	if ok, _ := own.PodEligibleToPreemptOthers(e.ctx, pod, fe.Diagnosis.NodeToStatus.Get(pod.Status.NominatedNodeName)); !ok {
		return nil
	}
	nodes, err := fe.Diagnosis.NodeToStatus.NodesForStatusCode(f.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return nil
	}
	pdbs, _ := e.inf.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything())
	evaluator := preemption.NewEvaluator("", f.Framework, own, false)
	candidates, _, _ := evaluator.DryRunPreemption(e.ctx, state, pod, nodes, pdbs, 0, int32(len(nodes)))
	return candidates
}
