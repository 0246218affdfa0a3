# coverage.awk - how many lines of each file of lib/ were run, from what `gcov -t` prints of all objects.
#
#   gcov -t OBJECTS... | awk [-v missed=FILE] -f coverage.awk
#
# A line counts as run if it was in any object: the kernels are compiled several times. Into FILE go the
# lines that never were, as FILE:LINE: TEXT.

BEGIN { FS = ":" }

{ count = $1; line = $2; gsub(/ /, "", count); gsub(/ /, "", line) }

line == 0 && $3 == "Source" { file = $4; next }
line == 0 || count == "-" || file !~ /^lib\/.*[.][ch]$/ { next }

{ at = file SUBSEP line
  if (!(at in run)) {
    run[at] = 0
    order[++places] = at
    text[at] = substr($0, index($0, $2 ":") + length($2) + 1)
    if (lines[file]++ == 0)
      files[++n] = file
  }
  if (count !~ /^[#=]/ && !run[at]) {
    run[at] = 1
    reached[file]++
    reached_all++
  } }

END {
  if (places == 0) {
    print "coverage: nothing was compiled for it" >"/dev/stderr"
    exit 1
  }
  table = "sort -k 3n -k 4"
  for (i = 1; i <= n; i++) {
    file = files[i]
    printf "%6d %6d %6.1f%% %s\n", lines[file], reached[file], 100 * reached[file] / lines[file], file | table
  }
  close(table)
  printf "%6d %6d %6.1f%% all, lines and lines run\n", places, reached_all, 100 * reached_all / places
  if (missed != "")
    for (i = 1; i <= places; i++)
      if (!run[order[i]]) {
        split(order[i], of, SUBSEP)
        print of[1] ":" of[2] ":" text[order[i]] >missed
      }
}
