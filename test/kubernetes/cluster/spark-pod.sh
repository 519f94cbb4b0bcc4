#!/bin/bash
# What a pod of Spark's starts: the driver by spark-submit, or an executor with what its pod's environment says. Another
# command is run as it is.
set -eu
case ${1:-} in
driver)
    shift
    exec tini -s -- "$SPARK_HOME/bin/spark-submit" --deploy-mode client \
        --conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS" \
        --conf "spark.executorEnv.SPARK_DRIVER_POD_IP=$SPARK_DRIVER_BIND_ADDRESS" "$@"
    ;;
executor)
    options=()
    while option=SPARK_JAVA_OPT_${#options[@]} && [[ -n ${!option+given} ]]; do options+=("${!option}"); done
    exec tini -s -- "$JAVA_HOME/bin/java" "${options[@]}" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
        -cp "${SPARK_CLASSPATH:-}:$SPARK_HOME/jars/*:${SPARK_DIST_CLASSPATH:-}" \
        org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend --driver-url "$SPARK_DRIVER_URL" \
        --executor-id "$SPARK_EXECUTOR_ID" --cores "$SPARK_EXECUTOR_CORES" --app-id "$SPARK_APPLICATION_ID" \
        --hostname "$SPARK_EXECUTOR_POD_IP" --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" \
        --podName "$SPARK_EXECUTOR_POD_NAME"
    ;;
*) exec "$@" ;;
esac
