SYSTEM := $(shell uname -s)

# Tags of every build, vet, lint and test, in this one place: another set of tags rebuilds everything. On Linux the
# window is built for X11 alone, which Wayland shows through XWayland, and for OpenGL ES: that takes a third of the time.
ifeq ($(SYSTEM),Linux)
TAGS ?= gles,x11
endif

GOFUMPT_VERSION  := v0.12.0
GOLANGCI_VERSION := v2.15.0
AIMOCK_VERSION   := 1.43.0

GOFUMPT  := .bin/gofumpt-$(GOFUMPT_VERSION)/gofumpt
GOLANGCI := .bin/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint
AIMOCK   := .bin/aimock-$(AIMOCK_VERSION)

GOTAGS   := $(if $(TAGS),-tags=$(TAGS))
SCENARIO ?= assets/scenarios/shopping.yaml
ARGS     ?=
PACKAGE  ?=
IMAGE    ?=
ROWS     ?=
ROUNDS   ?= 5
BENCH    ?= .
COUNT    ?= 5
BENCHTIME ?= 0.1s
BEFORE   ?=
BASE     ?= HEAD
FUZZTIME ?= 10s

MOCK = bin/throngctl run $(SCENARIO) $(ARGS)

# The local store is SQLite in C.
export CGO_ENABLED := 1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup setup-app setup-test run mock build app package try-package image test fmt fmt-check vet lint vulnerabilities race simulate faults screens pictures film monkey window-cost prove effects fleet-kills bench bench-table bench-go bench-guard scale fuzz licenses clean aimock

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

setup: ## Install what this machine lacks to build (a C compiler, headers); silent when all is there
	@sh .ci/setup

setup-app: ## Install what make package also needs (xz)
	@sh .ci/setup app

setup-test: ## Install what the tests need as well (a display of their own, PostgreSQL)
	@sh .ci/setup test

run: build ## Open the window; where there is no display, run the mock in the terminal
	@if [ $(SYSTEM) != Linux ] || [ -n "$$DISPLAY" ]; then \
		exec bin/throng; \
	fi; \
	echo 'There is no display here (DISPLAY is not set), so this is the mock in the terminal, without the window.'; \
	$(MOCK) && echo 'The programs are in bin. Next: bin/throngctl report, or bin/throngctl --help.'

mock: build ## Run the mock of 372 shoppers in the terminal, to its end; ARGS="--cycles 5" adds flags
	@$(MOCK)

build: setup ## Build bin/throng, the window, and bin/throngctl, the terminal program
	@[ -e bin/throng ] || echo 'The first build takes some minutes: it compiles what draws the window.'
	@go build $(GOTAGS) -o bin/ ./cmd/throng ./cmd/throngctl

app: build ## Make in dist what a double-click opens here: Throng.app, or Throng.desktop
	@go run ./cmd/internal/bundle

package: setup-app ## Make the packages for this system in dist: .dmg, or .deb, .rpm, .pkg.tar.zst and .tar.xz; PACKAGE="-system windows" for a .zip
	@echo 'The first package takes some minutes: its programs are built without the paths of this machine.'
	@go run ./cmd/internal/bundle -package -tags '$(TAGS)' $(PACKAGE)

try-package: package image ## Install each package in a new root, and start, run, kill, resume, export and remove there; takes root
	@sh .ci/try-package

image: ## Make the container image of throngctl in dist, for workers, without a container tool, and its package for Alpine; IMAGE="-arch arm64" takes a cross-compiler
	@go run ./cmd/internal/bundle -image $(IMAGE)

test: setup-test fmt-check vet lint race ## Everything that must pass: formatting, vet, lint, all tests

fmt: $(GOFUMPT) ## Format every file with gofumpt
	$(GOFUMPT) -w .

