package main

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const gpuDrv, nicDrv, fabDrv = "gpu.example.com", "nic.example.com", "fabric.example.com"

func (g *G) deviceClass(name string, exprs ...string) {
	dc := &resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, e := range exprs {
		dc.Spec.Selectors = append(dc.Spec.Selectors, resourceapi.DeviceSelector{CEL: &resourceapi.CELDeviceSelector{Expression: e}})
	}
	g.meta(&dc.ObjectMeta)
	g.def(dc)
	g.o.DeviceClasses = append(g.o.DeviceClasses, dc)
}

func (g *G) slice(name, driver, pool, node string, devs []resourceapi.Device, mod func(*resourceapi.ResourceSlice)) {
	s := &resourceapi.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec.Driver = driver
	s.Spec.Pool = resourceapi.ResourcePool{Name: pool, Generation: 1, ResourceSliceCount: 1}
	if node != "" {
		s.Spec.NodeName = ptr.To(node)
	}
	s.Spec.Devices = devs
	if mod != nil {
		mod(s)
	}
	g.meta(&s.ObjectMeta)
	g.def(s)
	g.o.ResourceSlices = append(g.o.ResourceSlices, s)
}

func (g *G) gpus(n int) []resourceapi.Device {
	var l []resourceapi.Device
	for i := 0; i < n; i++ {
		d := resourceapi.Device{Name: fmt.Sprintf("gpu-%d", i), Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{
			"model":     {StringValue: ptr.To(g.pick("a100", "h100", "t4"))},
			"memoryGB":  {IntValue: ptr.To(int64(g.pickI(16, 40, 80)))},
			"mig":       {BoolValue: ptr.To(g.chance(0.4))},
			"driverVer": {VersionValue: ptr.To(g.pick("1.2.3", "2.0.0", "2.1.0-rc.1"))},
			"numa":      {IntValue: ptr.To(int64(i % 2))},
		}, Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: q(g.pick("16Gi", "40Gi", "80Gi"))}}}
		if g.chance(0.1) {
			delete(d.Attributes, "memoryGB")
		}
		l = append(l, d)
	}
	return l
}

func (g *G) celExpr() string {
	switch g.Intn(9) {
	case 0:
		return `device.attributes["gpu.example.com"].model == "` + g.pick("a100", "h100", "t4") + `"`
	case 1:
		return `device.attributes["gpu.example.com"].memoryGB >= ` + g.pick("16", "40", "80")
	case 2:
		return `device.attributes["gpu.example.com"].mig`
	case 3:
		return `!device.attributes["gpu.example.com"].mig`
	case 4:
		return `device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0`
	case 5:
		return `device.attributes["gpu.example.com"].model in ["a100", "h100"]`
	case 6:
		return `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].numa == ` + g.pick("0", "1")
	case 7:
		return `device.attributes["gpu.example.com"].driverVer.isGreaterThan(semver("1.9.0"))`
	default:
		return `"memoryGB" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].memoryGB < 80`
	}
}

func (g *G) exact(class string) *resourceapi.ExactDeviceRequest {
	r := &resourceapi.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: int64(g.pickI(1, 1, 1, 2, 3))}
	if class == "gpu" {
		for i := 0; i < g.pickI(0, 0, 1, 1, 2); i++ {
			r.Selectors = append(r.Selectors, resourceapi.DeviceSelector{CEL: &resourceapi.CELDeviceSelector{Expression: g.celExpr()}})
		}
	}
	if g.chance(0.06) {
		r.AllocationMode = resourceapi.DeviceAllocationModeAll
		r.Count = 0
	}
	return r
}

