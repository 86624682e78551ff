// Stands for a module that is required but not imported.
module k8s.io/sample-apiserver

go 1.25.0
