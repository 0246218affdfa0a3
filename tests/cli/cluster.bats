#!/usr/bin/env bats
# share/cluster: scoring by several processes, on engines where they can be had, gives what one
# process gives. RECORDS=100000 bats tests/cli/cluster.bats measures, too: see the file `times`.

bats_require_minimum_version 1.5.0

setup_file() {
  share=$(cd "$BATS_TEST_DIRNAME/../../share" && pwd)
  export share
  bin=${RAN_BIN:-$(cd "$share/.." && pwd)/build}
  export PATH=$bin:$share/cluster:$share/examples:$PATH
  export RECORDS=${RECORDS:-600}
  cd "$BATS_FILE_TMPDIR"
  for word in wet dry; do
    for i in 1 2 3 4 5 6 7 8; do
      echo "{\"text\":\"$word $word day, number $i\",\"label\":\"$word\"}"
    done
  done >train.jsonl
  ran-train classify -q --epochs 1 --dim 8 --heads 1 --head-dim 8 -o model.ran train.jsonl
  # Short records of different lengths, some without an id, some that cannot be used.
  awk -v n="$RECORDS" 'BEGIN { srand(1); for (i = 1; i <= n; i++) {
    text = ""
    for (j = rand() * 30; j > 0; j--) text = text (rand() < 0.5 ? " wet" : " dry")
    if (i % 97 == 0) print "{\"id\":" i ",\"text\":7}"
    else if (i % 89 == 0) print "{ \"text\":\"a" text "\"}"
    else print "{\"id\":" i ",\"x\":1.50,\"text\":\"a" text "\"}" } }' >documents.jsonl
  timed 'one process, one thread' ran-classify -q -j 1 --errors-ok -m model.ran documents.jsonl \
    >whole.jsonl 2>/dev/null
}

setup() {
  cd "$BATS_TEST_TMPDIR"
  ln -s "$BATS_FILE_TMPDIR"/{model.ran,documents.jsonl,whole.jsonl} .
}

# timed WHAT COMMAND...: and how long it took, for people; the tests do not look at that.
timed() {
  local what=$1 begin=$EPOCHREALTIME status=0
  shift
  "$@" || status=$?
  awk -v what="$what" -v n="$RECORDS" -v a="$begin" -v b="$EPOCHREALTIME" \
    'BEGIN { printf "%.1f s, %d records: %s\n", b - a, n, what }' >>"$BATS_FILE_TMPDIR/times"
  return $status
}

teardown_file() {
  [ "$RECORDS" -lt 100000 ] || sed 's/^/# /' "$BATS_FILE_TMPDIR/times" >&3
}

@test "cluster: the documents are of all kinds" {
  [ "$(wc -l <whole.jsonl)" -eq "$RECORDS" ]
  grep -q ran_error whole.jsonl
  grep -q '"label":"wet"' whole.jsonl
}

@test "cluster: a shell deals out shards" {
  timed 'four shards, a shell' shard-classify model.ran 4 documents.jsonl >out.jsonl 2>err || [ $? -eq 1 ]
  cmp whole.jsonl out.jsonl
}

# ---- GNU parallel --------------------------------------------------------------------------------

parallel_or_skip() {
  parallel --version 2>/dev/null | grep -q GNU || skip 'no GNU parallel: apt-get install parallel'
}

@test "cluster: GNU parallel deals out shards" {
  parallel_or_skip
  timed '8 shards, GNU parallel' parallel-shards model.ran documents.jsonl 8 >out.jsonl 2>/dev/null
  cmp whole.jsonl out.jsonl
  # A part that fails as a whole is a failure.
  # Without a part there were no results, and no failure.
  run -2 parallel-shards model.ran documents.jsonl 0
  run -2 parallel-shards model.ran documents.jsonl x
  run parallel-shards nowhere.ran documents.jsonl 3
  [ "$status" -ne 0 ]
  for n in 0 x; do # each was no result, and success
    run -2 parallel-shards model.ran documents.jsonl $n
  done
}

@test "cluster: GNU parallel divides the file" {
  parallel_or_skip
  # Where lines are counted from differs; all else is the same, in order.
  timed 'eight pieces, GNU parallel' parallel-classify model.ran documents.jsonl \
    --block $(($(wc -c <documents.jsonl) / 8 + 1)) >out.jsonl 2>/dev/null || true
  place='s/"file":"[^"]*","line":[0-9]*//'
  sed "$place" whole.jsonl | cmp - <(sed "$place" out.jsonl)
}

