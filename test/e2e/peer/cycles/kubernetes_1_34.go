//go:build !k8s1_37

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

type (
	pluginHandle = framework.Handle
	plugin       = framework.Plugin
)

func noEvents(string) events.EventRecorder { return &events.FakeRecorder{} }

func newInformers(client kubernetes.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}

func (b *bench) enqueue(pod *v1.Pod) { b.sched.SchedulingQueue.Add(b.logger, pod) }

func (b *bench) schedule(state fwk.CycleState, pod *v1.Pod) (scheduler.ScheduleResult, error) {
	return b.sched.SchedulePod(b.ctx, b.framework, state, pod)
}

func onVictim(search *defaultpreemption.DefaultPreemption, add func(*v1.Pod)) {
	search.Evaluator.PreemptPod = func(_ context.Context, _ preemption.Candidate, _, victim *v1.Pod, _ string) error {
		add(victim)
		return nil
	}
}
