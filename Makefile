# Pacer. `make help` lists the targets. What they need beyond Go and a JDK they
# install themselves (scripts/setup.sh says what).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The newest Spark and the oldest that Pacer works with; `make e2e
# SPARK_VERSION=4.0.5` takes another one.
NEWEST  := 4.3.0
EARLIEST := 4.0.5
BETWEEN := 4.2.1 4.1.4
SPARK_VERSION := $(NEWEST)
PYSPARK := $(SPARK_VERSION)
LINT    := v2.15.0
CACHE   := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pacer
VENV    := $(CACHE)/venv-pyspark-$(PYSPARK)
VERSION := $(shell cat VERSION)
GO      := go
LDFLAGS := -s -w -X github.com/sparkpacer/pacer/cli/config.release=$(VERSION)
# Packages of real Spark runs: tested after the others, with the machine to themselves.
E2E     := github.com/sparkpacer/pacer/test/e2e
# A seed for what draws at random: make test-all, chaos and properties, which print it.
RANDOM_SEED = $$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
# Runs a command with the Spark of the virtual environment.
SPARK   := scripts/on-spark.sh $(PYSPARK)

# Go asks Git about the commit that it builds, and Git tells nothing of a clone that
# belongs to somebody else.
ifneq ($(shell git rev-parse HEAD >/dev/null 2>&1 && echo told),told)
export GOFLAGS := $(GOFLAGS) -buildvcs=false
endif

export CACHE PYSPARK VENV GO E2E

# Their executors run in cgroups: set-up asks for root before it installs anything.
demo test test-all e2e torture soak screenshots: export AS_ROOT := 1
test test-all e2e: export YARN := 1
test e2e screenshots: export BROWSER := 1
race: export COMPILER := 1
# Simulations allocate much and keep little.
chaos properties: export GOGC := 400
chaos properties: export GOMEMLIMIT := 1GiB
bench-match bench-profiles: export PANDAS := 1
bench-sql: export DUCKDB := 1

.PHONY: help setup tools packages image jar workloads build check demo test test-all web-test screenshots race lint house fmt bench bench-deadlines bench-contention bench-match bench-queue bench-sql bench-attach bench-profiles bench-placement bench-memory bench-applications bench-admission bench-scale bench-trust bench-users bench-kubernetes bench-web torture soak chaos properties fuzz figures tables picture docs notice e2e cover clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install what is missing: Maven, Python venv, pyspark, numpy, Docker (says what; build and jar take Maven alone)
	@scripts/setup.sh

tools:
	@BUILDS=1 scripts/setup.sh

jar: tools ## build spark/pacer-spark.jar if its sources changed
	@scripts/jar.sh

workloads: tools ## build the applications that bench-deadlines runs, if their sources changed
	@scripts/jar.sh workloads

build: jar ## build bin/pacer, bin/planner and bin/nodecontroller
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...
	@echo "built bin/pacer, bin/planner, bin/nodecontroller"

packages: jar ## make deb, rpm and tar.gz for amd64 and arm64 in out/packages, reproducible (5 minutes the first time)
	@scripts/packages.sh

image: jar ## make an OCI archive with the planner and the node controller in out/packages, from scratch
	@scripts/packages.sh image

demo: setup build ## run a real Spark application under two deadlines, in containers where Docker can run (5 to 8 minutes)
	@$(SPARK) scripts/docker.sh run bin/pacer demo --out out

check: ## run vet and every test that needs nothing but Go (a minute)
	@scripts/check.sh

test: export OLDEST := $(EARLIEST)
test: setup ## run what check leaves out: Scala's tests, cgroups, Docker, the stories on real Spark (10 minutes)
	@export SET_UP=$$(date +%s) && $(SPARK) scripts/docker.sh run scripts/test.sh

test-all: export OTHERS := $(BETWEEN) $(EARLIEST)
test-all: setup ## run what test leaves out: random draws, other stories and Sparks, containers, cgroup v2 in qemu, set-up in a bare system (an hour)
	@export SET_UP=$$(date +%s) && scripts/docker.sh run scripts/test-all.sh $(NEWEST) $(OTHERS)

web-test: ## test the page in a browser, on real daemons with fake executors (installs chromium; 3 minutes)
	@axe=$$(scripts/browser.sh) && PACER_AXE=$$axe $(GO) test -count 1 -v ./test/web $(ARGS)

screenshots: setup jar ## take the pictures of docs/img, of applications on real Spark (installs chromium; 4 minutes)
	@mkdir -p docs/img && PACER_TEST_PICTURES=$(CURDIR)/docs/img $(SPARK) $(GO) test -count 1 -v -timeout 20m -run '^TestScreenshots$$' $(E2E)