# ---- Slurm ---------------------------------------------------------------------------------------

# slurm_up: a Slurm of this machine alone, of this user, in the folder of the test.
slurm_up() {
  local host port
  host=$(hostname -s)
  port=$((20000 + $$ % 20000))
  mkdir slurm slurm/state slurm/spool
  export SLURM_CONF=$PWD/slurm/slurm.conf
  cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$PWD/slurm/slurmctld.pid
SlurmdPidFile=$PWD/slurm/slurmd.pid
StateSaveLocation=$PWD/slurm/state
SlurmdSpoolDir=$PWD/slurm/spool
SlurmctldLogFile=$PWD/slurm/slurmctld.log
SlurmdLogFile=$PWD/slurm/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  PATH=$PATH:/usr/sbin
  slurmctld 3>&- && slurmd 3>&- || return 1
  for _ in $(seq 100); do
    [ "$(sinfo -h -o %T 2>/dev/null)" != idle ] || return 0
    sleep 0.2
  done
  return 1
}

teardown() {
  for pid in slurm/slurmd.pid slurm/slurmctld.pid; do
    [ ! -s "$pid" ] || kill "$(cat "$pid")" || true
  done
}

@test "cluster: an array of Slurm jobs labels parts, and again only what is missing" {
  for command in sbatch /usr/sbin/slurmctld /usr/sbin/slurmd; do
    command -v "$command" >/dev/null || skip 'no Slurm: apt-get install slurm-wlm'
  done
  slurm_up || skip "Slurm does not start here: $(tail -n 1 slurm/*.log 2>/dev/null | tail -n 1)"
  job() { sbatch -Q --wait -o log "$@" "$share/cluster/slurm-classify" model.ran documents.jsonl parts 12; }
  timed '12 tasks, two at a time, Slurm' job --array=1-12
  [ "$(ls parts | tr '\n' ' ')" = "$(seq -f 'part-%02g-of-12' 12 | tr '\n' ' ')" ]
  cat parts/part-* | cmp whole.jsonl -
  # Two are lost: the same again, or those alone.
  touch -r parts/part-05-of-12 before
  rm parts/part-03-of-12 parts/part-11-of-12
  job --array=3,11
  cat parts/part-* | cmp whole.jsonl -
  [ ! parts/part-05-of-12 -nt before ]
  # A part that cannot be done is a job that failed, and no file.
  rm parts/part-01-of-12
  rm model.ran
  run job --array=1
  [ "$status" -ne 0 ]
  [ ! -e parts/part-01-of-12 ]
  # Not in an array.
  run "$share/cluster/slurm-classify" model.ran documents.jsonl parts 12
  [ "$status" -eq 2 ]
}

# ---- Hadoop streaming and Spark ------------------------------------------------------------------

# streaming N COMMAND...: what Hadoop streaming does with N lines a task (NLineInputFormat) and no
# reducer: each task has a folder of its own with the files of the job in it, and reads lines with the
# place in the file as key. Any status but 0 fails the job. The parts are of no certain order. A line
# without a tab gets one at its end, behind it being an empty value.
streaming() {
  local n=$1
  shift
  rm -rf tasks
  mkdir tasks
  LC_ALL=C awk '{ printf "%d\t%s\n", at, $0; at += length($0) + 1 }' documents.jsonl | split -l "$n" - tasks/in-
  # shellcheck disable=SC2045 # names of ours; last first, since parts come in no order
  for in in $(ls -r tasks/in-*); do
    mkdir "tasks/work-${in##*-}"
    (cd "tasks/work-${in##*-}" && ln -s "$BATS_FILE_TMPDIR/model.ran" . && env -i PATH="$PATH" ${RAN_ISA:+RAN_ISA="$RAN_ISA"} setsid "$@") \
      <"$in" >"tasks/out-${in##*-}" || return 1
    sed -i '/\t/!s/$/\t/' "tasks/out-${in##*-}"
    cat "tasks/out-${in##*-}"
  done
}

