{{- define "berth.fullname" -}}
{{- if contains "berth" .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-berth" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "berth.account" -}}
{{- default (include "berth.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "berth.selector" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "berth.labels" -}}
{{ include "berth.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: scheduler
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "berth.replaces" -}}
{{- if eq .Values.mode "replace" -}}true
{{- else if ne .Values.mode "beside" -}}{{- fail (printf "mode is %q, not replace or beside" .Values.mode) -}}
{{- end -}}
{{- end -}}

{{/* The subject of every binding. */}}
{{- define "berth.subject" -}}
- kind: ServiceAccount
  name: {{ include "berth.account" . }}
  namespace: {{ .Release.Namespace }}
{{- end -}}

{{/* The configuration file: what the mode says, and Values.config over it. */}}
{{- define "berth.config" -}}
{{- $lease := dict "leaderElect" true "resourceName" (include "berth.fullname" .) "resourceNamespace" .Release.Namespace -}}
{{- $profiles := list (dict "schedulerName" .Values.schedulerName) -}}
{{- if include "berth.replaces" . -}}
{{- $lease = dict "leaderElect" true "resourceName" "kube-scheduler" "resourceNamespace" "kube-system" -}}
{{- $profiles = list (dict "schedulerName" "default-scheduler") -}}
{{- end -}}
{{- $base := dict "apiVersion" "kubescheduler.config.k8s.io/v1" "kind" "KubeSchedulerConfiguration" "leaderElection" $lease "profiles" $profiles -}}
{{- toYaml (mustMergeOverwrite $base (deepCopy .Values.config)) -}}
{{- end -}}

{{/* Where the Lease of the leader election is, whoever says it. */}}
{{- define "berth.leaseNamespace" -}}
{{- (include "berth.config" . | fromYaml).leaderElection.resourceNamespace -}}
{{- end -}}

{{- define "berth.resources" -}}
{{- $sizes := dict
  "small" (dict "cpu" "50m" "memory" "64Mi")
  "medium" (dict "cpu" "100m" "memory" "128Mi")
  "large" (dict "cpu" "500m" "memory" "384Mi")
  "huge" (dict "cpu" "1" "memory" "1Gi") -}}
{{- if .Values.resources -}}
{{- toYaml .Values.resources -}}
{{- else if hasKey $sizes .Values.size -}}
{{- toYaml (dict "requests" (get $sizes .Values.size)) -}}
{{- else -}}
{{- fail (printf "size is %q, not small, medium, large or huge" .Values.size) -}}
{{- end -}}
{{- end -}}
