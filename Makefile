# Tags of every build, vet, lint and test, in this one place: another set of tags rebuilds everything.
TAGS ?=

GOFUMPT_VERSION  := v0.12.0
GOLANGCI_VERSION := v2.15.0

GOFUMPT  := .bin/gofumpt-$(GOFUMPT_VERSION)/gofumpt
GOLANGCI := .bin/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint

GOTAGS   := $(if $(TAGS),-tags=$(TAGS))
SCENARIO ?= assets/scenarios/shopping.yaml
ARGS     ?=
BENCH    ?= .
COUNT    ?= 5
FUZZTIME ?= 10s

# The local store is SQLite in C.
export CGO_ENABLED := 1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup run build test fmt fmt-check vet lint race bench fuzz clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: ## Install what this machine lacks (a C compiler); silent when all is there
	@sh .ci/setup

run: build ## Run the rehearsal of 372 shoppers in the terminal, to its end; ARGS="--cycles 5" adds flags
	@bin/throngctl run $(SCENARIO) $(ARGS)

build: setup ## Build bin/throngctl
	@go build $(GOTAGS) -o bin/throngctl ./cmd/throngctl

test: setup fmt-check vet lint race ## Everything that must pass: formatting, vet, lint, all tests with -race

fmt: $(GOFUMPT) ## Format every file with gofumpt
	$(GOFUMPT) -w .

fmt-check: $(GOFUMPT) ## Fail where make fmt would change a file
	@files=$$($(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$files" ]; then printf 'make fmt would change:\n%s\n' "$$files"; exit 1; fi

vet: setup ## Run go vet
	go vet $(GOTAGS) ./...

lint: setup $(GOLANGCI) ## Run golangci-lint
	$(GOLANGCI) run $(if $(TAGS),--build-tags=$(TAGS)) ./...

race: setup ## Run all tests with the race detector
	go test $(GOTAGS) -race -vet=off -timeout 20m ./...

bench: setup ## Run the benchmarks of the engine and the store; BENCH=pattern, COUNT=repetitions
	go test $(GOTAGS) -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 60m ./engine/... ./storage/...

fuzz: setup ## Fuzz every parser for FUZZTIME (10s) each
	@grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$file"); do \
			echo "$$target in $$(dirname "$$file")"; \
			go test $(GOTAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x "$$(dirname "$$file")" </dev/null || exit 1; \
		done; \
	done

clean: ## Remove what make built and installed here
	rm -rf bin .bin

$(GOFUMPT):
	GOBIN="$(CURDIR)/$(@D)" go install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)

$(GOLANGCI):
	GOBIN="$(CURDIR)/$(@D)" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
