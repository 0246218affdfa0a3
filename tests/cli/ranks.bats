#!/usr/bin/env bats
# ran-train under mpirun: any number of ranks, on one host or several, gives the model of a program
# without MPI; and what they say, and leave, when one of them ends.

bats_require_minimum_version 1.5.0
load train.bash

setup() {
  PATH=$RAN_BIN:$PATH
  mkdir "$BATS_TEST_TMPDIR/work" # bats has files of its own beside it
  cd "$BATS_TEST_TMPDIR/work" || exit
  # Root of a container, and more ranks than cores, are both unusual elsewhere.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  # Busy machines need longer than a second to leave a checkpoint.
  export OMPI_MCA_odls_base_sigkill_timeout=5
  # Open MPI frees little of what it has when a program ends.
  export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
}

teardown() {
  local name
  for name in $(cat namespaces 2>/dev/null); do ip netns del "$name"; done
}

needs_mpi() {
  [ -n "${RAN_MPI:-}" ] || skip "there is no MPI to build with (share/setup mpi)"
  command -v mpirun >/dev/null || skip "there is no mpirun (share/setup mpi)"
  # That of MPICH breaks off when standard input is read too slowly, and kills ranks unasked.
  ! mpirun --version | grep -q 'Open MPI' || open_mpi=yes
}

ranks() { # ranks N ARGUMENT...: trains
  local n=$1
  shift
  mpirun -n "$n" "$RAN_MPI" "$@"
}

rank_of() { # rank_of N: the process of our last job that is that rank
  local p
  for p in $(pgrep -f "^$RAN_MPI "); do
    tr '\0' '\n' <"/proc/$p/environ" >environ
    grep -qx "PWD=$PWD" environ && grep -qx "OMPI_COMM_WORLD_RANK=$1" environ && echo "$p"
  done
}

shape='--dim 16 --layers 1 --heads 2 --head-dim 8 --window 16 --no-early-stop'

# same_for TASK FILE OPTION...: 1, 2 and 4 ranks give the bytes of none
same_for() {
  local task=$1 file=$2 n
  shift 2
  ran-train "$task" -q $shape "$@" -o alone.ran "$file"
  for n in 1 2 4; do
    if [ "${open_mpi:-}" ]; then
      ranks "$n" "$task" -q $shape "$@" -o "ranks-$n.ran" <"$file"
    else
      ranks "$n" "$task" -q $shape "$@" -o "ranks-$n.ran" "$file"
    fi
    cmp alone.ran "ranks-$n.ran"
  done
}

@test "a build without MPI says so under mpirun, once" {
  ! ldd "$RAN_BIN/ran-train" | grep -q libmpi || skip "this build has MPI"
  documents 20 >train.jsonl
  export OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0
  refused 2 "built without MPI" ran-train classify -o model.ran train.jsonl
  [ ! -e model.ran ]
  OMPI_COMM_WORLD_RANK=1 run -0 --separate-stderr ran-train classify -o model.ran train.jsonl
  [ -z "$output$stderr" ]
  [ ! -e model.ran ]
  unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK
  PMI_SIZE=3 PMI_RANK=0 refused 2 "one of 3 processes" ran-train classify -o model.ran train.jsonl
}

@test "any number of ranks gives the model of a build without MPI: classify" {
  needs_mpi
  documents 90 300 | jq -c '.author = .id % 30' >train.jsonl
  same_for classify train.jsonl --epochs 2 --wide 1024
  same_for classify train.jsonl --epochs 2 --wide 1024 --early-stop
  same_for classify train.jsonl --epochs 2 --wide 1024 --dev-group author
  same_for classify train.jsonl --epochs 2 --wide 0 --no-refit --batch 7 --encoder contextualizer
}

@test "any number of ranks gives the model of a build without MPI: tag" {
  needs_mpi
  documents 90 200 | jq -c '(.text / " ") as $w |
    {tokens: $w, tags: [$w[] | if startswith("word") then "O" else "B-SKY" end]}' >tagged.jsonl
  same_for tag tagged.jsonl --epochs 2
}

@test "any number of ranks gives the model of a build without MPI: lm, whole and in chunks, and mlm" {
  needs_mpi
  documents 60 300 | jq -c '{text}' >texts.jsonl
  same_for lm texts.jsonl --epochs 1
  same_for lm texts.jsonl --epochs 2 --bptt 2 --batch 9
  same_for mlm texts.jsonl --epochs 1
}

@test "ranks begin with another model as one process does" {
  needs_mpi
  documents 60 200 >train.jsonl
  ran-train mlm -q $shape --epochs 1 -o language.ran train.jsonl
  for n in 1 3; do
    ranks "$n" classify -q --init language.ran --epochs 2 --wide 512 -o "ranks-$n.ran" train.jsonl
  done
  cmp ranks-1.ran ranks-3.ran
}

@test "any number of ranks gives the model of a build without MPI: above a pretrained encoder, and beside tuned layers" {
  needs_mpi
  encoder=$BATS_TEST_DIRNAME/../encoders/sentence-mean
  documents 60 90 >train.jsonl
  shape="--init $encoder --epochs 2 --no-early-stop"
  same_for classify train.jsonl --frozen --wide 0 --upper certain
  same_for classify train.jsonl --tune-layers 1 --wide 512
}

@test "metadata know nothing of ranks; the summary says what rank 0 sent and received" {
  needs_mpi
  documents 60 200 >train.jsonl
  run -0 --separate-stderr ranks 3 classify $shape --epochs 1 --log log.jsonl -o model.ran train.jsonl
  [[ $stderr == *"3 ranks; rank 0 sent and received "* ]]
  [ "$(grep -c '"event":"end"' log.jsonl)" = 1 ]
  jq -e 'select(.event == "end") | .moved_bytes > 0' log.jsonl
  ! grep -aqi 'ranks\|moved' < <(head -c 20000 model.ran)
}

