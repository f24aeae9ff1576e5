# `make help` lists the targets. Everything here needs Go; scripts/test-deps installs what the tests need beyond it.

FUZZTIME ?= 10s
SOAK ?= 10m
SEED ?= 0

.PHONY: help build slim test check static fmt vet staticcheck tidy fuzz soak bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## static binary bin/seqgate
	CGO_ENABLED=0 go build -trimpath -o bin/seqgate ./cmd/seqgate

slim: ## the same without the demo's engine: bin/seqgate-slim
	CGO_ENABLED=0 go build -trimpath -tags slim -o bin/seqgate-slim ./cmd/seqgate

test: ## race tests on real servers; installs MariaDB (Debian) when it is missing
	scripts/test ./...

check: static test ## all that has to pass: gofmt, vet, staticcheck, go mod tidy -diff, race tests

static: fmt vet staticcheck tidy ## the parts of check that run no tests

fmt: ## gofmt -l
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt would change:"; echo "$$files"; exit 1; } >&2

vet: ## go vet, with and without the demo's engine
	go vet ./...
	go vet -tags slim ./...

staticcheck: ## staticcheck, the version in go.mod
	go tool staticcheck ./...

tidy: ## go.mod and go.sum say what the code needs
	go mod tidy -diff

fuzz: ## every fuzz target for FUZZTIME (10s) each
	scripts/fuzz $(FUZZTIME)

soak: ## kill, freeze and restart seqgates and servers under load for SOAK (10m), from SEED (any)
	scripts/test -v -timeout 0 -run '^TestSoak$$' ./internal/soak -soak.for=$(SOAK) -soak.seed=$(SEED)

bench: ## seqgate against a direct connection and a plain TCP relay
	go run ./bench
