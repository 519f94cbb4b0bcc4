#!/usr/bin/env bash
# Runs a command with the pyspark of version $1, as scripts/setup.sh installed it,
# whatever Spark the caller's shell has.
set -euo pipefail
venv=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pacer}/venv-pyspark-$1
shift
home=$("$(dirname "$0")/spark-home.sh" "$venv")
export PATH=$venv/bin:$PATH SPARK_HOME=$home PYSPARK_PYTHON=$venv/bin/python3 PYSPARK_DRIVER_PYTHON=$venv/bin/python3
export PACER_TEST_SPARK=1 PACER_TEST_SPARK_HOME=$home
exec "$@"