race: jar ## run the Go tests with the race detector, real Spark runs left out
	@$(GO) test -race $$($(GO) list ./... | grep -vx '$(E2E)')

e2e: build ## run the tests with real Spark only (SPARK_VERSION=4.0.5: on that one)
	@PACER_TEST_ALL=1 $(SPARK) $(GO) test -count 1 -v -timeout 30m $(E2E)

bench: setup build ## measure into docs/figures.jsonl (an hour; ARGS="-only plan,idle" takes less, `go run ./test/bench help` has the rows)
	@$(SPARK) scripts/docker.sh run $(GO) run ./test/bench figures $(ARGS)

bench-deadlines: setup build workloads ## measure deadlines beside stock Spark, tuned stock Spark and Pacer at all cores (4 to 5 hours; ARGS="-only group-by -slice" takes less)
	@$(SPARK) $(GO) run ./test/bench deadlines $(ARGS)

bench-contention: setup build workloads ## measure several applications at once, on stock Spark and under Pacer's strategies (2 hours; ARGS="-only beside -runs 3" takes less)
	@$(SPARK) $(GO) run ./test/bench contention $(ARGS)

bench-match: setup build ## measure runs that differ from their profile: how stages are recognised, deadlines in virtual time and live (45 minutes; ARGS="-only live" takes less)
	@$(SPARK) $(GO) run ./test/bench match $(ARGS)

bench-admission: ## measure the rules that reserve for deadlines, in the world of units and on the engines (6 minutes)
	@$(GO) run ./test/bench figures -only tr1,unknown $(ARGS)

bench-queue: setup build ## measure how long somebody waits for a node that a long application can spare (15 minutes; ARGS="-runs 1" takes less)
	@$(SPARK) $(GO) run ./test/bench queue $(ARGS)

bench-sql: setup build ## measure a report of 22 queries that changes or comes in other orders: deadlines and answers (40 minutes; ARGS="-scale 0.1 -runs 1" takes less, ARGS="-certainty 0.5" keeps nothing)
	@$(SPARK) $(GO) run ./test/bench sql $(ARGS)

bench-attach: export YARN := 1
bench-attach: setup build ## measure deadlines of applications whose executors a YARN starts, and what is left behind there (45 minutes; ARGS="-only attach-chain -runs 1" takes less)
	@$(SPARK) $(GO) run ./test/bench attach $(ARGS)

bench-scale: ## measure a planner of 10,000 nodes and 1,000 applications, and how fast simulator and control laws are (10 minutes)
	@$(GO) run ./test/bench scale $(ARGS)

bench-web: ## measure the page, and what it costs a planner that somebody looks (4 minutes, installs chromium)
	@axe=$$(scripts/browser.sh) && PACER_AXE=$$axe $(GO) run ./test/bench figures -only look,web,page $(ARGS)

bench-profiles: setup build ## measure what event logs tell, what is foretold of other cores and deadlines, and what versions of profiles take (40 minutes)
	@$(SPARK) $(GO) run ./test/bench profiles $(ARGS)

bench-placement: setup build ## measure where executors go when disks and networks are short, reading of traces, forecasts of memory (5 minutes; ARGS="-only live" on real Spark, 25 minutes)
	@$(SPARK) $(GO) run ./test/bench placement $(ARGS)

bench-memory: setup build ## measure what memory is used for: what the kernel protects, heaps that find their size, batch work on what others leave (80 minutes; ARGS="-only lend -runs 1" takes less)
	@$(SPARK) $(GO) run ./test/bench memory $(ARGS)

bench-applications: setup build workloads ## measure whole applications: drivers that nodes start, output to object stores, under deadlines, with kills (70 minutes; ARGS="-runs 1" takes less)
	@$(SPARK) $(GO) run ./test/bench applications $(ARGS)

bench-users: jar ## measure what somebody meets who installs Pacer: documents, errors, keys, packages, doctor (10 minutes; ARGS="-only docs,errors" takes less)
	@$(GO) run ./test/bench users $(ARGS)

bench-kubernetes: setup build ## measure deadlines on a real Kubernetes, built from source the first time, and what is left behind there (25 minutes, the first time 40)
	@PACER_TEST_ALL=1 $(SPARK) $(GO) run ./test/bench kubernetes $(ARGS)

bench-mesh: ## measure what has nobody in the middle, in virtual time (hours; ARGS="-only peacock-killed -runs 1" takes less)
	@$(GO) run ./test/bench mesh $(ARGS)

