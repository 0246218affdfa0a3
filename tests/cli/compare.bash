# compare.bash - comparisons that fail when what they compare was not made.

# same_output COMMAND COMMAND: whether both succeed and write the same bytes, and at least one. `cmp <(a) <(b)` and
# [ "$(a)" = "$(b)" ] hold, too, when both commands fail.
same_output() {
  local i=0 command
  for command in "$@"; do
    i=$((i + 1))
    (set -o pipefail && eval "$command") >"$BATS_TEST_TMPDIR/output.$i" || { echo "failed: $command" >&2; return 1; }
    [ -s "$BATS_TEST_TMPDIR/output.$i" ] || { echo "wrote nothing: $command" >&2; return 1; }
  done
  diff -a "$BATS_TEST_TMPDIR/output.1" "$BATS_TEST_TMPDIR/output.2" >&2
}

# jq with -e fails without any result, which jq 1.6 accepts, and when any result is false or null, not only the last.
jq() {
  local results
  [[ " $* " =~ ' -'[a-zA-Z]*e[a-zA-Z]*' ' ]] || { command jq "$@"; return; }
  results=$(command jq "$@") || return
  printf '%s\n' "$results"
  [ -n "$results" ] && ! grep -qxE 'false|null' <<<"$results"
}
