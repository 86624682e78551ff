package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	_ "unsafe"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	nodetopology "k8s.io/component-helpers/node/topology"
	resourcehelper "k8s.io/component-helpers/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

//go:linkname numFeasibleNodesToFind k8s.io/kubernetes/pkg/scheduler.(*Scheduler).numFeasibleNodesToFind
func numFeasibleNodesToFind(s *scheduler.Scheduler, pct *int32, n int32) int32

//go:linkname normalizedImageName k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality.normalizedImageName
func normalizedImageName(name string) string

func f64(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// ---------------------------------------------------------------- quantities

var quantityFixed = []string{
	"0", "1", "-1", "+1", "00", "007", "0.0", "-0", "+0", "0.5", ".5", "5.", "-.5", "+.5", ".", "-", "+", "", " ", " 1", "1 ", "1 Gi", "\t1", "1\n",
	"1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", "1m", "1u", "1n", "1µ", "1K", "1ki", "1mi", "1KI", "1Zi", "1Z", "1Y", "1g", "1B", "1GB", "1GiB", "1i", "Ki", "m", "k", "E", "Ei",
	"1e3", "1E3", "1e+3", "1e-3", "1E-3", "1e0", "1e", "1e+", "1e-", "1ee3", "1e3.5", "1e03", "1e-09", "1e9", "1e18", "1e19", "1e100", "1e-10", "1e-100", "1e99999999999", "1e3k", "1e3Ki", "1.5e3", "12E", "1E1E", "1Ei3", "0e5", "0E", "0Ki", "0m", "0n", "00.100", "1.0", "1.10", "1.000", "1.5", "1.5Gi", "1.5Ki", "0.5Ki", "0.1Ki", "0.001Ki", "0.9Gi", "1.1Ki", "1.024k", "1024", "1024Ki", "1023Ki", "1000Ki", "1000k", "999k", "1000m", "1500m", "999m", "1001m", "100m", "0.1", "0.01", "0.001", "0.0001", "0.0000001", "0.000000001", "0.0000000001", "0.00000000001", "1.0000000001", "0.5n", "1.5n", "0.1n", "1.1n", "999999999n", "1000000000n", "1000000n", "1000u", "1000000u", "0.5u", "0.5m", "1.5m", "-1.5m", "-0.5n", "-0.1", "-1500m", "-1Gi", "-1.5Gi", "-0",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9223372036854775806", "92233720368547758070", "9223372036854775807m", "9223372036854775807k", "9223372036854775807Ki", "9223372036854775.807", "9223372036854775.8079", "922337203685477580.7", "18446744073709551615", "18446744073709551616", "99999999999999999999999999999999", "-99999999999999999999999999999999", "0.99999999999999999999999999", "8Ei", "7.99999Ei", "9E", "9.3E", "10E", "-8Ei", "8192Pi", "8191Pi", "9007199254740993", "9007199254740992", "4294967296", "2147483648", "123456789012345678", "1234567890123456789", "12345678901234567890", "1234567890.1234567890", "123456789.123456789", "123456789.1234567891", "3.3.3", "1,000", "1_000", "0x10", "0b1", "1e1e1", "NaN", "Inf", "infinity", "nil", "null", "abc", "12abc", "1..5", "--1", "++1", "+-1", "1-", "1+", "½", "１", "1\u00a0", "100%", "1/2", "$1", "128974848", "129e6", "129M", "128974848000m", "123Mi", "3800m", "2.5Gi", "110", "0.30000000000000004", "1e-6", "1e-7", "1e-9", "3e-9", "1.5e-9", "1.0e9", "100e-2", "1E2", "1E+2", "10E-1",
}

func (g *G) randQuantity() string {
	digits := func(n int) string {
		var b strings.Builder
		for i := 0; i < n; i++ {
			b.WriteByte(byte('0' + g.Intn(10)))
		}
		return b.String()
	}
	s := g.pick("", "", "", "", "-", "+")
	s += digits(g.pickI(1, 1, 2, 3, 4, 6, 9, 12, 18, 19, 20, 25))
	if g.chance(0.45) {
		s += "." + digits(g.pickI(0, 1, 1, 2, 3, 6, 9, 10, 12, 20))
	}
	switch g.Intn(4) {
	case 0:
	case 1:
		s += g.pick("e", "E") + g.pick("", "+", "-") + digits(g.pickI(1, 1, 1, 2))
	default:
		s += g.pick("n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
	}
	if g.chance(0.03) {
		s += g.pick(" ", "x", "i", "B")
	}
	return s
}

func quantityCase(s string) J {
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return J{"in": s, "error": err.Error()}
	}
	// String() gives the input back when it was parsed by the fast path
	num, suf := q.CanonicalizeBytes(make([]byte, 0, 64))
	return J{"in": s, "string": q.String(), "canonical": string(num) + string(suf), "format": string(q.Format), "value": q.Value(), "milliValue": q.MilliValue(), "asApproxFloat": f64(q.AsApproximateFloat64()),
		"sign": q.Sign(), "isZero": q.IsZero()}
}

func genQuantities(g *G) (a, b, c []J) {
	var valid []string
	add := func(s string) {
		x := quantityCase(s)
		if x["error"] == nil && s != "1e99999999999" { // arithmetic on it does not end
			valid = append(valid, s)
		}
		a = append(a, x)
	}
	for _, s := range quantityFixed {
		add(s)
	}
	for i := 0; i < 350; i++ {
		add(g.randQuantity())
	}
	// as JSON values
	for _, t := range []string{`1`, `0`, `-1`, `0.5`, `1.0`, `1e3`, `1E3`, `1e-3`, `1.50`, `100000000000000000000`, `"1"`, `"1Gi"`, `""`, `" 1"`, `null`, `true`, `"abc"`, `{}`, `[1]`, `0.1`, `1e100`, `"1e3"`, `-0`, `-0.0`, `12345678901234567890.5`, `"\u0031"`, `9223372036854775807`, `1e9`} {
		var q resource.Quantity
		x := J{"json": t}
		if err := json.Unmarshal([]byte(t), &q); err != nil {
			x["error"] = err.Error()
		} else {
			num, suf := q.CanonicalizeBytes(make([]byte, 0, 64))
			x["canonical"] = string(num) + string(suf)
			out, _ := json.Marshal(q)
			x["out"] = string(out)
		}
		b = append(b, x)
	}
	for i := 0; i < 300; i++ {
		s, t := valid[g.Intn(len(valid))], valid[g.Intn(len(valid))]
		switch g.Intn(4) {
		case 0:
			s, t = g.pick("1", "1000m", "1k", "1000", "1024", "1Ki", "1e3", "0.5", "500m", "0", "-0", "0n", "1Gi", "1073741824", "1.5Gi", "1536Mi", "1n", "0.000000001", "0.0000000001"), g.pick("1", "1000m", "1k", "1000", "1024", "1Ki", "1e3", "0.5", "500m", "0", "0n", "1Gi", "1073741824", "1.5Gi", "1536Mi", "1n", "0.5n", "1000000000n")
		case 1:
			t = s
		}
		x, y := q(s), q(t)
		sum, dif := x.DeepCopy(), x.DeepCopy()
		sum.Add(y)
		dif.Sub(y)
		c = append(c, J{"a": s, "b": t, "cmp": x.Cmp(y), "equal": x.Equal(y), "add": sum.String(), "sub": dif.String()})
	}
	return
}

// ---------------------------------------------------------------- selectors

func listJSON(l v1.ResourceList) map[string]string {
	r := map[string]string{}
	for k, v := range l {
		r[string(k)] = v.String()
	}
	return r
}

func genPodRequests(g *G) (l []J) {
	odd := []string{"0", "1", "0.1", "1n", "1500m", "0.5Gi", "1e3", "9E", "8Ei", "9223372036854775807", "100m", "1001m", "1100u", "999999n", "128974848000m", "-1"}
	for len(l) < 320 {
		p := g.richPod("default", "p", g.pickI(1, 2))
		if g.chance(0.35) {
			g.resizeStatus(p)
			if g.chance(0.5) {
				p.Status.ContainerStatuses = p.Status.ContainerStatuses[:1]
			}
			for i := range p.Spec.InitContainers {
				if p.Spec.InitContainers[i].RestartPolicy != nil {
					a := rl("cpu", g.pick("100m", "2"), "memory", "64Mi")
					p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, v1.ContainerStatus{Name: p.Spec.InitContainers[i].Name, Resources: &v1.ResourceRequirements{Requests: a}, AllocatedResources: a})
				}
			}
		}
		if g.chance(0.25) {
			c := &p.Spec.Containers[g.Intn(len(p.Spec.Containers))]
			setReq(c, g.pick("cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi"), odd[g.Intn(len(odd))])
			if g.chance(0.3) {
				setReq(c, g.pick("cpu", "memory"), "0")
			}
		}
		if g.chance(0.1) { // pod level, with hugepages
			p.Spec.Resources = &v1.ResourceRequirements{Requests: rl("hugepages-2Mi", "64Mi", "memory", g.pick("", "1Gi"))}
		}
		// not valid objects on purpose; only the spec and the status count
		p.Spec.Volumes = nil
		p, err := rt(p)
		if err != nil {
			panic(err)
		}
		pi, err := framework.NewPodInfo(p)
		if err != nil {
			panic(err)
		}
		r := pi.CalculateResource()
		sc := map[string]int64{}
		for k, v := range r.Resource.GetScalarResources() {
			sc[string(k)] = v
		}
		nm := v1.ResourceList{"cpu": *resource.NewMilliQuantity(util.DefaultMilliCPURequest, resource.DecimalSI), "memory": *resource.NewQuantity(util.DefaultMemoryRequest, resource.DecimalSI)}
		spec := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{})
		mx := &framework.Resource{}
		mx.SetMaxResource(spec)
		msc := map[string]int64{}
		for k, v := range mx.ScalarResources {
			msc[string(k)] = v
		}
		nms := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: true, NonMissingContainerRequests: nm})
		cpu, mem := nms["cpu"], nms["memory"]
		l = append(l, J{"pod": J{"metadata": J{"name": p.Name}, "spec": p.Spec, "status": p.Status},
			"requests":           listJSON(spec),
			"requestsWithStatus": listJSON(resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: true})),
			"limits":             listJSON(resourcehelper.PodLimits(p, resourcehelper.PodResourcesOptions{})),
			"filter":             J{"milliCPU": mx.MilliCPU, "memory": mx.Memory, "ephemeralStorage": mx.EphemeralStorage, "scalar": msc},
			"node":               J{"milliCPU": r.Resource.GetMilliCPU(), "memory": r.Resource.GetMemory(), "ephemeralStorage": r.Resource.GetEphemeralStorage(), "scalar": sc, "nonZeroMilliCPU": r.Non0CPU, "nonZeroMemory": r.Non0Mem},
			"score":              J{"milliCPU": cpu.MilliValue(), "memory": mem.Value()}})
	}
	return
}

