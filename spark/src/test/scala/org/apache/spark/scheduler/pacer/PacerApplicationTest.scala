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
      assertEquals(denied, PacerApplication.denied(failure), failure)
    }
}
