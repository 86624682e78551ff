package main

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/utils/ptr"
)

func genLabelSelectors(g *G) (l, p []J) {
	lbls := func() map[string]string {
		m := map[string]string{}
		for _, k := range []string{"app", "tier", "n", "example.com/x"} {
			if g.chance(0.55) {
				m[k] = g.pick("web", "db", "", "1", "7", "-3", "x7")
			}
		}
		return m
	}
	for i := 0; i < 260; i++ {
		var s *metav1.LabelSelector
		if i > 0 {
			s = &metav1.LabelSelector{}
		}
		if s != nil {
			for g.chance(0.45) {
				if s.MatchLabels == nil {
					s.MatchLabels = map[string]string{}
				}
				s.MatchLabels[g.pick("app", "tier", "n", "example.com/x")] = g.pick("web", "db", "", "1")
			}
			for g.chance(0.55) {
				r := metav1.LabelSelectorRequirement{Key: g.pick("app", "tier", "n", "example.com/x"), Operator: metav1.LabelSelectorOperator(g.pick("In", "NotIn", "Exists", "DoesNotExist"))}
				if r.Operator == "In" || r.Operator == "NotIn" {
					r.Values = g.some([]string{"web", "db", "", "1", "7"}, g.rng(1, 3))
				}
				switch g.Intn(25) {
				case 0:
					r.Operator = metav1.LabelSelectorOperator(g.pick("Foo", "in", "Gt", "Lt", ""))
				case 1:
					r.Values = nil
				case 2:
					r.Values = []string{"a"}
				case 3:
					r.Key = g.pick("", "a b", "/x", "x/", "-a", "a/b/c", "EXAMPLE.com/x", strings.Repeat("a", 64))
				case 4:
					r.Values = []string{g.pick("a b", "-a", "a-", strings.Repeat("v", 64), "a/b")}
				}
				s.MatchExpressions = append(s.MatchExpressions, r)
			}
		}
		x := J{"selector": s}
		sel, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			x["error"] = err.Error()
		} else {
			x["string"], x["empty"] = sel.String(), sel.Empty()
			var ms []J
			for k := 0; k < 3; k++ {
				m := lbls()
				ms = append(ms, J{"labels": m, "match": sel.Matches(labels.Set(m))})
			}
			x["matches"] = ms
		}
		l = append(l, x)
	}
	for _, s := range []string{"", " ", "a", "!a", "! a", "a=b", "a==b", "a!=b", "a = b", "a in (b)", "a in (b,c)", "a in (b, c )", "a notin (b)", "a in ()", "a in (,)", "a in (b,,c)", "a in b", "a in (b", "a in b)", "a,b", "a,,b", ",a", "a,", "a=b,c!=d,!e,f in (g),h notin (i),j", "a>1", "a<1", "a > 1", "a>x", "a>=1", "a=>1", "a=", "a!=", "a==", "=b", "a=b=c", "a exists", "in", "notin", "in in (in)", "a in (in,notin)", "x/y=z", "/y=z", "x/=z", "a b", "a=b c", "a=(b)", "(a)", "a;b", "a='b'", "!a=b", "!!a", "a!b", "a = ", "a in (1, 2 ,3)", "a==b,a==b", "b=1,a=2", "a=b,!a", "A=B", "a.b-c_d=e.f-g_h", "a\t=\tb", "a=b\n", "example.com/x notin (y), z", "a=1<2", "a<1>2", "a in (b)c", "a in(b)", "a notin(b),c"} {
		x := J{"parse": s}
		sel, err := labels.Parse(s)
		if err != nil {
			x["error"] = err.Error()
		} else {
			x["string"] = sel.String()
			m := map[string]string{"a": g.pick("b", "1", "2", "c")}
			if g.chance(0.5) {
				m["c"] = "d"
			}
			x["labels"], x["match"] = m, sel.Matches(labels.Set(m))
		}
		p = append(p, x)
	}
	return
}

