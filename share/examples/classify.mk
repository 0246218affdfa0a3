# classify.mk - from documents to labels with make: only what is out of date is done again
#
#     cp share/examples/classify.mk Makefile      beside train.jsonl and test.jsonl
#     make                                        report.txt: how good a model of them is
#     make news.labelled.jsonl                    labels for the documents in news.jsonl
#
# A program that fails leaves no output file behind, so make never takes half a file for a whole.

CONFIG ?= # a recipe: make CONFIG=small-and-fast.json

report.txt: test.jsonl model.ran
	ran-classify -m model.ran --eval --eval-format=text -o $@ $<
	cat $@

# With --resume, a training that was interrupted goes on where it was.
model.ran: train.jsonl vocab.json $(CONFIG)
	ran-train classify --vocab vocab.json $(CONFIG:%=--config %) --resume -o $@ $<

vocab.json: train.jsonl
	ran-tokenize learn --vocab-type wordpiece -o $@ $<

%.labelled.jsonl: %.jsonl model.ran
	ran-classify -m model.ran -o $@ $<

.PRECIOUS: model.ran vocab.json
