#!/usr/bin/env bats
# ran-attnmask: grids, pictures, intervals, counts, scores, and what is refused.

bats_require_minimum_version 1.5.0

setup() {
  PATH=${RAN_BIN:-$PWD/build}:$PATH
  cd "$BATS_TEST_TMPDIR"
}

# refused WORDS ARGUMENT...: ends with 2, no output, and a message that has WORDS.
refused() {
  words=$1
  shift
  run -2 --separate-stderr ran-attnmask "$@"
  [ -z "$output" ]
  [[ ${stderr_lines[0]} == "ran-attnmask: "*"$words"* ]] || { echo "$stderr" >&2; false; }
}

# ---- grids -----------------------------------------------------------------------------------------

@test "attnmask: a grid of who sees whom" {
  run -0 --separate-stderr ran-attnmask --attention dispersed --length 10
  [ -z "$stderr" ]
  diff - <(echo "$output") <<'END'
###.#..#..
####.#..#.
#####.#..#
.#####.#..
#.#####.#.
.#.#####.#
..#.#####.
#..#.#####
.#..#.####
..#..#.###
END
}

@test "attnmask: masks take keys away" {
  run -0 ran-attnmask --attention window --mask causal --length 5
  [ "$output" = $'#....\n##...\n###..\n.###.\n..###' ]
  run -0 ran-attnmask --mask prefix --source 2 --length 4
  [ "$output" = $'##..\n##..\n###.\n####' ]
}

@test "attnmask: several heads, each with its name" {
  run -0 ran-attnmask --attention window,dilated --window 2 --dilation 1 --length 4
  [ "$output" = $'window(2)\n##..\n###.\n.###\n..##\n\ndilated(2, 1)\n#.#.\n.#.#\n#.#.\n.#.#' ]
}

@test "attnmask: a large mask is drawn in blocks, and what they mean is said" {
  run -0 --separate-stderr ran-attnmask --attention window --window 8 --length 64 --size 16
  [ "${#lines[@]}" -eq 8 ]
  [ "${lines[0]}" = '@@+.............' ]
  [ "${lines[1]}" = '.+@@+...........' ]
  [ "$stderr" = 'ran-attnmask: a character stands for 8 queries and 4 keys: . none, : - = + * % @ more and more, # all' ]
  run -0 --separate-stderr ran-attnmask -q --attention window --window 8 --length 1000000000
  [ -z "$stderr" ]
  [ "${#lines[0]}" -le 80 ]
}

@test "attnmask: a part of a mask" {
  ran-attnmask --attention dispersed --length 90 --size 90 | sed -n '31,70s/.\{30\}\(.\{40\}\).*/\1/p' >want
  ran-attnmask --attention dispersed --length 90 --rows 30:70 | cmp - want
}

@test "attnmask: a length of one" {
  for attention in full window dispersed; do
    run -0 ran-attnmask -q --attention $attention --length 1
    [ "$output" = '#' ]
  done
  run -0 ran-attnmask --count --format json --length 1
  [ "$output" = '{"attention":"full","mask":"none","length":1,"scores":1,"full":1,"share":1,"keys":1}' ]
}

# ---- pictures ------------------------------------------------------------------------------------

@test "attnmask: pictures have the size that was asked for" {
  # 40 cells of 2 pixels, and an edge of 1 around them
  ran-attnmask --length 40 --format svg --size 100 >m.svg
  [ "$(grep -c 'width="82" height="1"' m.svg)" -eq 2 ]
  ran-attnmask -q --length 100000 --attention dispersed --format svg -o m.svg
  # 511 cells, 100000 / 196, up
  [ "$(grep -c 'width="513" height="1"' m.svg)" -eq 2 ]
  run -2 ran-attnmask --length 40 --format png
  [[ $output == *'text, json, svg or html'* ]]
  ran-attnmask --length 9 --attention window,full --format svg >m.svg
  grep -q '^<svg xmlns=' m.svg
  [ "$(grep -c '^<g ' m.svg)" -eq 2 ]
  for text in 'Attention patterns window(4), full, 9 tokens' 'window(4)' full 'key (token)' 'query (token)' \
    8 'the query attends to the key'; do
    grep -qF ">$text</text>" m.svg || { echo "no $text" >&2; false; }
  done
}

@test "attnmask: a picture that cannot be written leaves nothing" {
  run -3 ran-attnmask --length 9 --format svg -o no/such/folder.svg
  [ "$output" = 'ran-attnmask: cannot write no/such/folder.svg: No such file or directory' ]
  [ -e /dev/full ] || skip 'no /dev/full'
  run -3 sh -c 'ran-attnmask --length 9 >/dev/full'
  [ "$output" = 'ran-attnmask: cannot write standard output: No space left on device' ]
}

