# The short way to everything. Details: CMakePresets.json, tools/, CONTRIBUTING.md.
PREFIX ?= /usr/local
SECONDS ?= 60
WORLDS ?= 1000
FIRST ?= 1
FILES_NEWEST ?= all
FILES = git ls-files -z --cached --others --exclude-standard -- '*.cc' '*.h'
.PHONY: demo test test-agents bench sim mutants fuzz sanitize install format tidy clean setup

setup:
	@tools/setup

demo: setup
	@echo "demo: building"
	@cmake --preset release >/dev/null && cmake --build --preset release --target tend
	@tools/demo

test: setup
	@echo "test: building"
	@cmake --preset dev >/dev/null && cmake --build --preset dev
	@tools/run-tests dev --progress && echo "test: all tests passed"

test-agents: setup
	@test/agents/run $(if $(ONLY),--only '$(ONLY)') $(AGENTS)

bench: setup
	@echo "bench: building"
	@cmake --preset release >/dev/null && cmake --build --preset release --target tend bench
	@for program in build/release/bench/*_bench; do echo "bench: $$program"; \
	  BENCH_FLEET=$(if $(BENCH_BIG),1000,100) $$program || exit 1; done

sim: setup
	@echo "sim: building"
	@cmake --preset release >/dev/null && cmake --build --preset release --target tend-sim
	@build/release/test/sim/tend-sim --swarm $(WORLDS) --first $(FIRST)

mutants: setup
	@tools/mutants $(if $(SEEDS),--seeds $(SEEDS))

fuzz: setup
	@tools/fuzz $(SECONDS)

sanitize: setup
	@echo "sanitize: building"
	@cmake --preset asan >/dev/null && cmake --build --preset asan
	@tools/run-tests asan --progress && echo "sanitize: all tests passed"

install: setup
	@echo "install: building"
	@cmake --preset release >/dev/null && cmake --build --preset release --target tend_words
	@cmake --install build/release --strip --prefix "$(PREFIX)"

format:
	@$(FILES) | xargs -0r clang-format-19 -i && echo "format: done"

tidy: setup
	@tools/tidy $(FILES_NEWEST)

clean:
	@rm -rf build/dev build/release build/asan build/tsan build/clang
