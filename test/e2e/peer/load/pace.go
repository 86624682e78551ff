package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// bindings says when pods were bound, as a watch of bound pods sees it.
type bindings struct {
	mutex   sync.Mutex
	seen    map[string]time.Time
	changed *sync.Cond
}

func watchBound(client kubernetes.Interface) *bindings {
	b := &bindings{seen: map[string]time.Time{}}
	b.changed = sync.NewCond(&b.mutex)
	watchPods(client, func(event watch.Event, pod *corev1.Pod) {
		now := time.Now()
		b.mutex.Lock()
		defer b.mutex.Unlock()
		if _, known := b.seen[pod.Name]; !known {
			b.seen[pod.Name] = now
			b.changed.Broadcast()
		}
	})
	return b
}

// watchPods calls see for every event about pods with a node after it has returned. The API server ends watches that it
// finds too slow; they go on from the last version seen.
func watchPods(client kubernetes.Interface, see func(watch.Event, *corev1.Pod)) {
	bound := metav1.ListOptions{FieldSelector: "spec.nodeName!=", Limit: 1}
	list, err := client.CoreV1().Pods(namespace).List(ctx, bound)
	check(err)
	go followPods(client, list.ResourceVersion, see)
}

func followPods(client kubernetes.Interface, version string, see func(watch.Event, *corev1.Pod)) {
	for {
		events, err := client.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{
			FieldSelector: "spec.nodeName!=", ResourceVersion: version})
		check(err)
		for event := range events.ResultChan() {
			pod, isPod := event.Object.(*corev1.Pod)
			if !isPod {
				log.Fatalf("load: the watch of bound pods failed: %v", event.Object)
			}
			version = pod.ResourceVersion
			see(event, pod)
		}
	}
}

// wait returns when the pod was bound; zero: not until the deadline.
func (b *bindings) wait(name string, deadline time.Time) time.Time {
	timer := time.AfterFunc(time.Until(deadline), b.changed.Broadcast)
	defer timer.Stop()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for {
		if at, bound := b.seen[name]; bound {
			return at
		}
		if !time.Now().Before(deadline) {
			return time.Time{}
		}
		b.changed.Wait()
	}
}

// samples collects what was measured.
type samples struct {
	Samples []sample `json:"samples"`
	Missing int      `json:"missing"` // pods that were not bound in time
	Seconds float64  `json:"seconds"`
	start   time.Time
}

type sample struct {
	Pod  string `json:"pod"`
	From int64  `json:"from"` // microseconds since 1970
	To   int64  `json:"to"`
}

// add notes a pod that was bound at `to`; zero: it was not.
func (s *samples) add(pod string, from, to time.Time) {
	if to.IsZero() {
		s.Missing++
		return
	}
	s.Samples = append(s.Samples, sample{pod, from.UnixMicro(), to.UnixMicro()})
	s.Seconds = max(s.Seconds, to.Sub(s.start).Seconds())
}

func (s *samples) print() { check(json.NewEncoder(os.Stdout).Encode(s)) }

// ready says that everything is prepared, and waits for the word to begin.
func ready() {
	fmt.Println("ready")
	var line string
	_, err := fmt.Scanln(&line)
	check(err)
}

// warmUp has one pod bound, so that neither connections nor caches are those of a process that has just started.
func warmUp(client kubernetes.Interface, bound *bindings) {
	for i := 0; i < 5; i++ {
		name := fmt.Sprintf("warm-up-%d-%d", os.Getpid(), i)
		create(client, podOf(name))
		if bound.wait(name, time.Now().Add(*limit)).IsZero() {
			log.Fatalf("load: %s was not bound in %s", name, *limit)
		}
	}
}

func create(client kubernetes.Interface, pod *corev1.Pod) time.Time {
	_, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	check(err)
	return time.Now()
}

// pace creates pods at a steady rate, whether or not earlier ones are bound, and measures from the answer to the create
// until the binding is seen.
func pace(client kubernetes.Interface) {
	bound := watchBound(client)
	warmUp(client, bound)
	ready()
	created := make([]time.Time, *pods)
	var wait sync.WaitGroup
	start := time.Now()
	for i := range created {
		time.Sleep(time.Until(start.Add(time.Duration(float64(i) / *rate * float64(time.Second)))))
		wait.Add(1)
		go func() {
			defer wait.Done()
			created[i] = create(client, podOf(fmt.Sprintf("pod-%05d", i)))
		}()
	}
	wait.Wait()
	deadline := time.Now().Add(*limit)
	measured := samples{start: start}
	for i := range created {
		name := fmt.Sprintf("pod-%05d", i)
		measured.add(name, created[i], bound.wait(name, deadline))
	}
	measured.print()
}

// onNode is a pod that fills a node of its own: no two of them fit there.
func onNode(name string, i int, priority int32) *corev1.Pod {
	pod := podOf(name)
	pod.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": fmt.Sprintf("node-%05d", i%*nodes)}
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}
	zero := int64(0)
	pod.Spec.TerminationGracePeriodSeconds = &zero
	if priority > 0 {
		pod.Spec.PriorityClassName = "system-cluster-critical"
	}
	return pod
}