// ---------------------------------------------------------------- the rest

func genBackoff(g *G) (l, e []J) {
	type cfg struct{ i, m int }
	cfgs := []cfg{{1, 10}, {1, 1}, {1, 0}, {2, 60}, {5, 7}, {3, 100}, {1, 3600}, {10, 10}, {1, 9223372036}, {7, 1000000}, {g.rng(1, 9), g.rng(10, 99)}, {g.rng(1, 30), g.rng(30, 9999)}}
	for _, c := range cfgs {
		bq := newBackoffQueue(clock.RealClock{}, time.Duration(c.i)*time.Second, time.Duration(c.m)*time.Second, nil, true)
		for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 31, 32, 33, 34, 35, 40, 62, 63, 64, 65, 100, 1000} {
			l = append(l, J{"initialSeconds": c.i, "maxSeconds": c.m, "count": n, "durationNs": int64(calculateBackoffDuration(bq, n))})
		}
	}
	for i := 0; i < 120; i++ {
		c := cfgs[g.Intn(len(cfgs))]
		pop := g.chance(0.8)
		bq := newBackoffQueue(clock.RealClock{}, time.Duration(c.i)*time.Second, time.Duration(c.m)*time.Second, nil, pop)
		ts := baseTime.Add(time.Duration(g.Int63n(int64(time.Hour))))
		if g.chance(0.2) {
			ts = ts.Truncate(time.Second)
		}
		pi := queuedAt(nil, ts, g.pickI(0, 0, 1, 2, 3, 5, 10), g.pickI(0, 0, 0, 1, 2, 4))
		bt := getBackoffTime(bq, pi)
		x := J{"initialSeconds": c.i, "maxSeconds": c.m, "popFromBackoffQ": pop, "timestamp": ts.Format(time.RFC3339Nano), "unschedulableCount": pi.UnschedulableCount, "consecutiveErrorsCount": pi.ConsecutiveErrorsCount, "backoffExpiration": nil}
		if !bt.IsZero() {
			x["backoffExpiration"] = bt.UTC().Format(time.RFC3339Nano)
		}
		e = append(e, x)
	}
	return
}