@test "what is wrong with the command line or the data is said by one rank" {
  needs_mpi
  documents 30 >train.jsonl
  run -2 --separate-stderr ranks 3 classify --no-such-option -o model.ran train.jsonl
  [ "$(grep -c 'no-such-option' <<<"$stderr")" = 1 ]
  echo '{"text": "no label"}' >>train.jsonl
  run -3 --separate-stderr ranks 3 classify -o model.ran train.jsonl
  [ "$(grep -c 'train.jsonl:31: ' <<<"$stderr")" = 1 ]
  ranks 2 classify --help >help
  diff help <(ran-train classify --help)
}

long='--epochs 30 --patience 99 --wide 0 --no-refit'

# begin N [OPTION...]: a long training in the background, some steps of it done
begin() {
  local n=$1
  shift
  rm -f model.ran.ckpt
  mpirun -n "$n" "$RAN_MPI" classify $shape $long "$@" --log log.jsonl -o model.ran train.jsonl \
    2>said 3>&- &
  job=$!
  wait_for '"step":20,' log.jsonl
}

# goes_on N: that gives the model of one process in the end
goes_on() {
  [ -e model.ran.ckpt ]
  [ ! -e model.ran ]
  ranks "$1" classify -q $shape $long --resume -o model.ran train.jsonl
  cmp alone.ran model.ran
  [ ! -e model.ran.ckpt ]
  rm model.ran log.jsonl
}

@test "a signal to any rank ends all after the step, and another number of ranks resumes" {
  needs_mpi
  documents 90 200 >train.jsonl
  ran-train classify -q $shape $long -o alone.ran train.jsonl
  begin 2
  kill -TERM "$(rank_of 1)"
  if wait $job; then false; fi
  grep -q 'stopped in epoch' said
  goes_on 4
  begin 4
  kill -INT "$(rank_of 0)"
  if wait $job; then false; fi
  grep -q 'model.ran.ckpt has the state of the training' said
  goes_on 1
}

@test "a rank that is killed ends the job, which says so and leaves a checkpoint" {
  needs_mpi
  documents 90 200 >train.jsonl
  ran-train classify -q $shape $long -o alone.ran train.jsonl
  begin 3 --checkpoint-minutes 0.001
  wait_for '"event":"checkpoint"' log.jsonl
  kill -KILL "$(rank_of 2)"
  if wait $job; then false; fi
  # mpirun ends the others, too, and on a busy machine rank 0 may have no time left to say it.
  [ -z "${open_mpi:-}" ] || grep -q 'model.ran.ckpt has the state of the training\|exited on signal 9' said
  [ -e model.ran.ckpt ]
  [ -z "$(rank_of 0)" ]
  goes_on 2
}

@test "ranks that would compute otherwise are refused" {
  needs_mpi
  documents 30 >train.jsonl
  run -2 --separate-stderr mpirun -n 2 sh -c '
    [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] && export RAN_ISA=base || export RAN_ISA=portable
    exec "$@"' - "$RAN_MPI" classify $shape -o model.ran train.jsonl
  [[ $stderr == *"rank 1, on "*"would compute with other instructions (portable)"* ]]
  [ ! -e model.ran ]
}

@test "ranks search for settings, and say what training would need" {
  needs_mpi
  documents 60 200 >train.jsonl
  ranks 2 classify -q --tune 0.02 --epochs 2 $shape --wide 0 -o model.ran train.jsonl >found.json
  jq -e .epochs found.json
  ran-classify -m model.ran train.jsonl >/dev/null
  ranks 2 classify --dry-run $shape train.jsonl | grep -q '^time  '
}

# Namespaces are hosts with one cable each, to a bridge in a namespace of its own.
cable() { # cable HOST NAME: an address 10.77.0.HOST
  ip netns add "$2" && echo "$2" >>namespaces
  ip link add eth0 netns "$2" type veth peer name "port$1" netns "$bridge"
  ip -n "$bridge" link set "port$1" master bridge up
  ip -n "$2" addr add "10.77.0.$1/24" dev eth0
  ip -n "$2" link set eth0 up
  ip -n "$2" link set lo up
}

@test "several hosts give the model of one" {
  needs_mpi
  bridge=ran$$-0
  ip netns add "$bridge" 2>/dev/null || skip "network namespaces need root, and ip of iproute2"
  echo "$bridge" >>namespaces
  ip -n "$bridge" link add bridge type bridge
  ip -n "$bridge" link set bridge up
  cable 1 "ran$$-1"
  cable 2 "ran$$-2"
  cable 3 "ran$$-3"
  cat >agent <<END
#!/bin/sh
# agent HOST COMMAND...: what ssh would do
name=ran$$-\${1##*.}
shift
exec ip netns exec "\$name" unshare -u sh -c "hostname \$name; \$*"
END
  chmod +x agent
  documents 90 200 >train.jsonl
  ran-train classify -q $shape --epochs 2 -o alone.ran train.jsonl
  ./agent 10.77.0.1 "cd '$PWD'; mpirun --mca plm_rsh_agent '$PWD/agent' --mca btl self,tcp \
    --host 10.77.0.1,10.77.0.2,10.77.0.3 -n 3 sh -c 'hostname >>hosts; exec \"\$@\"' - \
    '$RAN_MPI' classify -q $shape --epochs 2 -o model.ran train.jsonl"
  [ "$(sort -u hosts | wc -l)" = 3 ]
  cmp alone.ran model.ran
}
