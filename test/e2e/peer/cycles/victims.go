package main

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

const measuredPreemption = "MeasuredPreemption"

// victims stands in for the deletion of victims: DefaultPreemption searches as always, and nobody is asked to go. So the
// search alone is measured.
type victims struct {
	mutex sync.Mutex
	pods  []*v1.Pod
}

func (v *victims) useIn(profile *schedulerapi.KubeSchedulerProfile) {
	enabled := profile.Plugins.MultiPoint.Enabled
	for i := range enabled {
		if enabled[i].Name == names.DefaultPreemption {
			enabled[i].Name = measuredPreemption
		}
	}
}

type quietPreemption struct {
	*defaultpreemption.DefaultPreemption
}

func (quietPreemption) Name() string { return measuredPreemption }

func (v *victims) newPlugin(ctx context.Context, _ apiruntime.Object, handle pluginHandle) (plugin, error) {
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	gates.EnableAsyncPreemption = false
	args := &schedulerapi.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}
	search, err := defaultpreemption.New(ctx, args, handle, gates)
	if err != nil {
		return nil, err
	}
	onVictim(search, v.add)
	return quietPreemption{search}, nil
}

func (v *victims) add(victim *v1.Pod) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.pods = append(v.pods, victim)
}
