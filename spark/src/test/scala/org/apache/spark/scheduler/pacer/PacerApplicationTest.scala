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

  @Test def aTaskWhoseStoreDeniesAnObject(): Unit =
    assertEquals(Some("s3a://b/d/part-0: the store denies it to this application's credentials (spark.hadoop.fs.s3a.*), or the bucket's policy does"),
      PacerApplication.denied("java.nio.file.AccessDeniedException: s3a://b/d/part-0: Writing Object: S3Exception: (Service: S3, Status Code: 403)"))
}
