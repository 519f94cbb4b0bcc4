import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A Kubernetes for tests: fabric8's mock of the API on loopback, and in the kubelet's place something that starts
 * the executors of pods as processes. Each is in groups of cgroup v1 that are named and bounded as a kubelet's are.
 * Nothing is scheduled, no image is run and no namespace is made: all pods are this machine's, with its Spark.
 *
 * <p>Its arguments are the directory of its files and the Spark. The API's port is in the file port, the group below
 * which those of pods are in the cpu tree in the file groups. It prints "ready", and removes all when it is ended.
 */
final class Cluster {
    private static final Path GROUPS = Path.of("/sys/fs/cgroup");
    private static final int PERIOD = 100_000; // Of a kubelet's quotas, in us.

    private final Map<String, Process> pods = new ConcurrentHashMap<>(); // By their names.
    private final Map<String, String> addresses = new ConcurrentHashMap<>(); // None is the machine's.
    private final List<Path> trees = new ArrayList<>(); // The top of all pods in each tree, the CPU's first.
    private final Path dir;
    private final String spark;
    private KubernetesClient client;

    private Cluster(Path dir, String spark) throws IOException {
        this.dir = dir;
        this.spark = spark;
        for (String line : Files.readAllLines(Path.of("/proc/self/cgroup"))) {
            String[] parts = line.split(":", 3);
            for (String tree : parts[1].split(",")) {
                // Below this process's own group: the machine's memory is bounded there.
                if (List.of("cpu", "cpuacct", "memory").contains(tree)) {
                    Path top = Path.of(GROUPS + "/" + tree + parts[2], "pacer-pods-" + ProcessHandle.current().pid());
                    trees.add(tree.equals("cpu") ? 0 : trees.size(), top);
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Cluster cluster = new Cluster(Path.of(args[0]), args[1]);
        KubernetesMockServer api = new KubernetesMockServer(new Context(), new MockWebServer(), new HashMap<>(),
            new KubernetesCrudDispatcher(), false);
        api.init(InetAddress.getLoopbackAddress(), 0);
        cluster.client = api.createClient();
        Runtime.getRuntime().addShutdownHook(new Thread(cluster::end));
        cluster.client.pods().inAnyNamespace().watch(cluster.new Kubelet());
        Files.writeString(cluster.dir.resolve("groups"), cluster.trees.get(0).toString());
        Files.writeString(cluster.dir.resolve("port"), Integer.toString(api.getPort()));
        System.out.println("kubernetes: ready");
        Thread.currentThread().join();
    }

    private final class Kubelet implements Watcher<Pod> {
        @Override
        public void eventReceived(Action action, Pod pod) {
            String name = pod.getMetadata().getName();
            try {
                if (action == Action.ADDED) {
                    start(pod);
                } else if (action == Action.DELETED && pods.containsKey(name)) {
                    pods.get(name).destroy();
                }
            } catch (IOException e) {
                System.err.println("pod " + name + ": " + e);
                say(pod, "Failed");
            }
        }

        @Override
        public void onClose(WatcherException why) {
            System.err.println("the watch has ended: " + why);
        }
    }

    private void start(Pod pod) throws IOException {
        String name = pod.getMetadata().getName();
        Container container = pod.getSpec().getContainers().get(0);
        Path work = Files.createDirectories(dir.resolve(name));
        List<String> command = new ArrayList<>(List.of("bash", "-c",
            "for group in $GROUPS_OF_POD; do echo $$ >$group/cgroup.procs; done; exec \"$@\"", "kubelet"));
        Map<String, String> env = new TreeMap<>();
        String address = "127.1.0." + (addresses.size() + 1);
        addresses.put(name, address);
        for (EnvVar v : container.getEnv()) {
            // What is not a value is the pod's address.
            env.put(v.getName(), v.getValue() != null ? v.getValue() : address);
        }
        command.addAll(executor(env));
        ProcessBuilder builder = new ProcessBuilder(command).directory(work.toFile()).redirectErrorStream(true)
            .redirectOutput(new File(work.toFile(), "log"));
        builder.environment().putAll(env);
        builder.environment().put("SPARK_LOCAL_DIRS", work.toString()); // In the place of its volume.
        builder.environment().put("GROUPS_OF_POD", groups(pod, container));
        Process process = builder.start();
        pods.put(name, process);
        say(pod, "Running");
        process.onExit().thenAccept(p -> say(pod, p.exitValue() == 0 ? "Succeeded" : "Failed"));
    }

    /** What the entry point of Spark's image makes of a pod's environment. */
    private List<String> executor(Map<String, String> env) {
        List<String> command = new ArrayList<>(List.of("java"));
        for (int i = 0; env.containsKey("SPARK_JAVA_OPT_" + i); i++) {
            command.add(env.get("SPARK_JAVA_OPT_" + i));
        }
        command.addAll(List.of("-Xms" + env.get("SPARK_EXECUTOR_MEMORY"), "-Xmx" + env.get("SPARK_EXECUTOR_MEMORY"),
            "-cp", spark + "/jars/*", "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
            "--driver-url", env.get("SPARK_DRIVER_URL"), "--executor-id", env.get("SPARK_EXECUTOR_ID"),
            "--cores", env.get("SPARK_EXECUTOR_CORES"), "--app-id", env.get("SPARK_APPLICATION_ID"),
            "--hostname", env.get("SPARK_EXECUTOR_POD_IP"), "--resourceProfileId", env.get("SPARK_RESOURCE_PROFILE_ID"),
            "--podName", env.get("SPARK_EXECUTOR_POD_NAME")));
        return command;
    }

    /** Makes the groups of a pod's container, with the weight and the quota that a kubelet writes. */
    private String groups(Pod pod, Container container) throws IOException {
        Quantity asked = container.getResources().getRequests().get("cpu");
        Quantity most = container.getResources().getLimits().get("cpu");
        String kind = asked.equals(most) ? "" : "burstable/"; // Requests and limits of memory are equal in Spark's.
        String of = "kubepods/" + kind + "pod" + pod.getMetadata().getUid();
        String id = pod.getMetadata().getUid().replace("-", "").repeat(2);
        List<String> all = new ArrayList<>();
        for (Path top : trees) {
            all.add(Files.createDirectories(top.resolve(of).resolve(id)).toString());
        }
        for (Path group : List.of(trees.get(0).resolve(of), trees.get(0).resolve(of).resolve(id))) {
            long shares = Math.round(asked.getNumericalAmount().doubleValue() * 1024);
            Files.writeString(group.resolve("cpu.shares"), Long.toString(shares));
            if (most != null) {
                long quota = Math.round(most.getNumericalAmount().doubleValue() * PERIOD);
                Files.writeString(group.resolve("cpu.cfs_quota_us"), Long.toString(quota));
            }
        }
        return String.join(" ", all);
    }

    /** Tells the API in which phase a pod is, if it is still there. */
    private void say(Pod pod, String phase) {
        String name = pod.getMetadata().getName();
        try {
            client.pods().inNamespace(pod.getMetadata().getNamespace()).withName(name).editStatus(p -> new PodBuilder(p)
                .editOrNewStatus().withPhase(phase).withPodIP(addresses.get(name)).withHostIP("127.0.0.1").endStatus()
                .build());
        } catch (RuntimeException e) {
            System.err.println("pod " + name + " is not " + phase + " for the API: " + e.getMessage());
        }
    }

    private void end() {
        pods.values().forEach(Process::destroyForcibly);
        pods.values().forEach(p -> p.onExit().join());
        try {
            for (Path top : trees) {
                remove(top);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void remove(Path group) throws IOException {
        if (!Files.isDirectory(group)) {
            return;
        }
        try (DirectoryStream<Path> inside = Files.newDirectoryStream(group, Files::isDirectory)) {
            for (Path g : inside) {
                remove(g);
            }
        }
        Files.delete(group);
    }
}
