package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	_ "unsafe"

	"github.com/go-logr/logr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"sigs.k8s.io/yaml"
)

//go:linkname optionsEncodeConfig k8s.io/kubernetes/cmd/kube-scheduler/app/options.encodeConfig
func optionsEncodeConfig(cfg *schedulerapi.KubeSchedulerConfiguration) (*bytes.Buffer, error)

type PluginJSON struct {
	Name   string `json:"name"`
	Weight int32  `json:"weight,omitempty"`
}

type ProfilePlugins struct {
	SchedulerName string                  `json:"schedulerName"`
	Plugins       map[string][]PluginJSON `json:"plugins"`
}

type ConfigLine struct {
	Class          string           `json:"class"`
	YAML           string           `json:"yaml"`
	Error          *string          `json:"error"`
	ErrorStage     string           `json:"errorStage,omitempty"`
	Loaded         json.RawMessage  `json:"loaded,omitempty"`
	FrameworkError *string          `json:"frameworkError"`
	Defaulted      json.RawMessage  `json:"defaulted"`
	WrittenYAML    string           `json:"writtenYAML,omitempty"`
	Expanded       []ProfilePlugins `json:"expandedPlugins,omitempty"`
	Extenders      []string         `json:"extenderOrder,omitempty"`
}

func toJSON(cfg *schedulerapi.KubeSchedulerConfiguration) (json.RawMessage, string, error) {
	buf, err := optionsEncodeConfig(cfg)
	if err != nil {
		return nil, "", err
	}
	y := buf.String()
	j, err := yaml.YAMLToJSON(buf.Bytes())
	return j, y, err
}

// evalConfig takes the path of kube-scheduler --config file --write-config-to out.
func evalConfig(class, text string) (l ConfigLine) {
	l = ConfigLine{Class: class, YAML: text}
	fail := func(stage string, err error) {
		s := err.Error()
		l.Error, l.ErrorStage = &s, stage
	}
	defer func() {
		if r := recover(); r != nil {
			s := fmt.Sprintf("panic: %v", r)
			l.FrameworkError = &s
		}
	}()
	logger := logr.Discard()
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	defer cancel()
	f, err := os.CreateTemp("", "cfg")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	f.WriteString(text)
	f.Close()
	cfg, err := options.LoadConfigFromFile(logger, f.Name())
	if err != nil {
		fail("decode", err)
		return
	}
	loaded, _, lerr := toJSON(cfg)
	if lerr == nil {
		l.Loaded = loaded
	}
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		fail("validation", err)
		return
	}
	client := fake.NewSimpleClientset()
	var inf informers.SharedInformerFactory = newInformerFactory(client)
	completed := make([]schedulerapi.KubeSchedulerProfile, 0)
	sched, err := scheduler.New(ctx, client, inf, nil,
		recorderFactory,
		scheduler.WithComponentConfigVersion(cfg.TypeMeta.APIVersion),
		scheduler.WithKubeConfig(&rest.Config{}),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds),
		scheduler.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds),
		scheduler.WithExtenders(cfg.Extenders...),
		scheduler.WithParallelism(cfg.Parallelism),
		scheduler.WithBuildFrameworkCapturer(func(p schedulerapi.KubeSchedulerProfile) { completed = append(completed, p) }),
	)
	if err != nil {
		s := err.Error()
		l.FrameworkError = &s
		return
	}
	for _, p := range cfg.Profiles {
		fw := sched.Profiles[p.SchedulerName]
		pl := fw.ListPlugins()
		pp := ProfilePlugins{SchedulerName: p.SchedulerName, Plugins: map[string][]PluginJSON{}}
		v := reflect.ValueOf(*pl)
		for i := 0; i < v.NumField(); i++ {
			n := v.Type().Field(i).Name
			if n == "MultiPoint" {
				continue
			}
			list := []PluginJSON{}
			for _, x := range v.Field(i).Interface().(schedulerapi.PluginSet).Enabled {
				list = append(list, PluginJSON{x.Name, x.Weight})
			}
			pp.Plugins[strings.ToLower(n[:1])+n[1:]] = list
		}
		l.Expanded = append(l.Expanded, pp)
	}
	for _, x := range sched.Extenders {
		l.Extenders = append(l.Extenders, x.Name())
	}
	cfg.Profiles = completed
	j, y, err := toJSON(cfg)
	if err != nil {
		s := "writing: " + err.Error()
		l.FrameworkError = &s
		return
	}
	l.Defaulted, l.WrittenYAML = j, y
	return
}

// ---------------------------------------------------------------- generators

// perturb adds some valid fields, so that the fixed texts are not the same for all seeds.
func (g *G) perturb(s string) string {
	if !strings.Contains(s, "KubeSchedulerConfiguration\n") || strings.HasPrefix(s, "{") || strings.Contains(s, "---\n") || strings.Contains(s, "...\n") || strings.Contains(s, "%YAML") || strings.Contains(s, "\ufeff") || strings.Contains(s, "\r") {
		return s
	}
	var add string
	for _, x := range []struct{ k, v string }{
		{"podMaxBackoffSeconds", fmt.Sprint(g.rng(100, 900))},
		{"percentageOfNodesToScore", fmt.Sprint(g.rng(1, 99))},
		{"delayCacheUntilActive", "true"},
		{"parallelism", fmt.Sprint(g.rng(2, 99))},
	} {
		if g.chance(0.4) && !strings.Contains(s, x.k) && !strings.Contains(strings.ToLower(s), "parallelism") && !strings.Contains(s, "podInitialBackoffSeconds") {
			add += x.k + ": " + x.v + "\n"
		}
	}
	if strings.HasPrefix(s, cfgHead) {
		return cfgHead + add + s[len(cfgHead):]
	}
	return s + add
}

var addrRE = regexp.MustCompile(`0x[0-9a-f]{8,}`)

func cmdConfig(seed int64, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	counts := map[string]int{}
	n := 0
	for _, c := range cfgClasses {
		seen := map[string]bool{}
		for i := 0; i < c.n; i++ {
			g := newG("config/"+c.name, seed, i)
			g.seq = i
			text := c.fn(g)
			if seed != 1 {
				text = g.perturb(text)
			}
			if seen[text] {
				continue
			}
			seen[text] = true
			l := evalConfig(c.name, text)
			a, _ := json.Marshal(l)
			same := true
			for k := 0; k < 4; k++ {
				b, _ := json.Marshal(evalConfig(c.name, text))
				same = same && bytes.Equal(a, b)
			}
			if !same {
				counts["dropped (random order)"]++
				fmt.Fprintf(os.Stderr, "not deterministic: %s %d\n", c.name, i)
				continue
			}
			if addrRE.Match(a) {
				counts["dropped (pointer in the text)"]++
				fmt.Fprintf(os.Stderr, "pointer: %s %d %s\n", c.name, i, a[:min(len(a), 600)])
				continue
			}
			if l.FrameworkError != nil && strings.HasPrefix(*l.FrameworkError, "panic") {
				fmt.Fprintf(os.Stderr, "panic: %s %d %s\n", c.name, i, *l.FrameworkError)
			}
			if n%8 != 0 {
				l.WrittenYAML = ""
			}
			if bytes.Equal(l.Loaded, l.Defaulted) {
				l.Loaded = nil // the same
			}
			n++
			switch {
			case l.ErrorStage != "":
				counts["error: "+l.ErrorStage]++
			case l.FrameworkError != nil:
				counts["error: framework"]++
			default:
				counts["valid"]++
			}
			if err := enc.Encode(l); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Println(n, "configs", counts)
	return f.Close()
}
