package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// ---------------------------------------------------------------- owners

func (g *G) podTemplate(l map[string]string) v1.PodTemplateSpec {
	return v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: l}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c0", Image: "registry.example.com/app:v1"}}}}
}

func (g *G) ownersFor(ns string) {
	for _, app := range []string{"web", "db", "cache"} {
		sel := map[string]string{"app": app}
		if g.chance(0.6) {
			s := &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: "svc-" + app, Namespace: ns}, Spec: v1.ServiceSpec{Selector: map[string]string{"app": app}, ClusterIP: "10.96.0.1", Ports: []v1.ServicePort{{Port: 80}}}}
			if g.chance(0.3) {
				s.Spec.Selector["tier"] = g.pick("front", "back")
			}
			g.meta(&s.ObjectMeta)
			g.def(s)
			g.o.Services = append(g.o.Services, s)
		}
		switch g.Intn(3) {
		case 0:
			rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "rs-" + app, Namespace: ns}, Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](5), Selector: &metav1.LabelSelector{MatchLabels: sel}, Template: g.podTemplate(sel)}}
			if g.chance(0.4) {
				rs.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "version", Operator: metav1.LabelSelectorOpIn, Values: []string{"v1", "v2"}}}
			}
			g.meta(&rs.ObjectMeta)
			g.def(rs)
			g.o.ReplicaSets = append(g.o.ReplicaSets, rs)
		case 1:
			ss := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "ss-" + app, Namespace: ns}, Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](5), ServiceName: "svc-" + app, Selector: &metav1.LabelSelector{MatchLabels: sel}, Template: g.podTemplate(sel)}}
			g.meta(&ss.ObjectMeta)
			g.def(ss)
			g.o.StatefulSets = append(g.o.StatefulSets, ss)
		default:
			rc := &v1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: "rc-" + app, Namespace: ns}, Spec: v1.ReplicationControllerSpec{Replicas: ptr.To[int32](5), Selector: sel, Template: ptr.To(g.podTemplate(sel))}}
			g.meta(&rc.ObjectMeta)
			g.def(rc)
			g.o.ReplicationControllers = append(g.o.ReplicationControllers, rc)
		}
	}
}

// setOwner sets the controller reference of the pod to the controller of its app, if there is one.
func (g *G) setOwner(p *v1.Pod) {
	app := p.Labels["app"]
	set := func(apiVersion, kind string, m *metav1.ObjectMeta) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: m.Name, UID: m.UID, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}}
	}
	for _, x := range g.o.ReplicaSets {
		if x.Name == "rs-"+app && x.Namespace == p.Namespace {
			set("apps/v1", "ReplicaSet", &x.ObjectMeta)
		}
	}
	for _, x := range g.o.StatefulSets {
		if x.Name == "ss-"+app && x.Namespace == p.Namespace {
			set("apps/v1", "StatefulSet", &x.ObjectMeta)
		}
	}
	for _, x := range g.o.ReplicationControllers {
		if x.Name == "rc-"+app && x.Namespace == p.Namespace {
			set("v1", "ReplicationController", &x.ObjectMeta)
		}
	}
}

func (g *G) priorityClass(name string, value int32) {
	pc := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
	g.meta(&pc.ObjectMeta)
	g.def(pc)
	g.o.PriorityClasses = append(g.o.PriorityClasses, pc)
}

func (g *G) pdb(ns string) {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pdb-%d", g.seq), Namespace: ns}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.pick("web", "db", "cache", "job")}}
	if g.chance(0.1) {
		b.Spec.Selector = &metav1.LabelSelector{}
	} else if g.chance(0.2) {
		b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}}
	}
	b.Spec.MinAvailable = ptr.To(intstr.FromInt32(1))
	b.Status.DisruptionsAllowed = int32(g.pickI(0, 0, 0, 1, 2))
	b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.ExpectedPods = 1+b.Status.DisruptionsAllowed, 1, 4
	b.Status.ObservedGeneration = 1
	if g.chance(0.3) {
		for _, p := range g.o.Pods {
			if p.Namespace == ns && p.Labels["app"] != "" && g.chance(0.1) {
				if b.Status.DisruptedPods == nil {
					b.Status.DisruptedPods = map[string]metav1.Time{}
				}
				b.Status.DisruptedPods[p.Name] = metav1.NewTime(baseTime)
			}
		}
	}
	g.meta(&b.ObjectMeta)
	g.def(b)
	g.o.PDBs = append(g.o.PDBs, b)
}

