//go:build schedulerplugins

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"

	"github.com/go-logr/logr"
	cadvisorapi "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	cpustate "k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	memorystate "k8s.io/kubernetes/pkg/kubelet/cm/memorymanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/utils/cpuset"
	"k8s.io/utils/ptr"
)

// The kubelet's admission of pods: its topology, CPU and memory managers, with static policies.

// AdmissionCase is a node as its kubelet publishes it, pods that are bound to it since then, and one more pod.
type AdmissionCase struct {
	Seed     int64     `json:"seed"`
	Policy   string    `json:"policy"`
	Scope    string    `json:"scope"`
	Cells    []CellNow `json:"cells"`
	Settled  []*v1.Pod `json:"settled,omitempty"`  // the published amounts take them into account
	InFlight []*v1.Pod `json:"inFlight,omitempty"` // admitted in any order, with any CPUs
	Pod      *v1.Pod   `json:"pod"`
	// Every is whether all pods in flight and the pod are admitted, in every order of them.
	Every bool `json:"every"`
}

// CellNow has the amounts of a cell.
type CellNow struct {
	CPUs            int   `json:"cpus"`
	AllocatableCPUs int   `json:"allocatableCPUs"`
	FreeCPUs        int   `json:"freeCPUs"`
	Memory          int64 `json:"memory"` // bytes that pods may have
	FreeMemory      int64 `json:"freeMemory"`
	Huge            int64 `json:"huge"` // pages of 2 MiB, in bytes
	FreeHuge        int64 `json:"freeHuge"`
}

const (
	kubeletGi = 1 << 30
	kubeletMi = 1 << 20
)

func kubeletBytes(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }

// machine is the hardware of a node.
type machine struct {
	policy, scope  string
	cells, threads int // threads per core
	cpus           int // per cell
	reserved       int
	memory, huge   int64
}

// kubelet has the managers of a node.
type kubelet struct {
	m       machine
	topo    *topology.CPUTopology
	manager topologymanager.Manager
	cpu     cpumanager.Policy
	cpus    cpustate.State
	memory  memorymanager.Policy
	blocks  memorystate.State
}

func newKubelet(m machine) *kubelet {
	k := &kubelet{m: m}
	details := topology.CPUDetails{}
	info := &cadvisorapi.MachineInfo{}
	for c := 0; c < m.cells; c++ {
		for i := 0; i < m.cpus; i++ {
			// Threads of a core are numbered as on usual machines: all first threads, then all second ones.
			cores := m.cpus / m.threads
			id := (i/cores)*cores*m.cells + c*cores + i%cores
			details[id] = topology.CPUInfo{NUMANodeID: c, SocketID: c, CoreID: c*cores + i%cores, UncoreCacheID: c}
		}
		info.Topology = append(info.Topology, cadvisorapi.Node{Id: c, Memory: uint64(m.memory) + kubeletGi + uint64(m.huge),
			HugePages: []cadvisorapi.HugePagesInfo{{PageSize: 2048, NumPages: uint64(m.huge) / (2 * kubeletMi)}}})
	}
	k.topo = &topology.CPUTopology{NumCPUs: m.cpus * m.cells, NumCores: m.cpus * m.cells / m.threads, NumUncoreCache: m.cells,
		NumSockets: m.cells, NumNUMANodes: m.cells, CPUDetails: details}
	var err error
	check := func() {
		if err != nil {
			panic(err)
		}
	}
	k.manager, err = topologymanager.NewManager(info.Topology, m.policy, m.scope, nil)
	check()
	k.cpu, err = cpumanager.NewStaticPolicy(k.topo, m.reserved, cpuset.New(), k.manager, nil)
	check()
	k.cpus = cpustate.NewMemoryState()
	err = k.cpu.Start(k.cpus)
	check()
	ctx := context.Background()
	reserved := map[int]map[v1.ResourceName]uint64{}
	for c := 0; c < m.cells; c++ {
		reserved[c] = map[v1.ResourceName]uint64{v1.ResourceMemory: kubeletGi}
	}
	k.memory, err = memorymanager.NewPolicyStatic(ctx, info, reserved, k.manager)
	check()
	k.blocks = memorystate.NewMemoryState(logr.Discard())
	err = k.memory.Start(ctx, k.blocks)
	check()
	k.manager.AddHintProvider(cpuHints{k})
	k.manager.AddHintProvider(memoryHints{k})
	return k
}

