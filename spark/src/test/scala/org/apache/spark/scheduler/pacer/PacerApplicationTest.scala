package org.apache.spark.scheduler.pacer

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class PacerApplicationTest {
  @Test def aTaskThatMayNotUseAFile(): Unit =
    for ((failure, denied) <- Seq(
        "java.io.IOException: Mkdirs failed to create file:/tmp/out/_temporary/0 (exists=false, cwd=file:/work)" -> true,
        "java.nio.file.AccessDeniedException: /root/in.csv" -> true,
        "java.io.FileNotFoundException: /root/in.csv (Permission denied)" -> true,
        "PermissionError: [Errno 13] Permission denied: '/root/out'" -> true,
        "java.io.FileNotFoundException: /tmp/in.csv (No such file or directory)" -> false,
        "ValueError: invalid literal for int()" -> false)) {
      assertEquals(denied, PacerApplication.denied(failure).exists(_.startsWith("a task may not use a file")), failure)
    }

  /** Hadoop's S3A names what it looks for with its scheme, and what it writes by its key. */
  @Test def aTaskWhoseStoreDeniesAnObject(): Unit =
    for ((failure, path) <- Seq(
        "java.nio.file.AccessDeniedException: s3a://b/d/part-0: getFileStatus on s3a://b/d/part-0: S3Exception: (Service: S3, Status Code: 403)" -> "s3a://b/d/part-0",
        "org.apache.spark.SparkException: Task failed\n\tat x\nCaused by: java.nio.file.AccessDeniedException: d/part-0: Writing Object on d/part-0: " +
          "software.amazon.awssdk.services.s3.model.S3Exception: denied (Service: S3, Status Code: 403)" -> "d/part-0"))
      assertEquals(Some(s"$path: the store denies it to this application's credentials (spark.hadoop.fs.s3a.*), or the bucket's policy does"),
        PacerApplication.denied(failure))
}
