# Needs GNU make. Common variables: CC, CFLAGS, LDFLAGS, PREFIX, DESTDIR, WARNINGS, and BUILD, the folder
# for everything that is made, so that several builds can stand side by side:
#     make CC=clang BUILD=build/clang
# MPI=1 adds training on several machines (Open MPI, MPICH):
#     make MPI=1 BUILD=build/mpi
# Compilers learn new warnings, which do not stop whoever installs the programs. Lint and continuous
# integration let none pass:
#     make WARNINGS='-Wall -Wextra -Werror'

BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= lib
ZSHDIR  ?= share/zsh/site-functions
CFLAGS  ?= -O2 -g
CPPFLAGS ?=
LDFLAGS ?=
PKG_CONFIG ?= pkg-config
WARNINGS ?= -Wall -Wextra

ifneq ($(words $(BUILD)),1)
$(error BUILD is "$(BUILD)": it has to be the name of a folder, without spaces)
endif
# For the shell, whatever it is: folders may have a space or an apostrophe in their names.
quote = '$(subst ','\'',$(1))'

VERSION := $(shell sed -n 's/^\#define RAN_VERSION "\([^"]*\)".*/\1/p' lib/ran/base.h)
PACKAGES := libcjson openblas libutf8proc

package = $(shell $(PKG_CONFIG) $(1) $(PACKAGES) 2>/dev/null)
LIBS := $(or $(call package,--libs),-lcjson -lopenblas -lutf8proc) -lm

# ran-train alone needs MPI. Debian calls whichever is installed mpi-c.
MPI_PACKAGE ?= mpi-c
MPI_CFLAGS  := $(shell $(PKG_CONFIG) --cflags $(MPI_PACKAGE) 2>/dev/null)
MPI_LIBS    := $(shell $(PKG_CONFIG) --libs $(MPI_PACKAGE) 2>/dev/null)

# Results must not depend on which compiler may fuse a multiplication with an addition, nor the
# programs on the folder that they were built in.
PACKAGE_CFLAGS := $(call package,--cflags)
override ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Ilib -I. $(PACKAGE_CFLAGS) $(DEFINES) $(HARDEN) $(CPPFLAGS) \
        $(CFLAGS) $(OPTIMISE) -ffp-contract=off -fPIC -pthread \
        -ffile-prefix-map=$(call quote,$(CURDIR))=. $(WARNINGS)

