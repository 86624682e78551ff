package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/utils/ptr"
)

// The workloads of bench/workloads.cc and bench/suite_workloads.cc, object by object.
type workloadSpec struct {
	name     string
	shape    func(i int, pod *v1.Pod)
	objects  func(nodes, pods int) []apiruntime.Object // besides nodes and pods
	setup    func(b *bench, nodes, pods int)
	preempts bool
	between  func(b *bench, i int)
}

const (
	hostKey   = "kubernetes.io/hostname"
	zoneKey   = "topology.kubernetes.io/zone"
	csiDriver = "csi.example.com"
	namespace = "sched-1"
)

func workloads() []workloadSpec {
	return []workloadSpec{
		{name: "basic", shape: plain},
		{name: "nodeaffinity", shape: nodeAffinity},
		{name: "podaffinity", shape: affinity("blue", zoneKey, ownNamespaces, required)},
		{name: "podantiaffinity", shape: affinity("green", hostKey, ownNamespaces, requiredAnti)},
		{name: "preferred-podaffinity", shape: affinity("red", hostKey, ownNamespaces, preferred)},
		{name: "preferred-podantiaffinity", shape: affinity("yellow", hostKey, ownNamespaces, preferredAnti)},
		{name: "topologyspread", shape: spread(v1.DoNotSchedule)},
		{name: "preferred-topologyspread", shape: spread(v1.ScheduleAnyway)},
		{name: "csi-pvs", shape: claimed, objects: csiObjects},
		{name: "preemption", shape: important, setup: fillNodes, preempts: true},
		{name: "dra", shape: withDevice, objects: deviceObjects},
		{name: "secrets", shape: withSecret},
		{name: "intree-pvs", shape: claimed, objects: inTreeObjects},
		{name: "wffc", shape: claimed, objects: waitingObjects},
		{name: "podaffinity-ns", shape: affinity("blue", zoneKey, teamNamespaces, required), objects: teams},
		{name: "podantiaffinity-ns", shape: affinity("green", hostKey, teamNamespaces, requiredAnti), objects: teams},
		{name: "preferred-podaffinity-ns", shape: affinity("red", hostKey, teamNamespaces, preferred), objects: teams},
		{name: "preferred-podantiaffinity-ns", shape: affinity("green", hostKey, teamNamespaces, preferredAnti), objects: teams},
		{name: "default-topologyspread", shape: ofService, objects: service},
		{name: "mixed", shape: plain, setup: placeFiveKinds},
		{name: "churn", shape: plain, between: churn},
		{name: "unschedulable", shape: everySecondTooLarge},
		{name: "gated", shape: plain, setup: addGated},
		{name: "daemonset", shape: daemon, setup: addDaemonNode},
		{name: "daemonset-nodes", shape: daemonOfItsNode},
		{name: "indexed-job", shape: ofIndexedJob},
		{name: "statefulset", shape: ofStatefulSet, objects: statefulSet},
		{name: "statefulset-services", shape: ofStatefulSet, objects: statefulSetAmongServices},
		{name: "statefulset-apart", shape: ofStatefulSetApart, objects: statefulSet},
	}
}

func (w workloadSpec) allObjects(nodes, pods int) []apiruntime.Object {
	if w.objects == nil {
		return namespaces(2, nil)
	}
	list := w.objects(nodes, pods)
	for _, object := range list {
		if _, has := object.(*v1.Namespace); has {
			return list
		}
	}
	return append(list, namespaces(2, nil)...)
}

func namespaces(count int, labels map[string]string) []apiruntime.Object {
	var list []apiruntime.Object
	for i := 0; i < count; i++ {
		list = append(list, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("sched-%d", i), Labels: labels}})
	}
	return list
}

func amounts(pairs ...string) v1.ResourceList {
	list := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func nodeName(i int) string { return fmt.Sprintf("scheduler-perf-%d", i) }

func makeNode(i int) *v1.Node {
	return newNode(nodeName(i), fmt.Sprintf("zone%d", i%3), "110")
}

func newNode(name, zone, pods string) *v1.Node {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hostKey: name, zoneKey: zone}}}
	node.Status.Capacity = amounts("pods", pods, "cpu", "4", "memory", "32Gi")
	node.Status.Allocatable = node.Status.Capacity.DeepCopy()
	return node
}