// ---------------------------------------------------------------- volumes

func (g *G) storageClass(name, prov string, mode storagev1.VolumeBindingMode, topo ...string) {
	sc := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: prov, VolumeBindingMode: &mode}
	if len(topo) > 0 {
		sc.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: zoneLabel, Values: topo}}}}
	}
	g.meta(&sc.ObjectMeta)
	g.def(sc)
	g.o.StorageClasses = append(g.o.StorageClasses, sc)
}

func (g *G) pv(name, class, size string, modes []v1.PersistentVolumeAccessMode, src v1.PersistentVolumeSource, mod func(*v1.PersistentVolume)) *v1.PersistentVolume {
	pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	pv.Spec.StorageClassName = class
	pv.Spec.Capacity = rl("storage", size)
	pv.Spec.AccessModes = modes
	pv.Spec.PersistentVolumeSource = src
	pv.Status.Phase = v1.VolumeAvailable
	if mod != nil {
		mod(pv)
	}
	g.meta(&pv.ObjectMeta)
	g.def(pv)
	g.o.PVs = append(g.o.PVs, pv)
	return pv
}

func (g *G) pvc(ns, name, class, size string, modes []v1.PersistentVolumeAccessMode, mod func(*v1.PersistentVolumeClaim)) *v1.PersistentVolumeClaim {
	c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}}
	c.Spec.StorageClassName = ptr.To(class)
	c.Spec.AccessModes = modes
	c.Spec.Resources.Requests = rl("storage", size)
	c.Status.Phase = v1.ClaimPending
	if mod != nil {
		mod(c)
	}
	g.meta(&c.ObjectMeta)
	g.def(c)
	g.o.PVCs = append(g.o.PVCs, c)
	return c
}

func bindPVC(pv *v1.PersistentVolume, c *v1.PersistentVolumeClaim) {
	c.Spec.VolumeName = pv.Name
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
	c.Status.Phase = v1.ClaimBound
	c.Status.AccessModes = c.Spec.AccessModes
	c.Status.Capacity = pv.Spec.Capacity
	pv.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: c.Namespace, Name: c.Name, UID: c.UID}
	pv.Status.Phase = v1.VolumeBound
}

func usePVC(p *v1.Pod, name string, ro bool) {
	p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", len(p.Spec.Volumes)), VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name, ReadOnly: ro}}})
}

func csiSrc(driver, handle string) v1.PersistentVolumeSource {
	return v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}}
}

func nodeAff(key string, vals ...string) *v1.VolumeNodeAffinity {
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: vals}}}}}}
}

const csiDrv, csiDrv2 = "csi.example.com", "csi2.example.com"

func (g *G) storageSetup() {
	imm, wffc := storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer
	g.storageClass("sc-imm", csiDrv, imm)
	g.storageClass("sc-wffc", csiDrv, wffc)
	g.storageClass("sc-wffc-cap", csiDrv2, wffc)
	g.storageClass("sc-ebs", "kubernetes.io/aws-ebs", wffc)
	g.storageClass("sc-local", "kubernetes.io/no-provisioner", wffc)
	g.storageClass("sc-zoned", csiDrv, wffc, g.some(g.zones, 2)...)
	for _, d := range []string{csiDrv, csiDrv2} {
		cd := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: d}}
		cd.Spec.StorageCapacity = ptr.To(d == csiDrv2)
		g.meta(&cd.ObjectMeta)
		g.def(cd)
		g.o.CSIDrivers = append(g.o.CSIDrivers, cd)
	}
	for _, nd := range g.o.Nodes {
		if g.chance(0.92) {
			cn := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: nd.Name}}
			for _, d := range []string{csiDrv, csiDrv2} {
				if g.chance(0.92) {
					x := storagev1.CSINodeDriver{Name: d, NodeID: nd.Name, TopologyKeys: []string{zoneLabel}}
					if g.chance(0.75) {
						x.Allocatable = &storagev1.VolumeNodeResources{Count: ptr.To[int32](int32(g.pickI(0, 1, 2, 2, 3, 5, 20)))}
					}
					cn.Spec.Drivers = append(cn.Spec.Drivers, x)
				}
			}
			if g.chance(0.7) {
				cn.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"}
				x := storagev1.CSINodeDriver{Name: "ebs.csi.aws.com", NodeID: nd.Name, TopologyKeys: []string{zoneLabel}}
				x.Allocatable = &storagev1.VolumeNodeResources{Count: ptr.To[int32](int32(g.pickI(1, 2, 3)))}
				cn.Spec.Drivers = append(cn.Spec.Drivers, x)
			}
			g.meta(&cn.ObjectMeta)
			g.def(cn)
			g.o.CSINodes = append(g.o.CSINodes, cn)
		}
		if g.chance(0.6) {
			sz := fmt.Sprintf("%dGi", 5+g.seq%40) // distinct sizes
			nm := nd.Name
			g.pv("local-"+nm, "sc-local", sz, []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: "/mnt/d"}}, func(pv *v1.PersistentVolume) {
				pv.Spec.NodeAffinity = nodeAff(hostLabel, nm)
				if g.chance(0.4) {
					pv.Labels["speed"] = "fast"
				}
				if g.chance(0.1) {
					pv.Status.Phase = v1.VolumeReleased
				}
			})
		}
	}
	for i, z := range g.zones {
		if g.chance(0.8) {
			sc := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Name: "cap-" + z, Namespace: "kube-system"}, StorageClassName: "sc-wffc-cap",
				NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{zoneLabel: z}}, Capacity: ptr.To(q(fmt.Sprintf("%dGi", g.pickI(0, 5, 10, 50, 100))))}
			if g.chance(0.3) {
				sc.MaximumVolumeSize = ptr.To(q(fmt.Sprintf("%dGi", 8+i)))
			}
			g.meta(&sc.ObjectMeta)
			g.def(sc)
			g.o.CSIStorageCapacities = append(g.o.CSIStorageCapacities, sc)
		}
	}
}

