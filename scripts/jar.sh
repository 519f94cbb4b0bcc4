#!/usr/bin/env bash
# Builds spark/pacer-spark.jar, or with the word workloads
# spark/workloads/pacer-workloads.jar, by Maven when its sources have changed since;
# with --test also runs its tests, unless these very sources have passed them.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=spark jar=spark/pacer-spark.jar fetches='its plugins and Spark 4.2.0'
transcripts=driver/testdata # Its tests play them.
if [[ ${1:-} == workloads ]]; then
    dir=spark/workloads jar=spark/workloads/pacer-workloads.jar fetches='Spark 4.0.1 with MLlib' transcripts=
    shift
fi
mkdir -p out "$dir/target"
exec 9>out/.jar.lock
flock 9

sources=$(find spark/parent/pom.xml "$dir/pom.xml" "$dir/src" $transcripts -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)
built=$dir/target/built.sha256
tested=$dir/target/tested.sha256
holds() { [[ -f $1 && $(cat "$1") == "$sources" ]]; }

# The second compiler does not pay in a JVM this short; the tests' JVMs have it off in the
# parent's pom.xml.
export MAVEN_OPTS="${MAVEN_OPTS:-} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# The Scala compiler in Maven writes escape codes into pipes, too.
maven() { (cd "$dir" && mvn -B -ntp -q "$@" 2>&1) | sed -u 's/\x1b\[[0-9;]*m//g'; }

if ! holds "$built" || [[ ! -s $jar ]]; then
    echo "jar: building $jar by Maven (fetches $fetches the first time)"
    rm -f "$built" "$tested"
    maven -DskipTests package
    [[ -s $jar ]] || { echo "jar: Maven ended well but left no $jar" >&2; exit 1; }
    echo "$sources" >"$built"
fi
[[ ${1:-} == --test ]] || exit 0
if holds "$tested"; then
    echo "jar: the sources of $jar have passed their tests (make clean forgets that)"
    exit 0
fi
echo "jar: testing $jar by Maven"
rm -rf "$dir/target/surefire-reports"
maven surefire:test
echo "$sources" >"$tested"
