//go:build schedulerplugins

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// The kinds of custom resources that the plugins read.
var customKinds = []struct {
	group, version, kind, plural string
	namespaced                   bool
}{
	{"appgroup.diktyo.x-k8s.io", "v1alpha1", "AppGroup", "appgroups", true},
	{"networktopology.diktyo.x-k8s.io", "v1alpha1", "NetworkTopology", "networktopologies", true},
	{"scheduling.x-k8s.io", "v1alpha1", "ElasticQuota", "elasticquotas", true},
	{"scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups", true},
	{"security-profiles-operator.x-k8s.io", "v1beta1", "SeccompProfile", "seccompprofiles", true},
	{"topology.node.k8s.io", "v1alpha2", "NodeResourceTopology", "noderesourcetopologies", false},
}

// customServer answers the plugins' clients from a list of custom resources, which do not change: discovery, get, list,
// and watches without events.
type customServer struct {
	objects []*customObj
	http    *httptest.Server
	done    chan struct{}
}

func newCustomServer(objects []*customObj) *customServer {
	s := &customServer{objects: objects, done: make(chan struct{})}
	s.http = httptest.NewServer(s)
	return s
}

func (s *customServer) config() *rest.Config { return &rest.Config{Host: s.http.URL, QPS: -1} }

func (s *customServer) close() {
	close(s.done) // ends watches
	s.http.CloseClientConnections()
	s.http.Close()
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(body)
}

func notFound(w http.ResponseWriter) {
	reply(w, http.StatusNotFound, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound})
}

func (s *customServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) == 1 && parts[0] == "api":
		reply(w, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}})
	case len(parts) == 1 && parts[0] == "apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, k := range customKinds {
			if n := len(list.Groups); n == 0 || list.Groups[n-1].Name != k.group {
				list.Groups = append(list.Groups, groupOf(k.group, k.version))
			}
		}
		reply(w, http.StatusOK, list)
	case len(parts) == 2 && parts[0] == "apis":
		for _, k := range customKinds {
			if k.group == parts[1] {
				group := groupOf(k.group, k.version)
				group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
				reply(w, http.StatusOK, group)
				return
			}
		}
		notFound(w)
	case len(parts) == 3 && parts[0] == "apis":
		list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: parts[1] + "/" + parts[2]}
		for _, k := range customKinds {
			if k.group == parts[1] && k.version == parts[2] {
				list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.plural, Kind: k.kind, Namespaced: k.namespaced,
					Verbs: metav1.Verbs{"get", "list", "watch"}})
			}
		}
		reply(w, http.StatusOK, list)
	case len(parts) > 3 && parts[0] == "apis":
		s.resource(w, r, parts[1]+"/"+parts[2], parts[3:])
	default:
		notFound(w)
	}
}

func groupOf(group, version string) metav1.APIGroup {
	v := metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + version, Version: version}
	return metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v}
}

// resource serves PLURAL[/NAME] or namespaces/NAMESPACE/PLURAL[/NAME].
func (s *customServer) resource(w http.ResponseWriter, r *http.Request, apiVersion string, parts []string) {
	namespace := ""
	if len(parts) > 2 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	kind := ""
	for _, k := range customKinds {
		if k.group+"/"+k.version == apiVersion && k.plural == parts[0] {
			kind = k.kind
		}
	}
	items := []*customObj{}
	for _, o := range s.objects {
		if o.GetAPIVersion() == apiVersion && o.GetKind() == kind && (namespace == "" || o.GetNamespace() == namespace) {
			items = append(items, o)
		}
	}
	switch {
	case kind == "":
		notFound(w)
	case len(parts) > 1:
		for _, o := range items {
			if o.GetName() == parts[1] {
				reply(w, http.StatusOK, o)
				return
			}
		}
		notFound(w)
	case r.URL.Query().Get("watch") != "" && r.URL.Query().Get("watch") != "false":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	default:
		reply(w, http.StatusOK, map[string]any{"apiVersion": apiVersion, "kind": kind + "List",
			"metadata": map[string]any{"resourceVersion": "1"}, "items": items})
	}
}
