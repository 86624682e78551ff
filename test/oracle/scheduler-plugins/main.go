// Records what plugins of scheduler-plugins decide about random clusters.
//
//	go run . -seed 1 -cases 200 -out DIR
//
// One file per plugin, a case per line: nodes, pods, metrics, arguments, and the raw and normalised scores of all nodes.
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	_ "sigs.k8s.io/scheduler-plugins/apis/config/scheme"
)

// Case is a line of a corpus.
type Case struct {
	Plugin    string          `json:"plugin"`
	Seed      int64           `json:"seed"`
	Args      json.RawMessage `json:"args,omitempty"`
	Nodes     []*v1.Node      `json:"nodes,omitempty"`
	Pods      []*v1.Pod       `json:"pods,omitempty"`      // placed
	Nominated []*v1.Pod       `json:"nominated,omitempty"` // to status.nominatedNodeName
	Pod       *v1.Pod         `json:"pod,omitempty"`
	WindowEnd int64           `json:"windowEnd,omitempty"` // seconds since 1970; pods were scheduled at arrival
	Metrics   []NodeMetrics   `json:"metrics,omitempty"`
	Queue     []Queued        `json:"queue,omitempty"`
	Want      *Want           `json:"want"`
}

// NodeMetrics are in the order of the source.
type NodeMetrics struct {
	Node    string   `json:"node"`
	Metrics []Metric `json:"metrics"`
}

// Metric of a load-watcher.
type Metric struct {
	Type     string  `json:"type"`
	Operator string  `json:"operator"`
	Value    float64 `json:"value"`
}

// Queued is a pod in the queue.
type Queued struct {
	Pod  *v1.Pod `json:"pod"`
	Time int64   `json:"time"` // seconds since 1970
}

// Want is the result.
type Want struct {
	Raw        []int64 `json:"raw,omitempty"` // parallel to nodes
	Normalized []int64 `json:"normalized,omitempty"`
	Error      string  `json:"error,omitempty"`
	Less       [][]int `json:"less,omitempty"` // pairs of the queue: the first goes before the second
}

// handle has what the plugins ask their framework for.
type handle struct {
	framework.Handle
	factory   informers.SharedInformerFactory
	nominated map[string][]fwk.PodInfo
}

func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return h.factory }
func (h *handle) NominatedPodsForNode(node string) []fwk.PodInfo         { return h.nominated[node] }

func decodeArgs(raw json.RawMessage) (runtime.Object, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	object, _, err := configscheme.Codecs.UniversalDecoder().Decode(raw, nil, nil)
	return object, err
}

func nodeInfos(c *Case) []fwk.NodeInfo {
	infos := []fwk.NodeInfo{}
	for _, node := range c.Nodes {
		placed := []*v1.Pod{}
		for _, pod := range c.Pods {
			if pod.Spec.NodeName == node.Name {
				placed = append(placed, pod)
			}
		}
		info := framework.NewNodeInfo(placed...)
		info.SetNode(node)
		infos = append(infos, info)
	}
	return infos
}

// score runs the Score points of a plugin over all nodes.
func score(ctx context.Context, plugin framework.ScorePlugin, c *Case) *Want {
	want := &Want{}
	infos := nodeInfos(c)
	state := framework.NewCycleState()
	if before, ok := plugin.(framework.PreScorePlugin); ok {
		if status := before.PreScore(ctx, state, c.Pod, infos); !status.IsSuccess() {
			return &Want{Error: status.Message()}
		}
	}
	scores := framework.NodeScoreList{}
	for _, info := range infos {
		raw, status := plugin.Score(ctx, state, c.Pod, info)
		if !status.IsSuccess() {
			return &Want{Error: status.Message()}
		}
		want.Raw = append(want.Raw, raw)
		scores = append(scores, framework.NodeScore{Name: info.Node().Name, Score: raw})
	}
	if extensions := plugin.ScoreExtensions(); extensions != nil {
		if status := extensions.NormalizeScore(ctx, state, c.Pod, scores); !status.IsSuccess() {
			return &Want{Error: status.Message()}
		}
	}
	for _, s := range scores {
		want.Normalized = append(want.Normalized, s.Score)
	}
	return want
}

func write(path string, cases []*Case) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	zip, _ := gzip.NewWriterLevel(file, gzip.BestCompression)
	encoder := json.NewEncoder(zip)
	for _, c := range cases {
		if err := encoder.Encode(c); err != nil {
			return err
		}
	}
	return zip.Close()
}

func main() {
	seed := flag.Int64("seed", 1, "first seed; case i uses seed+i")
	count := flag.Int("cases", 200, "number of cases of each plugin")
	out := flag.String("out", ".", "output directory")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	for _, p := range plugins {
		cases := []*Case{}
		for i := int64(0); i < int64(*count); i++ {
			c := &Case{Plugin: p.name, Seed: *seed + i}
			p.generate(rand.New(rand.NewSource(c.Seed)), c)
			want, err := p.run(c)
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s, seed %d: %v\n", p.name, c.Seed, err)
				os.Exit(1)
			}
			c.Want = want
			cases = append(cases, c)
		}
		path := filepath.Join(*out, p.name+".jsonl.gz")
		if err := write(path, cases); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(path, len(cases))
	}
}
