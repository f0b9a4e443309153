# Entry points of the project. `make demo` and `make test` do their own set-up and keep what they build in a cache.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export LC_ALL := C.UTF-8
export MLOPS_EKS_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/mlops-eks
export ANSIBLE_CONFIG := $(CURDIR)/ansible.cfg
# Ansible colours its output on a terminal only.
BIN := .venv/bin
PLAY := $(BIN)/ansible-playbook
TEST_CLUSTER := test
# The playbook that creates it, and its arguments.
TEST_PLAYBOOK := test_cluster
ON_TEST_CLUSTER = -e local_cluster_name=$(TEST_CLUSTER) -e kubeconfig=/var/lib/mlops-eks/$(TEST_CLUSTER)/kubeconfig
export MLOPS_EKS_TEST_KUBECONFIG ?= /var/lib/mlops-eks/$(TEST_CLUSTER)/kubeconfig
# Runs the command after it, then removes the test cluster in any case.
REMOVE = $(PLAY) playbooks/local_cluster.yml $(ON_TEST_CLUSTER) -e local_cluster_state=absent
AND_REMOVE_THE_CLUSTER = trap 'rc=$$?; $(REMOVE) || rc=$$?; exit $$rc' EXIT;
# Tests on a cluster mostly wait, so more run at once than there are cores. A file stays on one worker; the longest come first.
JOBS ?= 4
LONGEST := tests/provisioning tests/molecule tests/cluster tests/contract
PYTEST := $(BIN)/pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder
TESTS := $(LONGEST) $(filter-out $(LONGEST),$(patsubst %/,%,$(wildcard tests/*/)))

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: env
env:
	@tools/env.sh

.PHONY: demo
demo: env ## Train a model by MPI on a real local Kubernetes, serve it, and report
	@$(PLAY) playbooks/demo.yml

.PHONY: demo-torch
demo-torch: env ## The same by PyTorchJob; its image takes minutes to build
	@$(PLAY) playbooks/demo.yml -e demo=digits-torch

.PHONY: tools
tools: env ## Build helm into the cache
	@$(BIN)/ansible localhost -c local -m mlops.eks.go_tool -a '{"name": ["helm"]}'

.PHONY: test
test: env test-up lint ## Lint, and run the tests but the slow ones; starts and removes clusters of its own
	@$(AND_REMOVE_THE_CLUSTER) $(PYTEST) --durations=15 -m 'not operators and not aws and not slow' $(TESTS)

.PHONY: test-slow
test-slow: env test-up ## Run the slow tests: molecule scenarios, failing nodes, upgrades, teardown, fuzzing
	@$(AND_REMOVE_THE_CLUSTER) $(PYTEST) --durations=15 -m 'slow and not operators and not aws' $(TESTS)

.PHONY: unit
unit: tools ## Run the unit tests, which need no cluster, but the slow ones
	@$(BIN)/pytest -n 2 -q -m 'not slow' tests/unit

.PHONY: test-cluster
test-cluster: env test-up ## Run only the tests on real clusters
	@$(AND_REMOVE_THE_CLUSTER) $(PYTEST) -m 'cluster and not operators' $(TESTS)

.PHONY: test-operators
test-operators: TEST_CLUSTER := operators
test-operators: TEST_PLAYBOOK := operators_cluster
test-operators: env test-up ## Drive every kind of workload by its operator; builds them all the first time
	@$(AND_REMOVE_THE_CLUSTER) $(BIN)/pytest -q -n $(JOBS) --durations=15 tests/cluster/test_kinds_*.py tests/charts/test_chart_dry_run.py

.PHONY: test-aws
test-aws: env ## Make and remove whole clusters by the real stack, at an AWS on a local port; also by OpenTofu
	@$(BIN)/ansible localhost -c local -m mlops.eks.go_tool -a '{"name": ["tofu"]}'
	@$(BIN)/pytest -q -n 2 --durations=15 -m aws tests/provisioning tests/stack

.PHONY: test-all
test-all: ## Run every test there is, and inject every fault; takes hours the first time
	@for target in test test-slow test-operators test-aws faults; do $(MAKE) --no-print-directory $$target; done

.PHONY: test-up
test-up: env
	@$(PLAY) playbooks/$(TEST_PLAYBOOK).yml $(ON_TEST_CLUSTER) $(TEST_VARS)

.PHONY: lint
lint: tools ## Check style, types, YAML, playbooks, charts and the changelog
	@tests/lint.sh

.PHONY: bench
bench: TEST_VARS := -e '{"cluster_addons_enabled": ["mpi-operator", "training-operator", "kwok"]}'
bench: env test-up ## Measure the engine against bash and kubernetes.core, and at scale; writes bench/results.json
	@$(AND_REMOVE_THE_CLUSTER) $(BIN)/python bench/run.py

.PHONY: faults
faults: env test-up ## Inject every fault for an hour or so; writes tests/faults/results.json and docs/reliability.md
	@$(AND_REMOVE_THE_CLUSTER) $(BIN)/python tests/faults/run.py --write && $(BIN)/python tests/faults/table.py

.PHONY: down
down: env ## Remove the local cluster of the demo; caches stay
	@$(PLAY) playbooks/local_cluster.yml -e local_cluster_state=absent

.PHONY: clean
clean: ## Remove clusters, our caches, the environment and the packages installed for them; caches you had before stay
	@tools/clean.sh

.PHONY: lock
lock: env ## Resolve requirements*.in again
	@cache=$(MLOPS_EKS_CACHE); . tools/uv_cache.sh; uv=$$(command -v uv || echo $(MLOPS_EKS_CACHE)/uv/bin/uv); for set in requirements:3.12 requirements-dev:3.12 containers/ray/requirements:3.11 containers/notebook/requirements:3.11; do \
	name=$${set%:*}; $$uv pip compile -q --upgrade --python-version $${set#*:} --generate-hashes --no-emit-index-url --no-annotate \
	--custom-compile-command "make lock" $$name.in -o $$name.txt; done

.PHONY: collection
collection: env ## Build the collection artifact into build/
	@$(BIN)/ansible-galaxy collection build --force --output-path build
