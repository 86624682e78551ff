// Command clientgo is a client written with client-go: what it does, controllers and operators do. It ends at the first
// thing that is not as client-go's users expect it, and prints what worked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

var (
	kubeconfig  = flag.String("kubeconfig", "", "who to be and where")
	contentType = flag.String("content-type", "application/json", "of requests and responses")
	namespace   = flag.String("namespace", "client-go", "to make and to work in")
)

var ctx = context.Background()

func check(err error) {
	if err != nil {
		log.Output(2, err.Error())
		log.Fatal("clientgo: failed")
	}
}

func must(holds bool, format string, arguments ...any) {
	if !holds {
		log.Output(2, fmt.Sprintf(format, arguments...))
		log.Fatal("clientgo: failed")
	}
}

func until(what string, holds func() bool) {
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 60*time.Second, true,
		func(context.Context) (bool, error) { return holds(), nil })
	must(err == nil, "waited in vain for %s", what)
}

func main() {
	log.SetFlags(log.Lshortfile)
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	config.ContentType = *contentType
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	check(err)
	_, err = client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: *namespace}}, metav1.CreateOptions{})
	check(err)

	discover(client)
	concurrency(client)
	apply(client)
	pages(client)
	watchList(client)
	workloads(client)
	leases(client)
	deletions(client)
}

func discover(client *kubernetes.Clientset) {
	version, err := client.Discovery().ServerVersion()
	check(err)
	must(version.Major == "1" && version.Minor >= "34", "version %v", version)
	_, lists, err := client.Discovery().ServerGroupsAndResources()
	check(err)
	found := map[string]bool{}
	for _, list := range lists {
		for _, one := range list.APIResources {
			found[list.GroupVersion+"/"+one.Name] = true
		}
	}
	for _, name := range []string{"v1/pods", "v1/pods/eviction", "apps/v1/deployments/scale", "coordination.k8s.io/v1/leases"} {
		must(found[name], "%s is not served", name)
	}
	fmt.Println("discovery")
}

func concurrency(client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(*namespace)
	made, err := maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "shared-"},
		Data:       map[string]string{"n": "0"},
		BinaryData: map[string][]byte{"b": {0, 1, 255}},
	}, metav1.CreateOptions{})
	check(err)
	must(made.UID != "" && made.ResourceVersion != "" && !made.CreationTimestamp.IsZero(), "incomplete: %v", made)
	must(string(made.BinaryData["b"]) == "\x00\x01\xff", "bytes: %v", made.BinaryData)
	stale := made.DeepCopy()
	made.Data["n"] = "1"
	_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	check(err)
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	must(apierrors.IsConflict(err), "a stale update gives %v", err)
	check(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := maps.Get(ctx, stale.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Data["n"] = "2"
		_, err = maps.Update(ctx, now, metav1.UpdateOptions{})
		return err
	}))
	patched, err := maps.Patch(ctx, stale.Name, types.JSONPatchType,
		[]byte(`[{"op":"test","path":"/data/n","value":"2"},{"op":"replace","path":"/data/n","value":"3"}]`), metav1.PatchOptions{})
	check(err)
	must(patched.Data["n"] == "3", "patched: %v", patched.Data)
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: stale.Name}}, metav1.CreateOptions{})
	must(apierrors.IsAlreadyExists(err), "a second one gives %v", err)
	_, err = maps.Get(ctx, "none", metav1.GetOptions{})
	must(apierrors.IsNotFound(err), "an absent one gives %v", err)
	_, err = client.CoreV1().Pods(*namespace).Create(ctx,
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "Not_A_Name"}}, metav1.CreateOptions{})
	must(apierrors.IsInvalid(err), "a bad pod gives %v", err)
	status := apierrors.APIStatus(nil)
	must(errors.As(err, &status) && len(status.Status().Details.Causes) > 1, "causes of %v", err)
	fmt.Println("optimistic concurrency and refusals")
}

func apply(client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(*namespace)
	wish := func(value string) *applycore.ConfigMapApplyConfiguration {
		return applycore.ConfigMap("applied", *namespace).WithData(map[string]string{"owned": value})
	}
	_, err := maps.Apply(ctx, wish("a"), metav1.ApplyOptions{FieldManager: "one"})
	check(err)
	_, err = maps.Apply(ctx, wish("b"), metav1.ApplyOptions{FieldManager: "two"})
	must(apierrors.IsConflict(err), "the field of another manager gives %v", err)
	forced, err := maps.Apply(ctx, wish("b"), metav1.ApplyOptions{FieldManager: "two", Force: true})
	check(err)
	must(forced.Data["owned"] == "b", "forced: %v", forced.Data)
	mine, err := applycore.ExtractConfigMap(forced, "two")
	check(err)
	must(mine.Data["owned"] == "b", "extracted: %v", mine.Data)
	other, err := applycore.ExtractConfigMap(forced, "one")
	check(err)
	must(len(other.Data) == 0, "one still owns %v", other.Data)
	fmt.Println("server-side apply")
}

