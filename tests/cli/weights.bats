#!/usr/bin/env bats
# The weights of a model, read by others: the lines of Python in the README of share/examples.

bats_require_minimum_version 1.5.0

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  PATH=${RAN_BIN:-$root/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
  for python in python3 /usr/bin/python3 ''; do
    [ -n "$python" ] || skip 'no Python with numpy (python3-numpy)'
    ! "$python" -c 'import numpy' 2>/dev/null || break
  done
}

@test "weights: the README's lines of Python read those of a model" {
  sed -n '/^    import json, numpy/,/^$/s/^    //p' "$root/share/examples/README.md" >lines.py
  [ "$(grep -c '^[a-z]' lines.py)" -eq 4 ] # three, and the import
  for i in 1 2 3 4 5 6; do echo "{\"text\":\"a day $i\",\"label\":\"$((i % 2))\"}"; done >train.jsonl
  ran-train classify -q --no-dev --dim 8 --layers 1 --heads 1 --head-dim 8 --window 8 --min-window 2 \
    --epochs 1 --min-count 1 -o model.ran train.jsonl
  cat >>lines.py <<'END'
floats = {name: w for name, w in weights.items() if w.dtype == numpy.float32}
assert len(floats) > 5 and all(numpy.isfinite(w).all() for w in floats.values())
assert all(list(w.shape) == tensors[name]["shape"] for name, w in weights.items())
assert sum(w.nbytes for w in weights.values()) == len(data) - start
assert json.loads(bytes(weights["tokenizer.json"]))["model"]["vocab"]["[UNK]"] == 0
assert metadata["format"] == "ran" and json.loads(metadata["labels"]) == ["0", "1"]
print(sum(float(numpy.abs(w.astype(float)).sum()) for w in floats.values()) > 0)
END
  run -0 --separate-stderr "$python" lines.py
  [ -z "$stderr" ]
  [ "$output" = True ]
  # In 16 and in eight bits they are nearly the same numbers.
  for weights in f16 i8; do
    ran-train convert -q --weights $weights -o $weights.ran model.ran
    {
      sed '/^floats/,$d' lines.py
      echo 'whole = weights'
      sed "/^floats/,\$d; s/model.ran/$weights.ran/" lines.py
      cat <<'END'
scaled = {n: w * weights[n + ".scale"][:, None] if n + ".scale" in weights else w for n, w in weights.items()}
assert {str(w.dtype) for w in weights.values()} & {"float16", "int8"}
print(max(float(numpy.abs(scaled[n] - w).max() / numpy.abs(w).max()) for n, w in whole.items() if w.dtype == numpy.float32 and w.any()) < 0.01)
END
    } >both.py
    run -0 --separate-stderr "$python" both.py
    [ "$output" = True ]
  done
}