var nvol int

// volumeFor gives the pod one volume of a random kind.
func (g *G) volumeFor(p *v1.Pod, existing bool) {
	rwo, rwop, rwx := []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}, []v1.PersistentVolumeAccessMode{v1.ReadWriteMany}
	id := fmt.Sprintf("%s-%d", p.Name, len(p.Spec.Volumes))
	k := g.Intn(20)
	if existing && (k >= 6 && k <= 12 || k == 16 || k == 17) {
		k = g.Intn(6)
	}
	if k == 15 || k >= 18 {
		k = 4
	}
	switch k {
	case 0, 1: // bound CSI volume, zonal by labels or by affinity, or not at all
		pv := g.pv("pv-"+id, "sc-imm", "10Gi", rwo, csiSrc(g.pick(csiDrv, csiDrv, csiDrv2), "h-"+id), func(pv *v1.PersistentVolume) {
			switch g.Intn(5) {
			case 0:
				pv.Labels[zoneLabel] = g.pick(g.zones...)
			case 1:
				pv.Labels["failure-domain.beta.kubernetes.io/zone"] = g.pick(g.zones...) + "__" + g.pick(g.zones...)
			case 2:
				pv.Spec.NodeAffinity = nodeAff(zoneLabel, g.some(g.zones, g.rng(1, 2))...)
			case 3:
				pv.Labels[regionLabel] = "r1"
			}
		})
		c := g.pvc(p.Namespace, "pvc-"+id, "sc-imm", "10Gi", rwo, nil)
		bindPVC(pv, c)
		usePVC(p, c.Name, false)
	case 2: // RWOP, possibly shared
		for _, c := range g.o.PVCs {
			if !existing && len(c.Spec.AccessModes) == 1 && c.Spec.AccessModes[0] == v1.ReadWriteOncePod && c.Namespace == p.Namespace && g.chance(0.7) {
				usePVC(p, c.Name, false)
				return
			}
		}
		pv := g.pv("pv-"+id, "sc-imm", "10Gi", rwop, csiSrc(csiDrv, "h-"+id), nil)
		c := g.pvc(p.Namespace, "pvc-"+id, "sc-imm", "10Gi", rwop, nil)
		bindPVC(pv, c)
		usePVC(p, c.Name, false)
	case 3: // shared RWX
		for _, c := range g.o.PVCs {
			if len(c.Spec.AccessModes) == 1 && c.Spec.AccessModes[0] == v1.ReadWriteMany && c.Namespace == p.Namespace && g.chance(0.8) {
				usePVC(p, c.Name, g.chance(0.5))
				return
			}
		}
		pv := g.pv("pv-"+id, "sc-imm", "10Gi", rwx, csiSrc(csiDrv, "h-"+id), nil)
		c := g.pvc(p.Namespace, "pvc-"+id, "sc-imm", "10Gi", rwx, nil)
		bindPVC(pv, c)
		usePVC(p, c.Name, false)
	case 4: // in-tree exclusive disks
		switch g.Intn(4) {
		case 0:
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", len(p.Spec.Volumes)), VolumeSource: v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: g.pick("d1", "d2"), ReadOnly: g.chance(0.4)}}})
		case 1:
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", len(p.Spec.Volumes)), VolumeSource: v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: g.pick("vol-1", "vol-2")}}})
		case 2:
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", len(p.Spec.Volumes)), VolumeSource: v1.VolumeSource{RBD: &v1.RBDVolumeSource{CephMonitors: g.some([]string{"m1", "m2", "m3"}, 2), RBDPool: "rbd", RBDImage: g.pick("i1", "i2"), ReadOnly: g.chance(0.4)}}})
		default:
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", len(p.Spec.Volumes)), VolumeSource: v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{TargetPortal: "10.0.0.1:3260", IQN: g.pick("iqn.2020-01.com.example:a", "iqn.2020-01.com.example:b"), Lun: 0, ReadOnly: g.chance(0.4)}}})
		}
	case 5: // inline CSI / emptyDir / configMap
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", len(p.Spec.Volumes)), VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}})
	case 6: // unbound, immediate
		c := g.pvc(p.Namespace, "pvc-"+id, "sc-imm", "10Gi", rwo, nil)
		usePVC(p, c.Name, false)
	case 7: // WFFC dynamic, no capacity tracking
		cls := g.pick("sc-wffc", "sc-wffc", "sc-zoned")
		c := g.pvc(p.Namespace, "pvc-"+id, cls, "10Gi", rwo, func(c *v1.PersistentVolumeClaim) {
			if g.chance(0.2) {
				c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": g.anyNode()}
			}
		})
		usePVC(p, c.Name, false)
	case 8: // WFFC dynamic, capacity tracking
		c := g.pvc(p.Namespace, "pvc-"+id, "sc-wffc-cap", g.pick("1Gi", "9Gi", "20Gi", "60Gi"), rwo, nil)
		usePVC(p, c.Name, false)
	case 9, 10: // WFFC static local
		c := g.pvc(p.Namespace, "pvc-"+id, "sc-local", g.pick("1Gi", "8Gi", "15Gi", "30Gi"), rwo, func(c *v1.PersistentVolumeClaim) {
			if g.chance(0.25) {
				c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"speed": "fast"}}
			}
		})
		usePVC(p, c.Name, false)
	case 11: // ephemeral volume
		name := fmt.Sprintf("v%d", len(p.Spec.Volumes))
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: name, VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{
			Spec: v1.PersistentVolumeClaimSpec{AccessModes: rwo, StorageClassName: ptr.To("sc-wffc"), Resources: v1.VolumeResourceRequirements{Requests: rl("storage", "1Gi")}}}}}})
		g.ephemeral = append(g.ephemeral, ephemeralRef{p, name})
	case 12: // missing or lost claims
		switch g.Intn(4) {
		case 0:
			usePVC(p, "no-such-claim", false)
		case 1:
			c := g.pvc(p.Namespace, "pvc-"+id, "sc-imm", "1Gi", rwo, func(c *v1.PersistentVolumeClaim) { c.Spec.VolumeName = "gone"; c.Status.Phase = v1.ClaimLost })
			usePVC(p, c.Name, false)
		case 2:
			c := g.pvc(p.Namespace, "pvc-"+id, "sc-wffc", "1Gi", rwo, func(c *v1.PersistentVolumeClaim) {
				t := metav1.NewTime(baseTime)
				c.DeletionTimestamp = &t
				c.Finalizers = []string{"kubernetes.io/pvc-protection"}
			})
			usePVC(p, c.Name, false)
		default:
			c := g.pvc(p.Namespace, "pvc-"+id, "sc-missing", "1Gi", rwo, nil)
			usePVC(p, c.Name, false)
		}
	case 16: // prebound by the user: the PV names the claim
		c := g.pvc(p.Namespace, "pvc-"+id, "sc-local", "1Gi", rwo, nil)
		nm := g.anyNode()
		g.pv("pv-pre-"+id, "sc-local", fmt.Sprintf("%dGi", 60+len(g.o.PVs)), rwo, v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: "/mnt/x"}}, func(pv *v1.PersistentVolume) {
			pv.Spec.NodeAffinity = nodeAff(hostLabel, nm)
			pv.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: c.Namespace, Name: c.Name}
			if g.chance(0.5) {
				pv.Spec.ClaimRef.UID = c.UID
			}
		})
		usePVC(p, c.Name, false)
	case 17: // mode mismatches
		c := g.pvc(p.Namespace, "pvc-"+id, "sc-local", "1Gi", rwo, func(c *v1.PersistentVolumeClaim) {
			switch g.Intn(3) {
			case 0:
				c.Spec.VolumeMode = ptr.To(v1.PersistentVolumeBlock)
			case 1:
				c.Spec.AccessModes = rwx
			default:
				c.Spec.StorageClassName = ptr.To("")
			}
		})
		usePVC(p, c.Name, false)
	case 13: // in-tree EBS volume, migrated to CSI
		z := g.pick(g.zones...)
		pv := g.pv("pv-ebs-"+id, "sc-ebs", "10Gi", rwo, v1.PersistentVolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://" + z + "/vol-" + id, FSType: "ext4"}}, func(pv *v1.PersistentVolume) {
			switch g.Intn(3) {
			case 0:
				pv.Labels[zoneLabel] = z
				pv.Labels[regionLabel] = g.pick("r1", "r2")
			case 1:
				pv.Spec.NodeAffinity = nodeAff(zoneLabel, z)
			}
		})
		c := g.pvc(p.Namespace, "pvc-"+id, "sc-ebs", "10Gi", rwo, nil)
		bindPVC(pv, c)
		usePVC(p, c.Name, false)
	default: // several bound CSI volumes: attach limits
		for j := 0; j < g.rng(1, 3); j++ {
			pv := g.pv(fmt.Sprintf("pv-%s-%d", id, j), "sc-imm", "10Gi", rwo, csiSrc(csiDrv, fmt.Sprintf("h-%s-%d", id, j)), nil)
			c := g.pvc(p.Namespace, fmt.Sprintf("pvc-%s-%d", id, j), "sc-imm", "10Gi", rwo, nil)
			bindPVC(pv, c)
			usePVC(p, c.Name, false)
		}
	}
}

