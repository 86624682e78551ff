//go:build !schedulerplugins

package main

import (
	"errors"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// Without scheduler-plugins there are no plugins but kube-scheduler's own.

type outOfTree struct{}

func (*outOfTree) options(*Case) []scheduler.Option { return nil }
func (*outOfTree) close()                           {}

func (e *env) settle(*Case)       {}
func (e *env) podAdded(*v1.Pod)   {}
func (e *env) podRemoved(*v1.Pod) {}

func (e *env) otherCandidates(*fwkEnv, fwk.CycleState, *v1.Pod, *framework.FitError) []preemption.Candidate {
	return nil
}

var errNotLinked = errors.New("recorded by the program with scheduler-plugins only")

func cmdAdmissions(int64, int, string) error { return errNotLinked }
func cmdGangs(int64, int, string) error      { return errNotLinked }
func cmdOrders(int64, int, string) error     { return errNotLinked }