func makePod(i int, shape func(int, *v1.Pod)) *v1.Pod {
	return newPod(fmt.Sprintf("pod-%d", i), i, shape)
}

func newPod(name string, i int, shape func(int, *v1.Pod)) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID("uid-" + name)}}
	requests := amounts("cpu", "100m", "memory", "500Mi")
	pod.Spec.Containers = []v1.Container{{Name: "pause", Image: "registry.k8s.io/pause:3.10.1",
		Resources: v1.ResourceRequirements{Requests: requests, Limits: requests.DeepCopy()}}}
	shape(i, pod)
	legacyscheme.Scheme.Default(pod)
	return pod
}

func plain(int, *v1.Pod) {}

// --- Affinity and spread

func nodeAffinity(_ int, pod *v1.Pod) {
	requireNode(pod, v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{
		{Key: zoneKey, Operator: v1.NodeSelectorOpIn, Values: []string{"zone1", "zone2"}}}})
}

func requireNode(pod *v1.Pod, term v1.NodeSelectorTerm) {
	pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}}}}
}

func ownNamespaces(term *v1.PodAffinityTerm) { term.Namespaces = []string{"sched-1", "sched-0"} }
func teamNamespaces(term *v1.PodAffinityTerm) {
	term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "devops"}}
}

func required(term v1.PodAffinityTerm) *v1.Affinity {
	return &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
}
func requiredAnti(term v1.PodAffinityTerm) *v1.Affinity {
	return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
}
func preferred(term v1.PodAffinityTerm) *v1.Affinity {
	return &v1.Affinity{PodAffinity: &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}}}}
}
func preferredAnti(term v1.PodAffinityTerm) *v1.Affinity {
	return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term}}}}
}

func affinity(color, topology string, where func(*v1.PodAffinityTerm), kind func(v1.PodAffinityTerm) *v1.Affinity) func(int, *v1.Pod) {
	return func(_ int, pod *v1.Pod) {
		pod.Labels = map[string]string{"color": color}
		term := v1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}, TopologyKey: topology}
		where(&term)
		pod.Spec.Affinity = kind(term)
	}
}

func spread(action v1.UnsatisfiableConstraintAction) func(int, *v1.Pod) {
	return func(_ int, pod *v1.Pod) {
		pod.Labels = map[string]string{"color": "blue"}
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 5, TopologyKey: zoneKey,
			WhenUnsatisfiable: action, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}}}
	}
}

func teams(int, int) []apiruntime.Object { return namespaces(100, map[string]string{"team": "devops"}) }

func ofService(_ int, pod *v1.Pod) { pod.Labels = map[string]string{"app": "scheduler-perf"} }

func service(int, int) []apiruntime.Object {
	return []apiruntime.Object{&v1.Service{ObjectMeta: metav1.ObjectMeta{Name: "service", Namespace: namespace},
		Spec: v1.ServiceSpec{Selector: map[string]string{"app": "scheduler-perf"}}}}
}

// --- Volumes

func withSecret(_ int, pod *v1.Pod) {
	pod.Spec.Volumes = []v1.Volume{{Name: "secret", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{}}}}
}

func claimed(i int, pod *v1.Pod) {
	pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprintf("pvc-%d", i)}}}}
}

func boundClaims(pods int, source func(i int) v1.PersistentVolumeSource) []apiruntime.Object {
	var list []apiruntime.Object
	for i := 0; i < pods; i++ {
		modes := []v1.PersistentVolumeAccessMode{v1.ReadOnlyMany}
		claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pvc-%d", i), Namespace: namespace,
			UID: types.UID(fmt.Sprintf("pvc-%d", i)), Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "true"}}}
		claim.Spec.AccessModes = modes
		claim.Spec.Resources.Requests = amounts("storage", "1Gi")
		claim.Spec.VolumeName = fmt.Sprintf("pv-%d", i)
		claim.Status.Phase = v1.ClaimBound
		volume := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName}}
		volume.Spec.PersistentVolumeSource = source(i)
		volume.Spec.Capacity = amounts("storage", "1Gi")
		volume.Spec.AccessModes = modes
		volume.Spec.ClaimRef = &v1.ObjectReference{Name: claim.Name, Namespace: claim.Namespace, UID: claim.UID}
		list = append(list, claim, volume)
	}
	return list
}

