//go:build schedulerplugins

package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// ---------------------------------------------------------------- SySched

const seccompAnnotation = "seccomp.security.alpha.kubernetes.io"

var seccompNamespaces = []string{"default", "team-a"}

// syscalls are lists with actions, of which some do not count.
func (g *G) syscalls(n int) []J {
	lists := []J{}
	for i := g.rng(0, 3); i >= 0; i-- {
		names := []string{}
		for _, k := range g.Perm(120)[:g.rng(0, n)] {
			names = append(names, fmt.Sprint("call", k))
		}
		lists = append(lists, J{"action": g.pick("SCMP_ACT_ALLOW", "SCMP_ACT_ALLOW", "SCMP_ACT_LOG", "SCMP_ACT_ERRNO", "SCMP_ACT_TRACE", "SCMP_ACT_NOTIFY"), "names": names})
	}
	return lists
}

func (g *G) seccompProfile(namespace, name string, n int) {
	spec := J{"defaultAction": "SCMP_ACT_ERRNO"}
	if g.chance(0.95) {
		spec["syscalls"] = g.syscalls(n)
	}
	g.custom("security-profiles-operator.x-k8s.io/v1beta1", "SeccompProfile", namespace, name, J{"spec": spec})
}

// seccompPath is where the operator puts a profile, or something else.
func (g *G) seccompPath() string {
	name := g.pick("web", "db", "web.v2", "batch", "gone")
	return g.pick("operator/", "operator/", "localhost/", "") + g.pick(seccompNamespaces...) + "/" + name +
		g.pick(".json", ".json", ".json", "")
}

func (g *G) localhostProfile() *v1.SeccompProfile {
	if g.chance(0.2) {
		return &v1.SeccompProfile{Type: v1.SeccompProfileType(g.pick("RuntimeDefault", "Unconfined"))}
	}
	path := g.seccompPath()
	if g.chance(0.1) {
		path = g.pick("profile.json", "default/.json", "default//web.json")
	}
	return &v1.SeccompProfile{Type: v1.SeccompProfileTypeLocalhost, LocalhostProfile: &path}
}

func (g *G) seccompPod(prefix string) *v1.Pod {
	p := g.smallReq(g.newPod(g.pick(seccompNamespaces...), prefix, nil))
	for i := g.rng(0, 2); i > 0; i-- {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: fmt.Sprint("more", i), Image: "registry.example.com/app:v1"})
	}
	if g.chance(0.4) {
		p.Spec.SecurityContext = &v1.PodSecurityContext{SeccompProfile: g.localhostProfile()}
	}
	for i := range p.Spec.Containers {
		if g.chance(0.3) {
			p.Spec.Containers[i].SecurityContext = &v1.SecurityContext{SeccompProfile: g.localhostProfile()}
		}
	}
	if g.chance(0.15) { // not read
		p.Spec.InitContainers = []v1.Container{{Name: "i0", Image: "registry.example.com/app:v1",
			SecurityContext: &v1.SecurityContext{SeccompProfile: g.localhostProfile()}}}
	}
	if g.chance(0.3) { // at most one: of several the plugin takes a random one
		p.Annotations = map[string]string{"example.com/note": "operator/default/web.json"}
		p.Annotations[g.pick(seccompAnnotation+"/pod", "container."+seccompAnnotation+"/c0")] = g.pick("unconfined", "localhost/"+g.seccompPath(), "localhost/"+g.seccompPath())
	}
	return p
}

func genSySched(g *G) {
	g.stdNamespaces()
	for _, namespace := range seccompNamespaces {
		for _, name := range []string{"web", "db", "web.v2", "batch"} {
			if g.chance(0.85) {
				g.seccompProfile(namespace, name, g.pickI(0, 10, 40, 80))
			}
		}
	}
	args := J{}
	switch g.Intn(5) {
	case 0: // unconfined pods have no profile
	case 1:
		args["defaultProfileNamespace"], args["defaultProfileName"] = "team-a", g.pick("web", "gone", "")
	default:
		g.seccompProfile("default", "all-syscalls", 120)
	}
	for i, n := 0, g.rng(2, 7); i < n; i++ {
		g.randNode(i)
	}
	for i := g.rng(0, 14); i > 0; i-- {
		p := g.seccompPod("e")
		started := g.chance(0.8) // others do not count
		if g.chance(0.1) {       // in two namespaces, perhaps on one node
			p.Name = "twin"
			if g.chance(0.5) {
				p.Name = "twin-2"
			}
		}
		taken := false
		for _, other := range g.o.Pods {
			taken = taken || other.Namespace == p.Namespace && other.Name == p.Name
		}
		if taken {
			continue
		}
		g.existing(p, g.anyNode())
		if !started {
			p.Status.StartTime, p.Status.Phase = nil, v1.PodPending
		}
	}
	for i := g.rng(3, 8); i > 0; i-- {
		g.pend(g.seccompPod("p"))
	}
	g.enable([]J{pluginArgs("SySched", args)}, false, "SySched")
}
