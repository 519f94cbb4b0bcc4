#!/usr/bin/env bash
# Prints the Spark distribution inside the virtual environment $1.
set -euo pipefail
for home in "$1"/lib/python3*/site-packages/pyspark; do
    if [[ -x $home/bin/spark-submit ]]; then
        printf '%s\n' "$home"
        exit 0
    fi
done
printf 'spark-home: there is no pyspark in %s: run make setup\n' "$1" >&2
exit 1