@test "cluster: a mapper keeps keys with their records, and order comes back by them" {
  timed 'stand-in for Hadoop streaming, eight tasks' streaming $((RECORDS / 8 + 1)) \
    "$share/cluster/map" ran-classify -m model.ran >out 2>/dev/null
  run -1 cmp -s <(cut -f 2- out) whole.jsonl
  # Within a task, lines and places are the task's.
  place='s/"file":"[^"]*","line":[0-9]*//; s/"id":"[^"]*:[0-9]*"//'
  sort -n out | cut -f 2- | sed "$place" | cmp - <(sed "$place" whole.jsonl)
  # What ends the program fails the task, also from within a pipe.
  run streaming 1000000 "$share/cluster/map" ran-classify -m nowhere.ran
  [ "$status" -eq 1 ]
}

@test "cluster: a mapper does without keys, and with all sorts of lines" {
  map ran-classify -m model.ran <documents.jsonl 2>/dev/null |
    sed 's/"file":"-"/"file":"documents.jsonl"/' | cmp - whole.jsonl
  printf '%s\n' 'a	{"text":"wet"}' 'b:1	{ }' '	{"text":"dry", "z" : 1.0}' '{"a":	1,"text":"dry"}' 'c	no record' \
    'd	{}' >lines
  run -0 --separate-stderr map ran-classify -m model.ran --drop text <lines
  [ "${#lines[@]}" -eq 6 ]
  [[ ${lines[0]} == 'a	{"prediction":{"label":"'*'}' ]]
  [[ ${lines[1]} == 'b:1	{'*'"ran_error":{'*'}' ]]
  [[ ${lines[2]} == '	{'*'"z" : 1.0,"prediction":'*'}' ]]
  [[ ${lines[3]} == '{"a":	1,"prediction":{'*'}' ]]
  [[ ${lines[4]} == *'"ran_error":{'* ]]
  [[ ${lines[5]} == 'd	{'*'"ran_error":{'* ]]
  # A verb comes before the options; the file may have no line.
  : | map ran-tokenize encode --vocab <(ran-tokenize learn -q documents.jsonl 2>/dev/null)
  run -2 map
  # The key was lost without a word.
  for options in --only '--output-format fasttext' --output-format=fasttext; do
    run -2 --separate-stderr map ran-classify -m model.ran $options <lines
    [[ -z $output && $stderr == "map: ${options%%[ =]*} leaves out the key, "* ]]
  done
}

@test "cluster: Spark's pipe gives what one process gives" {
  command -v spark-submit >/dev/null || skip 'no Spark (spark-submit), which Debian does not have'
  cat >pipe.py <<'END'
import os, sys
from pyspark.sql import SparkSession
lines = SparkSession.builder.master("local[2]").getOrCreate().sparkContext.textFile(sys.argv[1], 4)
env = {"PATH": os.environ["PATH"]}  # otherwise the program has none
for line in lines.pipe("ran-classify -q -j 1 --errors-ok -m " + sys.argv[2], env=env, checkCode=True).collect():
    print(line)
END
  spark-submit pipe.py documents.jsonl "$PWD/model.ran" >out 2>err
  place='s/"file":"[^"]*","line":[0-9]*//; s/"id":"[^"]*:[0-9]*"//'
  sed "$place" out | cmp - <(sed "$place" whole.jsonl)
}

@test "cluster: Hadoop streaming gives what one process gives" {
  command -v hadoop >/dev/null || skip 'no Hadoop, which Debian does not have'
  jar=$(find "$(dirname "$(readlink -f "$(command -v hadoop)")")/.." -name 'hadoop-streaming-[0-9]*.jar' | head -n 1)
  [ -n "$jar" ] || skip 'no hadoop-streaming.jar beside hadoop'
  hadoop jar "$jar" -D mapreduce.framework.name=local -D mapreduce.job.reduces=0 \
    -D mapreduce.input.lineinputformat.linespermap=200 -files model.ran,"$share/cluster/map" \
    -inputformat org.apache.hadoop.mapred.lib.NLineInputFormat -input "file://$PWD/documents.jsonl" \
    -output "file://$PWD/out" -mapper 'map ran-classify -m model.ran'
  place='s/"file":"[^"]*","line":[0-9]*//; s/"id":"[^"]*:[0-9]*"//'
  sort -n out/part-* | cut -f 2- | sed "$place" | cmp - <(sed "$place" whole.jsonl)
}