fmt-check: $(GOFUMPT) ## Fail where make fmt would change a file
	@files=$$($(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$files" ]; then printf 'make fmt would change:\n%s\n' "$$files"; exit 1; fi

vet: setup ## Run go vet, and check the screens for macOS
	go vet $(GOTAGS) ./...
	GOOS=darwin CGO_ENABLED=0 go vet -tags ci ./ui/... ./cmd/internal/opened

lint: setup $(GOLANGCI) ## Run golangci-lint
	$(GOLANGCI) run $(if $(TAGS),--build-tags=$(TAGS)) ./...

vulnerabilities: setup ## Look for known vulnerabilities in what is linked; needs the internet
	go run golang.org/x/vuln/cmd/govulncheck@latest $(GOTAGS) ./...

# The toolkit of the window drops what draws a widget a minute after it was drawn last. A busy machine may take longer
# between two lines of a test.
race: export FYNE_CACHE = 15m
# A program with the race detector sleeps for a second at its end, in case that a goroutine still races: each of 200 packages, and
# each process that a test starts. When a test ends, its goroutines have ended.
race: export GORACE = atexit_sleep_ms=0
# SQLite and PostgreSQL wait for the disk at every commit. In memory, tests that commit take a third of the time. What Go builds
# stays on the disk.
ifeq ($(SYSTEM)$(TMPDIR)$(GOTMPDIR),Linux)
ifeq ($(shell awk '/^MemAvailable:/ && $$2 > 6000000 { print 1 }' /proc/meminfo; df -k --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 2000000 { print 1 }'),1 1)
IN_MEMORY := -exec 'env TMPDIR=/dev/shm'
endif
endif
# Statistics and governors have no goroutines. The race detector would make their simulations ten times slower.
SIMULATIONS := ./engine/experiment/statistics ./engine/experiment/sensitivity ./engine/govern
# Fonts and pictures take a third of the time of the screens' tests under the race detector. These packages have no goroutines
# and no locks. A package with locks must be watched: the detector has to see them.
UNWATCHED := image/color image/draw image/internal/imageutil golang.org/x/image/vector golang.org/x/image/math/... github.com/srwiley/rasterx \
	github.com/go-text/render $(patsubst %,github.com/go-text/typesetting/%/...,bidi di font harfbuzz internal language segmenter shaping)
RACE := -race $(UNWATCHED:%=-gcflags=%=-race=false)
# The tests of throngctl compare the results of many runs, most of them in processes of their own, which the race detector does not
# reach. It watches the packages of the engine in their own tests, and here the tests in which goroutines of throngctl itself work.
PROGRAM := ./cmd/throngctl
WATCHED := ^($(subst $() ,|,$(strip \
	TestAuditOfARunWithoutSessions TestBillOfACanceledRun TestCalibrate TestCalibrateFleet TestCalibrateIsGivenUp TestExperiment \
	TestExperimentInTheQueue TestFetchOverKills TestFleetHasTheSameResult TestFollow TestFollowedStatus TestHurry \
	TestInterruptedChain TestNotify TestNotifyFails TestProve TestProveOfWhatCannotBeProved TestPush TestPushAgain TestPushOfRefusedRows \
	TestQueue TestQuitWhileThePopulationIsWritten TestRecordedVisitsRun TestRunsAmongAgents TestSecondTerminal TestSecrets \
	TestStartLater TestSurvey TestTelemetryOfARun TestTroubleWaits TestTry TestTryFails TestWritingCountsAfterAResume)))$$
# In these packages, the properties are checked 25 times with the race detector (see race_test.go), and 100 times without it.
PROPERTIES := ./engine/run ./engine/scenario
# These tests compare pictures, read what is large, or kill a run at each of its moments. TestSimulation has no goroutines. Other
# tests have the goroutines of the rest watched.
ALONE := ^(TestSimulation|TestRestyledLikeTheToolkit|TestMergeQueueKeepsAll|TestLargeFilesAreReadInTime|TestPopulationBombs|TestHugeAndDeepAnswers|TestSessionHoldsOnToToo.*|TestEveryCrash|TestEveryCrashOf(Models|SQL|Tools|Recall)|TestKilled(Anywhere|InMigration|Experiment))$$
TEST := go test $(GOTAGS) -vet=off -timeout 40m
race: setup-test aimock ## Run all tests, with the race detector where goroutines work
	$(TEST) $(RACE) -skip '$(ALONE)' $(IN_MEMORY) $$(go list $(GOTAGS) ./... | grep -v -x -F "$$(go list $(GOTAGS) $(SIMULATIONS) $(PROGRAM))")
	$(TEST) -parallel 4 $(IN_MEMORY) $(PROGRAM) $(SIMULATIONS)
	$(TEST) $(RACE) -parallel 4 -run '$(WATCHED)' $(IN_MEMORY) $(PROGRAM)
	$(TEST) $(PROPERTIES)
	$(TEST) -run '$(ALONE)' $(IN_MEMORY) ./ui ./engine/chain ./storage/sqlite ./cmd/internal/app/experiments

SEEDS ?= 10000

simulate: ## Simulate runs from SEEDS seeds, with crashes and faults; SEED=n replays one with a trace
	SEEDS=$(SEEDS) SEED=$(if $(filter file,$(origin SEED)),,$(SEED)) go test $(GOTAGS) -count 1 -timeout 60m -v -run '^TestSimulation$$' ./engine/run

LENGTH ?= 10s
EVENTS ?= 10000
SEED ?= 1

faults: setup-test ## Print what becomes of runs under every fault of database, shop and model; LENGTH=10s of each
	@out=$$(THRONG_FAULT_LENGTH=$(LENGTH) go test $(GOTAGS) -count 1 -timeout 60m -v -run '(Remote|Service|Under)Faults$$' ./cmd/internal/faults ./cmd/throngctl 2>&1); code=$$?; \
	printf '%s\n' "$$out" | grep -E '^ +[|]|^(---|ok|FAIL)|_test.go:|site.go:'; exit $$code

# A model server that is not ours, for one test of the client, which is skipped without it: it takes npm.
aimock:
	@[ -d $(AIMOCK) ] || ! command -v npm >/dev/null 2>&1 || { \
		mkdir -p .bin && npm install --silent --no-audit --no-fund --prefix $(AIMOCK).part @copilotkit/aimock@$(AIMOCK_VERSION) >/dev/null && \
		mv $(AIMOCK).part $(AIMOCK); } || { rm -rf $(AIMOCK).part; echo 'npm cannot install a model server; one test is skipped'; }

screens: setup-test ## Take a picture of every screen in all sizes, themes and scales, into bin/screens
	THRONG_SCREENS=1 go test $(GOTAGS) -count 1 -timeout 60m -run '^TestScreens$$' ./cmd/internal/window

pictures: setup-test ## Take the pictures of the README and the guide anew, some 6 minutes; best where nothing else runs
	THRONG_PICTURES=1 go test $(GOTAGS) -count 1 -timeout 60m -run '^TestPictures$$' ./cmd/internal/window

film: build ## Make the moving picture of the README: a run that is killed, resumed and compared
	@go run $(GOTAGS) ./cmd/internal/film

monkey: setup-test ## Have EVENTS=10000 random taps and keys come over the real window; SEED=n for others
	THRONG_MONKEY_EVENTS=$(EVENTS) THRONG_MONKEY_SEED=$(SEED) go test $(GOTAGS) -count 1 -timeout 60m -v -run '^TestMonkey$$' ./cmd/internal/window

window-cost: setup-test ## Measure what the window costs beside a run of a million agents; LENGTH=10s for each figure
	THRONG_WINDOW_COST=$(LENGTH) go test $(GOTAGS) -count 1 -timeout 60m -v -run '^TestCost$$' ./cmd/internal/window

effects: setup-test ## Kill runs 20 times at shops that know no idempotency keys, and print what was doubled; PROGRAM=path for another throngctl
	@THRONG_EFFECT_KILLS=$(or $(KILLS),20) THRONG_EFFECT_PROGRAM=$(PROGRAM) go test $(GOTAGS) -count 1 -timeout 30m -v -run '^TestKillsAt' ./cmd/throngctl

fleet-kills: setup-test ## Kill workers and coordinators of fleets 300 times on a bad network, and print what was lost or doubled; KILLS=20 for fewer, takes root
	@out=$$(THRONG_FLEET_KILLS=$(or $(KILLS),300) THRONG_FLEET_SEED=$(SEED) go test $(GOTAGS) -count 1 -timeout 120m -parallel 4 -v -run '^TestFleet(Kills|Partitions)$$' ./cmd/throngctl 2>&1); code=$$?; \
	printf '%s\n' "$$out" | grep -E '^ +[|]|^(---|ok|FAIL)|_test.go:'; exit $$code

prove: build ## Kill the built-in scenarios 200 times, their workers too, and compare what they give; ARGS="--kills 20 --fleet local:3"
	@bin/throngctl prove --kills 200 $(ARGS)

THRONGBENCH = bin/throngbench -rows '$(ROWS)' -rounds $(ROUNDS) $(if $(BEFORE),-before '$(BEFORE)')

licenses: setup ## Collect the licenses of all that is linked, into assets/licenses.json.gz: after go.mod has changed
	go generate ./assets

bench: bench-table bench-go ## Measure all of it, some 25 minutes: bench-table, then bench-go

bench-table: bin/throngbench ## Measure us beside our peers, into bin/bench.md; ROWS=1,6 ROUNDS=5 BEFORE=earlier.json
	$(THRONGBENCH) -o bin/bench.md

bench-go: setup ## Run the Go benchmarks, into bin/bench.txt for benchstat; BENCH=pattern COUNT=5 BENCHTIME=0.1s
	@mkdir -p bin
	@echo 'Running the Go benchmarks $(COUNT) times each, into bin/bench.txt.'
	@go test $(GOTAGS) -short -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -count $(COUNT) -timeout 60m \
		./engine/... ./storage/... ./ui/internal/... >bin/bench.txt || { grep -E '^(---|FAIL|panic)|_test.go:' bin/bench.txt; exit 1; }

bench-guard: bin/throngbench ## Fail where a core benchmark costs over 10 % more allocations or instructions than at BASE=revision
	bin/throngbench guard -base '$(BASE)' $(if $(TAGS),-tags '$(TAGS)') -bench '$(BENCH)'

scale: ROUNDS = 3
scale: bin/throngbench ## Measure what grows and how, a million agents and the like, into bin/scale.md; ROWS=S1 ROUNDS=3
	$(THRONGBENCH) -scale -o bin/scale.md

.PHONY: bin/throngbench
bin/throngbench: setup-test
	go build $(GOTAGS) -o bin/ ./cmd/throngbench

fuzz: setup ## Fuzz every parser for FUZZTIME (10s) each
	@grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$file"); do \
			echo "$$target in $$(dirname "$$file")"; \
			go test $(GOTAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x "$$(dirname "$$file")" </dev/null || exit 1; \
		done; \
	done

clean: ## Remove what make built and installed here
	rm -rf bin .bin dist

$(GOFUMPT):
	GOBIN="$(CURDIR)/$(@D)" go install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)

$(GOLANGCI):
	GOBIN="$(CURDIR)/$(@D)" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
