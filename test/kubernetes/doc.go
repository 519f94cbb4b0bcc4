// Package kubernetes has the stories of Pacer on a real Kubernetes: deploy/chart installs it, a real kubelet starts
// the pods of Spark's own back end, and the groups are the kubelet's (scripts/kubernetes.sh real).
//
// The stories print the figures of `make bench-kubernetes`.
package kubernetes