func genFeasible(g *G) (l []J) {
	s := &scheduler.Scheduler{}
	ns := []int32{0, 1, 2, 50, 99, 100, 101, 124, 125, 126, 150, 199, 200, 249, 250, 251, 333, 500, 625, 999, 1000, 1001, 1250, 2000, 2500, 3000, 5000, 5500, 5624, 5625, 5626, 5749, 5750, 6000, 10000, 15000, 100000, 1000000, 21474836, 21474837, 42949673, 2147483647}
	for i := 0; i < 12; i++ {
		ns = append(ns, int32(g.rng(100, 20000)))
	}
	for _, n := range ns {
		for _, pc := range []int{-1, 0, 1, 5, 10, 30, 50, 99, 100} {
			global := int32(g.pickI(0, 0, 1, 20, 50, 100))
			setUnexported(s, "percentageOfNodesToScore", global)
			var p *int32
			if pc >= 0 {
				p = ptr.To(int32(pc))
			}
			l = append(l, J{"nodes": n, "profilePercentage": p, "globalPercentage": global, "result": numFeasibleNodesToFind(s, p, n)})
		}
	}
	return
}

func genNodeOrder(g *G) (l []J) {
	logger := logr.Discard()
	for i := 0; i < 150; i++ {
		ctx, cancel := context.WithCancel(context.Background())
		c := newCache(ctx)
		var ops []J
		nodes := map[string]*v1.Node{}
		mk := func(name string) *v1.Node {
			n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
			for k, vs := range map[string][]string{} {
				_ = k
				_ = vs
			}
			if g.chance(0.85) {
				n.Labels[zoneLabel] = g.pick("z1", "z2", "z3", "z1", "")
			}
			if g.chance(0.6) {
				n.Labels[regionLabel] = g.pick("r1", "r2")
			}
			if g.chance(0.1) {
				n.Labels["failure-domain.beta.kubernetes.io/zone"] = g.pick("z1", "z9", "")
			}
			if g.chance(0.1) {
				n.Labels["failure-domain.beta.kubernetes.io/region"] = g.pick("r1", "r9")
			}
			return n
		}
		zk := map[string]string{}
		for k := 0; k < g.rng(1, 14); k++ {
			names := sortedKeys(nodes)
			switch x := g.Intn(10); {
			case x < 7 || len(names) == 0:
				n := mk(fmt.Sprintf("n%02d", g.Intn(30)))
				if nodes[n.Name] != nil {
					continue
				}
				c.AddNode(logger, n)
				nodes[n.Name] = n
				ops = append(ops, J{"op": "add", "name": n.Name, "labels": n.Labels})
			case x < 9:
				old := nodes[g.pick(names...)]
				n := mk(old.Name)
				c.UpdateNode(logger, old, n)
				nodes[n.Name] = n
				ops = append(ops, J{"op": "update", "name": n.Name, "labels": n.Labels})
			default:
				n := nodes[g.pick(names...)]
				if err := c.RemoveNode(logger, n); err != nil {
					panic(err)
				}
				delete(nodes, n.Name)
				ops = append(ops, J{"op": "remove", "name": n.Name})
			}
		}
		for n, o := range nodes {
			zk[n] = nodetopology.GetZoneKey(o)
		}
		snap := internalcache.NewEmptySnapshot()
		if err := c.UpdateSnapshot(logger, snap); err != nil {
			panic(err)
		}
		order := []string{}
		all, _ := snap.NodeInfos().List()
		for _, ni := range all {
			order = append(order, ni.Node().Name)
		}
		cancel()
		l = append(l, J{"ops": ops, "zoneKeys": zk, "order": order})
	}
	return
}