simd_sources := $(sort $(wildcard lib/math/simd.c lib/math/simd-*.c))
lib_sources  := $(sort $(filter-out $(simd_sources) lib/math/integer-kernels.c,$(wildcard lib/*/*.c lib/*/*/*.c)))
mains        := $(sort $(wildcard cmd/*/ran-*.c))
programs     := $(patsubst %.c,$(BUILD)/%,$(notdir $(mains)))
cmd_shared   := $(sort $(filter-out $(mains),$(wildcard cmd/*/*.c cmd/*/*/*.c)))
unit_tests   := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test-*.c))
unit_shared  := $(filter-out tests/unit/test-%,$(wildcard tests/unit/*.c))
# The largest first, so that no core is left with one at the end.
cli_tests    := $(shell ls -S tests/cli/*.bats)
bench_shared := $(patsubst %.h,%.c,$(wildcard tests/bench/*.h))
faults       := $(BUILD)/faults/inject $(BUILD)/faults/preload.so
load         := $(BUILD)/load/peak
gradients    := $(BUILD)/tests/dump-gradients
fuzz_shared  := $(filter-out tests/fuzz/fuzz-% tests/fuzz/kept.c,$(wildcard tests/fuzz/*.c))
kept         := $(patsubst tests/fuzz/seeds/%,$(BUILD)/kept/%,$(wildcard tests/fuzz/seeds/fuzz-*))
benchmarks   := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,\
                  $(filter-out $(bench_shared),$(wildcard tests/bench/*.c)))

object = $(patsubst %.c,$(BUILD)/%.o,$(1))
lib_objects := $(call object,$(lib_sources))
library     := $(BUILD)/libran.a
# What the programs share; unit tests may link it, too.
cmd_library := $(BUILD)/libcmd.a

# The kernels are compiled once for each instruction set; a table picks one when a program starts.
# The plain ones, without fused multiplications, are for RAN_ISA=portable, those that are alike in any
# width for weights in eight bits.
# What the compiler makes code for depends on its flags, too: -m32.
machine := $(shell printf '__x86_64__ __i386__ __SIZEOF_POINTER__ __aarch64__\n' | \
  $(CC) $(CPPFLAGS) $(CFLAGS) -E -P - 2>/dev/null)
ifeq ($(firstword $(machine)),1)
simd := base plain8 plain16 alike4 alike8 alike16 avx2 avx512
integer := base avx2 avxvnni avx512 avx512vnni
DEFINES := -DRAN_HAVE_X86
branches := -fcf-protection
else
simd := base alike4
integer := base $(if $(filter 1,$(word 4,$(machine))),dot)
DEFINES := $(if $(filter dot,$(integer)),-DRAN_HAVE_DOT)
branches := -mbranch-protection=standard
endif
# The old unit computes everything in long double, and some vectors not at all.
DEFINES += $(if $(filter 1,$(word 2,$(machine))),-msse2 -mfpmath=sse)
# Where a pointer has 32 bits, files may be longer than one can address.
DEFINES += $(if $(filter 4,$(word 3,$(machine))),-D_FILE_OFFSET_BITS=64)
simd_flags_base    := -DRAN_LANES=4
simd_flags_avx2    := -DRAN_LANES=8 -mavx2 -mfma
simd_flags_avx512  := -DRAN_LANES=16 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma
simd_flags_plain8  := $(simd_flags_avx2) -DRAN_PLAIN
simd_flags_plain16 := $(simd_flags_avx512) -DRAN_PLAIN
simd_flags_alike4  := -DRAN_LANES=4 -DRAN_ALIKE
simd_flags_alike8  := $(simd_flags_avx2) -DRAN_ALIKE
simd_flags_alike16 := $(simd_flags_avx512) -DRAN_ALIKE
lib_objects += $(foreach isa,$(simd),$(simd_sources:%.c=$(BUILD)/%-$(isa).o))
# So are the products of integers, for each kind of processor that multiplies them in its own way.
integer_flags_base       := -DRAN_LANES=4
integer_flags_avx2       := -DRAN_LANES=8 -mavx2
integer_flags_avxvnni    := -DRAN_LANES=8 -mavx2 -mavxvnni -DRAN_VNNI
integer_flags_avx512     := -DRAN_LANES=16 -mavx512f -mavx512bw
integer_flags_avx512vnni := -DRAN_LANES=16 -mavx512f -mavx512bw -mavx512vnni -DRAN_VNNI
integer_flags_dot        := -DRAN_LANES=4 -march=armv8.2-a+dotprod -DRAN_DOT
lib_objects += $(integer:%=$(BUILD)/lib/math/integer-kernels-%.o)

# What ends a program that overran, instead of letting it serve whoever wrote the input. As far as
# compiler and linker know these, all together or one by one; the user's CPPFLAGS, CFLAGS and LDFLAGS
# come after them.
accepted = $(shell printf '\043include <stdlib.h>\nint main(void) { return 0; }' | \
  $(CC) -Werror $(1) -x c -o /dev/null - >/dev/null 2>&1 && echo '$(1)')
known = $(or $(call accepted,$(1)),$(foreach flag,$(1),$(call accepted,$(flag))))
HARDEN := -Wformat-security $(call known,-fstack-protector-strong -fstack-clash-protection $(branches))
closed := -Wl,-z,relro,-z,now,-z,noexecstack
HARDEN_LINK := $(call known,-pie $(closed))
# The C library checks sizes where the compiler optimises; sanitizers see more without that.
ifneq ($(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS)))),)
ifeq ($(findstring -fsanitize,$(CFLAGS))$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),)
HARDEN += -U_FORTIFY_SOURCE $(firstword $(call accepted,-D_FORTIFY_SOURCE=3 -O2) -D_FORTIFY_SOURCE=2)
endif
endif

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SECONDARY:

.PHONY: all
all: $(library) $(programs) ## build the library and the programs

# ---- compiling: V=1 shows the commands whole -----------------------------------------------------

Q := $(if $(V),,@)

# Written anew only when compiler or flags change, so that a change of them rebuilds everything.
flags := $(CC) $(ALL_CFLAGS) | $(HARDEN_LINK) $(LDFLAGS) $(LIBS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo $(call quote,$(flags)) | cmp -s - $@ || echo $(call quote,$(flags)) >$@
.PHONY: FORCE
FORCE:

# A missing package is one sentence, not a page of compiler output.
$(BUILD)/packages: $(BUILD)/flags
	@printf '#include <cjson/cJSON.h>\n#include <cblas.h>\n#include <utf8proc.h>\n' | \
	  $(CC) $(PACKAGE_CFLAGS) $(CPPFLAGS) -E - >/dev/null 2>$@.log || { \
	    echo 'make: cJSON, OpenBLAS or libutf8proc, or the C compiler, is missing; "make setup"' \
	      'installs them (Debian, Ubuntu), $@.log has details' >&2; exit 1; }
	@touch $@

compile = $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c $(BUILD)/flags $(BUILD)/packages
	@mkdir -p $(@D)
	@echo '  CC    $@'
	$(Q)$(compile)

# Kernels gain from -O3, unless the user's CFLAGS say not to optimise.
kernels := $(filter $(foreach folder,math mask nn part task tensors file hf infer,$(BUILD)/lib/$(folder)/%),$(lib_objects))
$(kernels): OPTIMISE = $(if $(filter -O0 -Og,$(CFLAGS)),,-O3)

define simd_rule
$(BUILD)/lib/math/%-$(1).o: lib/math/%.c $(BUILD)/flags $(BUILD)/packages
	@mkdir -p $$(@D)
	@echo '  CC    $$@'
	$$(Q)$$(compile) -DRAN_SIMD=$(1) $(simd_flags_$(1))
endef
$(foreach isa,$(simd),$(eval $(call simd_rule,$(isa))))
$(BUILD)/lib/math/integer-kernels-%.o: lib/math/integer-kernels.c $(BUILD)/flags $(BUILD)/packages
	@mkdir -p $(@D)
	@echo '  CC    $@'
	$(Q)$(compile) -DRAN_INTEGER=$* $(integer_flags_$*)

# One object is different with MPI=1. The tests have their own, wherever MPI is.
mpi_program := $(if $(filter 1,$(MPI)),$(BUILD)/ran-train,$(if $(MPI_LIBS),$(BUILD)/mpi/ran-train))
mpi_object  := $(if $(filter 1,$(MPI)),$(BUILD)/lib/ranks/mpi.o,$(BUILD)/mpi/mpi.o)
ifneq ($(mpi_program),)
$(mpi_program): private LIBS += $(MPI_LIBS)
$(mpi_object): private override CPPFLAGS += -DRAN_MPI $(MPI_CFLAGS)
$(mpi_object): $(BUILD)/mpi/there
endif
$(BUILD)/lib/ranks/mpi.o: $(BUILD)/mpi/flags
$(BUILD)/mpi/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(MPI) $(MPI_CFLAGS) $(MPI_LIBS)' | cmp -s - $@ || echo '$(MPI) $(MPI_CFLAGS) $(MPI_LIBS)' >$@
$(BUILD)/mpi/there: $(BUILD)/mpi/flags
	@printf '#include <mpi.h>\n' | $(CC) $(MPI_CFLAGS) $(CPPFLAGS) -E - >/dev/null 2>$@.log || { \
	    echo 'make: MPI is missing; "share/setup mpi" installs Open MPI (Debian, Ubuntu), elsewhere' \
	      'MPI_PACKAGE, or MPI_CFLAGS and MPI_LIBS, say where it is' >&2; exit 1; }
	@touch $@
$(BUILD)/mpi/mpi.o: lib/ranks/mpi.c lib/ranks/ranks.h $(wildcard lib/ran/*.h) $(BUILD)/flags
	@echo '  CC    $@'
	$(Q)$(compile)

$(library): $(lib_objects)
$(cmd_library): $(call object,$(cmd_shared))
$(library) $(cmd_library):
	@rm -f $@
	@echo '  AR    $@'
	$(Q)$(AR) rcsD $@ $^

link = $(CC) $(CFLAGS) -pthread $(HARDEN_LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$(foreach main,$(mains),$(eval $(BUILD)/$(notdir $(main:.c=)): $(call object,$(main))))
$(programs): $(cmd_library) $(library)
	@echo '  LINK  $@'
	$(Q)$(link)

$(BUILD)/mpi/ran-train: $(BUILD)/mpi/mpi.o $(BUILD)/cmd/train/ran-train.o $(cmd_library) $(library)
	@echo '  LINK  $@'
	$(Q)$(link)

# A hundred programs: with gold, where it is, in half the time.
quick := $(call accepted,-fuse-ld=gold)
$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(call object,$(unit_shared)) $(cmd_library) $(library)
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(link) $(quick)

$(BUILD)/kept/fuzz-%: $(BUILD)/tests/fuzz/fuzz-%.o $(call object,$(fuzz_shared) tests/fuzz/kept.c) \
  $(cmd_library) $(library)
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(link) $(quick)
$(BUILD)/kept/fuzz-%: private override LDFLAGS += -Wl,--wrap=exit

$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(call object,$(bench_shared)) $(library)
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(link)

$(gradients): $(BUILD)/tests/gradients/dump-gradients.o $(call object,tests/unit/gradients.c) \
  $(cmd_library) $(library)
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(link) $(quick)

$(load): $(BUILD)/tests/load/peak.o
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(link)

# Without the sanitizers, which would look for faults in it, and make each new process a slow one.
watcher = $(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARNINGS) -o $@ $<
$(BUILD)/faults/inject: tests/faults/inject.c tests/faults/faults.h $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(watcher)
$(BUILD)/faults/preload.so: tests/faults/preload.c tests/faults/faults.h $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  LINK  $@'
	$(Q)$(watcher) -fPIC -shared -ldl

-include $(patsubst %.o,%.d,$(lib_objects) $(call object,$(wildcard cmd/*/*.c cmd/*/*/*.c tests/*/*.c)))

# ---- testing -----------------------------------------------------------------------------------

.PHONY: setup
setup: ## install the Debian packages that building and testing need
	@share/setup build test

# Every test runs, however many fail; a line at the end counts them.
.PHONY: check check-all check-rest
check: ## packages, build, unit tests and the main tests of the programs, in a few minutes
check-all: ## packages, build and all tests
check-rest: ## after make check, what check-all runs beyond it; counts both
check check-all check-rest:
	@share/setup build test
	@$(MAKE) --no-print-directory $(parallel) all
	@$(if $(filter check-rest,$@),:,rm -rf '$(BUILD)/results')
	@$(MAKE) --no-print-directory $(parallel) -k unit cli TESTS=$(or $(patsubst check-%,%,$(filter-out check,$@)),main); \
	  status=$$?; tests/summary '$(BUILD)/results'; exit $$status

# TESTS=all runs the tests whose names end in [all], too, and unit tests that repeat a thing many times do so
# more often. Each program of tests is a target of its own, so that make runs them side by side.
TESTS ?= main
unit_runs := $(unit_tests:%=run/%) $(kept:%=run/%)
cli_runs  := $(cli_tests:%=run/%)
.PHONY: unit cli $(unit_runs) $(cli_runs)
unit: $(unit_runs) $(benchmarks) ## the unit tests, and what fuzzers found; benchmarks are built, lest they rot (TESTS=all)
$(unit_tests:%=run/%): run/%: %
	@tests/run '$(BUILD)/results' $(TESTS) $* $(unit_named)
$(kept:%=run/%): run/%: %
	@tests/run '$(BUILD)/results' $(TESTS) $* tests/fuzz/seeds/$(notdir $*)/*
cli: $(cli_runs) ## the tests of the programs (TESTS=all)
$(cli_runs): run/%: % all $(faults) $(load) $(gradients) $(mpi_program)
	@RAN_BIN=$(call quote,$(abspath $(BUILD))) RAN_MPI=$(call quote,$(abspath $(mpi_program))) \
	  tests/run '$(BUILD)/results' $(TESTS) bats $*

# All cores, unless the user says otherwise with -j.
parallel = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))

# For other processors and another C library; nothing of this machine's packages changes, but compilers.
PORTS ?= i386 musl arm64
.PHONY: check-ports
check-ports: all ## build everything for other platforms and run the unit tests there; hours, for arm64 is emulated (PORTS='i386 musl arm64')
	@tests/ports '$(BUILD)' all $(PORTS)

# From the folders in tests/encoders the libraries compute what they computed when these were made; our programs
# give the same tokens.
PYTHON ?= python3
.PHONY: check-peers
check-peers: all ## compare with the libraries of others, where they are installed (PYTHON=python3)
	@status=0; for script in tests/peers/check-*.py; do \
	  RAN_BIN=$(call quote,$(abspath $(BUILD))) HF_HUB_OFFLINE=1 $(PYTHON) $$script || status=1; done; exit $$status

# What they find ends a program with 99, a status that no test allows: 1 is that of records that failed.
.PHONY: asan asan-sample
asan: ## unit tests and tests of the programs under the address and undefined-behaviour sanitizers
	@share/setup build test
	@ASAN_OPTIONS=allocator_may_return_null=1:exitcode=99 $(MAKE) --no-print-directory unit cli TESTS=all $(sanitized)
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
sanitized = BUILD=$(BUILD)/asan CFLAGS='-O1 -g $(sanitize)' LDFLAGS='$(LDFLAGS) $(sanitize)'

# Minutes instead of hours: each SEED has other files, and without one the time is it.
SAMPLE ?= 10
asan-sample: ## of make asan the main tests: all unit tests, and SAMPLE files of the programs' tests (SAMPLE=10 SEED=N)
	@share/setup build test
	@rm -rf '$(BUILD)/asan/results'
	@seed=$${SEED:-$$(date +%s)}; \
	files=$$(for file in $(cli_tests); do echo "$$(echo "$$seed $$file" | sha256sum) $$file"; done | \
	  sort | head -n $(SAMPLE) | sed 's/.* //' | tr '\n' ' '); \
	echo "asan-sample: SEED=$$seed: $$files"; \
	ASAN_OPTIONS=allocator_may_return_null=1:exitcode=99 $(MAKE) --no-print-directory $(parallel) -k unit cli TESTS=main $(sanitized) \
	  cli_tests="$$files"; status=$$?; tests/summary '$(BUILD)/asan/results'; exit $$status

# OpenBLAS knows nothing of this sanitizer; its threads would be no concern, and there are none. Some unit
# tests run whole, of the others those that have threads in their names.
.PHONY: tsan
tsan: ## unit tests and tests of the programs that use several threads, under the thread sanitizer
	@share/setup build test
	@$(tsan) unit unit_tests='$(call tsan_tests,$(threaded))'
	@$(tsan) cli TESTS=all cli_tests=tests/cli/threads.bats
	@$(tsan) unit unit_named=thread unit_tests='$(call tsan_tests,$(filter-out $(threaded),$(threads_named)))'
threaded := pool batch score evaluate text-fast svm resume
threads_named = $(patsubst tests/unit/test-%.c,%,$(shell grep -l '^TEST.*thread' tests/unit/test-*.c))
tsan_tests = $(1:%=$(BUILD)/tsan/tests/test-%)
tsan = TSAN_OPTIONS=halt_on_error=1 $(MAKE) --no-print-directory BUILD=$(BUILD)/tsan benchmarks= kept= \
  CFLAGS='-O1 -g -fsanitize=thread' LDFLAGS='$(LDFLAGS) -fsanitize=thread'

# What make check-all takes samples of, whole; it takes hours. FAULTS: of a kind in a program, 0 all of
# them (under the sanitizers then those that different functions lead to); KILLS: times a training is
# killed; THROWS: settings drawn by chance.
FAULTS ?= 0
KILLS ?= 200
THROWS ?= 300
# How much goes through the programs at once; the input is made on the fly.
RECORDS ?= 10000000
MEGABYTES ?= 5000
FILES ?= 10000
PROCESSES ?= 64
.PHONY: check-long faults damage load dice helgrind
check-long: check-all ## all faults, kills, damages, loads and throws of dice that make check-all takes samples of, with figures, and helgrind (FAULTS=0 KILLS=200 RECORDS=10000000 THROWS=300)
	@RAN_FETCH=1 $(MAKE) --no-print-directory cli cli_tests=tests/cli/huggingface.bats
	@$(MAKE) --no-print-directory load dice
	@$(MAKE) --no-print-directory faults
	@ASAN_OPTIONS=allocator_may_return_null=1 $(MAKE) --no-print-directory faults damage dice KILLS=20 \
	  FAULTS=$(patsubst 0,unlike,$(FAULTS)) $(sanitized)
	@share/setup long
	@$(MAKE) --no-print-directory helgrind
	@$(MAKE) --no-print-directory check-ports
helgrind: all
	@RAN_BIN=$(call quote,$(abspath $(BUILD))) LC_ALL=C tests/helgrind
# Signals that make was told to ignore, by nohup or a service, would not end the programs either, as the
# tests expect; no shell takes that back.
heedful = $$(env --default-signal true 2>/dev/null && echo env --default-signal)
faults_run = rm -rf '$(BUILD)/faults/work' && mkdir -p '$(BUILD)/faults/work' && \
  cd '$(BUILD)/faults/work' && RAN_BIN=$(call quote,$(abspath $(BUILD))) LC_ALL=C \
  FAULTS_BIN=$(call quote,$(abspath $(BUILD))/faults) $(heedful) $(call quote,$(abspath tests/faults))
faults: all $(faults)
	@$(faults_run)/run $(FAULTS) long
	@$(faults_run)/kills $(KILLS)
load: all $(load)
	@rm -rf '$(BUILD)/load/work' && mkdir -p '$(BUILD)/load/work' && cd '$(BUILD)/load/work' && \
	  RAN_BIN=$(call quote,$(abspath $(BUILD))) LOAD_BIN=$(call quote,$(abspath $(BUILD))/load) LC_ALL=C \
	  RECORDS=$(RECORDS) MEGABYTES=$(MEGABYTES) FILES=$(FILES) PROCESSES=$(PROCESSES) \
	  $(call quote,$(abspath tests/load)/run)
dice: all
	@rm -rf '$(BUILD)/dice' && mkdir -p '$(BUILD)/dice' && cd '$(BUILD)/dice' && \
	  RAN_BIN=$(call quote,$(abspath $(BUILD))) LC_ALL=C $(call quote,$(abspath tests/dice))/run $(THROWS)
damage: $(BUILD)/tests/test-damage
	@RAN_DAMAGE=all $<

# Programs that are killed or may write nowhere leave no counts, and say so where a test listens: that
# all tests pass is for make check to say.
.PHONY: coverage
coverage: ## lines of lib/ that unit tests and tests of the programs run, by file; the others in $(BUILD)/coverage/missed
	@share/setup build test
	@mkdir -p $(BUILD)/coverage
	@find $(BUILD)/coverage -name '*.gcda' -delete
	-@$(MAKE) --no-print-directory -k unit cli TESTS=all BUILD=$(BUILD)/coverage CC=gcc CFLAGS='$(counting)' \
	  LDFLAGS='$(LDFLAGS) --coverage -Wl,-u,__gcov_dump'
	@find $(BUILD)/coverage/lib -name '*.gcno' -exec gcov -t {} + 2>$(BUILD)/coverage/log | \
	  awk -v missed=$(BUILD)/coverage/missed -f tests/coverage.awk
counting := -O1 -g --coverage -fprofile-update=atomic

.PHONY: lint
lint: ## static analysis by gcc, clang-tidy, cppcheck, shellcheck and mandoc: nothing may be found
	@share/setup build test lint
	@$(MAKE) --no-print-directory linted
include tests/lint/lint.mk

.PHONY: size
size: ## lines of code of lib/ and cmd/, by folder; make lint fails above tests/lint/size
	@tests/lint/count-lines

# Each program for FUZZ_SECONDS; what it finds stays in $(BUILD)/fuzz, to begin with next time. What reaches
# lines that no seed does becomes one with FUZZER -merge=1 -use_counters=0 -use_cmp=0 SEEDS CORPUS.
FUZZ_SECONDS ?= 30
fuzzers := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz-*.c))
$(BUILD)/fuzz-%: $(BUILD)/tests/fuzz/fuzz-%.o $(call object,$(fuzz_shared)) $(cmd_library) $(library)
	@echo '  LINK  $@'
	$(Q)$(link) -fsanitize=fuzzer
$(BUILD)/fuzz-%: private override LDFLAGS += -Wl,--wrap=exit
# Words that the readers know, and that no fuzzer would guess.
$(BUILD)/fuzz.dict: $(filter lib/%,$(lib_sources)) $(wildcard cmd/*/*.c cmd/*/*/*.c)
	@mkdir -p $(@D)
	@grep -ohE '"[[:alnum:]_#.-]{2,40}"' $^ | sort -u >$@
.PHONY: fuzz run-fuzzers
fuzz: ## feed random bytes to what reads files and settings (FUZZ_SECONDS=30)
	@share/setup build dev
	@$(MAKE) --no-print-directory run-fuzzers BUILD=$(BUILD)/fuzz CC=clang \
	  CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'
run-fuzzers: $(fuzzers) $(BUILD)/fuzz.dict
	@set -e; for fuzzer in $(fuzzers); do mkdir -p $$fuzzer.corpus; \
	  seeds=tests/fuzz/seeds/$${fuzzer##*/}; [ -d $$seeds ] || seeds=; \
	  $$fuzzer -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -dict=$(BUILD)/fuzz.dict \
	    -artifact_prefix=$$fuzzer.found- $$fuzzer.corpus $$seeds >$$fuzzer.log 2>&1 || { \
	      tail -n 40 $$fuzzer.log; exit 1; }; \
	  reached() { sed -n "s/.*\t$$1 *cov: \([0-9]*\).*/\1/p" $$fuzzer.log; }; \
	  echo "$$fuzzer: $$(sed -n 's/stat::number_of_executed_units: //p' $$fuzzer.log) inputs," \
	    "$$(reached DONE) branches reached, of which $$(reached INITED) by what was kept"; done

.PHONY: bench
bench: all $(benchmarks) ## build and run the benchmarks; JSON lines and plots beside them in $(BUILD)/bench
	@set -e; for bench in $(benchmarks); do echo "$$bench -o $$bench.jsonl"; $$bench -o $$bench.jsonl; done
	@awk -v series=pattern -v seconds=layer_training_seconds -v title='seconds a training step of a layer' \
	  -f tests/bench/curve.awk $(BUILD)/bench/sparse.jsonl >$(BUILD)/bench/sparse.svg
	@set -e; for what in scoring training; do grep "\"$$what\"" $(BUILD)/bench/length.jsonl | \
	  awk -v series=model -v seconds=seconds -v title="seconds of $$what" \
	    -f tests/bench/curve.awk >$(BUILD)/bench/length-$$what.svg; done

.PHONY: demo
demo: ## set up, build, and run the main job on real documents
	@share/setup build demo
	@echo 'Building the programs ...'
	@$(MAKE) --no-print-directory $(parallel) all >/dev/null
	@RAN_BIN=$(call quote,$(abspath $(BUILD))) share/demo

# ---- the rest ----------------------------------------------------------------------------------

.PHONY: format
format: ## format the C sources with clang-format
	@share/setup dev
	clang-format -i $(wildcard lib/*.h lib/*/*.[ch] lib/*/*/*.[ch] cmd/*/*.[ch] cmd/*/*/*.[ch] tests/*/*.[ch])

# What is installed, as SOURCE:TARGET, the target below PREFIX (LIBDIR and ZSHDIR, too, for packagers:
# Debian has lib/x86_64-linux-gnu and share/zsh/vendor-completions). Programs and scripts stay executable.
install_share := recipes examples experiments cluster
installed := $(foreach program,$(programs),$(program):bin/$(notdir $(program))) \
  $(library):$(LIBDIR)/libran.a $(BUILD)/ran.pc:$(LIBDIR)/pkgconfig/ran.pc lib/ran.h:include/ran.h \
  $(foreach header,$(wildcard lib/ran/*.h),$(header):include/ran/$(notdir $(header))) \
  $(foreach page,$(wildcard man/*.[1-8]),$(page):share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))) \
  $(foreach file,$(wildcard $(install_share:%=share/%/*)),$(file):share/ran/$(file:share/%=%)) \
  $(foreach file,$(wildcard share/models/*.ran),$(file):share/ran/$(file:share/%=%)) \
  $(patsubst $(BUILD)/%,share/completion/ran.bash:share/bash-completion/completions/%,$(programs)) \
  share/completion/_ran:$(ZSHDIR)/_ran
# Folders that go with their last file; bin, lib and the like stay.
install_folders := include/ran share/ran share/ran/models $(install_share:%=share/ran/%) $(LIBDIR)/pkgconfig \
  share/bash-completion share/bash-completion/completions share/zsh $(ZSHDIR) \
  $(patsubst %,share/man/man%,1 2 3 4 5 6 7 8)

$(BUILD)/ran.pc: share/ran.pc.in lib/ran/base.h FORCE
	@mkdir -p $(@D)
	@rm -f $@
	@sed -e $(call quote,s|@PREFIX@|$(PREFIX)|) -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	  -e 's|@PACKAGES@|$(PACKAGES)$(if $(filter 1,$(MPI)), $(MPI_PACKAGE))|' $< >$@

.PHONY: install uninstall
install: all $(BUILD)/ran.pc ## install below $(DESTDIR)$(PREFIX)
	$(Q)set -e; for file in $(installed); do \
	  source=$${file%%:*}; target=$(call quote,$(DESTDIR)$(PREFIX))/$${file#*:}; \
	  if [ -x "$$source" ]; then mode=755; else mode=644; fi; \
	  install -D -m $$mode "$$source" "$$target"; done
	@echo $(call quote,installed below $(DESTDIR)$(PREFIX))

uninstall: ## remove what install puts there, with the same DESTDIR, PREFIX, LIBDIR and ZSHDIR
	$(Q)set -e; for file in $(installed); do rm -f $(call quote,$(DESTDIR)$(PREFIX))/$${file#*:}; done
	$(Q)for folder in $(install_folders); do echo "$$folder"; done | sort -r | while read -r folder; do \
	  rmdir $(call quote,$(DESTDIR)$(PREFIX))/$$folder 2>/dev/null || :; done

.PHONY: deb
deb: ## Debian packages of programs, library and source in $(BUILD)/deb, checked by lintian
	@share/setup build deb
	@share/deb '$(BUILD)/deb'

.PHONY: check-reproducible
check-reproducible: ## two builds of all packages, in folders of different names, must give the same bytes
	@share/setup build deb
	@set -e; cd $(call quote,$(CURDIR)); rm -rf '$(BUILD)/reproducible'; mkdir -p '$(BUILD)/reproducible'; \
	here=$$(cd '$(BUILD)/reproducible' && pwd); for name in one another-name; do mkdir "$$here/$$name"; \
	  cp -R Makefile README.md COPYING cmd lib man tests share "$$here/$$name"; done; \
	for name in one another-name; do echo "  DEB   $$here/$$name"; DEB_BUILD_OPTIONS="nocheck $$DEB_BUILD_OPTIONS" \
	    "$$here/$$name/share/deb" "$$here/$$name/deb" >"$$here/$$name.log" 2>&1 || { \
	      tail -n 20 "$$here/$$name.log" >&2; exit 1; }; done; \
	cd "$$here/one/deb"; for file in *.deb *.tar.xz *.dsc; do cmp "$$file" "$$here/another-name/deb/$$file"; \
	  sha256sum "$$file"; done

.PHONY: clean
clean: ## remove what was built
	rm -rf '$(BUILD)'

.PHONY: help
help: ## print this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18
