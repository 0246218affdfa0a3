# lint.mk - static analysis, of make lint. A file is analysed anew when it, or what it includes, has
# changed. What is found must be mended, or stand below, in tests/lint/cppcheck or in .clang-tidy,
# with the reason.

analysed := $(patsubst %.c,$(BUILD)/lint/%.analysed,\
              $(lib_sources) $(simd_sources) $(wildcard cmd/*/*.c cmd/*/*/*.c))

.PHONY: linted lint-size lint-scripts lint-manual lint-together lint-floors
linted: lint-size lint-floors lint-scripts lint-manual lint-together $(analysed)

# Where gcc's analyser is wrong. It does not know
# - that lists which are freed one after another are others;
lib/nn/recurrent-state.c-except := -Wno-analyzer-double-free
# - that memory which is kept in a list is kept (a sanitizer looks for what is lost);
lib/base/field.c-except := -Wno-analyzer-malloc-leak
cmd/records/files.c-except := -Wno-analyzer-malloc-leak
cmd/records/repeats.c-except := -Wno-analyzer-malloc-leak
# - vectors, lane by lane.
lib/math/simd-attention.c-except := -Wno-analyzer-shift-count-overflow
lib/math/simd-elements.c-except := -Wno-analyzer-shift-count-overflow
lib/math/simd-rows.c-except := -Wno-analyzer-shift-count-overflow
lib/math/simd-sparse.c-except := -Wno-analyzer-shift-count-overflow

# Where clang-tidy is wrong, as FILE:CHECK. It does not know
# - that a function of ours which fails returns something else than RAN_OK;
except := lib/infer/lm-context.c:clang-analyzer-core.NullDereference \
  lib/part/linear/cross-validate.c:clang-analyzer-core.NonNullParamChecker
# - that what is counted is there, and that there is nothing where the count is 0;
except += cmd/formats/conll.c:clang-analyzer-core.NullDereference lib/text/learn/counter.c:clang-analyzer-core.NullDereference lib/infer/dense-read.c:clang-analyzer-core.NullDereference \
  lib/gradient/batch.c:clang-analyzer-core.DivideZero \
  lib/gradient/grad.c:clang-analyzer-core.NullDereference cmd/attnmask/page.c:clang-analyzer-core.NullDereference \
  lib/part/contextualizer/encoder.c:clang-analyzer-core.DivideZero lib/gradient/plan.c:clang-analyzer-core.DivideZero \
  lib/search/search.c:clang-analyzer-core.DivideZero
# - what goes together: a field that an exception names is in its table, a file without a name has one
#   to be given;
except += lib/base/field.c:clang-analyzer-core.NonNullParamChecker lib/base/file.c:clang-analyzer-core.NonNullParamChecker
# - that what rank 0 sends is what the others receive;
except += lib/train/share.c:clang-analyzer-core.NonNullParamChecker lib/train/share.c:clang-analyzer-core.NullDereference
# - that the ticks of an axis are few;
except += cmd/pages/chart.c:clang-analyzer-security.FloatLoopCounter cmd/pages/chart.c:cert-flp30-c
# - that a table is written to be read, in this order;
except += cmd/formats/record.c:clang-analyzer-optin.performance.Padding
# - that texts which stand beside each other are joined, and cannot be in parentheses;
except += cmd/formats/unpack.c:bugprone-macro-parentheses
# - that what is nested has a limit.
except += $(foreach file,hf/frame hf/steps steps/pattern-class steps/pattern-read,lib/text/$(file).c:misc-no-recursion)
except += cmd/records/files.c:misc-no-recursion cmd/pages/report.c:misc-no-recursion cmd/pages/report-page.c:misc-no-recursion
empty :=
space := $(empty) $(empty)
comma := ,
unless = $(subst $(space),$(comma),$(patsubst $<:%,-%,$(filter $<:%,$(except))))

# The kernels as they are for one of the instruction sets; the sources differ by little.
$(BUILD)/lint/lib/math/simd.analysed $(BUILD)/lint/lib/math/simd-%.analysed: kernel := -DRAN_SIMD=$(lastword $(simd)) $(simd_flags_$(lastword $(simd)))

# clang's analyser leaves a function after so many states. With its own limit, 225,000, it finds nothing more
# here and takes four times as long.
states := -Xclang -analyzer-config -Xclang max-nodes=40000

$(BUILD)/lint/%.analysed: %.c .clang-tidy tests/lint/lint.mk $(BUILD)/flags $(BUILD)/packages
	@mkdir -p $(@D)
	@echo '  LINT  $<'
	$(Q)gcc $(ALL_CFLAGS) -Werror -O1 $(kernel) -fanalyzer $($<-except) -MMD -MP -MF $(@:.analysed=.d) -MT $@ \
	  -c -o $@.o $<
	$(Q)clang-tidy --quiet --checks="$(unless)" $< -- $(ALL_CFLAGS) -Werror $(kernel) $(states) 2>$@.log || { cat $@.log; exit 1; }
	@rm -f $@.o
	@touch $@
-include $(analysed:.analysed=.d)

# Through calls from file to file. It does not know the C11 word for functions that do not return.
lint-together: | $(BUILD)/lint/cppcheck
	@echo '  LINT  lib cmd tests/faults'
	$(Q)cppcheck -q --std=c11 --library=posix,gnu --enable=warning,performance,portability \
	  --suppressions-list=tests/lint/cppcheck --error-exitcode=1 --cppcheck-build-dir=$(BUILD)/lint/cppcheck \
	  -Ilib -I. $(DEFINES) -DRAN_LANES=8 -DRAN_SIMD=avx2 '-D_Noreturn=__attribute__((noreturn))' \
	  lib cmd tests/faults
$(BUILD)/lint/cppcheck:
	@mkdir -p $@

# Which file may know which: by what they include, and by the symbols of the objects.
lint-floors: $(lib_objects) $(call object,$(mains) $(cmd_shared))
	@echo '  LINT  floors'
	$(Q)CC='$(CC)' CPPFLAGS='$(PACKAGE_CFLAGS) $(CPPFLAGS)' tests/lint/floors $^

# The tree does not grow: who adds lines takes out as many, and who takes out more lowers the number.
lint-size:
	@echo '  LINT  size'
	$(Q)tests/lint/count-lines tests/lint/size

lint-scripts:
	@echo '  LINT  scripts'
	$(Q)tests/lint/scripts

# A page that is referred to need not be installed yet, nor be in mandoc's data base.
lint-manual:
	@echo '  LINT  man'
	$(Q)! mandoc -T lint man/*.[1-8] 2>/dev/null | grep -v 'referenced manual not found'