bench-trust: setup build ## measure what TLS and credentials cost, attacks, faults in the simulator and fuzz targets, and add up what torture and soak have counted (50 minutes; ARGS="-only torture,soak" takes less)
	@$(SPARK) scripts/docker.sh run $(GO) run ./test/bench trust $(ARGS)

torture: setup build ## kill, cut, stop and fill what runs around real Spark, three applications at a time (6 minutes; ARGS="-minutes 30 -seed 7" for another time or the same faults)
	@$(SPARK) $(GO) test -count 1 -v -timeout 24h ./test/torture -run '^TestTorture$$' $(if $(findstring -minutes,$(ARGS)),,-minutes 5) $(ARGS)

soak: setup build ## run 1,000 applications on a planner and two node controllers in one process, and 60 on real Spark beside them, and look for what grows (30 minutes; ARGS="-soak 5m" takes less)
	@soak() { $(GO) test -count 1 -v -timeout 24h ./test/torture -run "$$1" $(if $(findstring -soak,$(ARGS)),,-soak 30m) $(ARGS); }; failed=0; \
	soak '^TestSoak$$' & fakes=$$!; export -f soak; $(SPARK) bash -c "soak '^TestSparkSoak$$'" || failed=1; wait $$fakes || failed=1; exit $$failed

chaos: ## run the simulator through faults, one world for each seed from one at random, and compare what happens in 300 with what is kept (6 minutes; ARGS="-trials 1000 -first 1 -limit 10m" for other seeds)
	@set -- $(if $(findstring -trials,$(ARGS)),,-trials 3000) $(if $(findstring -first,$(ARGS)),,-first $(RANDOM_SEED)) $(ARGS); \
	echo "chaos: $$*"; $(GO) test -count 1 -v -timeout 24h ./sim -run '^(TestChaos|TestInvariantsHoldWhateverHappens)$$' -seeds 300 "$$@"

properties: ## try the properties of each package on 20 times as many draws at random (20 minutes; ARGS="-rapid.seed=7" for the same draws)
	@set -- $(if $(findstring -rapid.checks,$(ARGS)),,-rapid.checks=2000) $(if $(findstring -rapid.seed,$(ARGS)),,-rapid.seed=$(RANDOM_SEED)) $(ARGS); \
	echo "properties: $$*"; $(GO) test -count 1 -short -timeout 24h $$(git grep -l '"pgregory.net/rapid"$$' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's,^,./,') "$$@"

fuzz: ## try inputs at random on every decoder, 30 s each, into docs/figures.jsonl (9 minutes; ARGS="-time 5m -only FuzzPage" for other times)
	@$(GO) run ./test/bench fuzz $(ARGS)

figures: ## write docs/figures.md from docs/figures.jsonl
	@$(GO) run ./test/bench render

tables: ## write the tables of docs/simulator.md and docs/mesh.md from runs of the simulator (15 minutes; ARGS="-only lone" takes less)
	@$(GO) run ./sim/simtables $(ARGS) docs/simulator.md docs/mesh.md

picture: ## write docs/architecture.svg from docs/architecture.dot (installs graphviz where it is missing)
	@scripts/picture.sh

docs: ## make a site of docs/ in out/site (installs mkdocs into the cache; a minute)
	@scripts/docs.sh

notice: ## write NOTICE: what the binaries and the jar contain of others
	@$(GO) run ./test/notice NOTICE

cover: jar ## write the Go tests' coverage to out/coverage.html
	@mkdir -p out
	@$(GO) test -coverprofile out/coverage.out $$($(GO) list ./... | grep -vx '$(E2E)')
	@$(GO) tool cover -html out/coverage.out -o out/coverage.html
	@$(GO) tool cover -func out/coverage.out | tail -1

lint: jar ## check the style (installs golangci-lint to the cache)
	@scripts/lint.sh $(LINT)

house: jar ## print the figures of the house: lines, methods, fields, folders, keys, arrows back, lint
	@$(GO) test -count 1 -v -run '^Test(House|EveryDrawHasAFixedSeed|Sentences.*|NoLargeFile.*)$$' . | sed '/^=== RUN/d; /^--- PASS/d; /^PASS/d; /^ok /d'
	@$(GO) test -count 1 -v -run '^TestAStageThatBecomesReadyAsksFewRows$$' ./planner | sed -n '/^house/p'
	@{ scripts/lint.sh $(LINT) || true; } | sed -n 's/^\([0-9]*\) issues.*/house.lint \1/p'

fmt: ## format the Go sources
	@gofmt -l -w $$(git ls-files '*.go')

clean: ## remove build outputs and reports (the cache stays: rm -r $(CACHE))
	@rm -rf bin out spark/target spark/pacer-spark.jar spark/workloads/target spark/workloads/pacer-workloads.jar
