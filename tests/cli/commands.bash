# commands.bash - which programs there are to be tested, all alike.

# programs FOLDER: those that were built there.
programs() {
  local program
  for program in "$1"/ran-*; do
    [ ! -f "$program" ] || [ ! -x "$program" ] || basename "$program"
  done
}

# commands FOLDER: the same, a program with verbs once with each of them.
commands() {
  local program verbs verb
  for program in $(programs "$1"); do
    verbs=$("$program" --help | awk '/^Verbs:/ { on = 1; next } /^[^ ]/ { on = 0 } on && /^  [a-z]/ { print $1 }')
    [ -n "$verbs" ] || echo "$program"
    for verb in $verbs; do
      echo "$program $verb"
    done
  done
}