// requeue measures from the deletion of a pod until the pod that waited for its node is bound.
func requeue(client kubernetes.Interface) {
	bound := watchBound(client)
	warmUp(client, bound)
	ready()
	measured := samples{start: time.Now()}
	for i := 0; i < *pods; i++ {
		filler, waiting := fmt.Sprintf("filler-%05d", i), fmt.Sprintf("waiting-%05d", i)
		create(client, onNode(filler, i, 0))
		bound.wait(filler, time.Now().Add(*limit))
		create(client, onNode(waiting, i, 0))
		awaitRefusal(client, waiting)
		remove(client, filler)
		gone := time.Now()
		measured.add(waiting, gone, bound.wait(waiting, gone.Add(*limit)))
		remove(client, waiting)
	}
	measured.print()
}

// preempt measures from the end of a victim until the pod that evicted it is bound. Victims are evicted by the
// scheduler; as there is no kubelet, one that is to go has a finalizer, which is removed here.
func preempt(client kubernetes.Interface) {
	bound := watchBound(client)
	leaving := make(chan string, *pods)
	told := map[string]bool{}
	watchPods(client, func(event watch.Event, pod *corev1.Pod) {
		if event.Type == watch.Modified && pod.DeletionTimestamp != nil && !told[pod.Name] {
			told[pod.Name] = true
			leaving <- pod.Name
		}
	})
	warmUp(client, bound)
	ready()
	measured := samples{start: time.Now()}
	for i := 0; i < *pods; i++ {
		victim, preemptor := fmt.Sprintf("victim-%05d", i), fmt.Sprintf("preemptor-%05d", i)
		pod := onNode(victim, i, 0)
		pod.Finalizers = []string{"berth.test/leaving"}
		create(client, pod)
		bound.wait(victim, time.Now().Add(*limit))
		create(client, onNode(preemptor, i, 1))
		select {
		case <-leaving:
		case <-time.After(*limit):
			log.Fatalf("load: %s was not evicted in %s", victim, *limit)
		}
		time.Sleep(100 * time.Millisecond) // the nomination is written
		_, err := client.CoreV1().Pods(namespace).Patch(ctx, victim, "application/json-patch+json",
			[]byte(`[{"op":"remove","path":"/metadata/finalizers"}]`), metav1.PatchOptions{})
		check(err)
		gone := time.Now()
		measured.add(preemptor, gone, bound.wait(preemptor, gone.Add(*limit)))
		remove(client, preemptor)
	}
	measured.print()
}

// pairs measures pods that come two by two, for a Permit plugin that lets a pod wait until its group has two: from the
// answer to the second create until both are bound.
func pairs(client kubernetes.Interface) {
	bound := watchBound(client)
	warmUp(client, bound)
	ready()
	measured := samples{start: time.Now()}
	for i := 0; i < *pods; i++ {
		pod := [2]*corev1.Pod{}
		for j := range pod {
			pod[j] = podOf(fmt.Sprintf("pair-%05d-%d", i, j))
			pod[j].Labels["group"] = fmt.Sprintf("pair-%05d", i)
		}
		create(client, pod[0])
		time.Sleep(50 * time.Millisecond) // it waits
		from := create(client, pod[1])
		first, second := bound.wait(pod[0].Name, from.Add(*limit)), bound.wait(pod[1].Name, from.Add(*limit))
		if first.IsZero() || first.After(second) && !second.IsZero() {
			second = first
		}
		measured.add(pod[1].Name, from, second)
	}
	measured.print()
}

// awaitRefusal returns once the scheduler has written that the pod fits nowhere.
func awaitRefusal(client kubernetes.Interface, name string) {
	for deadline := time.Now().Add(*limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		check(err)
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				time.Sleep(100 * time.Millisecond)
				return
			}
		}
	}
	log.Fatalf("load: %s was not refused in %s", name, *limit)
}

func remove(client kubernetes.Interface, name string) {
	zero := int64(0)
	check(client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &zero}))
}

// removePods empties the namespace.
func removePods(client kubernetes.Interface) {
	zero := int64(0)
	check(client.CoreV1().Pods(namespace).DeleteCollection(
		context.Background(), metav1.DeleteOptions{GracePeriodSeconds: &zero}, metav1.ListOptions{}))
}

// serveExtender is a scheduler extender that lets every node pass.
func serveExtender() {
	http.HandleFunc("/filter", func(w http.ResponseWriter, r *http.Request) {
		var args struct{ NodeNames *[]string }
		check(json.NewDecoder(r.Body).Decode(&args))
		w.Header().Set("Content-Type", "application/json")
		check(json.NewEncoder(w).Encode(map[string]any{"NodeNames": args.NodeNames}))
	})
	log.Fatal(http.ListenAndServe(*address, nil))
}
