#include "cli/up/demo.h"

#include <string_view>

#include <fmt/format.h>

namespace berth::cli::up {
namespace {

struct Pool {
  std::string_view name;
  int nodes;
  std::string_view machine;
  std::string_view capacity;  // besides pods
  std::string_view taint;     // a YAML mapping, empty: none
};

constexpr Pool kPools[] = {
    {"general", 18, "g.2xlarge", "cpu: \"8\", memory: 32Gi, ephemeral-storage: 100Gi", ""},
    {"memory", 6, "m.4xlarge", "cpu: \"16\", memory: 128Gi, ephemeral-storage: 100Gi", ""},
    {"gpu", 4, "a.8xlarge",
     "cpu: \"32\", memory: 256Gi, ephemeral-storage: 500Gi, example.com/gpu: \"4\"",
     "{key: example.com/gpu, value: present, effect: NoSchedule}"},
    {"spot", 8, "g.2xlarge", "cpu: \"8\", memory: 32Gi, ephemeral-storage: 100Gi",
     "{key: example.com/spot, value: \"true\", effect: NoSchedule}"},
};

std::string Nodes() {
  std::string text;
  for (const Pool& pool : kPools) {
    for (int i = 0; i < pool.nodes; ++i) {
      const std::string name = fmt::format("{}-{:02}", pool.name, i + 1);
      text += fmt::format(R"(---
apiVersion: v1
kind: Node
metadata:
  name: {0}
  labels:
    kubernetes.io/hostname: {0}
    kubernetes.io/os: linux
    kubernetes.io/arch: amd64
    node.kubernetes.io/instance-type: {1}
    topology.kubernetes.io/region: harbour
    topology.kubernetes.io/zone: harbour-{2}
    pool: {3}
spec: {{{4}}}
status:
  capacity: {{{5}, pods: "110"}}
  allocatable: {{{5}, pods: "110"}}
)",
                          name, pool.machine, static_cast<char>('a' + i % 3), pool.name,
                          pool.taint.empty() ? "" : fmt::format("taints: [{}]", pool.taint),
                          pool.capacity);
    }
  }
  return text;
}

// A Deployment: `spec` has further lines of the pod's spec, indented by six.
std::string Deployment(std::string_view space, std::string_view name, int replicas,
                       std::string_view requests, std::string_view spec = "") {
  return fmt::format(R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {1}, namespace: {0}}}
spec:
  replicas: {2}
  selector: {{matchLabels: {{app: {1}}}}}
  template:
    metadata: {{labels: {{app: {1}}}}}
    spec:
      containers:
      - name: {1}
        image: {1}:1
        resources: {{requests: {{{3}}}}}
{4})",
                     space, name, replicas, requests, spec);
}

constexpr std::string_view kSpread = R"(      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: frontend}}
)";
constexpr std::string_view kOnSpot = R"(      nodeSelector: {pool: spot}
      tolerations: [{key: example.com/spot, operator: Exists}]
)";
constexpr std::string_view kOnGpu = R"(      tolerations: [{key: example.com/gpu, operator: Exists}]
)";
constexpr std::string_view kApart = R"(      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: topology.kubernetes.io/zone
            labelSelector: {matchLabels: {app: quorum}}
)";
constexpr std::string_view kNoSuchPool = R"(      nodeSelector: {pool: arm}
)";

constexpr std::string_view kOthers = R"(---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: important}
value: 100000
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: frontend, namespace: shop}
spec:
  minAvailable: 80%
  selector: {matchLabels: {app: frontend}}
---
apiVersion: v1
kind: Service
metadata: {name: frontend, namespace: shop}
spec:
  selector: {app: frontend}
  ports: [{port: 80}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: database, namespace: shop}
spec:
  replicas: 3
  serviceName: database
  selector: {matchLabels: {app: database}}
  template:
    metadata: {labels: {app: database}}
    spec:
      priorityClassName: important
      nodeSelector: {pool: memory}
      containers:
      - name: database
        image: database:1
        resources: {requests: {cpu: "4", memory: 32Gi}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 100Gi}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      tolerations: [{operator: Exists}]
      containers:
      - name: agent
        image: agent:1
        resources: {requests: {cpu: 100m, memory: 128Mi}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: nightly-report, namespace: batch}
spec:
  completions: 12
  parallelism: 4
  template:
    metadata: {annotations: {berth.dev/run-for: 10m}}
    spec:
      restartPolicy: Never
      containers:
      - name: report
        image: report:1
        resources: {requests: {cpu: "2", memory: 4Gi}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: batch, namespace: batch}
spec:
  hard: {pods: "20", requests.cpu: "40"}
)";

}  // namespace

std::string DemoManifest() {
  std::string text = Nodes();
  text += Deployment("shop", "frontend", 24, "cpu: 500m, memory: 1Gi", kSpread);
  text += Deployment("shop", "cart", 12, "cpu: 250m, memory: 512Mi");
  text += Deployment("shop", "search", 6, "cpu: \"2\", memory: 8Gi");
  text += Deployment("batch", "crawler", 20, "cpu: \"1\", memory: 2Gi", kOnSpot);
  text +=
      Deployment("ml", "inference", 6, "cpu: \"4\", memory: 16Gi, example.com/gpu: \"2\"", kOnGpu);
  // These have pods that stay pending: too large a request, one zone too few, no such node.
  text +=
      Deployment("ml", "training", 1, "cpu: \"16\", memory: 64Gi, example.com/gpu: \"8\"", kOnGpu);
  text += Deployment("shop", "quorum", 5, "cpu: 200m, memory: 256Mi", kApart);
  text += Deployment("shop", "edge", 2, "cpu: 200m, memory: 256Mi", kNoSuchPool);
  text += kOthers;
  return text;
}

}  // namespace berth::cli::up
