# One command each. Every target installs what is missing first (as root, or with sudo).
SHELL := /bin/bash
JOBS  ?= $(shell nproc)
CTEST ?= ctest --output-on-failure

.PHONY: all deps build demo up web web-test test e2e lint format bench bench-check bench-compare bench-e2e bench-latency bench-report bench-up install package soak fuzz fuzz-short asan tsan clean help

all: build

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

deps: ## install missing Debian packages (packages.txt)
	@tools/deps

build: deps ## release build into build/bin
	@cmake --preset release > build-configure.log 2>&1 || { cat build-configure.log; exit 1; }; rm -f build-configure.log
	@cmake --build --preset release -j $(JOBS)

demo: build ## schedule 10,000 pods on 1,000 nodes and show the outcome
	@build/bin/berth simulate --demo

# Not npm ci: it wants the lock file to name the bundler's binaries for every platform there is, and
# a registry mirror need not have them all. The versions are the lock file's either way.
web: ## rebuild the dashboard into web/dist (needs Node 20.19 or later)
	@cd web && npm install --no-save --loglevel=error && npm test --silent && npm run --silent build

up: build ## a cluster to play with: API server, simulated nodes, controllers and the scheduler
	@build/bin/berth up

test: build fuzz-short ## all tests
	@cd build && $(CTEST) -j $(JOBS)

e2e: build ## tests beside a real kube-apiserver and etcd (E2E="files or options of pytest" to choose)
	@test/e2e/run $(E2E)

package: build ## a Debian package in build/package, installed into a scratch root and tried
	@cd build && cpack -G DEB > package.log 2>&1 || { cat package.log; exit 1; }
	@tools/package-check build/package/*.deb

web-test: build ## drive the dashboard in Chromium (WEB="files or options of pytest" to choose)
	@test/web/run $(WEB)

lint: deps ## formatting of all files, clang-tidy on changed ones (TIDY="files" to choose)
	@tools/lint $(TIDY)

format: deps ## rewrite files in house format
	@git ls-files '*.h' '*.cc' | xargs clang-format-14 -i

bench: build ## decisions per second, berth-bench's standard set
	@build/bin/berth-bench --workload all

bench-compare: build ## berth's cycles beside kube-scheduler's, both in process, with ratios (BENCH="--workload basic")
	@bench/compare/run $(BENCH)

bench-e2e: build ## kube-scheduler, berth and a client that only binds, beside a real kube-apiserver
	@bench/e2e/run $(BENCH)

bench-latency: build ## how long pods wait for their binding, kube-scheduler and berth in turn (BENCH="--busy")
	@bench/latency/run $(BENCH)

bench-up: build ## berth up with 5,000 nodes and 50,000 pods: rate, CPU per pod, memory
	@bench/up/run $(BENCH)

bench-check: build ## instructions per decision against bench/budgets.json
	@tools/bench-check build/bin/berth-bench

bench-report: build ## figures and charts from 100 to 1,000,000 nodes into docs (see tools/bench-report)
	@tools/bench-report build/bin/berth-bench

PREFIX ?= /usr/local
install: build ## berth into PREFIX/bin, also as a plugin of kubectl (kubectl berth explain …)
	install -D build/bin/berth $(DESTDIR)$(PREFIX)/bin/berth
	ln -sf berth $(DESTDIR)$(PREFIX)/bin/kubectl-berth

soak: build ## ten thousand simulated clusters, everything going wrong
	@build/bin/berth-sim --seeds 1..10000 --jobs $(JOBS)

fuzz-build: deps
	@cmake --preset fuzz > /dev/null && cmake --build --preset fuzz -j $(JOBS)

fuzz-short: fuzz-build
	@tools/fuzz 10 1

fuzz: fuzz-build ## every fuzz target for FUZZ_SECONDS (default 300)
	@tools/fuzz $${FUZZ_SECONDS:-300}

asan: deps ## all tests under address and undefined-behaviour sanitizers
	@cmake --preset asan > /dev/null && cmake --build --preset asan -j $(JOBS) && cd build-asan && $(CTEST) -j $(JOBS)

# The core starts no threads, so only what runs it on several is of interest.
tsan: deps ## the tests that use threads, under the thread sanitizer
	@cmake --preset tsan > /dev/null && cmake --build --preset tsan -j $(JOBS) --target cli_test berth-bench \
	  && cd build-tsan && $(CTEST) -R 'cli_test|bench_runs'

clean: ## remove all build folders
	@rm -rf build build-*