func (g *G) claimSpec() resourceapi.ResourceClaimSpec {
	var s resourceapi.ResourceClaimSpec
	n := g.pickI(1, 1, 1, 2)
	for i := 0; i < n; i++ {
		rq := resourceapi.DeviceRequest{Name: fmt.Sprintf("r%d", i)}
		cls := g.pick("gpu", "gpu", "gpu", "gpu-big", "nic", "fabric")
		if g.chance(0.05) {
			cls = "no-such-class"
		}
		if g.chance(0.12) {
			a, b := g.exact("gpu"), g.exact(g.pick("gpu", "nic"))
			mk := func(n string, e *resourceapi.ExactDeviceRequest) resourceapi.DeviceSubRequest {
				return resourceapi.DeviceSubRequest{Name: n, DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count}
			}
			rq.FirstAvailable = []resourceapi.DeviceSubRequest{mk("first", a), mk("second", b)}
		} else {
			rq.Exactly = g.exact(cls)
			if g.chance(0.05) {
				rq.Exactly.AdminAccess = ptr.To(true)
			}
		}
		s.Devices.Requests = append(s.Devices.Requests, rq)
	}
	all := false
	for _, r := range s.Devices.Requests {
		all = all || r.Exactly != nil && r.Exactly.AllocationMode == resourceapi.DeviceAllocationModeAll
		for _, x := range r.FirstAvailable {
			all = all || x.AllocationMode == resourceapi.DeviceAllocationModeAll
		}
	}
	if g.chance(0.25) && !all {
		s.Devices.Constraints = []resourceapi.DeviceConstraint{{MatchAttribute: ptr.To(resourceapi.FullyQualifiedName("gpu.example.com/" + g.pick("model", "numa")))}}
	}
	return s
}

func (g *G) claim(name string, spec resourceapi.ResourceClaimSpec, mod func(c *resourceapi.ResourceClaim)) *resourceapi.ResourceClaim {
	c := &resourceapi.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: spec}
	if mod != nil {
		mod(c)
	}
	g.meta(&c.ObjectMeta)
	g.def(c)
	g.o.ResourceClaims = append(g.o.ResourceClaims, c)
	return c
}

func useClaim(p *v1.Pod, name string) {
	n := fmt.Sprintf("d%d", len(p.Spec.ResourceClaims))
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: n, ResourceClaimName: ptr.To(name)})
	p.Spec.Containers[0].Resources.Claims = append(p.Spec.Containers[0].Resources.Claims, v1.ResourceClaim{Name: n})
}

func (g *G) allocation(node string, devs ...string) *resourceapi.AllocationResult {
	a := &resourceapi.AllocationResult{}
	for _, d := range devs {
		a.Devices.Results = append(a.Devices.Results, resourceapi.DeviceRequestAllocationResult{Request: "r0", Driver: gpuDrv, Pool: node, Device: d})
	}
	a.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{node}}}}}}
	return a
}

func (g *G) draSetup() {
	g.deviceClass("gpu", `device.driver == "gpu.example.com"`)
	g.deviceClass("gpu-big", `device.driver == "gpu.example.com"`, `device.attributes["gpu.example.com"].model == "h100"`)
	g.deviceClass("nic", `device.driver == "nic.example.com"`)
	g.deviceClass("fabric", `device.driver == "fabric.example.com"`)
	for _, nd := range g.o.Nodes {
		if g.chance(0.85) {
			devs := g.gpus(g.rng(2, 6))
			g.slice("slice-gpu-"+nd.Name, gpuDrv, nd.Name, nd.Name, devs, func(s *resourceapi.ResourceSlice) {
				if g.chance(0.04) {
					s.Spec.Pool.ResourceSliceCount = 2 // incomplete pool
				}
			})
			if g.chance(0.3) {
				// a device in use by an existing pod
				d := devs[0].Name
				ep := g.smallReq(g.newPod("default", "e", nil))
				cl := g.claim("claim-"+ep.Name, resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: []resourceapi.DeviceRequest{{Name: "r0", Exactly: &resourceapi.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1}}}}}, func(c *resourceapi.ResourceClaim) {
					c.Status.Allocation = g.allocation(nd.Name, d)
				})
				useClaim(ep, cl.Name)
				ep.Spec.Priority = ptr.To[int32](int32(g.pickI(0, 0, -5)))
				g.existing(ep, nd.Name)
				cl.Status.ReservedFor = []resourceapi.ResourceClaimConsumerReference{{Resource: "pods", Name: ep.Name, UID: ep.UID}}
				cl.Finalizers = []string{resourceapi.Finalizer}
				g.allocated = append(g.allocated, cl.Name)
			}
		}
		if g.chance(0.5) {
			var nics []resourceapi.Device
			for j := 0; j < g.rng(1, 2); j++ {
				nics = append(nics, resourceapi.Device{Name: fmt.Sprintf("nic-%d", j), Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{"gpu.example.com/numa": {IntValue: ptr.To(int64(j))}}})
			}
			g.slice("slice-nic-"+nd.Name, nicDrv, nd.Name, nd.Name, nics, nil)
		}
	}
	// network-attached devices: by node selector or for all nodes
	if g.chance(0.7) {
		var fd []resourceapi.Device
		for j := 0; j < g.rng(1, 3); j++ {
			fd = append(fd, resourceapi.Device{Name: fmt.Sprintf("fab-%d", j), Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{"speed": {IntValue: ptr.To(int64(100 * (j + 1)))}}})
		}
		g.slice("slice-fabric", fabDrv, "fabric", "", fd, func(s *resourceapi.ResourceSlice) {
			if g.chance(0.5) {
				s.Spec.AllNodes = ptr.To(true)
			} else {
				s.Spec.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: zoneLabel, Operator: v1.NodeSelectorOpIn, Values: g.some(g.zones, g.rng(1, 2))}}}}}
			}
		})
	}
}

