package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	goruntime "runtime"
	"sort"
	"strings"
	"time"
	_ "unsafe"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"
)

//go:linkname buildQueueingHintMap k8s.io/kubernetes/pkg/scheduler.buildQueueingHintMap
func buildQueueingHintMap(ctx context.Context, es []fwEnqueueExtensions) (internalqueue.QueueingHintMap, error)

const (
	resAssigned fwk.EventResource = "AssignedPod"
)

// ---------------------------------------------------------------- output

type EventJSON struct {
	Resource   string   `json:"resource"`
	ActionType []string `json:"actionType"`
	Label      string   `json:"label"`
}

func actionNames(a fwk.ActionType) []string {
	r := []string{}
	for b := fwk.Add; b <= fwk.UpdatePodGeneratedResourceClaim; b <<= 1 {
		if a&b != 0 {
			r = append(r, b.String())
		}
	}
	return r
}

func eventJSON(e fwk.ClusterEvent) EventJSON {
	return EventJSON{Resource: string(e.Resource), ActionType: actionNames(e.ActionType), Label: e.Label()}
}

type HintLine struct {
	Plugin   string          `json:"plugin"`
	Event    EventJSON       `json:"event"`
	Hints    []string        `json:"hints"`
	Config   json.RawMessage `json:"config,omitempty"`
	Pod      *v1.Pod         `json:"pod"`
	OldObj   interface{}     `json:"oldObj"`
	NewObj   interface{}     `json:"newObj"`
	Objects  *Objects        `json:"objects"`
	Expected string          `json:"expected"`
	Error    string          `json:"error,omitempty"`
}

type tuple struct {
	events   []fwk.ClusterEvent
	pod      *v1.Pod
	old, new runtime.Object
	config   json.RawMessage
	objects  Objects
}

func fnName(fn fwk.QueueingHintFn) string {
	if fn == nil {
		return ""
	}
	n := goruntime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name()
	n = strings.TrimSuffix(n[strings.LastIndex(n, ".")+1:], "-fm")
	if strings.HasPrefix(n, "func") || strings.HasPrefix(n, "init") || strings.HasPrefix(n, "glob") {
		return "" // the default function: always Queue
	}
	return n
}

// ---------------------------------------------------------------- environments

type hintEnv struct {
	*env
	m internalqueue.QueueingHintMap
}

var sharedHintEnvs = map[string]*hintEnv{}

