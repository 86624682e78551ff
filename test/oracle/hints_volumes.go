package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/ptr"
)

// podVolumes gives some volumes, without the claims.
func (g *G) podVolumes(p *v1.Pod, prob float64) *v1.Pod {
	add := func(s v1.VolumeSource) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", len(p.Spec.Volumes)), VolumeSource: s})
	}
	for g.chance(prob) {
		switch g.Intn(15) {
		case 0:
			add(v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: g.pick("d1", "d2"), ReadOnly: g.chance(0.5)}})
		case 1:
			add(v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: g.pick("vol-1", "aws://z1/vol-2"), ReadOnly: g.chance(0.3)}})
		case 2:
			add(v1.VolumeSource{RBD: &v1.RBDVolumeSource{CephMonitors: g.some([]string{"m1", "m2", "m3"}, g.rng(1, 2)), RBDPool: g.pick("rbd", "rbd", "p2"), RBDImage: g.pick("i1", "i2"), ReadOnly: g.chance(0.4)}})
		case 3:
			add(v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{TargetPortal: "10.0.0.1:3260", IQN: g.pick("iqn.2020-01.com.example:a", "iqn.2020-01.com.example:b"), Lun: int32(g.Intn(2)), ReadOnly: g.chance(0.4)}})
		case 4:
			add(v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}})
		case 5:
			add(v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{
				Spec: v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, StorageClassName: ptr.To("sc"), Resources: v1.VolumeResourceRequirements{Requests: rl("storage", "1Gi")}}}}})
		case 6, 7:
			add(v1.VolumeSource{CSI: &v1.CSIVolumeSource{Driver: g.pick(csiDrv, csiDrv2)}})
		case 8:
			switch g.Intn(4) {
			case 0:
				add(v1.VolumeSource{AzureDisk: &v1.AzureDiskVolumeSource{DiskName: "ad", DataDiskURI: "/subscriptions/x/y", Kind: ptr.To(v1.AzureManagedDisk)}})
			case 1:
				add(v1.VolumeSource{Cinder: &v1.CinderVolumeSource{VolumeID: "cv"}})
			case 2:
				add(v1.VolumeSource{VsphereVolume: &v1.VsphereVirtualDiskVolumeSource{VolumePath: "[ds] vol/v.vmdk"}})
			default:
				add(v1.VolumeSource{PortworxVolume: &v1.PortworxVolumeSource{VolumeID: "pw"}})
			}
		case 9:
			add(v1.VolumeSource{AzureFile: &v1.AzureFileVolumeSource{SecretName: "s", ShareName: "sh"}})
		case 10:
			add(v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: "cm"}}})
		default:
			n := g.pick("claim-a", "claim-b", "claim-c")
			dup := false
			for _, v := range p.Spec.Volumes {
				dup = dup || v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == n
			}
			if !dup {
				usePVC(p, n, false)
			}
		}
	}
	return p
}

func (g *G) evRes(t *tuple, res fwk.EventResource, adds, updates, deletes float64, mk func() runtime.Object, mut func(runtime.Object)) bool {
	o := mk()
	x := g.Float64() * (adds + updates + deletes)
	switch {
	case x < adds:
		t.events, t.new = []fwk.ClusterEvent{{Resource: res, ActionType: fwk.Add}}, o
	case x < adds+updates:
		m := o.DeepCopyObject()
		if acc, ok := m.(metav1.Object); ok {
			acc.SetResourceVersion(acc.GetResourceVersion() + "1")
		}
		if mut != nil && g.chance(0.9) {
			mut(m)
		}
		t.events, t.old, t.new = []fwk.ClusterEvent{{Resource: res, ActionType: fwk.Update}}, o, m
	default:
		t.events, t.old = []fwk.ClusterEvent{{Resource: res, ActionType: fwk.Delete}}, o
	}
	return true
}