func genPriority(g *G) (a, b, c []J) {
	pod := func() *v1.Pod {
		p := &v1.Pod{}
		if g.chance(0.85) {
			p.Spec.Priority = ptr.To(int32(g.pickI(0, 0, 1, -1, 100, 2000000000, 2000001000, -2147483648, 2147483647)))
		}
		t := metav1.NewTime(baseTime.Add(time.Duration(g.Intn(3)) * time.Second))
		p.Status.StartTime = &t
		return p
	}
	for i := 0; i < 25; i++ {
		p := pod()
		a = append(a, J{"priority": p.Spec.Priority, "result": corev1helpers.PodPriority(p)})
	}
	for i := 0; i < 80; i++ {
		p, o := pod(), pod()
		b = append(b, J{"a": J{"priority": p.Spec.Priority, "startTime": p.Status.StartTime}, "b": J{"priority": o.Spec.Priority, "startTime": o.Status.StartTime}, "aMoreImportant": util.MoreImportantPod(p, o)})
	}
	ps := &queuesort.PrioritySort{}
	for i := 0; i < 80; i++ {
		p, o := pod(), pod()
		ta, tb := baseTime.Add(time.Duration(g.Intn(3))*time.Millisecond), baseTime.Add(time.Duration(g.Intn(3))*time.Millisecond)
		pa, _ := framework.NewPodInfo(p)
		pb, _ := framework.NewPodInfo(o)
		qa, qb := queuedAt(pa, ta, 0, 0), queuedAt(pb, tb, 0, 0)
		c = append(c, J{"a": J{"priority": p.Spec.Priority, "timestamp": ta.Format(time.RFC3339Nano)}, "b": J{"priority": o.Spec.Priority, "timestamp": tb.Format(time.RFC3339Nano)}, "aFirst": ps.Less(qa, qb)})
	}
	return
}

