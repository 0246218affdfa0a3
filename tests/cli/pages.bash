# pages.bash - what tests of HTML pages share.

# without_code: a page without the contents of its style.
without_code() {
  awk '/^<\/style>/ { code = 0; next } /^<style>/ { code = 1 } !code' "$1"
}

# well_formed FILE: whether the tags of a page are in pairs, nothing is loaded, and no < stands alone.
well_formed() {
  grep -q '^<!DOCTYPE html>$' "$1"
  [ "$(tail -n 1 "$1")" = '</html>' ]
  [ "$(grep -c '<script' "$1")" -eq 0 ]
  without_code "$1" >page.tags
  if grep -Ei '<(link|img|iframe|object|embed|base|form|input)[ >/]|<[^>]* (on[a-z]+|src)=|href="[^#]' page.tags; then
    return 1
  fi
  LC_ALL=C awk '
    function bad(what) { print what " in line " NR; failed = 1; exit 1 }
    {
      for (rest = $0; (at = index(rest, "<")) > 0; rest = substr(rest, RLENGTH + 1)) {
        rest = substr(rest, at)
        if (!match(rest, /^<[!\/]?[A-Za-z][A-Za-z0-9]*( [A-Za-z0-9:-]+="[^"<]*")*( html| hidden)? *\/?>/))
          bad("not a tag: " substr(rest, 1, 60))
        tag = substr(rest, 2, RLENGTH - 2)
        if (tag ~ /^!/ || tag ~ /\/$/) continue
        if (tag !~ /^\//) { sub(/ .*/, "", tag); stack[++depth] = tag; continue }
        if ("/" stack[depth--] != tag) bad("<" tag "> closes <" stack[depth + 1] ">")
      }
    }
    END { if (!failed && depth != 0) { print "not closed: " stack[depth]; exit 1 } }' page.tags
}

# text_of FILE: what a browser would show of the page.
text_of() {
  without_code "$1" | sed -e 's/<[^>]*>//g' -e 's/\xc2\xa0/ /g' \
    -e "s/&lt;/</g; s/&gt;/>/g; s/&quot;/\"/g; s/&#39;/'/g; s/&amp;/\&/g"
}