func (g *G) somePVC(pod *v1.Pod) *v1.PersistentVolumeClaim {
	var names []string
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		}
		if v.Ephemeral != nil {
			names = append(names, pod.Name+"-"+v.Name)
		}
	}
	n := g.pick("claim-a", "claim-b", "claim-x")
	if len(names) > 0 && g.chance(0.6) {
		n = g.pick(names...)
	}
	ns := pod.Namespace
	if g.chance(0.2) {
		ns = "other"
	}
	return g.pvc(ns, n, g.pick("sc", "sc-wffc"), "1Gi", []v1.PersistentVolumeAccessMode{v1.PersistentVolumeAccessMode(g.pick("ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"))}, nil)
}

func mutPVC(g *G) func(o runtime.Object) {
	return func(o runtime.Object) {
		c := o.(*v1.PersistentVolumeClaim)
		switch g.Intn(3) {
		case 0:
			c.Spec.VolumeName = "pv-1"
			c.Status.Phase = v1.ClaimBound
		case 1:
			c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "node-001"}
		default:
			c.Labels = map[string]string{"a": "b"}
		}
	}
}

func hintRestrictions(g *G, t *tuple) bool {
	if t.pod = g.pending(g.podVolumes(g.newPod("default", "p", nil), 0.75)); t.pod == nil {
		return false
	}
	switch k := g.Intn(10); {
	case k < 6:
		return g.podEvent(t, func() *v1.Pod {
			o := g.newPod(g.pick("default", "default", "default", "team-a"), "o", nil)
			if g.chance(0.35) && len(t.pod.Spec.Volumes) > 0 { // the same volume
				v := t.pod.Spec.Volumes[g.Intn(len(t.pod.Spec.Volumes))].DeepCopy()
				o.Spec.Volumes = []v1.Volume{*v}
				if g.chance(0.3) && v.GCEPersistentDisk != nil {
					v.GCEPersistentDisk.ReadOnly = !v.GCEPersistentDisk.ReadOnly
				}
				return o
			}
			return g.podVolumes(o, 0.6)
		}, g.mutatePod)
	case k < 9:
		return g.evRes(t, fwk.PersistentVolumeClaim, 8, 1, 1, func() runtime.Object { return g.somePVC(t.pod) }, mutPVC(g))
	default:
		t.events, t.old, t.new = g.nodeEvent(nil, nil)
		return true
	}
}

func (g *G) csiNode() *storagev1.CSINode {
	cn := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-001"}}
	for _, d := range []string{csiDrv, csiDrv2, "ebs.csi.aws.com"} {
		if g.chance(0.7) {
			x := storagev1.CSINodeDriver{Name: d, NodeID: "n", TopologyKeys: []string{zoneLabel}}
			if g.chance(0.75) {
				x.Allocatable = &storagev1.VolumeNodeResources{}
				if g.chance(0.9) {
					x.Allocatable.Count = ptr.To[int32](int32(g.pickI(0, 1, 2, 5, 20)))
				}
			}
			cn.Spec.Drivers = append(cn.Spec.Drivers, x)
		}
	}
	if g.chance(0.5) {
		cn.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: g.pick("", "kubernetes.io/aws-ebs", "kubernetes.io/aws-ebs,kubernetes.io/gce-pd")}
	}
	g.meta(&cn.ObjectMeta)
	g.def(cn)
	return cn
}

func mutCSINode(g *G) func(o runtime.Object) {
	return func(o runtime.Object) {
		c := o.(*storagev1.CSINode)
		switch g.Intn(6) {
		case 0:
			c.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: g.pick("", "kubernetes.io/aws-ebs", "kubernetes.io/gce-pd")}
		case 1:
			c.Annotations = nil
		case 2:
			c.Annotations = map[string]string{"other": "x"}
			if v, ok := o.(*storagev1.CSINode).Annotations[v1.MigratedPluginsAnnotationKey]; ok {
				c.Annotations[v1.MigratedPluginsAnnotationKey] = v
			}
		case 3:
			if len(c.Spec.Drivers) > 0 {
				c.Spec.Drivers = c.Spec.Drivers[1:]
			}
		default:
			for i := range c.Spec.Drivers {
				if a := c.Spec.Drivers[i].Allocatable; a != nil && a.Count != nil {
					a.Count = ptr.To(*a.Count + int32(g.pickI(-1, 0, 0, 1)))
				} else if g.chance(0.4) {
					c.Spec.Drivers[i].Allocatable = &storagev1.VolumeNodeResources{Count: ptr.To[int32](int32(g.pickI(0, 3)))}
				}
				if g.chance(0.15) {
					c.Spec.Drivers[i].Allocatable = nil
				}
			}
			if g.chance(0.2) {
				c.Spec.Drivers = append(c.Spec.Drivers, storagev1.CSINodeDriver{Name: "new.example.com", NodeID: "n", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](int32(g.pickI(0, 4)))}})
			}
		}
	}
}