# ---- intervals -----------------------------------------------------------------------------------

@test "attnmask: intervals of keys, a line a query" {
  run -0 ran-attnmask --attention dispersed --length 10 --rows 3:5 --format json
  [ "$output" = $'{"row":3,"keys":[[1,6],[7,8]]}\n{"row":4,"keys":[[0,1],[2,7],[8,9]]}' ]
  run -0 ran-attnmask --attention full,window --mask causal --length 4 --rows 3:4 --format json
  [ "$output" = $'{"head":0,"row":3,"keys":[[0,4]]}\n{"head":1,"row":3,"keys":[[1,4]]}' ]
}

@test "attnmask: intervals agree with the grid" {
  for options in '--attention dispersed' '--attention dilated --dilation 2 --window 8' \
    '--attention dispersed --mask prefix --source 21' '--attention window --mask causal'; do
    ran-attnmask $options --length 50 >grid
    ran-attnmask $options --length 50 --format json | jq -r '
      [.keys[] | range(.[0]; .[1])] as $seen | [range(50)] | map(if IN($seen[]) then "#" else "." end) | join("")' >seen
    cmp grid seen
  done
}

@test "attnmask: what a token sees, of a billion" {
  run -0 ran-attnmask --attention window --length 1000000000 --row 999999999
  [ "$output" = $'window(4), mask none: token 999999999 of 1000000000 sees 3\n999999997-999999999' ]
  [ "$(ran-attnmask --attention dispersed --length 1000000000 --row 500000000 --format json |
    jq '.keys | length')" -eq $((1 + 2 * 31621)) ]
}

@test "attnmask: what a token sees after several layers" {
  run -0 ran-attnmask --attention window --length 1000 --row 500 --reach 3
  [ "$output" = $'window(4), mask none: token 500 of 1000 reaches 13 after 3 layers\n494-506' ]
  run -0 ran-attnmask --attention window --mask causal --length 1000 --row 3 --reach 100 --format json
  [ "$output" = '{"row":3,"reach":100,"tokens":4,"keys":[[0,4]]}' ]
  # A step of 2 in one head, of 3 in the other: 1 cannot be reached at once.
  run -0 ran-attnmask --attention dilated,window --window 2 --dilation 2 --mask causal --length 20 --row 10 --reach 2 --format json
  [ "$output" = '{"row":10,"reach":2,"tokens":6,"keys":[[4,5],[6,11]]}' ]
}

@test "attnmask: reach is the product of the masks" {
  options='--attention dispersed --mask prefix --source 30 --length 70'
  ran-attnmask $options --format json >rows
  jq -s -c '[.[] | [.keys[] | range(.[0]; .[1])]] as $keys | [range(0; 70; 9)] | map(
      reduce range(2) as $layer ($keys[.]; [.[] as $i | $keys[$i][]] | unique))[]' rows >want
  for row in $(seq 0 9 69); do
    ran-attnmask $options --row $row --reach 3 --format json | jq -c '[.keys[] | range(.[0]; .[1])]'
  done | cmp - want
}

# ---- counts --------------------------------------------------------------------------------------

