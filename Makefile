# `make help` lists the targets. Everything here needs Go; scripts/test-deps installs what the tests need beyond it.

FUZZTIME ?= 10s
SOAK ?= 10m
CHAOS ?= 10m
SEED ?= 0
FUZZ ?= all
MUTATE ?= ./sequence/snowflake
STEADY ?= 10m
RATE ?= 600

# go test begins packages in this order: what takes longest must not be last.
LONGEST = ./proxy ./cmd/seqgate ./internal/soak ./sequence ./internal/wiretest

# These compute, each test in one goroutine: the race detector makes that five to eight times slower and has nothing to find.
# Their test that uses several goroutines (AtOnce) has it, and so has all that package proxy does with them.
COMPUTING = ./parser ./proxy/merge ./proxy/route
MODULE = github.com/seqgate/seqgate

.PHONY: help build slim workers tracing deb rpm sbom helm dist test check static fmt vet staticcheck tidy fuzz soak leases bench vuln peers mutate chaos steady

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## static binary bin/seqgate
	CGO_ENABLED=0 go build -trimpath -o bin/seqgate ./cmd/seqgate

slim: ## the same without the demo's engine: bin/seqgate-slim
	CGO_ENABLED=0 go build -trimpath -tags slim -o bin/seqgate-slim ./cmd/seqgate

workers: ## slim, with worker ids in etcd and ZooKeeper: bin/seqgate-workers
	CGO_ENABLED=0 go build -trimpath -tags slim,etcd,zookeeper -o bin/seqgate-workers ./cmd/seqgate

tracing: ## slim, with spans for OpenTelemetry: bin/seqgate-tracing
	CGO_ENABLED=0 go build -trimpath -tags slim,otel -o bin/seqgate-tracing ./cmd/seqgate

deb: ## the Debian package: bin/seqgate_VERSION_ARCH.deb
	scripts/package bin deb

rpm: ## the package for Fedora, RHEL and SUSE: bin/seqgate-VERSION-1.ARCH.rpm
	scripts/package bin rpm

sbom: ## the modules in the packages' program, as CycloneDX: bin/seqgate_VERSION_ARCH.cdx.json
	scripts/package bin sbom

helm: ## have Helm itself read and render the chart deploy/helm/seqgate; builds Helm once, bin/helm
	GOBIN=$(CURDIR)/bin go install helm.sh/helm/v3/cmd/helm@v3.22.0
	PATH=$(CURDIR)/bin:$$PATH go test -count=1 -run '^TestHelm' ./internal/packagetest

dist: ## what a release has, without publishing it: dist/ (needs goreleaser 2)
	goreleaser release --snapshot --clean

test: ## race tests on real servers; installs MariaDB, etcd, ZooKeeper, Redis and what else is missing (Debian)
	RACE=off scripts/test $(COMPUTING)
	RACE=off scripts/test -run '^TestAllocationsPerStatement$$' ./proxy
	scripts/test $(LONGEST) $(filter-out $(COMPUTING:./%=$(MODULE)/%),$(shell go list ./...))
	scripts/test -tags etcd,zookeeper,otel -run '^(TestLeaserKinds|TestTracing|TestPlannerServesManyAtOnce)' ./cmd/seqgate ./internal/generators ./proxy/route

check: static test ## all that has to pass: gofmt, vet, staticcheck, go mod tidy -diff, race tests

static: fmt vet staticcheck tidy ## the parts of check that run no tests

fmt: ## gofmt -l
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt would change:"; echo "$$files"; exit 1; } >&2

vet: ## go vet, with and without the build tags
	go vet ./...
	go vet -tags slim ./...
	go vet -tags etcd,zookeeper,otel ./cmd/seqgate ./internal/app ./internal/generators

staticcheck: ## staticcheck, the version in go.mod
	go tool staticcheck ./...

tidy: ## go.mod and go.sum say what the code needs
	go mod tidy -diff

fuzz: ## every fuzz target for FUZZTIME (10s) each, or those in FUZZ
	scripts/fuzz $(FUZZTIME) $(FUZZ)

soak: ## kill, freeze and restart seqgates and servers under load for SOAK (10m), from SEED (any)
	scripts/test -v -timeout 0 -run '^TestSoak$$/^ids$$' ./internal/soak -soak.for=$(SOAK) -soak.seed=$(SEED)

leases: ## the same to processes with leased worker ids, whose clocks jump too
	scripts/test -v -timeout 0 -run '^TestLeases$$' ./internal/soak -soak.for=$(SOAK) -soak.seed=$(SEED)

steady: ## an even load of RATE (600) operations a second for STEADY (10m): nothing grows; bin/steady.md tells
	scripts/test-deps
	go test -count=1 -v -timeout 0 -run '^TestSteady$$/^even$$' ./internal/soak -soak.for=$(STEADY) -soak.rate=$(RATE) -soak.report=$(CURDIR)/bin/steady.md

bench: ## seqgate against a direct connection and a plain TCP relay
	go run ./bench

vuln: ## known vulnerabilities in what the code uses; needs the network
	go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...

peers: ## seqgate beside HAProxy, MySQL Router, MariaDB's SEQUENCE and Vitess, and how each grows: tables and figures in docs/
	go run ./bench --peers all --docs docs/internals/benchmarks.md

mutate: ## change the package MUTATE (./sequence/snowflake) in one small way after the other, and show which changes no test sees
	go build -o bin/with-test-servers ./internal/servertest/run
	bin/with-test-servers go run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0 unleash --timeout-coefficient 30 $(MUTATE)

chaos: ## every kind of fault at once, on seqgates, a server of sequences and two shards, for CHAOS (10m), from SEED (any)
	scripts/test -v -timeout 0 -run '^TestSoak$$/^chaos$$' ./internal/soak -soak.for=$(CHAOS) -soak.seed=$(SEED)
