package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/ptr"
)

func hintDRA(g *G, t *tuple) bool {
	switch g.Intn(14) {
	case 0:
		if t.pod = g.pending(g.basic("p")); t.pod == nil {
			return false
		}
		t.events, t.old, t.new = g.nodeEvent(nil, nil)
		return true
	case 1:
		if t.pod = g.pending(g.basic("p")); t.pod == nil {
			return false
		}
		return g.evRes(t, fwk.DeviceClass, 5, 5, 1, func() runtime.Object {
			g.deviceClass("gpu", `device.driver == "gpu.example.com"`)
			return g.o.DeviceClasses[0]
		}, nil)
	case 2:
		if t.pod = g.pending(g.basic("p")); t.pod == nil {
			return false
		}
		return g.evRes(t, fwk.ResourceSlice, 5, 5, 1, func() runtime.Object {
			g.slice("s", gpuDrv, "node-000", "node-000", g.gpus(1), nil)
			return g.o.ResourceSlices[0]
		}, nil)
	}
	p := g.smallReq(g.newPod("default", "p", nil))
	n := g.rng(0, 2)
	templ := g.chance(0.4)
	for i := 0; i < n; i++ {
		name := fmt.Sprintf("d%d", i)
		if templ && i == 0 {
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name, ResourceClaimTemplateName: ptr.To("tpl")})
			p.Spec.Containers[0].Resources.Claims = append(p.Spec.Containers[0].Resources.Claims, v1.ResourceClaim{Name: name})
		} else {
			useClaim(p, fmt.Sprintf("claim-%d", i))
		}
	}
	if t.pod = g.pending(p); t.pod == nil {
		return false
	}
	spec := resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: []resourceapi.DeviceRequest{{Name: "r0", Exactly: &resourceapi.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1}}}}}
	var claims []*resourceapi.ResourceClaim
	mk := func(name string, owner bool) *resourceapi.ResourceClaim {
		c := g.claim(name, spec, func(c *resourceapi.ResourceClaim) {
			if owner {
				uid := t.pod.UID
				if g.chance(0.12) {
					uid = "00000000-0000-4000-8000-999999999999"
				}
				c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: t.pod.Name, UID: uid, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}}
			}
			if g.chance(0.3) {
				c.Status.Allocation = g.allocation("node-001", "gpu-0")
			}
			if g.chance(0.06) {
				ts := metav1.NewTime(baseTime)
				c.DeletionTimestamp = &ts
				c.Finalizers = []string{resourceapi.Finalizer}
			}
		})
		return c
	}
	status := func(pod *v1.Pod) {
		for i, rc := range pod.Spec.ResourceClaims {
			if rc.ResourceClaimTemplateName != nil {
				st := v1.PodResourceClaimStatus{Name: rc.Name, ResourceClaimName: ptr.To(fmt.Sprintf("claim-%d", i))}
				if g.chance(0.1) {
					st.ResourceClaimName = nil // no claim needed
				}
				pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, st)
			}
		}
	}
	for i, rc := range t.pod.Spec.ResourceClaims {
		if g.chance(0.85) {
			claims = append(claims, mk(fmt.Sprintf("claim-%d", i), rc.ResourceClaimTemplateName != nil))
		}
	}
	if g.chance(0.35) { // pod events
		t.objects.ResourceClaims = claims
		if g.chance(0.7) {
			old := t.pod
			t.pod = old.DeepCopy()
			bump(&t.pod.ObjectMeta)
			status(t.pod)
			t.events, t.old, t.new = podChangeEvents(t.pod, old, true), old, t.pod
			return true
		}
		return g.podEvent(t, func() *v1.Pod {
			o := g.smallReq(g.newPod("default", "o", nil))
			o.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "d0", ResourceClaimTemplateName: ptr.To("tpl")}}
			o.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "d0"}}
			return o
		}, status)
	}
	if g.chance(0.85) {
		status(t.pod)
	}
	var old, cur *resourceapi.ResourceClaim
	if len(claims) > 0 && g.chance(0.75) {
		cur = claims[g.Intn(len(claims))]
	} else {
		cur = mk("unrelated", false)
		if g.chance(0.5) {
			claims = append(claims, cur)
		}
	}
	ev := fwk.ClusterEvent{Resource: fwk.ResourceClaim, ActionType: fwk.Update}
	switch g.Intn(10) {
	case 0, 1, 2:
		ev.ActionType = fwk.Add
	case 3:
		old = cur.DeepCopy()
		old.Finalizers = nil
		cur.Finalizers = append(cur.Finalizers, resourceapi.Finalizer)
	case 4, 5: // deallocated
		old = cur.DeepCopy()
		old.Status.Allocation = g.allocation("node-001", "gpu-0")
		cur.Status.Allocation = nil
	case 6: // allocated
		old = cur.DeepCopy()
		old.Status.Allocation = nil
		cur.Status.Allocation = g.allocation("node-001", "gpu-0")
	case 7: // reservation only
		old = cur.DeepCopy()
		old.Status.ReservedFor = []resourceapi.ResourceClaimConsumerReference{{Resource: "pods", Name: "x", UID: "u"}}
	case 8: // nil and empty are equal
		old = cur.DeepCopy()
		old.Status.ReservedFor = []resourceapi.ResourceClaimConsumerReference{}
		cur.Labels = map[string]string{"x": "y"}
	default:
		old = cur.DeepCopy()
		cur.Labels = map[string]string{"x": "y"}
	}
	if old != nil {
		bump(&cur.ObjectMeta)
		t.old = old
	}
	if g.chance(0.03) {
		t.events, t.old = []fwk.ClusterEvent{{Resource: fwk.ResourceClaim, ActionType: fwk.Delete}}, cur
	} else {
		t.events, t.new = []fwk.ClusterEvent{ev}, cur
	}
	t.objects.ResourceClaims = claims
	return true
}
