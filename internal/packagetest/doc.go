// Package packagetest holds what seqgate is shipped with to the program and to each other: the packages, the systemd
// unit, goreleaser's file, the manifests for Kubernetes, the Helm chart, and the commands of docs/install.md.
package packagetest