func genNodeSelectors(g *G) (l []J) {
	vals := []string{"1", "7", "-3", "0", "007", "+5", "x7", "", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1.5", " 1", "1e3", "0x10", "ssd"}
	yes, no, bad := 0, 0, 0
	for i := 0; i < 6000 && yes+no+bad < 450; i++ {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: g.pick("node-1", "node-2"), Labels: map[string]string{}}}
		for _, k := range []string{"gen", "disk", "zone"} {
			if g.chance(0.75) {
				n.Labels[k] = vals[g.Intn(len(vals))]
				if k == "disk" {
					n.Labels[k] = g.pick("ssd", "hdd", "")
				}
			}
		}
		var sel *v1.NodeSelector
		req := func() v1.NodeSelectorRequirement {
			r := v1.NodeSelectorRequirement{Key: g.pick("gen", "disk", "zone"), Operator: g.pickOp("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gt", "Lt")}
			switch r.Operator {
			case "In", "NotIn":
				r.Values = g.some([]string{"ssd", "hdd", "1", "7", "", "007"}, g.rng(1, 3))
			case "Gt", "Lt":
				r.Values = []string{g.pick("0", "1", "6", "7", "-3", "-4", "9223372036854775807", "+5", "007", "-9223372036854775808", "9223372036854775808", "x", "1.5")}
			}
			switch g.Intn(25) {
			case 0:
				r.Operator = g.pickOp("Foo", "in", "", "gt")
			case 1:
				r.Values = nil
			case 2:
				r.Values = []string{"1", "2"}
			case 3:
				r.Key = g.pick("", "a b", "/x")
			case 4:
				r.Values = []string{g.pick("a b", "-a")}
			}
			return r
		}
		if i > 0 {
			sel = &v1.NodeSelector{}
			for k := 0; k < g.pickI(0, 1, 1, 1, 2, 3); k++ {
				t := v1.NodeSelectorTerm{}
				for g.chance(0.6) {
					t.MatchExpressions = append(t.MatchExpressions, req())
				}
				if g.chance(0.25) {
					t.MatchFields = []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: g.pickOp("In", "NotIn"), Values: []string{g.pick("node-1", "node-2")}}}
					switch g.Intn(12) {
					case 0:
						t.MatchFields[0].Key = "metadata.namespace"
					case 1:
						t.MatchFields[0].Operator = g.pickOp("Exists", "Gt", "Foo")
					case 2:
						t.MatchFields[0].Values = nil
					case 3:
						t.MatchFields[0].Values = []string{"node-1", "node-2"}
					}
				}
				sel.NodeSelectorTerms = append(sel.NodeSelectorTerms, t)
			}
		}
		pod := &v1.Pod{}
		if g.chance(0.3) {
			pod.Spec.NodeSelector = map[string]string{g.pick("disk", "gen"): g.pick("ssd", "1", "", "hdd")}
		}
		if sel != nil {
			pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: sel}}
		}
		x := J{"nodeSelector": pod.Spec.NodeSelector, "required": sel, "node": J{"name": n.Name, "labels": n.Labels}}
		m, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(n)
		x["match"] = m
		if err != nil {
			x["matchError"] = err.Error()
		}
		if sel != nil {
			if _, err := nodeaffinity.NewNodeSelector(sel); err != nil {
				x["parseError"] = err.Error()
			}
		}
		switch { // some of each
		case x["parseError"] != nil && bad < 130:
			bad++
		case x["parseError"] == nil && m && yes < 170:
			yes++
		case x["parseError"] == nil && !m && no < 170:
			no++
		default:
			continue
		}
		l = append(l, x)
	}
	return
}

func genTolerations(g *G) (l, u []J) {
	tol := func() v1.Toleration {
		t := v1.Toleration{Key: g.pick("a", "a", "b", ""), Operator: v1.TolerationOperator(g.pick("Equal", "Exists", "", "Foo")), Value: g.pick("", "x", "y"), Effect: v1.TaintEffect(g.pick("", "NoSchedule", "NoExecute", "PreferNoSchedule"))}
		if g.chance(0.2) {
			t.TolerationSeconds = ptr.To[int64](int64(g.pickI(-1, 0, 60)))
		}
		return t
	}
	taint := func() v1.Taint {
		return v1.Taint{Key: g.pick("a", "a", "b"), Value: g.pick("", "x", "y"), Effect: v1.TaintEffect(g.pick("NoSchedule", "NoExecute", "PreferNoSchedule"))}
	}
	yes := 0
	for i := 0; len(l) < 300 && i < 5000; i++ {
		t, n := tol(), taint()
		if tolerates(&t, &n) {
			yes++
		} else if len(l)-yes >= 170 {
			continue
		}
		l = append(l, J{"toleration": t, "taint": n, "tolerates": tolerates(&t, &n)})
	}
	for i := 0; i < 150; i++ {
		ts, ns := []v1.Toleration{}, []v1.Taint{}
		for g.chance(0.6) {
			ts = append(ts, tol())
		}
		for g.chance(0.7) {
			ns = append(ns, taint())
		}
		x := J{"tolerations": ts, "taints": ns}
		t, found := untolerated(ns, ts)
		x["untolerated"] = nil
		if found {
			x["untolerated"] = t
		}
		u = append(u, x)
	}
	return
}

// ---------------------------------------------------------------- requests
