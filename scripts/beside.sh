# Commands beside all else, for the scripts that source this: by files, since those
# who wait are other processes.
#   begin NAME COMMAND...  runs a command with its output in out/NAME.log
#   ended NAME             waits for it and fails as it did
#   attended COMMAND...    runs it in front, where a trap of this script does not have
#                          to wait for its end
#   end_all                stops what still runs, with all that it has started
mkdir -p out
begin() {
    local name=$1
    shift
    rm -f "out/$name.rc" "out/$name.pid"
    set -m # A process group of its own.
    { "$@" >"out/$name.log" 2>&1; echo $? >"out/$name.rc"; } &
    set +m
    echo $! >"out/$name.pid"
    begun+=("$name")
}
ended() {
    until [[ -s out/$1.rc ]]; do
        kill -0 "$(<"out/$1.pid")" 2>/dev/null || [[ -s out/$1.rc ]] || return 1 # Killed, without a word.
        sleep 0.2
    done
    [[ $(<"out/$1.rc") == 0 ]]
}
attended() {
    set -m
    "$@" &
    set +m
    at=$!
    wait "$at"
}
end_all() {
    local name
    [[ -z ${at:-} ]] || kill -- "-$at" 2>/dev/null || true
    for name in "${begun[@]}"; do
        [[ -s out/$name.rc ]] || kill -- "-$(<"out/$name.pid")" 2>/dev/null || true
    done
}
begun=() at=
