package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// When the placed pods of a case were scheduled, in seconds since 1970.
const arrival = 1_700_000_000

func pick[T any](r *rand.Rand, values ...T) T { return values[r.Intn(len(values))] }

func milli(n int64) resource.Quantity   { return *resource.NewMilliQuantity(n, resource.DecimalSI) }
func bytesOf(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }

func amounts(r *rand.Rand, maxCPU, maxMemory int64) v1.ResourceList {
	list := v1.ResourceList{}
	if r.Intn(4) > 0 {
		list[v1.ResourceCPU] = milli(r.Int63n(maxCPU))
	}
	if r.Intn(4) > 0 {
		list[v1.ResourceMemory] = bytesOf(r.Int63n(maxMemory))
	}
	return list
}

func container(r *rand.Rand, name string) v1.Container {
	c := v1.Container{Name: name, Image: "image"}
	if r.Intn(5) > 0 {
		c.Resources.Requests = amounts(r, 1500, 2<<30)
	}
	if r.Intn(3) == 0 {
		c.Resources.Limits = amounts(r, 3000, 4<<30)
	}
	if r.Intn(20) == 0 {
		c.Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("0.0005")}
	}
	return c
}

func pod(r *rand.Rand, name string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
	for i := 0; i <= r.Intn(3); i++ {
		p.Spec.Containers = append(p.Spec.Containers, container(r, fmt.Sprint("c", i)))
	}
	for i := 0; i < r.Intn(3)-1; i++ {
		c := container(r, fmt.Sprint("i", i))
		if r.Intn(2) == 0 {
			c.RestartPolicy = ptr(v1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	if r.Intn(6) == 0 {
		p.Spec.Overhead = v1.ResourceList{v1.ResourceCPU: milli(250), v1.ResourceMemory: bytesOf(120 << 20)}
	}
	return p
}

func ptr[T any](value T) *T { return &value }

func node(r *rand.Rand, name string) *v1.Node {
	cpu := pick[int64](r, 1000, 2000, 4000, 8000, 16000, 7777)
	memory := pick[int64](r, 2<<30, 4<<30, 16<<30, 33_333_333_333)
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.Capacity = v1.ResourceList{v1.ResourceCPU: milli(cpu), v1.ResourceMemory: bytesOf(memory),
		v1.ResourcePods: *resource.NewQuantity(110, resource.DecimalSI)}
	n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	if r.Intn(2) == 0 {
		n.Status.Allocatable[v1.ResourceCPU] = milli(cpu - r.Int63n(900))
		n.Status.Allocatable[v1.ResourceMemory] = bytesOf(memory - r.Int63n(1<<30))
	}
	if r.Intn(40) == 0 {
		delete(n.Status.Capacity, v1.ResourceCPU)
		delete(n.Status.Allocatable, v1.ResourceCPU)
	}
	return n
}

// cluster fills in nodes, placed pods and the pod to place.
func cluster(r *rand.Rand, c *Case) {
	for i := 0; i <= 1+r.Intn(5); i++ {
		c.Nodes = append(c.Nodes, node(r, fmt.Sprint("n", i)))
	}
	for i := 0; i < r.Intn(10); i++ {
		p := pod(r, fmt.Sprint("placed", i))
		p.Spec.NodeName = c.Nodes[r.Intn(len(c.Nodes))].Name
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(time.Unix(arrival, 0).UTC())}}
		c.Pods = append(c.Pods, p)
	}
	c.Pod = pod(r, "pod")
}

func percent(r *rand.Rand) float64 {
	switch r.Intn(12) {
	case 0:
		return 0
	case 1:
		return 100
	case 2:
		return 100 + 50*r.Float64()
	case 3:
		return float64(r.Intn(101))
	}
	return 100 * r.Float64()
}

// load fills in metrics as sources give them: averages with deviations, latest values, none, or something odd.
func load(r *rand.Rand, c *Case) {
	// All placed pods came long before the end of the window, or after or shortly before it.
	c.WindowEnd = arrival + pick[int64](r, -300, -1, 0, 20, 40, 80, 600)
	for _, n := range c.Nodes {
		metrics := []Metric{}
		switch kind := r.Intn(10); {
		case kind < 6:
			scale := pick(r, 1, 0.3, 0.1, 0.01)
			metrics = append(metrics, Metric{"CPU", "AVG", percent(r)}, Metric{"Memory", "AVG", percent(r)},
				Metric{"CPU", "STD", scale * percent(r)}, Metric{"Memory", "STD", scale * percent(r)})
		case kind < 8:
			metrics = append(metrics, Metric{"CPU", "Latest", percent(r)}, Metric{"Memory", "Latest", percent(r)})
		case kind == 8:
			for i := 0; i < 1+r.Intn(6); i++ {
				metrics = append(metrics, Metric{pick(r, "CPU", "Memory", "Energy"),
					pick(r, "AVG", "STD", "Latest", "", "Unknown"), percent(r)})
			}
		default:
			continue
		}
		c.Metrics = append(c.Metrics, NodeMetrics{n.Name, metrics})
	}
}

// args makes pluginConfig of fields; the address of the metrics is filled in when it is known.
func args(c *Case, fields map[string]any) {
	fields["apiVersion"] = "kubescheduler.config.k8s.io/v1"
	fields["kind"] = c.Plugin + "Args"
	c.Args, _ = json.Marshal(fields)
}

func maybe(r *rand.Rand, fields map[string]any, name string, values ...any) {
	if r.Intn(2) == 0 {
		fields[name] = values[r.Intn(len(values))]
	}
}