@test "attnmask: counts" {
  run -0 ran-attnmask --count --attention dispersed --length 1000
  [ "$output" = 'dispersed(4), mask none, 1000 tokens
scores         60550
share of full  6.055 % of 1000000
keys a query   60.55' ]
  run -0 ran-attnmask --count --attention dispersed --window 64 --length 1000 --format json
  [ "$output" = '{"attention":"dispersed","window":64,"mask":"none","length":1000,"scores":116962,"full":1000000,"share":0.116962,"keys":116.962,"paper":114456}' ]
}

@test "attnmask: counts are those of the intervals [all]" {
  for options in '--attention full' '--attention window --window 7' '--attention dilated --dilation 3 --window 10' \
    '--attention dispersed'; do
    for mask in none causal 'prefix --source 40'; do
      ran-attnmask $options --mask $mask --length 113 --format json |
        jq -s -c 'map([.keys[] | .[1] - .[0]] | add) | add' >want
      ran-attnmask -q $options --mask $mask --length 113 --count --format json |
        jq -c .scores | cmp - want
    done
  done
}

@test "attnmask: a billion tokens are counted at once" {
  run -0 timeout 120 ran-attnmask --count --length 1000000000 --attention full,window,dilated,dispersed \
    --dilation 7 --window 1000 --mask prefix --source 123456789 --format json
  [ "${#lines[@]}" -eq 4 ]
  # 123456789 * 10^9 and the triangle of the rest
  [[ ${lines[0]} == *'"scores":507620789813366866,'* ]]
}

@test "attnmask: the table of the paper" {
  run -0 --separate-stderr ran-attnmask --table
  [ -z "$stderr" ]
  [ "$(awk 'length > 88' <<<"$output")" = '' ]
  [[ $output == *' 16384  268435456   81914         81914     0.0305  '*' 1.00'* ]]
  [[ $output == *' 16384  268435456  3970510       3970510     1.4791  '*' 1.50'* ]]
  ran-attnmask --table --format json >table
  [ "$(jq -c '[.window, .dispersed] | transpose | map([.[0].length, .[0].scores, .[0].paper, .[1].scores, .[1].paper])' table)" = \
    '[[10,44,44,62,62],[50,244,244,700,700],[100,494,494,1962,1962],[500,2494,2494,21524,21524],[1000,4994,4994,60550,60550],[5000,24994,24994,671500,671500],[10000,49994,49994,1895358,1895358],[15000,74994,74994,3478806,3478806],[16384,81914,81914,3970510,3970510]]' ]
  [ "$(jq -c '.dispersed | map(.growth) | .[0], (.[8] * 100 | round)' table | paste -s -d ' ')" = 'null 150' ]
  # Windows that the formulas say nothing about have no figure of the paper.
  [ "$(ran-attnmask --table --window 64 --format json | jq -c '.window | map(.paper)[:3]')" = '[null,null,5444]' ]
}

# ---- what is refused ------------------------------------------------------------------------------

@test "attnmask: numbers out of range [all]" {
  refused 'no length: give --length N'
  refused 'no length: give --length N' --length 0
  refused "--length must be a whole number from 0 to 1000000000, not '10000000000000000000'" --length 10000000000000000000
  refused "--length must be a whole number" --length -1
  refused "--window must be a whole number from 1 to 1000000000, not '0'" --length 9 --attention window --window 0
  refused "--row must be a token from 0 to 8, not '9'" --length 9 --row 9
  refused "--row must be a token from 0 to 8, not '-1'" --length 9 --row -1
  refused "--row must be a token from 0 to 8, not ''" --length 9 --row=
  for rows in 3 3: :3 3:3 4:3 0:10 a:b 1:2:3; do
    refused "--rows must be A:B, with A less than B and B at most 9, not '$rows'" --length 9 --rows $rows
  done
  refused '10 of 9 tokens cannot be source tokens' --length 9 --mask prefix --source 10
  refused '--size must be a whole number' --length 9 --size 10000
  refused '--reach with dispersed attention is for lengths up to' --length 1000000000 --attention dispersed --row 0 --reach 2
}

@test "attnmask: settings that do not go together" {
  refused '--attention must be full, window, dilated or dispersed, or several' --length 9 --attention windows
  refused '--attention must be' --length 9 --attention full,
  refused '--attention takes 256 names at most' --length 9 --attention "$(printf 'full,%.0s' $(seq 256))full"
  refused '--attention dilated needs --dilation N' --length 9 --attention dilated
  refused '--dilation is for --attention dilated' --length 9 --attention window --dilation 2
  refused '--mask prefix needs --source N' --length 9 --mask prefix
  refused '--source is for --mask prefix' --length 9 --mask causal --source 3
  refused 'exclude each other' --length 9 --count --row 3
  refused '--reach needs --row' --length 9 --reach 3
  refused '--rows is for grids' --length 9 --count --rows 1:2
  refused '--format svg draws a whole pattern' --length 9 --count --format svg
  refused 'only --model reads files' --length 9 file.jsonl
  refused '--table has lengths of its own' --table --length 9
  refused '--table compares' --table --mask causal
}

# noted WORDS ARGUMENT...: ends well, with WORDS as the only message, and none with -q.
noted() {
  words=$1
  shift
  run -0 --separate-stderr ran-attnmask "$@"
  [ "$stderr" = "ran-attnmask: $words" ]
  run -0 --separate-stderr ran-attnmask -q "$@"
  [ -z "$stderr" ]
}

@test "attnmask: what may not be meant is said" {
  noted 'a window of 5 is odd: it has 2 tokens on each side, like one of 4' --length 9 --attention window --window 5
  noted 'a window of 1 is the token itself' --length 9 --attention window --window 1
  noted 'a window of 10 is longer than the 9 tokens there are' --length 9 --attention window --window 10
  noted 'a dilation of 9 is longer than the 9 tokens there are' --length 9 --attention dilated --dilation 9
  run -0 --separate-stderr ran-attnmask --length 9 --window 5
  [ -z "$stderr" ]
}
