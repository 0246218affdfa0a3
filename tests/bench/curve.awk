# curve.awk - what something costs by the length of a text, as a picture (SVG): from JSON lines, both
# axes logarithmic, seconds to the left and memory to the right.
#
#   awk -v series=pattern -v seconds=layer_training_seconds -v title='seconds a step' -f curve.awk
#
# series: the member that tells lines apart; seconds: the member that is drawn; beside "tokens" and
# "peak_bytes".

function member(name,   value) {
  if (!match($0, "\"" name "\":\"?[^,\"}]*"))
    return ""
  value = substr($0, RSTART, RLENGTH)
  sub(/^.*:"?/, "", value)
  return value
}

member(series) != "" {
  name = member(series)
  if (!(name in known)) {
    known[name] = 1
    order[++lines] = name
  }
  n = ++points[name]
  x[name, n] = member("tokens") + 0
  y[name, n, 1] = member(seconds) + 0
  y[name, n, 2] = member("peak_bytes") / 1e6
  if (!longest || n > points[longest])
    longest = name
  if (!least || x[name, n] < least)
    least = x[name, n]
  if (x[name, n] > most)
    most = x[name, n]
  for (k = 1; k <= 2; k++) {
    v = y[name, n, k]
    if (!low[k] || v < low[k])
      low[k] = v
    if (v > high[k])
      high[k] = v
  }
}

function log10(v) { return log(v) / log(10) }
function across(k, v) { return left[k] + width * (log10(v) - log10(least)) / (log10(most) - log10(least)) }
function down(k, v) { return top + height * (1 - (log10(v) - from[k]) / (to[k] - from[k])) }
function text(x, y, anchor, s) {
  printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, s
}

END {
  if (least == most) {
    print "curve.awk: lines of at least two lengths are needed" >"/dev/stderr"
    exit 1
  }
  width = 300; height = 260; top = 40
  left[1] = 70; left[2] = 460
  heading[1] = title; heading[2] = "memory, MB"
  split("#b2182b #2166ac #1b7837 #762a83 #b35806 #4d4d4d", colour)
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"380\" font-family=\"sans-serif\" font-size=\"12\">"
  print "<rect width=\"800\" height=\"380\" fill=\"white\"/>"
  for (k = 1; k <= 2; k++) {
    from[k] = log10(low[k]); from[k] = int(from[k]) - (from[k] < int(from[k]))
    to[k] = log10(high[k]); to[k] = int(to[k]) + (to[k] > int(to[k]))
    text(left[k], top - 14, "start", heading[k])
    for (e = from[k]; e <= to[k]; e++) {
      v = 10 ^ e
      printf "<path d=\"M%.1f %.1fh%d\" stroke=\"#ddd\"/>\n", left[k], down(k, v), width
      text(left[k] - 6, down(k, v) + 4, "end", v)
    }
    for (i = 1; i <= points[longest]; i++)
      text(across(k, x[longest, i]), top + height + 18, "middle", x[longest, i])
    text(left[k] + width / 2, top + height + 38, "middle", "tokens")
    for (p = 1; p <= lines; p++) {
      # Where lines lie on each other, dashes show them all.
      dashes = p == 1 ? "none" : 4 * p " 6"
      printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" points=\"",
        colour[p], dashes
      for (i = 1; i <= points[order[p]]; i++)
        printf "%.1f,%.1f ", across(k, x[order[p], i]), down(k, y[order[p], i, k])
      print "\"/>"
    }
  }
  for (p = 1; p <= lines; p++) {
    printf "<rect x=\"%d\" y=\"355\" width=\"14\" height=\"4\" fill=\"%s\"/>\n", 70 + 120 * p - 120, colour[p]
    text(70 + 120 * p - 100, 362, "start", order[p])
  }
  print "</svg>"
}