func hintCSILimits(g *G, t *tuple) bool {
	if t.pod = g.pending(g.podVolumes(g.newPod("default", "p", nil), 0.6)); t.pod == nil {
		return false
	}
	switch k := g.Intn(12); {
	case k < 4:
		return g.evRes(t, fwk.CSINode, 2, 8, 0.5, func() runtime.Object { return g.csiNode() }, mutCSINode(g))
	case k < 7:
		return g.podEvent(t, func() *v1.Pod {
			return g.podVolumes(g.newPod(g.pick("default", "team-a"), "o", nil), 0.5)
		}, g.mutatePod)
	case k < 9:
		return g.evRes(t, fwk.PersistentVolumeClaim, 8, 1, 1, func() runtime.Object { return g.somePVC(t.pod) }, mutPVC(g))
	default:
		return g.evRes(t, fwk.VolumeAttachment, 1, 1, 12, func() runtime.Object {
			va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "va-1"}, Spec: storagev1.VolumeAttachmentSpec{Attacher: g.pick(csiDrv, "ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "file.csi.azure.com", "cinder.csi.openstack.org", "csi.vsphere.vmware.com", "pxd.portworx.com"), NodeName: "node-001", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To("pv-1")}}}
			g.meta(&va.ObjectMeta)
			g.def(va)
			return va
		}, nil)
	}
}

func (g *G) aClass() *storagev1.StorageClass {
	topo := g.some(g.zones, g.Intn(3))
	g.storageClass("sc", csiDrv, storagev1.VolumeBindingMode(g.pick("Immediate", "WaitForFirstConsumer")), topo...)
	sc := g.o.StorageClasses[len(g.o.StorageClasses)-1]
	if g.chance(0.1) {
		sc.VolumeBindingMode = nil
	}
	return sc
}

func mutClass(g *G) func(o runtime.Object) {
	return func(o runtime.Object) {
		c := o.(*storagev1.StorageClass)
		switch g.Intn(4) {
		case 0:
			c.AllowedTopologies = nil
		case 1:
			c.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: zoneLabel, Values: g.some(g.zones, g.rng(1, 2))}}}}
		case 2:
			c.AllowVolumeExpansion = ptr.To(true)
		default:
			if len(c.AllowedTopologies) == 0 {
				c.AllowedTopologies = []v1.TopologySelectorTerm{}
			} else {
				c.Labels = map[string]string{"x": "y"}
			}
		}
	}
}

func (g *G) aPV() *v1.PersistentVolume {
	return g.pv("pv-1", "sc", "10Gi", []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, csiSrc(csiDrv, "h"), func(pv *v1.PersistentVolume) {
		for _, k := range []string{zoneLabel, regionLabel, "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"} {
			if g.chance(0.35) {
				pv.Labels[k] = g.pick("z1", "z2", "z1__z2", "z2__z1", "", "z1__", "__", "z1__z1")
			}
		}
	})
}

func mutPV(g *G) func(o runtime.Object) {
	return func(o runtime.Object) {
		p := o.(*v1.PersistentVolume)
		switch g.Intn(6) {
		case 0, 1, 2:
			k := g.pick(zoneLabel, regionLabel, "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region")
			if g.chance(0.3) {
				delete(p.Labels, k)
			} else {
				p.Labels[k] = g.pick("z1", "z2", "z1__z2", "z2__z1", "", "z1__", "z1__z1")
			}
		case 3:
			p.Labels["other"] = "x"
		case 4:
			p.Status.Phase = v1.VolumeBound
		default:
			p.Spec.NodeAffinity = nodeAff(zoneLabel, "z1")
		}
	}
}

