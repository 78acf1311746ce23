# hookmux: the programs hookmux and hookmux-hook; hookmux-fleet, which serves a fleet; hookmux-lab, which tests them.
#   make run     build, start a daemon in a throw-away home, replay a recorded session through the real hook client
#   make install the programs into ~/.local/bin, or PREFIX/bin
#   make test    everything that needs no agent, browser or other machine
#   make long    all of it at full size, with browsers, real logins and whole fleets
#   make verify  the real agents (npm), offline, against a scripted model
#   make soak    several real agents at once for minutes, their screens compared with what hookmux says
#   make bench   what must be fast, as ratios in one run
#   make chaos   1,000 faults under load, with guards on (Linux)
GO      ?= go
BIN     ?= bin
VERSION ?= $(shell cat VERSION)
# The same flags everywhere: packages are then compiled once for build, vet and tests.
export CGO_ENABLED = 0
FLAGS   = -trimpath
# The product and the lab, a module of its own.
ALL     = ./... ./lab/...
LDFLAGS = -s -w -X github.com/hookmux/hookmux/internal/version.String=$(VERSION)
AGENTS  ?= claude codex grok gemini opencode pi

.PHONY: run build install test long check lint verify ci-agents verify-all soak fleet bench usage browser usable chaos fuzz generate pictures docs race man release release-test clean

run: build
	@$(GO) run $(FLAGS) ./lab/demo -bin $(BIN)

# Every download contains them too (lab/gen/release).
PROGRAMS = ./cmd/hookmux ./cmd/hookmux-hook ./cmd/hookmux-fleet ./cmd/hookmux-keeper ./cmd/hookmux-start ./lab/cmd/hookmux-lab

build:
	@mkdir -p $(BIN)
	$(GO) build $(FLAGS) -ldflags '$(LDFLAGS)' -o $(BIN)/ $(PROGRAMS)