func csiObjects(nodes, pods int) []apiruntime.Object {
	list := boundClaims(pods, func(i int) v1.PersistentVolumeSource {
		return v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: csiDriver, VolumeHandle: fmt.Sprintf("pv-%d", i)}}
	})
	return append(list, csiNodes(nodes)...)
}

func csiNodes(nodes int) []apiruntime.Object {
	var list []apiruntime.Object
	for i := 0; i < nodes; i++ {
		list = append(list, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: csiDriver, NodeID: nodeName(i),
				Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](39)}}}}})
	}
	return list
}

func waitingObjects(nodes, pods int) []apiruntime.Object {
	list := append(csiNodes(nodes), &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "waits"},
		Provisioner: csiDriver, VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)})
	for i := 0; i < pods; i++ {
		name := fmt.Sprintf("pvc-%d", i)
		claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID(name), ResourceVersion: "1"}}
		claim.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}
		claim.Spec.Resources.Requests = amounts("storage", "1Gi")
		claim.Spec.StorageClassName = ptr.To("waits")
		claim.Status.Phase = v1.ClaimPending
		list = append(list, claim)
	}
	return list
}

func inTreeObjects(_, pods int) []apiruntime.Object {
	return boundClaims(pods, func(i int) v1.PersistentVolumeSource {
		return v1.PersistentVolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: fmt.Sprintf("pv-%d", i)}}
	})
}

// --- Devices

func withDevice(i int, pod *v1.Pod) {
	pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "device", ResourceClaimName: ptr.To(fmt.Sprintf("claim-%d", i))}}
}

func deviceObjects(nodes, pods int) []apiruntime.Object {
	class := &resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "device"}}
	class.Spec.Selectors = []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{
		Expression: fmt.Sprintf("device.driver == %q", csiDriver)}}}
	list := []apiruntime.Object{class}
	for i := 0; i < nodes; i++ {
		slice := &resourceapi.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("slice-%d", i)}}
		slice.Spec = resourceapi.ResourceSliceSpec{Driver: csiDriver, NodeName: ptr.To(nodeName(i)),
			Pool: resourceapi.ResourcePool{Name: nodeName(i), Generation: 1, ResourceSliceCount: 1}}
		for d := 0; d < 10; d++ {
			slice.Spec.Devices = append(slice.Spec.Devices, resourceapi.Device{Name: fmt.Sprintf("device-%d", d)})
		}
		list = append(list, slice)
	}
	for i := 0; i < pods; i++ {
		claim := &resourceapi.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("claim-%d", i), Namespace: namespace,
			UID: types.UID(fmt.Sprintf("claim-%d", i))}}
		claim.Spec.Devices.Requests = []resourceapi.DeviceRequest{{Name: "one", Exactly: &resourceapi.ExactDeviceRequest{
			DeviceClassName: "device", AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1}}}
		list = append(list, claim)
	}
	return list
}

// --- Full, mixed and moving clusters

func important(_ int, pod *v1.Pod) {
	pod.Spec.Priority = ptr.To[int32](10)
	setCPU(pod, "3")
}

func setCPU(pod *v1.Pod, cpu string) {
	resources := &pod.Spec.Containers[0].Resources
	resources.Requests[v1.ResourceCPU] = resource.MustParse(cpu)
	resources.Limits[v1.ResourceCPU] = resource.MustParse(cpu)
}

func fillNodes(b *bench, nodes, _ int) {
	for i := 0; i < nodes*4; i++ {
		b.place(newPod(fmt.Sprintf("low-%d", i), i, func(_ int, pod *v1.Pod) {
			pod.Spec.Priority = ptr.To[int32](0)
			setCPU(pod, "900m")
		}), nodeName(i/4))
	}
}