func pages(client *kubernetes.Clientset) {
	secrets := client.CoreV1().Secrets(*namespace)
	for i := range 7 {
		_, err := secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("s-%d", i), Labels: map[string]string{"odd": fmt.Sprint(i % 2)}},
		}, metav1.CreateOptions{})
		check(err)
	}
	asked := 0
	reader := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		asked++
		return secrets.List(ctx, options)
	})
	reader.PageSize = 3
	names := ""
	check(reader.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		names += object.(*corev1.Secret).Name + " "
		return nil
	}))
	must(names == "s-0 s-1 s-2 s-3 s-4 s-5 s-6 " && asked == 3, "%s in %d pages", names, asked)
	odd, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: "odd=1", FieldSelector: "metadata.name!=s-3"})
	check(err)
	must(len(odd.Items) == 2, "selected: %d", len(odd.Items))
	fmt.Println("pages and selectors")
}

// A list that comes as a watch ends with a bookmark that says so; changes follow.
func watchList(client *kubernetes.Clientset) {
	secrets := client.CoreV1().Secrets(*namespace)
	yes, seconds := true, int64(60)
	events, err := secrets.Watch(ctx, metav1.ListOptions{
		SendInitialEvents:    &yes,
		AllowWatchBookmarks:  true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		TimeoutSeconds:       &seconds,
	})
	check(err)
	defer events.Stop()
	added := 0
	for event := range events.ResultChan() {
		if event.Type == watch.Bookmark {
			secret := event.Object.(*corev1.Secret)
			must(secret.Annotations[metav1.InitialEventsAnnotationKey] == "true" && secret.ResourceVersion != "", "bookmark %v", secret)
			break
		}
		must(event.Type == watch.Added, "%v before the bookmark", event.Type)
		added++
	}
	must(added == 7, "%d were there", added)
	check(secrets.Delete(ctx, "s-0", metav1.DeleteOptions{}))
	event := <-events.ResultChan()
	must(event.Type == watch.Deleted && event.Object.(*corev1.Secret).Name == "s-0", "%v after the bookmark", event)
	_, err = secrets.Watch(ctx, metav1.ListOptions{ResourceVersion: "not a version"})
	must(err != nil, "any version will do")
	fmt.Println("watch with bookmarks")
}

func webDeployment(replicas int32) *applyapps.DeploymentApplyConfiguration {
	app := map[string]string{"app": "web"}
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	container := applycore.Container().WithName("c").WithImage("nginx").
		WithResources(applycore.ResourceRequirements().WithRequests(requests))
	template := applycore.PodTemplateSpec().WithLabels(app).
		WithSpec(applycore.PodSpec().WithContainers(container).WithTerminationGracePeriodSeconds(1))
	return applyapps.Deployment("web", *namespace).WithSpec(applyapps.DeploymentSpec().WithReplicas(replicas).
		WithSelector(applymeta.LabelSelector().WithMatchLabels(app)).WithTemplate(template))
}

