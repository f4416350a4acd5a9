# The verbs of this project. `make` alone lists them; each one's work is done by a script in tools/ or by CMake's presets
# (CMakePresets.json), and can be called by hand.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup build test test-full demo lab check format lint bench bench-sweep device bundle approve docs kit

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r verb text; do printf '  make %-12s %s\n' "$$verb" "$$text"; done

setup: ## install what is missing (Debian 12, Ubuntu 24.04); DEV=1: also the tools for format and lint
	@tools/setup.sh $(if $(DEV),--dev)

build: ## setup, then build everything into build/; CUDA=OFF leaves the cuda backend out
	@tools/setup.sh
	@tools/build.sh release

test: ## setup, build, all tests; then both sanitizers, fuzzers, and the comparison of compilers
	@tools/setup.sh --test
	@tools/test.sh

test-full: ## the same, with thirty fresh course secrets and more repetitions
	@tools/setup.sh --test --full
	@tools/test.sh --full

demo: ## grade every shipped submission of every lab; ends with the path of an index page
	@tools/setup.sh
	@tools/build.sh release product
	@tools/demo.sh

lab: ## start a lab: make lab NAME=transfer-cost DIR=my-answer
	@test -n "$(NAME)" || { echo "make lab: say which lab: make lab NAME=transfer-cost [DIR=folder]" >&2; exit 2; }
	@tools/have.sh build/bin/labrig
	@build/bin/labrig new "$(NAME)" "$(or $(DIR),$(NAME))"

check: ## try a submission: make check DIR=my-answer
	@test -n "$(DIR)" || { echo "make check: say which folder: make check DIR=my-answer" >&2; exit 2; }
	@tools/have.sh build/bin/labrig
	@build/bin/labrig check "$(DIR)"

format: ## rewrite the sources with clang-format 19
	@tools/style.sh format

lint: ## clang-format 19 (says what it would change) and clang-tidy 19
	@tools/style.sh lint

bench: ## speed of the core, of the simulated card and of grading
	@tools/bench.sh

bench-sweep: ## speed of a sweep over a whole course
	@echo "make bench-sweep: sweeps are not built yet; see docs/architecture.md, section 7" >&2; exit 2

device: ## on a machine with a card: contract tests on cuda and compute-sanitizer, from a bundle
	@tools/device.sh $(or $(BUNDLE),build/bundle)

bundle: ## a folder that runs on another machine: build/bundle
	@tools/setup.sh
	@tools/build.sh release
	@tools/bundle.sh

approve: ## accept the present output of the golden tests; look at the difference before you commit it
	@tools/setup.sh
	@tools/build.sh release
	@LABRIG_APPROVE=1 ctest --test-dir build -R '^(ReportGolden|Broken/LoadingLadder|ReferenceFigures)\.' --no-tests=error --output-on-failure

docs: ## the documents as pages
	@echo "make docs: the documents are not built into pages yet; read them in docs/" >&2; exit 2

kit: ## what a course hands out and uploads: make kit [LAB="transfer-cost amp"] [SECRET=course.secret]
	@tools/setup.sh
	@tools/build.sh release product
	@LAB="$(LAB)" SECRET="$(SECRET)" tools/kit.sh