func placeFiveKinds(b *bench, nodes, _ int) {
	kinds := workloads()
	five := []workloadSpec{kinds[0], kinds[2], kinds[3], kinds[4], kinds[5]}
	for i := 0; i < nodes; i++ {
		kind := five[i%len(five)]
		b.place(newPod(fmt.Sprintf("%s-%d", kind.name, i), i, kind.shape), nodeName(i))
	}
}

func churn(b *bench, i int) {
	if i%100 != 0 {
		return
	}
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-churn"}}
	node.Status.Capacity = amounts("pods", "0")
	node.Status.Allocatable = node.Status.Capacity
	service := &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: "service-churn", Namespace: namespace},
		Spec: v1.ServiceSpec{Selector: map[string]string{"app": "foo"}}}
	services := b.informers.Core().V1().Services().Informer().GetStore()
	if i/100%2 == 1 {
		check(b.sched.Cache.RemoveNode(b.logger, node))
		check(services.Delete(service))
	} else {
		b.sched.Cache.AddNode(b.logger, node)
		check(services.Add(service))
	}
}

func everySecondTooLarge(i int, pod *v1.Pod) {
	if i%2 == 0 {
		return
	}
	resources := &pod.Spec.Containers[0].Resources
	resources.Requests[v1.ResourceCPU] = resource.MustParse("9")
	resources.Limits = nil
}

func addGated(b *bench, _, _ int) {
	for i := 0; i < 10000; i++ {
		b.enqueue(newPod(fmt.Sprintf("gated-%d", i), i, func(_ int, pod *v1.Pod) {
			pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "test.k8s.io/hold"}}
		}))
	}
}

const daemonNode = "scheduler-perf-node"

func daemon(_ int, pod *v1.Pod) { daemonOn(daemonNode, pod) }

func daemonOfItsNode(i int, pod *v1.Pod) {
	pod.Labels = map[string]string{"daemonset": fmt.Sprint(i / 100)}
	daemonOn(nodeName(i%100), pod)
}

func daemonOn(node string, pod *v1.Pod) {
	pod.Spec.Containers[0].Resources = v1.ResourceRequirements{}
	requireNode(pod, v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{
		{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{node}}}})
}

func addDaemonNode(b *bench, _, pods int) {
	b.sched.Cache.AddNode(b.logger, newNode(daemonNode, "zone0", fmt.Sprint(pods)))
}

// --- Pods with labels of their own

func ofIndexedJob(i int, pod *v1.Pod) {
	pod.Labels = map[string]string{"batch.kubernetes.io/job-name": "job", "batch.kubernetes.io/job-completion-index": fmt.Sprint(i)}
}

func ofStatefulSet(i int, pod *v1.Pod) {
	pod.Labels = map[string]string{"app": "web", "statefulset.kubernetes.io/pod-name": fmt.Sprintf("web-%d", i),
		"apps.kubernetes.io/pod-index": fmt.Sprint(i)}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "web", Controller: ptr.To(true)}}
}

func ofStatefulSetApart(i int, pod *v1.Pod) {
	ofStatefulSet(i, pod)
	pod.Spec.Affinity = preferredAnti(v1.PodAffinityTerm{LabelSelector: webSelector(), TopologyKey: hostKey})
	pod.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight = 100
}

func webSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

func statefulSetAmongServices(nodes, pods int) []apiruntime.Object {
	list := statefulSet(nodes, pods)
	for i := 0; i < 5000; i++ {
		list = append(list, &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("service-%d", i), Namespace: fmt.Sprintf("sched-%d", i%100)},
			Spec: v1.ServiceSpec{Selector: map[string]string{"app": fmt.Sprintf("app-%d", i)}}})
	}
	return list
}

func statefulSet(int, int) []apiruntime.Object {
	return []apiruntime.Object{&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace},
		Spec: appsv1.StatefulSetSpec{Selector: webSelector()}}}
}
