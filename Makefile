# One command each. Every target installs what is missing first (as root, or with sudo).
SHELL := /bin/bash
JOBS  ?= $(shell nproc)
CTEST ?= ctest --output-on-failure

.PHONY: all deps build berth demo up web web-test test check-all check-headers e2e e2e-all e2e-smoke hostile hostile-short faults \
        record lint lint-all lint-self-test format bench bench-check bench-compare bench-e2e bench-latency bench-report bench-up install \
        package image release soak fuzz \
        berth-arm64 image-arm64 package-arm64 fuzz-build fuzz-short asan asan-short tsan tsan-short sanitize-all clean help

all: build

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

deps: ## install missing Debian packages (packages.txt)
	@tools/deps

configure = cmake --preset $(1) > build-configure.log 2>&1 || { cat build-configure.log; exit 1; }; rm -f build-configure.log
compile = $(call configure,$(1)) && cmake --build --preset $(1) -j $(JOBS) --target $(2)

build: deps ## release build of all programs into build/bin
	@$(call compile,release,programs)

berth: deps ## release build of berth alone
	@$(call compile,release,berth)

demo: berth ## schedule 10,000 pods on 1,000 nodes and show the outcome
	@build/bin/berth simulate --demo

# Not npm ci: it wants the lock file to name the bundler's binaries for every platform there is, and
# a registry mirror need not have them all. The versions are the lock file's either way.
web: ## rebuild the dashboard into web/dist (needs Node 20.19 or later)
	@cd web && npm install --no-save --loglevel=error && npm test --silent && npm run --silent build

up: berth ## a cluster to play with: API server, simulated nodes, controllers and the scheduler
	@build/bin/berth up

test: build fuzz-short ## all tests: fuzz targets for 10 s each, unit tests, recorded decisions, simulation, benchmarks once
	@$(call compile,release,unit_tests)
	@cd build && $(CTEST) -j $(JOBS)

check-headers: deps ## every header compiles alone
	@$(call compile,release,check_headers)

check-all: test asan tsan check-headers e2e-all web-test bench-check lint-all package ## everything there is (hours on two cores)

e2e: berth ## tests beside a real kube-apiserver and etcd (KUBERNETES=1.36, E2E="files or options of pytest" to choose)
	@test/e2e/run $(E2E)

KUBERNETES_MINORS := 1.34 1.35 1.36 1.37
e2e-all: berth ## the same beside every supported minor, and the upgrade from one to the next
	@for minor in $(KUBERNETES_MINORS); do KUBERNETES=$$minor test/e2e/prepare > /dev/null || exit 1; done
	@failed=; for minor in $(KUBERNETES_MINORS); do echo "e2e: Kubernetes $$minor"; \
	  KUBERNETES=$$minor test/e2e/run $(E2E) || failed="$$failed $$minor"; done; \
	  [ -z "$$failed" ] || { echo "e2e: failed beside$$failed" >&2; exit 1; }

e2e-smoke: berth ## a few of them, beside the oldest supported minor
	@KUBERNETES=$(firstword $(KUBERNETES_MINORS)) test/e2e/run $(addprefix test/e2e/test_,scheduling.py priority.py wire.py side_by_side.py)

hostile: berth ## attacks on a running berth up (HOSTILE="files or options of pytest" to choose)
	@test/hostile/run $(HOSTILE)

hostile-short: berth ## the same without those that take minutes
	@test/hostile/run -m "not slow"

faults: berth ## etcd, API server, network and schedulers fail while pods come and go, for FAULTS_SECONDS (default 300)
	@test/faults/run $${FAULTS_SECONDS:-300} $${FAULTS_SEED:-1}