func genDRA(g *G) {
	g.stdNamespaces()
	n := g.rng(3, 9)
	for i := 0; i < n; i++ {
		g.randNode(i)
	}
	g.draSetup()
	for i := 0; i < g.rng(0, 6); i++ {
		p := g.newPod("default", "e", nil)
		setReq(&p.Spec.Containers[0], "cpu", g.pick("500m", "1", "2"), "memory", "256Mi")
		g.existing(p, g.anyNode())
	}
	for i := 0; i < g.rng(7, 12); i++ {
		p := g.smallReq(g.newPod("default", "p", nil))
		switch {
		case g.chance(0.08): // no claims
		case g.chance(0.08) && len(g.o.ResourceSlices) > 0:
			// allocated but not reserved, on a node which may not fit
			nd := g.o.Nodes[g.Intn(len(g.o.Nodes))]
			c := g.claim("claim-idle-"+p.Name, resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: []resourceapi.DeviceRequest{{Name: "r0", Exactly: &resourceapi.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1}}}}}, func(c *resourceapi.ResourceClaim) {
				c.Status.Allocation = g.allocation(nd.Name, "gpu-9")
				c.Finalizers = []string{resourceapi.Finalizer}
			})
			useClaim(p, c.Name)
			if g.chance(0.5) {
				p.Spec.NodeSelector = map[string]string{zoneLabel: g.pick(g.zones...)}
			}
		case g.chance(0.1) && len(g.allocated) > 0: // shared allocated claim
			useClaim(p, g.pick(g.allocated...))
		case g.chance(0.12):
			// template
			c := g.claim("claim-"+p.Name, g.claimSpec(), nil)
			p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "d0", ResourceClaimTemplateName: ptr.To("tpl")}}
			p.Spec.Containers[0].Resources.Claims = []v1.ResourceClaim{{Name: "d0"}}
			p.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "d0", ResourceClaimName: ptr.To(c.Name)}}
			g.templated = append(g.templated, templRef{p, c})
		default:
			for j := 0; j < g.pickI(1, 1, 1, 2); j++ {
				c := g.claim(fmt.Sprintf("claim-%s-%d", p.Name, j), g.claimSpec(), func(c *resourceapi.ResourceClaim) {
					if g.chance(0.03) {
						t := metav1.NewTime(baseTime.Add(time.Hour))
						c.DeletionTimestamp = &t
						c.Finalizers = []string{resourceapi.Finalizer}
					}
				})
				useClaim(p, c.Name)
			}
		}
		if g.chance(0.1) {
			setReq(&p.Spec.Containers[0], "cpu", "6")
		}
		if g.chance(0.3) {
			p.Spec.Priority = ptr.To[int32](100)
		}
		g.pend(p)
	}
	for _, t := range g.templated {
		t.claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: t.pod.Name, UID: t.pod.UID, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}}
	}
}

type templRef struct {
	pod   *v1.Pod
	claim *resourceapi.ResourceClaim
}

// ---------------------------------------------------------------- mixed
