//go:build schedulerplugins

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/scheduler-plugins/pkg/networkaware/topologicalsort"
)

// The order that TopologicalSort gives pods of AppGroups and others, pair by pair.

// OrderCase is a line of the corpus, of the form that scheduler-plugins/main.go writes.
type OrderCase struct {
	Plugin string       `json:"plugin"`
	Seed   int64        `json:"seed"`
	Args   J            `json:"args"`
	Custom []*customObj `json:"custom"`
	Queue  []queuedPod  `json:"queue"`
	Want   J            `json:"want"`
}

type queuedPod struct {
	Pod  *v1.Pod `json:"pod"`
	Time int64   `json:"time"` // seconds since 1970
}

func orderCase(seed int64) (*OrderCase, error) {
	c := &Case{Name: fmt.Sprintf("order-%d", seed)}
	g := &G{Rand: rand.New(rand.NewSource(seed)), c: c, o: &c.Objects, zones: []string{"z1"}}
	g.node(0, nil)
	namespaces := []string{"default"}
	if g.chance(0.5) {
		namespaces = []string{"team-a", "default"}
	}
	// Pods of groups that do not exist make the plugin panic.
	for i, group := range []string{"shop", "bank"} {
		for _, namespace := range namespaces {
			if i == 0 && namespace == "default" || g.chance(0.5) {
				g.appGroup(namespace, group)
			}
		}
	}
	known := map[string]bool{}
	for _, o := range g.o.Custom {
		known[o.GetName()] = true
		if g.chance(0.3) { // in the order of places, not of workloads
			status := o.Object["status"].(J)
			list := status["topologyOrder"].([]interface{})
			g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
	}
	for i := g.rng(4, 9); i > 0; i-- {
		p := g.appPod("p")
		if !known[p.Labels["appgroup.diktyo.x-k8s.io"]] {
			delete(p.Labels, "appgroup.diktyo.x-k8s.io")
		}
		p.Spec.Priority = ptr.To(int32(g.pickI(0, 0, 100)))
		g.pend(p)
	}
	args := pluginArgs(topologicalsort.Name, J{"namespaces": namespaces})
	g.setConfig(J{"plugins": J{"queueSort": J{"enabled": []J{{"name": topologicalsort.Name}}, "disabled": []J{{"name": "*"}}}},
		"pluginConfig": []J{args}})
	e, err := newEnv(c, nil)
	if err != nil {
		return nil, err
	}
	defer e.out.close()
	defer e.cancel()
	out := &OrderCase{Plugin: topologicalsort.Name, Seed: seed, Args: args["args"].(J), Custom: g.o.Custom}
	infos := []fwk.QueuedPodInfo{}
	for _, p := range c.Pods {
		fixTimes(p)
		at := baseTime.Add(time.Duration(g.Intn(3)) * time.Minute)
		info, _ := framework.NewPodInfo(p)
		infos = append(infos, &framework.QueuedPodInfo{PodInfo: info, Timestamp: at})
		out.Queue = append(out.Queue, queuedPod{p, at.Unix()})
	}
	out.Want = J{"less": pairs(e.fwks["default-scheduler"].plugins[topologicalsort.Name].(framework.QueueSortPlugin), infos)}
	return out, nil
}

func cmdOrders(seed int64, cases int, out string) error {
	return writeLines(out, cases, func(i int64) (interface{}, error) { return orderCase(seed*1_000_000 + i) })
}

// writeLines writes what make returns, twice the same for each number.
func writeLines(out string, cases int, make func(int64) (interface{}, error)) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	for i := int64(0); i < int64(cases); i++ {
		texts := [2]string{}
		for j := range texts {
			line, err := make(i)
			if err != nil {
				return err
			}
			text, err := json.Marshal(line)
			if err != nil {
				return err
			}
			texts[j] = string(text)
		}
		if texts[0] != texts[1] {
			return fmt.Errorf("case %d differs when it is run again:\n%s\n%s", i, texts[0], texts[1])
		}
		fmt.Fprintln(w, texts[0])
	}
	return w.Flush()
}