// A deployment seen through shared informers: made, scaled, evicted from.
func workloads(client *kubernetes.Clientset) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(*namespace))
	pods, deployments := factory.Core().V1().Pods(), factory.Apps().V1().Deployments()
	var added, deleted, bound atomic.Int64
	_, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { added.Add(1) },
		UpdateFunc: func(old, now any) {
			if old.(*corev1.Pod).Spec.NodeName == "" && now.(*corev1.Pod).Spec.NodeName != "" {
				bound.Add(1)
			}
		},
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	check(err)
	deployments.Informer()
	stop := make(chan struct{})
	defer factory.Shutdown()
	defer close(stop)
	factory.Start(stop)
	for kind, synced := range factory.WaitForCacheSync(stop) {
		must(synced, "%v is not read", kind)
	}

	_, err = client.AppsV1().Deployments(*namespace).Apply(ctx, webDeployment(5), metav1.ApplyOptions{FieldManager: "clientgo"})
	check(err)
	running := func() (count int) {
		list, err := pods.Lister().Pods(*namespace).List(labels.SelectorFromSet(labels.Set{"app": "web"}))
		check(err)
		for _, pod := range list {
			if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil && pod.Spec.NodeName != "" {
				count++
			}
		}
		return count
	}
	until("five pods that run", func() bool { return running() == 5 })
	must(added.Load() == 5 && bound.Load() == 5 && deleted.Load() == 0, "added %d, bound %d, deleted %d",
		added.Load(), bound.Load(), deleted.Load())
	until("the deployment's status", func() bool {
		web, err := deployments.Lister().Deployments(*namespace).Get("web")
		return err == nil && web.Status.ReadyReplicas == 5 && complete(web)
	})
	fmt.Println("shared informers")

	scale, err := client.AppsV1().Deployments(*namespace).GetScale(ctx, "web", metav1.GetOptions{})
	check(err)
	must(scale.Spec.Replicas == 5 && scale.Status.Selector == "app=web", "scale %v", scale)
	scale.Spec.Replicas = 2
	_, err = client.AppsV1().Deployments(*namespace).UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
	check(err)
	until("two pods", func() bool { return running() == 2 && deleted.Load() == 3 })
	fmt.Println("scale")

	two := intstr.FromInt32(2)
	_, err = client.PolicyV1().PodDisruptionBudgets(*namespace).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &two,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	check(err)
	list, err := client.CoreV1().Pods(*namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "status.phase=Running"})
	check(err)
	must(len(list.Items) == 2, "%d run", len(list.Items))
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: list.Items[0].Name, Namespace: *namespace}}
	err = client.CoreV1().Pods(*namespace).EvictV1(ctx, eviction)
	must(apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause), "the budget gives %v", err)
	check(client.PolicyV1().PodDisruptionBudgets(*namespace).Delete(ctx, "web", metav1.DeleteOptions{}))
	check(client.CoreV1().Pods(*namespace).EvictV1(ctx, eviction))
	until("another pod in its place", func() bool {
		_, err := pods.Lister().Pods(*namespace).Get(eviction.Name)
		return apierrors.IsNotFound(err) && running() == 2
	})
	fmt.Println("eviction")
}

func complete(web *appsv1.Deployment) bool {
	for _, condition := range web.Status.Conditions {
		if condition.Type == appsv1.DeploymentAvailable {
			return condition.Status == corev1.ConditionTrue && web.Status.ObservedGeneration == web.Generation
		}
	}
	return false
}

// Two candidates: one leads, and when it goes the other does.
func leases(client *kubernetes.Clientset) {
	leaders := make(chan string, 2)
	candidate := func(name string) context.CancelFunc {
		within, cancel := context.WithCancel(ctx)
		lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "leader", Namespace: *namespace},
			Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: name}}
		go leaderelection.RunOrDie(within, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 100 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leaders <- name },
				OnStoppedLeading: func() {},
			},
		})
		return cancel
	}
	leave := candidate("first")
	must(<-leaders == "first", "who leads?")
	defer candidate("second")()
	leave()
	must(<-leaders == "second", "who leads?")
	lease, err := client.CoordinationV1().Leases(*namespace).Get(ctx, "leader", metav1.GetOptions{})
	check(err)
	must(*lease.Spec.HolderIdentity == "second" && *lease.Spec.LeaseTransitions >= 1 && !lease.Spec.RenewTime.IsZero(), "lease %v", lease.Spec)
	fmt.Println("leader election by leases")
}

func deletions(client *kubernetes.Clientset) {
	check(client.CoreV1().Secrets(*namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "odd=1"}))
	left, err := client.CoreV1().Secrets(*namespace).List(ctx, metav1.ListOptions{})
	check(err)
	must(len(left.Items) == 3, "%d secrets are left", len(left.Items))
	foreground := metav1.DeletePropagationForeground
	check(client.AppsV1().Deployments(*namespace).Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: &foreground}))
	until("the end of the deployment", func() bool {
		_, err := client.AppsV1().Deployments(*namespace).Get(ctx, "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	pods, err := client.CoreV1().Pods(*namespace).List(ctx, metav1.ListOptions{})
	check(err)
	must(len(pods.Items) == 0, "%d pods outlive their owner", len(pods.Items))
	check(client.CoreV1().Namespaces().Delete(ctx, *namespace, metav1.DeleteOptions{}))
	until("the end of the namespace", func() bool {
		_, err := client.CoreV1().Namespaces().Get(ctx, *namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	fmt.Println("deletion")
}