type cpuHints struct{ k *kubelet }

func (h cpuHints) GetTopologyHints(pod *v1.Pod, c *v1.Container) map[string][]topologymanager.TopologyHint {
	return h.k.cpu.GetTopologyHints(h.k.cpus, pod, c)
}
func (h cpuHints) GetPodTopologyHints(pod *v1.Pod) map[string][]topologymanager.TopologyHint {
	return h.k.cpu.GetPodTopologyHints(h.k.cpus, pod)
}
func (h cpuHints) Allocate(pod *v1.Pod, c *v1.Container) error {
	return h.k.cpu.Allocate(h.k.cpus, pod, c)
}

type memoryHints struct{ k *kubelet }

func (h memoryHints) GetTopologyHints(pod *v1.Pod, c *v1.Container) map[string][]topologymanager.TopologyHint {
	return h.k.memory.GetTopologyHints(context.Background(), h.k.blocks, pod, c)
}
func (h memoryHints) GetPodTopologyHints(pod *v1.Pod) map[string][]topologymanager.TopologyHint {
	return h.k.memory.GetPodTopologyHints(context.Background(), h.k.blocks, pod)
}
func (h memoryHints) Allocate(pod *v1.Pod, c *v1.Container) error {
	return h.k.memory.Allocate(context.Background(), h.k.blocks, pod, c)
}

func (k *kubelet) admit(pod *v1.Pod) bool {
	ok := k.manager.Admit(&lifecycle.PodAdmitAttributes{Pod: pod}).Admit
	if !ok {
		k.remove(pod, func(*v1.Container) bool { return true })
	}
	return ok
}

