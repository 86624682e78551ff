// Command load is the benchmark's hand on the API server. It makes nodes and pods, binds pods without any scheduling
// (the speed no scheduler can beat), says when the first and the last pod was bound, and measures how long single pods
// wait for their binding (pace.go).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	kubeconfig = flag.String("kubeconfig", "", "who to be and where")
	nodes      = flag.Int("nodes", 0, "make: how many nodes")
	pods       = flag.Int("pods", 0, "make: how many pods; watch: how many to wait for")
	kind       = flag.String("kind", "basic", "make: basic, spread or anti-affinity pods")
	inFlight   = flag.Int("in-flight", 100, "how many requests at once")
	limit      = flag.Duration("limit", 10*time.Minute, "watch, pace …: give up after this long")
	rate       = flag.Float64("rate", 50, "pace: pods per second")
	address    = flag.String("address", "127.0.0.1:0", "extender: where to listen")
)

const namespace = "default"

var ctx = context.Background()

func main() {
	flag.Parse()
	if flag.Arg(0) == "extender" {
		serveExtender()
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	check(err)
	switch flag.Arg(0) {
	case "make":
		makeObjects(client)
	case "bind":
		bindAll(client)
	case "watch":
		watchBindings(client)
	case "pace":
		pace(client)
	case "requeue":
		requeue(client)
	case "preempt":
		preempt(client)
	case "pairs":
		pairs(client)
	case "remove":
		removePods(client)
	default:
		log.Fatalf("load: no such command: %q", flag.Arg(0))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal("load: ", err)
	}
}

// sideBySide calls do for 0..count-1, at most inFlight at once.
func sideBySide(count int, do func(i int)) {
	var wait sync.WaitGroup
	free := make(chan struct{}, *inFlight)
	for i := 0; i < count; i++ {
		free <- struct{}{}
		wait.Add(1)
		go func() {
			defer func() { <-free; wait.Done() }()
			do(i)
		}()
	}
	wait.Wait()
}

func makeObjects(client kubernetes.Interface) {
	amounts := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods: resource.MustParse("110")}
	sideBySide(*nodes, func(i int) {
		name := fmt.Sprintf("node-%05d", i)
		_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				"kubernetes.io/hostname":      name,
				"topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", i%3)}},
			Status: corev1.NodeStatus{Capacity: amounts, Allocatable: amounts},
		}, metav1.CreateOptions{})
		check(err)
	})
	sideBySide(*pods, func(i int) {
		_, err := client.CoreV1().Pods(namespace).Create(ctx, podOf(fmt.Sprintf("pod-%05d", i)), metav1.CreateOptions{})
		check(err)
	})
}

func podOf(name string) *corev1.Pod {
	labels := map[string]string{"color": "blue"}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "pause", Image: "registry.k8s.io/pause:3.10",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("500Mi")}},
		}}},
	}
	switch *kind {
	case "basic":
	case "spread":
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 5, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: selector}}
	case "anti-affinity":
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: "kubernetes.io/hostname", LabelSelector: selector}}}}
	default:
		log.Fatalf("load: no such kind of pod: %s", *kind)
	}
	return pod
}

// bindAll gives every pod the next node, with the two writes a scheduler makes: the Binding, then the Event. It stays
// when it is done, for its use of CPU and memory to be read.
func bindAll(client kubernetes.Interface) {
	podList, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	check(err)
	nodeList, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	check(err)
	host, _ := os.Hostname()
	sideBySide(len(podList.Items), func(i int) {
		pod, node := &podList.Items[i], nodeList.Items[i%len(nodeList.Items)].Name
		check(client.CoreV1().Pods(namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{}))
		now := time.Now()
		_, err := client.EventsV1().Events(namespace).Create(ctx, &eventsv1.Event{
			ObjectMeta:          metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", pod.Name, now.UnixNano()), Namespace: namespace},
			EventTime:           metav1.MicroTime{Time: now},
			ReportingController: "default-scheduler",
			ReportingInstance:   "default-scheduler-" + host,
			Action:              "Binding",
			Reason:              "Scheduled",
			Type:                corev1.EventTypeNormal,
			Note:                fmt.Sprintf("Successfully assigned %s/%s to %s", namespace, pod.Name, node),
			Regarding: corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: namespace, Name: pod.Name,
				UID: pod.UID, ResourceVersion: pod.ResourceVersion},
		}, metav1.CreateOptions{})
		check(err)
	})
	time.Sleep(*limit)
}

// watchBindings says "ready" when its watch is open and, once enough pods are bound, how long the first to the last
// took. It lists and watches bound pods only; a watch that ends early begins again with a list.
func watchBindings(client kubernetes.Interface) {
	bound := map[string]bool{}
	var first, last time.Time
	report := func() {
		check(json.NewEncoder(os.Stdout).Encode(map[string]any{
			"bound": len(bound), "seconds": last.Sub(first).Seconds()}))
	}
	see := func(name string) {
		if bound[name] {
			return
		}
		last = time.Now()
		if len(bound) == 0 {
			first = last
		}
		bound[name] = true
		if len(bound) >= *pods {
			report()
			os.Exit(0) // stopping a busy watch in an orderly way can take as long as its timeout
		}
	}
	deadline := time.Now().Add(*limit)
	for opened := 0; len(bound) < *pods && time.Now().Before(deadline); opened++ {
		list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "spec.nodeName!=", ResourceVersion: "0"})
		check(err)
		for i := range list.Items {
			see(list.Items[i].Name)
		}
		seconds := int64(time.Until(deadline).Seconds()) + 1
		watch, err := client.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{
			FieldSelector: "spec.nodeName!=", ResourceVersion: list.ResourceVersion, TimeoutSeconds: &seconds})
		check(err)
		if opened == 0 {
			fmt.Println("ready")
		}
		for event := range watch.ResultChan() {
			pod, isPod := event.Object.(*corev1.Pod)
			if !isPod {
				break // an error: the version is too old
			}
			see(pod.Name)
		}
		watch.Stop()
	}
	report()
}