func genTime(g *G) (l, d []J) {
	in := []string{`"2025-01-01T00:00:00Z"`, `"2025-01-01T00:00:00.5Z"`, `"2025-01-01T00:00:00.123456Z"`, `"2025-01-01T00:00:00.123456789Z"`, `"2025-01-01T00:00:00.000000Z"`, `"2025-01-01T00:00:00.1234567Z"`, `"2025-01-01T02:00:00+02:00"`, `"2024-12-31T23:59:59.999999-05:30"`, `"2025-01-01T00:00:00+00:00"`, `"2025-01-01t00:00:00z"`, `"2025-01-01 00:00:00Z"`, `"2025-01-01T00:00:00"`, `"2025-01-01"`, `"2025-02-29T00:00:00Z"`, `"2024-02-29T00:00:00Z"`, `"2025-13-01T00:00:00Z"`, `"2025-01-01T24:00:00Z"`, `"2025-01-01T00:60:00Z"`, `"2025-01-01T00:00:60Z"`, `"2025-1-1T0:0:0Z"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `"10000-01-01T00:00:00Z"`, `null`, `""`, `0`, `1735689600`, `"now"`, `"2025-01-01T00:00:00Z "`, `" 2025-01-01T00:00:00Z"`, `"2025-01-01T00:00:00+24:00"`, `"2025-01-01T00:00:00+23:59"`, `"2025-01-01T00:00:00-00:00"`, `"2025-01-01T00:00:00.Z"`, `"2025-01-01T00:00:00,5Z"`, `"2025-01-01T00:00:00+0200"`, `"1969-12-31T23:59:59Z"`, `"1969-12-31T23:59:59.500000Z"`}
	for i := 0; i < 40; i++ {
		t := baseTime.Add(time.Duration(g.Int63n(int64(365 * 24 * time.Hour))))
		lay := g.pick(time.RFC3339, "2006-01-02T15:04:05.000000Z07:00", time.RFC3339Nano, "2006-01-02T15:04:05.000Z07:00")
		if g.chance(0.4) {
			t = t.In(time.FixedZone("", (g.rng(-12*60, 12*60))*60))
		}
		in = append(in, strconv.Quote(t.Format(lay)))
	}
	for _, s := range in {
		for _, k := range []string{"Time", "MicroTime"} {
			x := J{"kind": k, "in": s}
			var err error
			var out []byte
			var nanos int64
			if k == "Time" {
				var t metav1.Time
				if err = json.Unmarshal([]byte(s), &t); err == nil {
					t = metav1.Time{Time: t.UTC()}
					out, _ = json.Marshal(t)
					nanos = t.UnixNano()
					x["zero"] = t.IsZero()
				}
			} else {
				var t metav1.MicroTime
				if err = json.Unmarshal([]byte(s), &t); err == nil {
					t = metav1.MicroTime{Time: t.UTC()}
					out, _ = json.Marshal(t)
					nanos = t.UnixNano()
					x["zero"] = t.IsZero()
				}
			}
			if err != nil {
				x["error"] = err.Error()
			} else {
				x["out"] = string(out)
				if y := strings.Trim(s, `"`); len(y) > 4 && y[:4] > "1700" && y[:4] < "2200" {
					x["unixNano"] = nanos
				}
			}
			l = append(l, x)
		}
	}
	ds := []string{"0", "0s", "1s", "-1s", "+1s", "1.5s", ".5s", "1.s", "1h", "1m", "1ms", "1us", "1µs", "1μs", "1ns", "1h1m1s", "1h1m1.5s", "1s1h", "1d", "1w", "", " 1s", "1s ", "1", "s", ".s", "-", "1e3s", "100h", "2562047h47m16.854775807s", "2562047h47m16.854775808s", "-2562047h47m16.854775808s", "1000000h", "10000000h", "0.000000001s", "0.0000000001s", "1.0000000019s", "90s", "3600s", "1h60m", "-1h-1m", "5S", "5M", "1h 1m", "12345ms", "0.5ms", "999999ns", "1000000ns", "15x"}
	for i := 0; i < 30; i++ {
		ds = append(ds, time.Duration(g.Int63n(int64(100*time.Hour))).String())
		ds = append(ds, fmt.Sprintf("%d%s%d.%d%s", g.Intn(100), g.pick("h", "m"), g.Intn(1000), g.Intn(1000), g.pick("s", "ms", "us", "m")))
	}
	for _, s := range ds {
		x := J{"in": s}
		var du metav1.Duration
		b, _ := json.Marshal(s)
		if err := json.Unmarshal(b, &du); err != nil {
			x["error"] = err.Error()
		} else {
			x["out"], x["ns"] = du.Duration.String(), int64(du.Duration)
		}
		d = append(d, x)
	}
	return
}

