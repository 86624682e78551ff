//go:build k8s1_37

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

type (
	pluginHandle = fwk.Handle
	plugin       = fwk.Plugin
)

func noEvents(string) events.EventRecorderLogger { return &events.FakeRecorder{} }

func newInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0, nil)
}

func (b *bench) enqueue(pod *v1.Pod) { b.sched.SchedulingQueue.Add(b.ctx, pod) }

// schedule updates the snapshot first: since 1.36 the caller of SchedulePod does, where SchedulePod itself did before.
func (b *bench) schedule(state fwk.CycleState, pod *v1.Pod) (scheduler.ScheduleResult, error) {
	if err := b.sched.Cache.UpdateSnapshot(b.logger, b.framework.SnapshotSharedLister().(*internalcache.Snapshot)); err != nil {
		return scheduler.ScheduleResult{}, err
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return scheduler.ScheduleResult{}, err
	}
	return b.sched.SchedulePod(b.ctx, b.framework, state, &framework.QueuedPodInfo{PodInfo: info})
}

func onVictim(search *defaultpreemption.DefaultPreemption, add func(*v1.Pod)) {
	search.Executor.PreemptPod = func(_ context.Context, _ preemption.Candidate, _ preemption.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
		add(victim)
		return true, nil
	}
}
