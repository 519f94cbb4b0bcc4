import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.util.AccumulatorV2;

/**
 * Accumulators against executors' heartbeats. Usage: Beats late, with one that is asked whether it is zero before it has been
 * read back whole, as Spark's own of a cached table is; Beats throws, with one that throws when the heartbeater asks it.
 * Prints how often one was read back, how many executors have no heartbeats of their own any more, and in which attempt tasks ran at most.
 */
public class Beats {
  static final String HEARTBEATER = "executor-heartbeater";

  /** Has a map that is not there until it has been read back whole. */
  public static class Late extends AccumulatorV2<Long, Map<Long, Long>> {
    private HashMap<Long, Long> values = new HashMap<>();

    @Override public boolean isZero() { return values.isEmpty(); }
    @Override public AccumulatorV2<Long, Map<Long, Long>> copy() { return make(); }
    @Override public void reset() { values.clear(); }
    @Override public void add(Long value) { values.put(value, value); }
    @Override public void merge(AccumulatorV2<Long, Map<Long, Long>> other) { values.putAll(other.value()); }
    @Override public Map<Long, Long> value() { return values; }

    Late make() { return new Late(); }
  }

  /** Throws when the heartbeater asks it. */
  public static class Throws extends Late {
    @Override public boolean isZero() {
      if (Thread.currentThread().getName().equals(HEARTBEATER)) throw new IllegalStateException("the heartbeater asks");
      return super.isZero();
    }
    @Override Late make() { return new Throws(); }
  }

  /** Whether the heartbeater waits for nothing: Spark's executor service never runs again what has thrown. */
  static boolean ended() {
    for (Map.Entry<Thread, StackTraceElement[]> thread : Thread.getAllStackTraces().entrySet()) {
      if (!thread.getKey().getName().equals(HEARTBEATER)) continue;
      boolean timed = false;
      boolean takes = false;
      for (StackTraceElement frame : thread.getValue()) {
        timed |= frame.getMethodName().equals("awaitNanos");
        takes |= frame.getClassName().endsWith("DelayedWorkQueue") && frame.getMethodName().equals("take");
      }
      return takes && !timed;
    }
    return false;
  }

  static class Reads implements FlatMapFunction<Iterator<Integer>, long[]> {
    private final byte[] accumulator;
    private final int times;
    private final long linger;

    Reads(byte[] accumulator, int times, long linger) {
      this.accumulator = accumulator;
      this.times = times;
      this.linger = linger;
    }

    @Override public Iterator<long[]> call(Iterator<Integer> part) throws Exception {
      for (int i = 0; i < times; i++) {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(accumulator))) {
          in.readObject();
        }
      }
      long end = System.nanoTime() + linger * 1_000_000L;
      while (System.nanoTime() < end) Thread.sleep(100);
      return Collections.singletonList(new long[] {times, ended() ? 1 : 0, TaskContext.get().attemptNumber()}).iterator();
    }
  }

  public static void main(String[] args) throws Exception {
    boolean late = args[0].equals("late");
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("beats-" + args[0]))) {
      Late accumulator = late ? new Late() : new Throws();
      spark.sc().register(accumulator, args[0]);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (ObjectOutputStream to = new ObjectOutputStream(out)) {
        to.writeObject(accumulator);
      }
      int tasks = late ? 500 : 2;
      List<Integer> parts = new ArrayList<>();
      for (int i = 0; i < tasks; i++) parts.add(i);
      Reads reads = new Reads(out.toByteArray(), late ? 100 : 1, late ? 0 : 30_000);
      long[] all = new long[3];
      for (long[] one : spark.parallelize(parts, tasks).mapPartitions(reads).collect()) {
        all[0] += one[0];
        all[1] = Math.max(all[1], one[1]);
        all[2] = Math.max(all[2], one[2]);
      }
      System.out.println("RESULT read " + all[0] + " ended " + all[1] + " attempt " + all[2]);
    }
  }
}