package: build ## a Debian package in build/package, installed into a scratch root and tried
	@cd build && cpack -G DEB > package.log 2>&1 || { cat package.log; exit 1; }
	@tools/package-check build/package/*.deb

image: berth ## a container image in build/image, built without a daemon, unpacked and tried
	@rm -rf build/image && tools/image/build
	@tools/image/check build/image/berth-*.tar

# For arm64 machines, compiled on this one: libraries of Debian for arm64 are unpacked into build-arm64/sysroot.
berth-arm64: deps
	@tools/deps tools/cross/packages.txt
	@tools/cross/sysroot arm64 build-arm64/sysroot
	@$(call compile,arm64,berth)

image-arm64: berth-arm64 ## the image for arm64, tried under qemu-user
	@rm -rf build-arm64/image && tools/image/build --arch arm64 --sysroot build-arm64/sysroot --program build-arm64/bin/berth --out build-arm64/image
	@tools/image/check build-arm64/image/berth-*.tar

package-arm64: berth-arm64 ## the Debian package for arm64, tried under qemu-user
	@$(call compile,arm64,manual)
	@cd build-arm64 && cpack -G DEB > package.log 2>&1 || { cat package.log; exit 1; }
	@tools/package-check build-arm64/package/*.deb build-arm64/sysroot

release: package image package-arm64 image-arm64 ## packages, images, bills of materials, notes and checksums in build/release
	@tools/release

web-test: berth ## drive the dashboard in Chromium (WEB="files or options of pytest" to choose)
	@test/web/run $(WEB)

lint: deps ## formatting, language and house rules of all files, clang-tidy on changed ones (TIDY="files" to choose)
	@$(call configure,release)
	@tools/lint $(TIDY)

lint-all: deps ## lint, with clang-tidy on every file
	@$(call configure,release)
	@tools/lint --all

lint-self-test: deps ## plants mistakes of every kind and expects lint to find them
	@tools/lint --self-test

format: deps ## rewrite files in house format
	@tools/lint --format

VERSION ?= 1.34
record: ## what the real kube-scheduler decides: VERSION=1.34|1.35|1.36|1.37|scheduler-plugins SEED=n [PROFILE="names"] (needs Go)
	@test/oracle/record $(VERSION) $(or $(SEED),$(error SEED=n is missing)) $(PROFILE)

bench: build ## decisions per second, berth-bench's standard set
	@build/bin/berth-bench --workload all

bench-compare: build ## berth's cycles beside kube-scheduler's, both in process, with ratios (BENCH="--workload basic")
	@bench/compare/run $(BENCH)

bench-e2e: berth ## kube-scheduler, berth and a client that only binds, beside a real kube-apiserver
	@bench/e2e/run $(BENCH)

bench-latency: berth ## how long pods wait for their binding, kube-scheduler and berth in turn (BENCH="--busy")
	@bench/latency/run $(BENCH)

bench-up: berth ## berth up with 5,000 nodes and 50,000 pods: rate, CPU per pod, memory
	@bench/up/run $(BENCH)

bench-check: build ## instructions per decision against bench/budgets.json
	@tools/bench-check build/bin/berth-bench

bench-report: build ## figures and charts from 100 to 1,000,000 nodes into docs (see tools/bench-report)
	@tools/bench-report build/bin/berth-bench

PREFIX ?= /usr/local
install: berth ## berth into PREFIX/bin, also as a plugin of kubectl (kubectl berth explain …), manual pages, completion
	@$(call compile,release,manual)
	install -D -s build/bin/berth $(DESTDIR)$(PREFIX)/bin/berth
	ln -sf berth $(DESTDIR)$(PREFIX)/bin/kubectl-berth
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 build/manual/man/man1/*
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man8 build/manual/man/man8/* build/berth.8.gz
	install -D -m 644 build/manual/completion/berth.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/berth
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/zsh/site-functions build/manual/completion/_berth
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d build/manual/completion/berth.fish

soak: build ## ten thousand simulated clusters, everything going wrong
	@build/bin/berth-sim --seeds 1..10000 --jobs $(JOBS)

fuzz-build: deps
	@$(call compile,fuzz,all)

fuzz-short: fuzz-build
	@tools/fuzz 10 1

fuzz: fuzz-build ## every fuzz target for FUZZ_SECONDS (default 300)
	@tools/fuzz $${FUZZ_SECONDS:-300}

asan: deps ## everything under address and undefined-behaviour sanitizers: unit tests, recorded decisions, simulation
	@$(call compile,asan,programs unit_tests) && cd build-asan && $(CTEST) -j $(JOBS)

asan-short: deps ## unit tests of the modules that read bytes from outside, under the same sanitizers
	@$(call compile,asan,byte_tests) && cd build-asan && $(CTEST) -j $(JOBS) -L bytes

# The core starts no threads, so the tests of modules that do are of interest; they run the core on several.
tsan: deps ## unit tests of modules that use threads, under the thread sanitizer
	@$(call compile,tsan,thread_tests) && cd build-tsan && $(CTEST) -j $(JOBS) -L threads

tsan-short: deps ## those of the event loop, the log and the worker pool alone
	@$(call compile,tsan,net_test log_test threads_test) && cd build-tsan && $(CTEST) -j $(JOBS) -L threads -R '^(net|log|threads)_test'

sanitize-all: deps ## tests, attacks and the end-to-end tests under both sanitizers (hours; KINDS="address" for one)
	@tools/sanitize-all $(KINDS)

clean: ## remove all build folders
	@rm -rf build build-*
