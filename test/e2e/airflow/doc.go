// Package airflow runs tasks of Apache Airflow, whose operator for Spark starts `pacer submit` by the links of
// `pacer link`: on Pacer's own nodes and on YARN, with the driver beside the task and on the cluster.
//
// Airflow's own loop runs each task (DAG.test), in a process and with a database of its own. A case is held to the
// task's state there, to the exception that its operator raises, to the processes that are left 15 s after its end, and
// to the profiles that its run has taught.
package airflow
