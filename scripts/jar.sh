#!/usr/bin/env bash
# Builds spark/pacer-spark.jar by Maven when its sources have changed since; with
# --test also runs its tests, unless these very sources have passed them.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p out spark/target
exec 9>out/.jar.lock
flock 9

jar=spark/pacer-spark.jar
sources=$(find spark/pom.xml spark/src -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)
built=spark/target/built.sha256
tested=spark/target/tested.sha256
holds() { [[ -f $1 && $(cat "$1") == "$sources" ]]; }

goal=()
if [[ ${1:-} == --test ]]; then
    if holds "$tested" && holds "$built" && [[ -s $jar ]]; then
        echo "jar: these sources have passed their tests (make clean forgets that)"
        exit 0
    fi
    echo "jar: building and testing $jar by Maven (fetches its plugins and Spark 4.2.0 the first time)"
    rm -rf spark/target/surefire-reports
elif holds "$built" && [[ -s $jar ]]; then
    exit 0
else
    echo "jar: building $jar by Maven (fetches its plugins and Spark 4.2.0 the first time)"
    goal=(-DskipTests)
fi

rm -f "$built" "$tested"
(cd spark && mvn -B -ntp -q "${goal[@]}" package)
[[ -s $jar ]] || { echo "jar: Maven ended well but left no $jar" >&2; exit 1; }
echo "$sources" >"$built"
if [[ ${#goal[@]} -eq 0 ]]; then
    echo "$sources" >"$tested"
fi
