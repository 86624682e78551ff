"""A real control plane on loopback for berth's end-to-end tests: etcd, kube-apiserver and a
scheduler under test."""