func hintVolumeBinding(g *G, t *tuple) bool {
	if t.pod = g.pending(g.podVolumes(g.newPod("default", "p", nil), 0.75)); t.pod == nil {
		return false
	}
	switch g.Intn(10) {
	case 0, 1:
		return g.evRes(t, fwk.StorageClass, 3, 7, 0.5, func() runtime.Object { return g.aClass() }, mutClass(g))
	case 2, 3:
		return g.evRes(t, fwk.PersistentVolumeClaim, 5, 5, 0.5, func() runtime.Object { return g.somePVC(t.pod) }, mutPVC(g))
	case 4:
		return g.evRes(t, fwk.PersistentVolume, 5, 5, 1, func() runtime.Object { return g.aPV() }, mutPV(g))
	case 5:
		t.events, t.old, t.new = g.nodeEvent(nil, nil)
		return true
	case 6, 7:
		return g.evRes(t, fwk.CSINode, 2, 8, 0.5, func() runtime.Object { return g.csiNode() }, mutCSINode(g))
	case 8:
		return g.evRes(t, fwk.CSIDriver, 1, 12, 0.5, func() runtime.Object {
			cd := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: g.pick(csiDrv, csiDrv2)}}
			if g.chance(0.8) {
				cd.Spec.StorageCapacity = ptr.To(g.chance(0.7))
			}
			if !g.chance(0.3) { // inline volumes of this driver
				t.pod.Spec.Volumes = append(t.pod.Spec.Volumes, v1.Volume{Name: "inline", VolumeSource: v1.VolumeSource{CSI: &v1.CSIVolumeSource{Driver: cd.Name}}})
			}
			g.meta(&cd.ObjectMeta)
			if cd.Spec.StorageCapacity != nil {
				g.def(cd)
			} else {
				cd.APIVersion, cd.Kind = "storage.k8s.io/v1", "CSIDriver"
			}
			return cd
		}, func(o runtime.Object) {
			c := o.(*storagev1.CSIDriver)
			switch g.Intn(4) {
			case 0:
				c.Spec.StorageCapacity = nil
			case 1:
				c.Spec.StorageCapacity = ptr.To(true)
			case 2:
				c.Labels = map[string]string{"x": "y"}
			default:
				c.Spec.StorageCapacity = ptr.To(false)
			}
		})
	default:
		return g.evRes(t, fwk.CSIStorageCapacity, 2, 10, 0.5, func() runtime.Object {
			sc := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Name: "cap-1", Namespace: "kube-system"}, StorageClassName: "sc"}
			if g.chance(0.8) {
				sc.Capacity = ptr.To(q(g.pick("0", "5Gi", "10Gi", "1500m")))
			}
			if g.chance(0.4) {
				sc.MaximumVolumeSize = ptr.To(q(g.pick("1Gi", "8Gi")))
			}
			g.meta(&sc.ObjectMeta)
			g.def(sc)
			return sc
		}, func(o runtime.Object) {
			c := o.(*storagev1.CSIStorageCapacity)
			switch g.Intn(5) {
			case 0:
				c.Capacity = nil
			case 1:
				c.MaximumVolumeSize = nil
			case 2:
				c.MaximumVolumeSize = ptr.To(q(g.pick("2Gi", "20Gi", "1800m")))
			default:
				c.Capacity = ptr.To(q(g.pick("1Gi", "10Gi", "10240Mi", "20Gi", "1700m")))
			}
		})
	}
}

func hintVolumeZone(g *G, t *tuple) bool {
	if t.pod = g.pending(g.podVolumes(g.newPod("default", "p", nil), 0.75)); t.pod == nil {
		return false
	}
	switch g.Intn(8) {
	case 0, 1:
		return g.evRes(t, fwk.StorageClass, 8, 1, 1, func() runtime.Object { return g.aClass() }, mutClass(g))
	case 2, 3:
		return g.evRes(t, fwk.PersistentVolumeClaim, 5, 5, 0.5, func() runtime.Object { return g.somePVC(t.pod) }, mutPVC(g))
	case 4:
		t.events, t.old, t.new = g.nodeEvent(nil, nil)
		return true
	default:
		return g.evRes(t, fwk.PersistentVolume, 2, 10, 0.5, func() runtime.Object { return g.aPV() }, mutPV(g))
	}
}