type ephemeralRef struct {
	pod *v1.Pod
	vol string
}

// ephemeralClaims creates the claims of ephemeral volumes, after the pods have uids.
func (g *G) ephemeralClaims() {
	for _, e := range g.ephemeral {
		if e.pod.UID == "" || g.chance(0.15) {
			continue // not created yet
		}
		g.pvc(e.pod.Namespace, e.pod.Name+"-"+e.vol, "sc-wffc", "1Gi", []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, func(c *v1.PersistentVolumeClaim) {
			uid := e.pod.UID
			if g.chance(0.15) {
				uid = "00000000-0000-4000-8000-999999999999" // belongs to another pod
			}
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: e.pod.Name, UID: uid, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}}
		})
	}
}

func genVolumes(g *G) {
	g.stdNamespaces()
	g.namespace("kube-system")
	n := g.rng(4, 10)
	for i := 0; i < n; i++ {
		g.randNode(i, func(nd *v1.Node) {
			if g.chance(0.1) {
				delete(nd.Labels, zoneLabel)
			}
		})
	}
	g.storageSetup()
	for i := 0; i < g.rng(2, 14); i++ {
		p := g.smallReq(g.newPod("default", "e", nil))
		for j := 0; j < g.pickI(1, 1, 2); j++ {
			g.volumeFor(p, true)
		}
		g.existing(p, g.anyNode())
	}
	for i := 0; i < g.rng(8, 14); i++ {
		p := g.smallReq(g.newPod("default", "p", nil))
		if g.chance(0.3) {
			p.Spec.Priority = ptr.To[int32](int32(g.pickI(10, 100)))
		}
		for j := 0; j < g.pickI(1, 1, 1, 2); j++ {
			g.volumeFor(p, false)
		}
		g.pend(p)
	}
	g.ephemeralClaims()
	for i, nd := range g.o.Nodes {
		if g.chance(0.3) {
			h := fmt.Sprintf("h-foreign-%d", i)
			pv := g.pv("pv-foreign-"+fmt.Sprint(i), "sc-imm", "1Gi", []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, csiSrc(csiDrv, h), nil)
			va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("va-%d", i)}, Spec: storagev1.VolumeAttachmentSpec{Attacher: csiDrv, NodeName: nd.Name, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To(pv.Name)}}, Status: storagev1.VolumeAttachmentStatus{Attached: true}}
			g.meta(&va.ObjectMeta)
			g.def(va)
			g.o.VolumeAttachments = append(g.o.VolumeAttachments, va)
		}
	}
}

// ---------------------------------------------------------------- DRA
