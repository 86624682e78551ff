// Package scheduler: an addition to kube-scheduler's package of the same name. test/integration/run puts this file into a copy
// of that package, renames the package's own New and Run to newInProcess and runInProcess, and builds kube-scheduler's
// integration tests with it. The tests then start the program that INTEGRATION_SCHEDULER names, with the configuration,
// the feature gates and the API server they would have given to the scheduler in their own process.
//
// The scheduler in process is still made, because tests look at its cache, which its event handlers fill; it decides
// nothing. It does decide where a test brings plugins of its own, which exist in the test's process only, and where a
// test emulates a version that no program emulates. Each start prints a line that test/integration/summary.py reads.
package scheduler

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/component-base/featuregate"
	componentversion "k8s.io/component-base/version"
	configv1 "k8s.io/kube-scheduler/config/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

var (
	optionsMutex sync.Mutex
	optionsOf    = map[*Scheduler]*schedulerOptions{}
)

// New makes a scheduler in process and keeps its options for Run.
func New(ctx context.Context, client clientset.Interface, informerFactory informers.SharedInformerFactory,
	dynInformerFactory dynamicinformer.DynamicSharedInformerFactory, recorderFactory profile.RecorderFactory,
	opts ...Option) (*Scheduler, error) {
	sched, err := newInProcess(ctx, client, informerFactory, dynInformerFactory, recorderFactory, opts...)
	if err != nil {
		return nil, err
	}
	options := defaultSchedulerOptions
	for _, opt := range opts {
		opt(&options)
	}
	optionsMutex.Lock()
	defer optionsMutex.Unlock()
	optionsOf[sched] = &options
	return sched, nil
}

// Run runs the external program until the context ends.
func (sched *Scheduler) Run(ctx context.Context) {
	program := os.Getenv("INTEGRATION_SCHEDULER")
	if program == "" {
		sched.runInProcess(ctx)
		return
	}
	optionsMutex.Lock()
	options := optionsOf[sched]
	delete(optionsOf, sched)
	optionsMutex.Unlock()
	if options == nil || options.kubeConfig == nil || len(options.frameworkOutOfTreeRegistry) > 0 || emulatesTooOld() {
		fmt.Println("INTEGRATION: in process")
		sched.runInProcess(ctx)
		return
	}
	if err := runExternal(ctx, program, options); err != nil {
		fmt.Printf("INTEGRATION: external, failed: %v\n", err)
	}
}

func runExternal(ctx context.Context, program string, options *schedulerOptions) error {
	folder, err := os.MkdirTemp(os.Getenv("INTEGRATION_LOGS"), "run-")
	if err != nil {
		return err
	}
	config, kubeconfig := filepath.Join(folder, "config.yaml"), filepath.Join(folder, "kubeconfig")
	if err := writeKubeconfig(kubeconfig, options.kubeConfig); err != nil {
		return err
	}
	if err := writeConfiguration(config, kubeconfig, options); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	words := strings.Fields(program)
	args := append(words[1:], "--config="+config, "--secure-port=0", "--leader-elect=false", "--v=4")
	args = append(args, gateFlags()...)
	command := exec.Command(words[0], args...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "INTEGRATION_") {
			command.Env = append(command.Env, variable)
		}
	}
	fmt.Fprintln(log, command.String())
	fmt.Printf("INTEGRATION: external, %s\n", folder)
	// Pdeathsig follows the thread that starts the process.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err = <-ended:
		return fmt.Errorf("ended by itself: %w", err)
	case <-ctx.Done():
	}
	_ = command.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = command.Process.Kill()
		<-ended
	}
	return nil
}

// A program emulates its last three minors and no others; in process, tests go further back.
func emulatesTooOld() bool {
	binary := version.MustParse(componentversion.DefaultKubeBinaryVersion)
	return utilfeature.DefaultMutableFeatureGate.EmulationVersion().LessThan(binary.SubtractMinor(3))
}

// Gates that differ from their defaults, and the emulated version if it is not the binary's.
func gateFlags() []string {
	var gates []string
	for gate, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if utilfeature.DefaultFeatureGate.Enabled(gate) != spec.Default && gate != featuregate.Feature("AllAlpha") && gate != featuregate.Feature("AllBeta") {
			gates = append(gates, fmt.Sprintf("%s=%t", gate, !spec.Default))
		}
	}
	sort.Strings(gates)
	var flags []string
	if len(gates) > 0 {
		flags = append(flags, "--feature-gates="+strings.Join(gates, ","))
	}
	emulated := utilfeature.DefaultMutableFeatureGate.EmulationVersion()
	if minor := fmt.Sprintf("%d.%d", emulated.Major(), emulated.Minor()); minor != componentversion.DefaultKubeBinaryVersion {
		flags = append(flags, "--emulated-version="+minor)
	}
	return flags
}

func writeKubeconfig(path string, config *restclient.Config) error {
	kubeconfig := clientcmdapi.NewConfig()
	cluster, user := clientcmdapi.NewCluster(), clientcmdapi.NewAuthInfo()
	cluster.Server = config.Host
	cluster.CertificateAuthorityData = config.CAData
	cluster.CertificateAuthority = config.CAFile
	cluster.TLSServerName = config.ServerName
	cluster.InsecureSkipTLSVerify = config.Insecure
	user.Token = config.BearerToken
	user.ClientCertificateData, user.ClientKeyData = config.CertData, config.KeyData
	kubeconfig.Clusters["test"], kubeconfig.AuthInfos["test"] = cluster, user
	kubeconfig.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	kubeconfig.CurrentContext = "test"
	return clientcmd.WriteToFile(*kubeconfig, path)
}

func writeConfiguration(path, kubeconfig string, options *schedulerOptions) error {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var config schedulerapi.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &config, nil); err != nil {
		return err
	}
	config.ClientConnection.Kubeconfig = kubeconfig
	config.ClientConnection.QPS, config.ClientConnection.Burst = 5000, 5000
	config.LeaderElection.LeaderElect = false
	config.Parallelism = options.parallelism
	config.PercentageOfNodesToScore = &options.percentageOfNodesToScore
	config.PodInitialBackoffSeconds = options.podInitialBackoffSeconds
	config.PodMaxBackoffSeconds = options.podMaxBackoffSeconds
	config.Extenders = options.extenders
	if !options.applyDefaultProfile {
		config.Profiles = nil
		for _, profile := range options.profiles {
			// The profile is complete: defaults are in it, and what it lacks must not come back.
			copied := profile.DeepCopy()
			if copied.Plugins != nil {
				copied.Plugins.MultiPoint.Disabled = []schedulerapi.Plugin{{Name: "*"}}
			}
			config.Profiles = append(config.Profiles, *copied)
		}
	}
	serializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme,
		json.SerializerOptions{Yaml: true})
	var text bytes.Buffer
	encoder := scheme.Codecs.EncoderForVersion(serializer, configv1.SchemeGroupVersion)
	if err := encoder.Encode(runtime.Object(&config), &text); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o600)
}
