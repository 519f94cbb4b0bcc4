"""A DAG of one task, which Airflow runs in this process: SparkSubmitOperator with the arguments in E2E_TASK.

Prints a line SAID for each failed try, with the exception's text in JSON, and at the end a line STATE with the task's
state in Airflow's database and its tries.
"""
import datetime
import json
import os

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import DAG

task = json.loads(os.environ["E2E_TASK"])


def said(context):
    print("SAID", json.dumps(str(context["exception"])), flush=True)


with DAG(os.environ["E2E_DAG"], schedule=None, catchup=False) as dag:
    SparkSubmitOperator(task_id="report", on_failure_callback=said, on_retry_callback=said,
                        retry_delay=datetime.timedelta(0), **task)

if __name__ == "__main__":
    run = dag.test(logical_date=datetime.datetime.fromisoformat(os.environ["E2E_LOGICAL_DATE"]))
    for instance in run.get_task_instances():
        print("STATE", instance.state, instance.try_number, flush=True)
