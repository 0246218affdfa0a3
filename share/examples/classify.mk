# classify.mk - from documents to labels with make: redoes only what is out of date
#
#     cp share/examples/classify.mk Makefile      beside train.jsonl and test.jsonl
#     make                                        report.txt: the accuracy of the model
#     make news.labelled.jsonl                    labels for the documents in news.jsonl
#     make -j 4 SHARDS=8 news.labelled.jsonl      the same by eight processes, four at a time
#
# A program that fails leaves no output file behind, so make never uses a partial file. Unsound data
# stop make before the training.

CONFIG ?= # a recipe: make CONFIG=small-and-fast.json
SHARDS ?= # how many processes label one file; none: one process with all threads

.DELETE_ON_ERROR:

report.txt: test.jsonl model.ran
	ran-classify -m model.ran --eval --eval-format=text -o $@ $<
	cat $@

# --resume continues an interrupted training.
model.ran: train.jsonl check.txt $(CONFIG)
	ran-train classify $(CONFIG:%=--config %) --resume -o $@ $<

check.txt: train.jsonl
	ran-train classify --check --check-format=text $< >$@

ifeq ($(strip $(SHARDS)),)
%.labelled.jsonl: %.jsonl model.ran
	ran-classify -m model.ran -o $@ $<
else
# The results of the parts, concatenated, are those of the whole. Their names include the number of
# parts, so that leftovers of another number are not used.
numbers := $(shell seq $(SHARDS) 2>/dev/null)
ifeq ($(numbers),)
$(error SHARDS is a number of processes, from 1 on, not "$(SHARDS)")
endif
%.labelled.jsonl: $(foreach i,$(numbers),%.part-$(i)-of-$(SHARDS))
	cat $^ >$@

define part
%.part-$(1)-of-$(SHARDS): %.jsonl model.ran
	ran-classify -m model.ran -j 1 --shard $(1)/$(SHARDS) -o $$@ $$<
endef
$(foreach i,$(numbers),$(eval $(call part,$(i))))
endif

.PRECIOUS: model.ran
