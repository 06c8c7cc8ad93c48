# What people who work on monitoringlinter run. Each target says what it does in `make help`.
GO ?= go
TOOL = $(GO) tool -modfile=.github/tools.mod
FUZZTIME ?= 60s
BENCH ?= .

.PHONY: help build test race lint generate update check fuzz bench clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

build: ## build ./monitoringlinter
	$(GO) build -o monitoringlinter ./cmd/monitoringlinter

test: ## run the tests as the README says, and once more with the race detector
	$(GO) test ./...
	$(GO) test -race ./...

lint: ## gofmt, vet, staticcheck, and the linter on its own example rules
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "not formatted: $$files"; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	$(GO) run ./cmd/monitoringlinter --fail-on never --quiet testdata >/dev/null

generate: ## write the reference pages and the schema of the configuration
	$(GO) test ./cmd/monitoringlinter -run TestGenerated -update

update: generate ## rewrite every recorded output of the tests: read the diff
	$(GO) test ./lint/report ./rules/checks ./cmd/monitoringlinter -update

check: update ## fail if a recorded or generated file is out of date
	git diff --exit-code

fuzz: ## run each fuzz target for FUZZTIME
	$(GO) test ./rules/yamltext -run '^$$' -fuzz '^FuzzScalar$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	$(GO) test ./rules/promql -run '^$$' -fuzz '^FuzzExpr$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	$(GO) test ./rules -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	$(GO) test ./lint/filter -run '^$$' -fuzz '^FuzzSuppressions$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	$(GO) test ./lint/config -run '^$$' -fuzz '^FuzzLoad$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x

bench: ## run the benchmarks ten times and print them as benchstat does
	$(GO) test ./cmd/monitoringlinter -run '^$$' -bench '$(BENCH)' -benchmem -count 10 > bench.txt
	$(TOOL) benchstat bench.txt

clean: ## remove what the targets write
	rm -f monitoringlinter bench.txt