func newHintEnv(cfg json.RawMessage, o Objects) (*hintEnv, error) {
	c := &Case{Config: cfg, Objects: o}
	e, err := newEnv(c, nil)
	if err != nil {
		return nil, err
	}
	f := e.fwks["default-scheduler"]
	m, err := buildQueueingHintMap(e.ctx, f.EnqueueExtensions())
	if err != nil {
		return nil, err
	}
	if len(o.ResourceClaims) > 0 { // the claim cache has its own handler
		for i := 0; i < 200; i++ {
			ok := true
			for _, cl := range o.ResourceClaims {
				if _, err := f.SharedDRAManager().ResourceClaims().Get(cl.Namespace, cl.Name); err != nil {
					ok = false
				}
			}
			if ok {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return &hintEnv{env: e, m: m}, nil
}

func hasLister(o *Objects) bool {
	b, _ := json.Marshal(o)
	return string(b) != "{}"
}

func hintEnvFor(t *tuple) (*hintEnv, func(), error) {
	if hasLister(&t.objects) {
		e, err := newHintEnv(t.config, t.objects)
		if err != nil {
			return nil, nil, err
		}
		return e, e.cancel, nil
	}
	k := string(t.config)
	if e, ok := sharedHintEnvs[k]; ok {
		return e, func() {}, nil
	}
	e, err := newHintEnv(t.config, Objects{})
	if err != nil {
		return nil, nil, err
	}
	sharedHintEnvs[k] = e
	return e, func() {}, nil
}

// evalHint does what the queue does for a pod that was rejected by this plugin only.
func evalHint(e *hintEnv, plugin string, t *tuple, ev fwk.ClusterEvent) (l HintLine, err error) {
	l = HintLine{Plugin: plugin, Event: eventJSON(ev), Hints: []string{}, Config: t.config, Pod: t.pod, Objects: &t.objects, Expected: "QueueSkip"}
	var oldObj, newObj interface{}
	if t.old != nil {
		oldObj, l.OldObj = t.old, t.old
	}
	if t.new != nil {
		newObj, l.NewObj = t.new, t.new
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	for evm, fns := range e.m {
		if !framework.MatchClusterEvents(evm, ev) {
			continue
		}
		for _, fn := range fns {
			if fn.PluginName != plugin {
				continue
			}
			n := fnName(fn.QueueingHintFn)
			if n == "" {
				n = "default"
			}
			l.Hints = append(l.Hints, n)
			h, herr := fn.QueueingHintFn(e.logger, t.pod, oldObj, newObj)
			if herr != nil {
				l.Expected, l.Error = "Error", herr.Error()
			} else {
				l.Expected = h.String()
			}
		}
	}
	if len(l.Hints) > 1 {
		err = fmt.Errorf("%s: several functions for %v", plugin, ev)
	}
	return l, err
}

// ---------------------------------------------------------------- generators

func rt[T any](o T) (r T, err error) {
	b, err := json.Marshal(o)
	if err != nil {
		return r, err
	}
	err = json.Unmarshal(b, &r)
	return r, err
}

func rtObj(o runtime.Object) (runtime.Object, error) {
	if o == nil {
		return nil, nil
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	n := reflect.New(reflect.TypeOf(o).Elem()).Interface().(runtime.Object)
	return n, json.Unmarshal(b, n)
}

// roundTrip makes the objects what a reader of the line gets.
func (t *tuple) roundTrip() (err error) {
	if t.pod, err = rt(t.pod); err != nil {
		return err
	}
	if t.old, err = rtObj(t.old); err != nil {
		return err
	}
	if t.new, err = rtObj(t.new); err != nil {
		return err
	}
	t.objects, err = rt(t.objects)
	return err
}

type hintGen struct {
	plugin string
	n      int
	fn     func(g *G, t *tuple) bool
}

var hintGens = []hintGen{
	{"NodeUnschedulable", 150, hintUnschedulable},
	{"NodeName", 30, hintNodeName},
	{"TaintToleration", 180, hintTaint},
	{"NodeAffinity", 260, hintNodeAffinity},
	{"NodePorts", 180, hintPorts},
	{"NodeResourcesFit", 480, hintFit},
	{"VolumeRestrictions", 300, hintRestrictions},
	{"NodeVolumeLimits", 380, hintCSILimits},
	{"VolumeBinding", 480, hintVolumeBinding},
	{"VolumeZone", 260, hintVolumeZone},
	{"PodTopologySpread", 420, hintSpread},
	{"InterPodAffinity", 380, hintInterPod},
	{"DefaultPreemption", 30, hintPreemption},
	{"DynamicResources", 280, hintDRA},
	{"SchedulingGates", 60, hintGates},
}

// ---------------------------------------------------------------- command

func cmdHints(seed int64, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	base, err := newHintEnv(nil, Objects{})
	if err != nil {
		return err
	}
	sharedHintEnvs[""] = base
	fw := base.fwks["default-scheduler"]

	// what is registered
	es := fw.EnqueueExtensions()
	sort.Slice(es, func(i, j int) bool { return es[i].Name() < es[j].Name() })
	type regEvent struct {
		EventJSON
		Hint string `json:"hint,omitempty"`
	}
	seenEv := map[fwk.ClusterEvent]bool{}
	for _, e := range es {
		evs, err := e.EventsToRegister(base.ctx)
		if err != nil {
			return err
		}
		l := []regEvent{}
		for _, x := range evs {
			l = append(l, regEvent{eventJSON(x.Event), fnName(x.QueueingHintFn)})
			seenEv[x.Event] = true
		}
		enc.Encode(J{"registered": e.Name(), "events": l})
	}
	// for plugins which do not implement EventsToRegister, and for extenders
	dl := []EventJSON{}
	for _, x := range framework.UnrollWildCardResource() {
		dl = append(dl, eventJSON(x.Event))
	}
	enc.Encode(J{"kind": "defaultRegistered", "events": dl})
	// the map the queue uses: plugins with Node/Add and no Node/UpdateNodeTaint get the latter
	type mapEntry struct {
		Event   EventJSON           `json:"event"`
		Plugins []map[string]string `json:"plugins"`
	}
	var entries []mapEntry
	for ev, fns := range base.m {
		seenEv[ev] = true
		en := mapEntry{Event: eventJSON(ev)}
		for _, fn := range fns {
			n := fnName(fn.QueueingHintFn)
			if n == "" {
				n = "default"
			}
			en.Plugins = append(en.Plugins, map[string]string{"plugin": fn.PluginName, "hint": n})
		}
		sort.Slice(en.Plugins, func(i, j int) bool { return en.Plugins[i]["plugin"] < en.Plugins[j]["plugin"] })
		entries = append(entries, en)
	}
	key := func(e EventJSON) string { return e.Resource + " " + strings.Join(e.ActionType, "|") }
	sort.Slice(entries, func(i, j int) bool { return key(entries[i].Event) < key(entries[j].Event) })
	enc.Encode(J{"kind": "hintMap", "entries": entries})
	// which incoming events match
	var incoming []fwk.ClusterEvent
	for _, r := range podEventResources {
		for _, a := range append([]fwk.ActionType{fwk.Add, fwk.Delete, fwk.Update, fwk.UpdatePodLabel, fwk.UpdatePodScaleDown, fwk.UpdatePodToleration, fwk.UpdatePodSchedulingGatesEliminated, fwk.UpdatePodGeneratedResourceClaim}, morePodActions...) {
			incoming = append(incoming, fwk.ClusterEvent{Resource: r, ActionType: a})
		}
	}
	for _, a := range append([]fwk.ActionType{fwk.Add, fwk.Delete, fwk.Update, fwk.UpdateNodeAllocatable, fwk.UpdateNodeLabel, fwk.UpdateNodeTaint, fwk.UpdateNodeCondition, fwk.UpdateNodeAnnotation}, moreNodeActions...) {
		incoming = append(incoming, fwk.ClusterEvent{Resource: fwk.Node, ActionType: a})
	}
	for _, r := range []fwk.EventResource{fwk.PersistentVolume, fwk.PersistentVolumeClaim, fwk.CSINode, fwk.CSIDriver, fwk.CSIStorageCapacity, fwk.StorageClass, fwk.VolumeAttachment, fwk.ResourceClaim, fwk.ResourceSlice, fwk.DeviceClass} {
		for _, a := range []fwk.ActionType{fwk.Add, fwk.Delete, fwk.Update} {
			incoming = append(incoming, fwk.ClusterEvent{Resource: r, ActionType: a})
		}
	}
	incoming = append(incoming, framework.EventUnschedulableTimeout, framework.EventForceActivate)
	seenEv[fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All}] = true
	seenEv[fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.All}] = true
	seenEv[fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.All}] = true
	seenEv[fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update}] = true
	seenEv[fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Update}] = true
	var inJSON []EventJSON
	for _, e := range incoming {
		inJSON = append(inJSON, eventJSON(e))
	}
	enc.Encode(J{"kind": "incomingEvents", "events": inJSON})
	var regs []fwk.ClusterEvent
	for e := range seenEv {
		regs = append(regs, e)
	}
	sort.Slice(regs, func(i, j int) bool { return key(eventJSON(regs[i])) < key(eventJSON(regs[j])) })
	for _, e := range regs {
		m := []string{}
		for _, in := range incoming {
			if framework.MatchClusterEvents(e, in) {
				m = append(m, in.Label())
			}
		}
		enc.Encode(J{"kind": "match", "registered": eventJSON(e), "matches": m})
	}

	// hints
	type cnt map[string]int
	stats := map[string]cnt{}
	branches := map[string]cnt{}
	var requeues []J
	for _, hg := range hintGens {
		stats[hg.plugin] = cnt{}
		done := 0
		for i := 0; done < hg.n && i < hg.n*25; i++ {
			g := newG("hint/"+hg.plugin, seed, i)
			t := &tuple{}
			if !hg.fn(g, t) || len(t.events) == 0 {
				continue
			}
			if t.config == nil {
				t.config = nil
			}
			if err := t.roundTrip(); err != nil {
				return err
			}
			e, release, err := hintEnvFor(t)
			if err != nil {
				return err
			}
			// prefer an event the plugin is interested in
			ev := t.events[g.Intn(len(t.events))]
			var matched []fwk.ClusterEvent
			for _, x := range t.events {
				for em, fns := range e.m {
					if framework.MatchClusterEvents(em, x) {
						for _, fn := range fns {
							if fn.PluginName == hg.plugin {
								matched = append(matched, x)
							}
						}
					}
				}
			}
			if len(matched) > 0 {
				ev = matched[g.Intn(len(matched))]
			} else if !g.chance(0.12) {
				release()
				continue
			}
			l, err := evalHint(e, hg.plugin, t, ev)
			var rq J
			if i%7 == 0 && err == nil {
				rq = requeueLine(g, e, hg.plugin, t, ev)
			}
			release()
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s %d: %v\n", hg.plugin, i, err)
				continue
			}
			b := hg.plugin + "/" + strings.Join(l.Hints, ",")
			if branches[b] == nil {
				branches[b] = cnt{}
			}
			// keep the functions that always queue rare
			if b2 := branches[b]; len(l.Hints) == 1 && l.Hints[0] == "default" && b2["Queue"] >= 25 {
				continue
			}
			// and the outcomes of each function balanced
			if len(l.Hints) == 1 && l.Hints[0] != "default" {
				q, sk := branches[b]["Queue"], branches[b]["QueueSkip"]
				if l.Expected == "QueueSkip" && sk > q*5/4+12 || l.Expected == "Queue" && q > sk*5/4+12 {
					continue
				}
			}
			if len(l.Hints) == 0 && branches[b]["QueueSkip"] >= 6 {
				continue
			}
			// and no function takes everything
			if tot := branches[b]["Queue"] + branches[b]["QueueSkip"]; tot >= hg.n/2 && hg.plugin != "NodeAffinity" && hg.plugin != "SchedulingGates" && hg.plugin != "TaintToleration" && hg.plugin != "NodePorts" {
				continue
			}
			branches[b][l.Expected]++
			stats[hg.plugin][l.Expected]++
			if err := enc.Encode(l); err != nil {
				return err
			}
			if rq != nil {
				requeues = append(requeues, rq)
			}
			done++
		}
	}

	rc := cnt{}
	for _, r := range requeues {
		rc[r["expected"].(string)]++
		enc.Encode(r)
	}
	stats["requeue"] = rc
	fmt.Println("requeue", rc)

	// derived events
	for i, done := 0, 0; done < 300; i++ {
		g := newG("podChange", seed, i)
		p := g.richPod("default", "p", 1)
		p.Labels = g.appLabels()
		if g.chance(0.5) {
			g.resizeStatus(p)
		}
		if g.chance(0.3) {
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/a"}, {Name: "example.com/b"}}[:g.rng(1, 2)]
		}
		if g.chance(0.3) {
			p.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "d0", ResourceClaimName: ptr.To("c1")}, {Name: "d1"}}[:g.rng(1, 2)]
		}
		if g.chance(0.5) && len(p.Spec.SchedulingGates) == 0 {
			p.Spec.NodeName = "node-001"
		}
		if !g.finish(p) {
			continue
		}
		fixTimes(p)
		m := p.DeepCopy()
		bump(&m.ObjectMeta)
		for k := 0; k < g.pickI(1, 1, 1, 2, 3); k++ {
			g.mutatePod(m)
		}
		if g.chance(0.1) && m.Spec.NodeName == "" {
			m.Spec.NodeName = "node-002"
		}
		if g.chance(0.3) {
			p, m = m, p
		}
		if p, err = rt(p); err != nil {
			return err
		}
		if m, err = rt(m); err != nil {
			return err
		}
		enc.Encode(J{"kind": "podChange", "old": p, "new": m, "events": eventsJSON(podChangeEvents(m, p, true))})
		done++
	}
	for i := 0; i < 220; i++ {
		g := newG("nodeChange", seed, i)
		n := g.randNode(0, func(n *v1.Node) {
			if g.chance(0.4) {
				n.Spec.Taints = []v1.Taint{{Key: "a", Effect: "NoSchedule"}, {Key: "b", Effect: "NoExecute"}}
			}
			n.Spec.Unschedulable = g.chance(0.3)
		})
		m := n.DeepCopy()
		bump(&m.ObjectMeta)
		for k := 0; k < g.pickI(1, 1, 1, 2, 3); k++ {
			g.mutateNode(m)
		}
		switch g.Intn(12) {
		case 0:
			if len(m.Spec.Taints) == 2 {
				m.Spec.Taints[0], m.Spec.Taints[1] = m.Spec.Taints[1], m.Spec.Taints[0]
			}
		case 1:
			c := m.Status.Allocatable["cpu"]
			m.Status.Allocatable["cpu"] = q(fmt.Sprintf("%dm", c.MilliValue())) // same value
		case 2:
			if m.Annotations == nil {
				m.Annotations = map[string]string{}
			}
		case 3:
			m.Spec.Taints = append(m.Spec.Taints, v1.Taint{Key: "t", Effect: "NoExecute", TimeAdded: ptr.To(metav1.NewTime(baseTime))})
		}
		if g.chance(0.3) {
			n, m = m, n
		}
		if n, err = rt(n); err != nil {
			return err
		}
		if m, err = rt(m); err != nil {
			return err
		}
		enc.Encode(J{"kind": "nodeChange", "old": n, "new": m, "events": eventsJSON(framework.NodeSchedulingPropertiesChange(m, n))})
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for _, hg := range hintGens {
		fmt.Printf("%-22s %v\n", hg.plugin, stats[hg.plugin])
	}
	for _, b := range sortedKeys(branches) {
		fmt.Printf("  %-70s %v\n", b, branches[b])
	}
	return nil
}

func eventsJSON(l []fwk.ClusterEvent) []EventJSON {
	r := []EventJSON{}
	for _, e := range l {
		r = append(r, eventJSON(e))
	}
	return r
}