func (k *kubelet) remove(pod *v1.Pod, which func(*v1.Container) bool) {
	all := append(append([]v1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...)
	for i := range all {
		if which(&all[i]) {
			k.cpu.RemoveContainer(k.cpus, string(pod.UID), all[i].Name)
			k.memory.RemoveContainer(context.Background(), k.blocks, string(pod.UID), all[i].Name)
		}
	}
}

// finishInit is what the end of the init containers leaves.
func (k *kubelet) finishInit(pod *v1.Pod) {
	inits := map[string]bool{}
	for _, c := range pod.Spec.InitContainers {
		inits[c.Name] = c.RestartPolicy == nil
	}
	k.remove(pod, func(c *v1.Container) bool { return inits[c.Name] })
}

func (k *kubelet) published() []CellNow {
	allocatable := k.cpu.GetAllocatableCPUs(k.cpus)
	free := k.cpus.GetDefaultCPUSet().Intersection(allocatable)
	cells := []CellNow{}
	state := k.blocks.GetMachineState()
	for c := 0; c < k.m.cells; c++ {
		own := k.topo.CPUDetails.CPUsInNUMANodes(c)
		memory, huge := state[c].MemoryMap[v1.ResourceMemory], state[c].MemoryMap["hugepages-2Mi"]
		cells = append(cells, CellNow{own.Size(), own.Intersection(allocatable).Size(), own.Intersection(free).Size(),
			int64(memory.Allocatable), int64(memory.Free), int64(huge.Allocatable), int64(huge.Free)})
	}
	return cells
}

// history is how the published state came to be: pods that were admitted, some of which have gone again.
type step struct {
	pod  *v1.Pod
	gone bool
}

func replayHistory(m machine, history []step) *kubelet {
	k := newKubelet(m)
	for _, s := range history {
		if s.gone {
			k.remove(s.pod, func(*v1.Container) bool { return true })
		} else if k.admit(s.pod) {
			k.finishInit(s.pod)
		}
	}
	return k
}

// everyOrder is whether all pods are admitted whatever the order.
func everyOrder(m machine, history []step, pods []*v1.Pod) bool {
	var try func(taken []*v1.Pod, left []*v1.Pod) bool
	try = func(taken []*v1.Pod, left []*v1.Pod) bool {
		k := replayHistory(m, history)
		for _, p := range taken {
			if !k.admit(p) {
				return false
			}
		}
		for i := range left {
			rest := append(append([]*v1.Pod{}, left[:i]...), left[i+1:]...)
			if !try(append(append([]*v1.Pod{}, taken...), left[i]), rest) {
				return false
			}
		}
		return true
	}
	return try(nil, pods)
}

func admissionPod(r *rand.Rand, m machine, name string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
	guaranteed := r.Intn(8) > 0
	small := r.Intn(3) > 0
	container := func(name string) v1.Container {
		c := v1.Container{Name: name, Image: "image"}
		most := m.cpus
		if small {
			most = m.cpus/2 + 1
		}
		cpu := int64(1+r.Intn(most)) * 1000
		if m.policy == "restricted" && r.Intn(6) == 0 {
			cpu = int64(1+r.Intn(2*m.cpus)) * 1000
		}
		if r.Intn(5) == 0 {
			cpu = int64(100 * (1 + r.Intn(20)))
		}
		c.Resources.Requests = v1.ResourceList{v1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI), v1.ResourceMemory: kubeletBytes(kubeletMi * int64(1+r.Intn(int(m.memory/kubeletMi)/(1+r.Intn(8)))))}
		if m.policy == "restricted" && r.Intn(10) == 0 {
			c.Resources.Requests[v1.ResourceMemory] = kubeletBytes(m.memory + kubeletMi*int64(r.Intn(2048)))
		}
		if m.huge > 0 && r.Intn(5) == 0 && guaranteed {
			c.Resources.Requests["hugepages-2Mi"] = kubeletBytes(2 * kubeletMi * int64(1+r.Intn(int(m.huge/(2*kubeletMi)))))
		}
		c.Resources.Limits = c.Resources.Requests.DeepCopy()
		if !guaranteed {
			c.Resources.Limits = nil
		}
		return c
	}
	for i := 0; i <= []int{0, 0, 0, 1, 1, 2}[r.Intn(6)]; i++ {
		p.Spec.Containers = append(p.Spec.Containers, container(fmt.Sprint("c", i)))
	}
	for i := 0; i < []int{0, 0, 0, 1, 1, 2}[r.Intn(6)]; i++ {
		c := container(fmt.Sprint("i", i))
		if r.Intn(3) == 0 {
			c.RestartPolicy = ptr.To(v1.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	return p
}

func admissionCase(seed int64) *AdmissionCase {
	r := rand.New(rand.NewSource(seed))
	m := machine{policy: "single-numa-node", scope: "container", cells: []int{1, 2, 2, 2, 4}[r.Intn(5)], threads: 1 + r.Intn(2),
		cpus: []int{4, 8, 16}[r.Intn(3)], reserved: 2, memory: []int64{4, 16, 64}[r.Intn(3)] * kubeletGi}
	if r.Intn(3) == 0 {
		m.policy = "restricted"
	}
	if r.Intn(2) == 0 {
		m.scope = "pod"
	}
	if r.Intn(3) == 0 {
		m.huge = 512 * kubeletMi
	}
	history := []step{}
	on := []*v1.Pod{}
	k := newKubelet(m)
	for i := r.Intn(8); i > 0; i-- {
		if len(on) > 0 && r.Intn(3) == 0 {
			j := r.Intn(len(on))
			history = append(history, step{on[j], true})
			k.remove(on[j], func(*v1.Container) bool { return true })
			on = append(on[:j], on[j+1:]...)
			continue
		}
		p := admissionPod(r, m, fmt.Sprint("settled", i))
		if k.admit(p) {
			k.finishInit(p)
			history = append(history, step{p, false})
			on = append(on, p)
		}
	}
	c := &AdmissionCase{Seed: seed, Policy: m.policy, Scope: m.scope, Cells: k.published(), Settled: on}
	for i := []int{0, 0, 1, 1, 2}[r.Intn(5)]; i > 0; i-- {
		// A scheduler that knows all worlds binds only what is admitted in each of them.
		p := admissionPod(r, m, fmt.Sprint("flying", i))
		if everyOrder(m, history, append(append([]*v1.Pod{}, c.InFlight...), p)) {
			c.InFlight = append(c.InFlight, p)
		}
	}
	c.Pod = admissionPod(r, m, "pod")
	c.Every = everyOrder(m, history, append(append([]*v1.Pod{}, c.InFlight...), c.Pod))
	return c
}

// cmdAdmissions writes random cases, one per line.
func cmdAdmissions(seed int64, cases int, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	encoder := json.NewEncoder(w)
	for i := 0; i < cases; i++ {
		if err := encoder.Encode(admissionCase(seed*1_000_000 + int64(i))); err != nil {
			return err
		}
	}
	return w.Flush()
}