# Renamed into place: hooks that run meanwhile see the old program or the new one.
PREFIX ?= $(HOME)/.local
install:
	@mkdir -p $(PREFIX)/bin/.hookmux-new
	@$(MAKE) --no-print-directory build BIN=$(PREFIX)/bin/.hookmux-new
	@mv -f $(PREFIX)/bin/.hookmux-new/* $(PREFIX)/bin && rmdir $(PREFIX)/bin/.hookmux-new
	@echo 'Installed in $(PREFIX)/bin. Next: $(PREFIX)/bin/hookmux setup'
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo 'Add it to your PATH: export PATH="$(PREFIX)/bin:$$PATH"';; esac

# Everything is compiled first: the compiler would slow down tests that wait for
# programs. vet ran in check. Many tests wait more than they compute: one package
# more than there are cores runs at once, and two tests for every core. The packages
# that take longest begin.
LONGEST = ./internal/cli ./internal/daemon ./internal/install ./lab/e2e ./internal/policy/guards
GOTEST  = $(GO) test $(FLAGS) -vet=off -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -parallel $$(($$(getconf _NPROCESSORS_ONLN) * 2))

test: check
	$(GO) list -export -test $(FLAGS) $(ALL) >/dev/null
	$(GOTEST) -short $(LONGEST) $(ALL)

# What -short leaves out or tries on fewer samples: browsers, real logins over ssh, clusters, machines in network
# namespaces, ten thousand random documents, every disguise of every dangerous command.
long:
	$(GO) list -export -test $(FLAGS) $(ALL) >/dev/null
	$(GOTEST) -timeout 30m $(LONGEST) $(ALL)

# gofmt and vet, and that what is generated is up to date (tests hold the latter).
check:
	@out="$$(gofmt -l $$(git ls-files '*.go'))"; if [ -n "$$out" ]; then echo "gofmt -w is needed on:"; echo "$$out"; exit 1; fi
	$(GO) vet $(FLAGS) $(ALL)

# The race detector needs cgo; the packages where goroutines meet.
RACED = ./internal/daemon/... ./internal/server/... ./internal/pipeline/... ./internal/sessions/... ./internal/approvals/... \
	./internal/recorder/... ./internal/ui/notify/... ./internal/handler ./internal/selection/registry ./internal/selection/sources ./hook ./client

race:
	CGO_ENABLED=1 $(GO) test -race $(FLAGS) -timeout 15m $(RACED)
	CGO_ENABLED=1 $(GO) test -race $(FLAGS) -run TestInboxStorm ./internal/cli

# The linters' versions are pinned here; no program links them. What they find is mended:
# .golangci.yml has the few exclusions, each with its reason. staticcheck is one of golangci-lint's.
# deadcode names functions that neither a program nor a test reaches.
GOLANGCI = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0
DEADCODE = golang.org/x/tools/cmd/deadcode@v0.52.0

lint: check
	GOOS=darwin $(GO) vet $(FLAGS) $(ALL)
	GOOS=windows $(GO) build $(FLAGS) -o /dev/null ./cmd/hookmux-hook
	GOOS=windows $(GO) vet $(FLAGS) ./cmd/...
	$(GO) run $(GOLANGCI) run $(ALL)
	$(GO) run -exec 'env GOOS=darwin' $(GOLANGCI) run $(ALL)
	@out="$$(GOFLAGS=$(FLAGS) $(GO) run $(DEADCODE) -test $(ALL))" && test -z "$$out" || { echo "$$out"; exit 1; }

# Real agents from npm, pinned, each thing asked once; what could not be asked is
# counted and named.
verify:
	@HOOKMUX_VERIFY_QUICK=1 RUN='$(RUN)' GO="$(GO)" ./.ci/verify $(AGENTS)

# The agents of .ci/run: the usual ones, and two of the others by the commit's hash.
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
ci-agents:
	@$(GO) run $(FLAGS) ./lab/gen/pickagents -commit "$(COMMIT)" $(AGENTS)

# Every agent there is a driver for, and every saboteur; then how many agents there are by which proof.
verify-all:
	@code=0; GO="$(GO)" ./.ci/verify all || code=$$?; \
		$(GO) run $(FLAGS) ./lab/gen/agentdocs -count; exit $$code

# Real agents of one person side by side in one tmux, for MINUTES minutes: every time a screen and
# what hookmux says disagree is printed. SEED chooses what the persons do.
# On a machine that has more to do, PRIORITY='chrt -r 1' (as root) lets agents and daemon run as if it had not;
# nice does not, where the kernel groups processes by session.
MINUTES ?= 10
SEED    ?= 1
soak:
	HOOKMUX_VERIFY='$(AGENTS)' HOOKMUX_SOAK_MINUTES=$(MINUTES) HOOKMUX_SOAK_SEED=$(SEED) \
		$(PRIORITY) $(GO) test $(FLAGS) -v -count=1 -timeout 90m -run TestRealSoak ./lab/verify/soak

# Machines in network namespaces, with real agents on two of them; then ROUNDS times a node of a cluster or the server
# is killed, links are cut for CUT, and clocks are wrong. As root; PostgreSQL is used where it's installed.
ROUNDS ?= 100
CUT    ?= 10m
fleet:
	HOOKMUX_VERIFY='claude codex' HOOKMUX_FLEET_ROUNDS=$(ROUNDS) HOOKMUX_FLEET_CUT=$(CUT) \
		$(GO) test $(FLAGS) -v -count=1 -timeout 90m -run 'Fleet|Leaving' ./internal/cli

# Usage counted and timed against ccusage, from npm, on generated records.
CCUSAGE ?= 20.0.24
usage:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
		(cd "$$dir" && npm pack --silent @ccusage/ccusage-linux-x64@$(CCUSAGE) >/dev/null && tar xzf *.tgz) && \
		chmod +x "$$dir/package/bin/ccusage" && HOOKMUX_CCUSAGE="$$dir/package/bin/ccusage" \
		$(GO) test $(FLAGS) -v -count=1 -cpu 1 -run Ccusage ./internal/usage

# The page in Chromium and Firefox, with axe-core from npm; HOOKMUX_UPDATE=1 accepts its pictures and writes those of the docs.
# Where the machine has more to do, pictures and speed need PRIORITY, as for soak.
AXE ?= 4.14.0
browser:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
		(cd "$$dir" && npm pack --silent axe-core@$(AXE) >/dev/null && tar xzf *.tgz package/axe.min.js) && \
		HOOKMUX_ALONE=1 HOOKMUX_AXE="$$dir/package/axe.min.js" $(GO) test $(FLAGS) -v -count=1 $(if $(PRIORITY),-exec '$(PRIORITY)') -run 'Chromium|Firefox|Pictures' ./lab/browsertest
	@$(MAKE) --no-print-directory usable

# How long a phone on a slow network waits for the page. It's measured alone: nothing may be skipped here.
usable:
	HOOKMUX_ALONE=1 $(GO) test $(FLAGS) -v -count=1 $(if $(PRIORITY),-exec '$(PRIORITY)') -run Usable ./lab/browsertest

bench: build
	$(GO) run $(FLAGS) ./lab/bench -bin $(BIN)

# SEED=N repeats a run.
FAULTS ?= 1000
chaos: build
	$(GO) run $(FLAGS) ./lab/chaos -bin $(BIN) -faults $(FAULTS) $(if $(SEED),-seed $(SEED))

# Small changes of the code in packages that decide: their own tests must notice
# 95% of those they reach, and reach 90% (lab/gen/mutate). MUTATED is what is asked.
MUTATED ?= event hook internal/approvals/policy internal/approvals/ledger internal/authority internal/authority/actions \
	internal/selection/trust internal/policy/guards internal/policy/facts internal/policy/rules internal/policy/claude \
	internal/policy/checks/destructive internal/policy/checks/ownfiles internal/policy/checks/secrets internal/policy/shell

mutate:
	$(GO) run $(FLAGS) ./lab/gen/mutate dist/mutate $(MUTATED)

fuzz:
	./.ci/fuzz 10s

generate:
	$(GO) generate ./...

# The live view with its recorded agents, as SVG for README and docs.
pictures:
	$(GO) run $(FLAGS) ./lab/gen/pictures docs/pictures

# The documentation as static HTML, from the same files; open dist/docs/index.html.
docs:
	$(GO) run $(FLAGS) ./lab/gen/site dist/docs

# Manual pages into man/, and what people download into dist/: archives, packages, recipes, sums and their
# signature (.ci/release). CHECK=1 builds it twice and compares.
man: build
	$(BIN)/hookmux man-pages man

release:
	./.ci/release dist

# Every package installed, run, upgraded from the version before (BEFORE, a commit) and removed; the daemon replaced at
# 20 random moments in the middle of turns of real agents, for each version before. About half an hour.
release-test:
	BEFORE='$(BEFORE)' ./.ci/release-test

clean:
	rm -rf $(BIN) man dist
