import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;

/**
 * Has a committer of Hadoop's commit a job, as Spark's commit protocol drives it, and prints how long the job's end
 * takes after its last task's.
 *
 * Usage: Committers OUTPUT TASKS BYTES [KEY=VALUE]...
 */
public final class Committers {
    public static void main(String[] args) throws Exception {
        Path output = new Path(args[0]);
        int tasks = Integer.parseInt(args[1]);
        byte[] body = new byte[Integer.parseInt(args[2])];
        Configuration conf = new Configuration();
        for (int k = 3; k < args.length; k++) {
            String[] pair = args[k].split("=", 2);
            conf.set(pair[0], pair[1]);
        }
        output.getFileSystem(conf).exists(output); // As each writer of Spark's looks before the job.
        JobID job = new JobID("20261129120000", 1);
        JobContextImpl context = new JobContextImpl(conf, job);
        PathOutputCommitter committer = of(output, new TaskAttemptContextImpl(conf, attempt(job, 0)));
        committer.setupJob(context);
        var pool = Executors.newFixedThreadPool(4);
        List<Future<?>> running = new ArrayList<>();
        for (int k = 0; k < tasks; k++) {
            int task = k;
            running.add(pool.submit(() -> {
                TaskAttemptContext one = new TaskAttemptContextImpl(new Configuration(conf), attempt(job, task));
                PathOutputCommitter own = of(output, one);
                own.setupTask(one);
                Path file = new Path(own.getWorkPath(), String.format("part-%05d.txt", task));
                try (FSDataOutputStream out = file.getFileSystem(one.getConfiguration()).create(file, false)) {
                    out.write(body);
                }
                if (own.needsTaskCommit(one)) {
                    own.commitTask(one);
                }
                return null;
            }));
        }
        for (Future<?> one : running) {
            one.get();
        }
        pool.shutdown();
        long last = System.nanoTime();
        committer.commitJob(context);
        System.out.println("TAIL " + (System.nanoTime() - last) / 1e9);
        System.exit(0); // Threads of the store's client stay.
    }

    private static TaskAttemptID attempt(JobID job, int task) {
        return new TaskAttemptID(new TaskID(job, TaskType.MAP, task), 0);
    }

    private static PathOutputCommitter of(Path output, TaskAttemptContext context) throws Exception {
        return PathOutputCommitterFactory.createCommitter(output, context);
    }
}