func genImages(g *G) (l []J) {
	in := []string{"", "nginx", "nginx:1", "nginx:latest", "library/nginx", "docker.io/library/nginx", "docker.io/library/nginx:1.27", "localhost:5000/nginx", "localhost:5000/nginx:1", "localhost:5000", "a/b:c/d", "a:b/c", "a:b:c", "nginx@sha256:0123", "localhost:5000/nginx@sha256:0123", "nginx:1@sha256:0123", "/", ":", "/:", ":/", "a/", "a:", "A/B", "a//b", "[::1]:5000/x", "x y"}
	for i := 0; i < 25; i++ {
		s := g.pick("", "docker.io/", "localhost:5000/", "quay.io/x/") + g.pick("nginx", "app", "a.b_c-d") + g.pick("", ":v1", "@sha256:abcd", ":v1@sha256:abcd")
		in = append(in, s)
	}
	for _, s := range in {
		l = append(l, J{"in": s, "out": normalizedImageName(s)})
	}
	return
}

func cmdValues(seed int64, out string) error {
	metrics.Register()
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	put := func(k string, l []J) {
		if err := enc.Encode(map[string][]J{k: l}); err != nil {
			panic(err)
		}
		fmt.Printf("%-26s %d\n", k, len(l))
	}
	g := func(k string) *G { return newG("values/"+k, seed, 0) }
	a, b, c := genQuantities(g("quantity"))
	put("quantity", a)
	put("quantityJSON", b)
	put("quantityCmp", c)
	l, p := genLabelSelectors(g("labels"))
	put("labelSelector", l)
	put("labelSelectorParse", p)
	put("nodeSelector", genNodeSelectors(g("nodes")))
	t, u := genTolerations(g("tolerations"))
	put("toleration", t)
	put("untoleratedTaint", u)
	put("podRequests", genPodRequests(g("requests")))
	bo, be := genBackoff(g("backoff"))
	put("backoff", bo)
	put("backoffTime", be)
	put("numFeasibleNodesToFind", genFeasible(g("feasible")))
	put("nodeOrder", genNodeOrder(g("order")))
	put("imageName", genImages(g("images")))
	pa, pb, pc := genPriority(g("priority"))
	put("podPriority", pa)
	put("moreImportantPod", pb)
	put("queueSort", pc)
	ti, du := genTime(g("time"))
	put("time", ti)
	put("duration", du)
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
