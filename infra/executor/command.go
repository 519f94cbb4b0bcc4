package executor

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// backend is the main class of an executor (docs/spark.md, S4).
const backend = "org.apache.spark.executor.CoarseGrainedExecutorBackend"

// PageEnv names the environment variable that tells the JVM where its progress
// page is.
const PageEnv = "PACER_PROGRESS_PAGE"

// WishEnv names the one that tells it where its wish page is.
const WishEnv = "PACER_WISH_PAGE"

// NodeSettings are what a node contributes to every command line.
type NodeSettings struct {
	// SparkHome and JavaHome win over the driver's when they are set.
	SparkHome, JavaHome string
	// Sparks and Javas are where the driver's may be.
	Sparks, Javas Places
	// Image is the image that has Spark and Java in these homes; "" is this
	// machine, where they are checked. JavaHome may be "" then: PATH leads to java.
	Image string
	// Jar is the pacer-spark jar of this node.
	Jar string
	// Host is the name or address under which the node's executors are reached
	// and which they bind.
	Host string
	// Slots is the number of task slots where the application asks for none: the
	// cores offered, rounded up.
	Slots int
	// User is whom executors run as.
	User Credential
	// Archives is the directory of class-data archives, "" for none.
	Archives string
}

// mostWhy bounds the text about what is missing: with what others put before it, it fits into a status.
const mostWhy = api.MostText / 2

// Command returns the command line of an executor JVM. Faults that a user can
// mend (no Spark, another version of it, no Java, no jar) come back all at once,
// one line, as api.KindInvalid.
func Command(app api.AppID, id api.ExecutorID, launch api.Launch, paths Paths, node NodeSettings) (CommandLine, error) {
	at, javaAt, err := homes(launch, node)
	spark, java := at.dir, javaAt.dir
	if err := errors.Join(err, readable("pacer jar", node.Jar)); err != nil {
		return CommandLine{}, api.Errorf(api.KindInvalid, "%s",
			api.Clip(strings.ReplaceAll(err.Error(), "\n", "; "), mostWhy))
	}
	slots := launch.Cores
	if slots <= 0 {
		slots = max(1, node.Slots)
	}
	args, reads, file := []string{filepath.Join(java, "bin", "java")}, []string{node.Jar}, ""
	if node.Image == "" {
		reads = []string{args[0], filepath.Join(spark, "jars"), node.Jar}
		if archive, ok := usableArchive(launch, node, javaAt, at); ok {
			file = archive.File(node.Archives)
			args, reads = append(args, archive.Options(node.Archives)...), append(reads, file)
		}
	} else if java == "" {
		args[0] = "java"
	}
	args = append(args, named(jvmOptions(launch, slots), app, id)...)
	var path []string
	if err := node.see(at, func() error { path = classPath(launch, node.Jar, spark); return nil }); err != nil {
		return CommandLine{}, err
	}
	args = append(args, "-cp", strings.Join(path, ":"), backend,
		"--driver-url", launch.DriverURL,
		"--executor-id", string(id),
		"--bind-address", node.Host,
		"--hostname", node.Host,
		"--cores", strconv.Itoa(slots),
		"--app-id", string(app),
		"--resourceProfileId", "0")
	return CommandLine{
		Args:  args,
		Env:   environment(launch, paths, node, spark, java),
		Reads: reads,
		Shows: node.shows(at, javaAt, file, interpreterOf(launch)...),
		Image: node.Image,
		// No more than the planner counts for it.
		Memory: launch.Heap + launch.Overhead + launch.OffHeap,
	}, nil
}

// homes returns where Spark and Java are: on this machine, checked, or in an
// image, which was looked into before.
func homes(launch api.Launch, node NodeSettings) (spark, java home, err error) {
	if node.Image != "" {
		return home{dir: node.SparkHome}, home{dir: node.JavaHome}, nil
	}
	spark, err1 := node.home("Spark", "node.spark-homes", node.SparkHome, launch.SparkHome, node.Sparks,
		func(dir string) (string, error) { return sparkHome(dir, launch.SparkVersion) })
	java, err2 := node.home("Java", "node.java-homes", node.JavaHome, launch.JavaHome, node.Javas,
		func(dir string) (string, error) { return javaHome(first(dir, os.Getenv("JAVA_HOME"))) })
	return spark, java, errors.Join(err1, err2)
}

// home looks into the node's own home of something or, without that, into the one that the
// driver names.
func (n NodeSettings) home(what, key, own, named string, places Places, look func(dir string) (string, error)) (h home,
	err error) {
	if own != "" || named == "" {
		h = home{listed: true, trusted: true}
	} else if h, err = places.allow(what, key, named, n.User); err != nil {
		return home{}, err
	}
	err = n.see(h, func() (err error) {
		h.dir, err = look(first(own, named))
		return err
	})
	return h, err
}

// usableArchive is the archive for the executor to map. There is none where the
// user's options decide about archives, where no archive can be and where none
// is made yet: who makes them says so.
func usableArchive(launch api.Launch, node NodeSettings, java, spark home) (Archive, bool) {
	if node.Archives == "" || slices.ContainsFunc(launch.JavaOptions, ChoosesArchive) {
		return Archive{}, false
	}
	archive, err := node.archive(launch, java, spark)
	return archive, err == nil && archive.Usable(node.Archives, node.User.UID)
}

// jvmOptions returns the options before the class path. The quota is no reason for any of
// them: the JVM starts without one (docs/spark.md, S23) and must not size itself by the
// CPUs that it sees then (S24).
func jvmOptions(launch api.Launch, slots int) []string {
	options := []string{"-Xmx" + strconv.FormatInt(int64(launch.Heap), 10)}
	for _, option := range moduleOptions {
		if !slices.Contains(launch.JavaOptions, option) {
			options = append(options, option)
		}
	}
	options = append(options, "-XX:ActiveProcessorCount="+strconv.Itoa(slots), sweeping)
	if !slices.ContainsFunc(launch.JavaOptions, choosesCollector) {
		options = append(options, "-XX:+UseParallelGC")
	}
	if !slices.ContainsFunc(launch.JavaOptions, tunesCompiler) {
		options = append(options, compilation...)
	}
	return append(options, launch.JavaOptions...)
}

// named replaces what stands in options for the application's and the executor's id, as Spark's
// own cluster managers do: logs of collectors and dumps of heaps get a file each.
func named(options []string, app api.AppID, id api.ExecutorID) []string {
	names := strings.NewReplacer("{{APP_ID}}", string(app), "{{EXECUTOR_ID}}", string(id))
	for i, option := range options {
		options[i] = names.Replace(option)
	}
	return options
}

// sweeping is how much compiled code has to change, in per cent of the code cache, for
// the JVM to look through it. Until then callers of a method that was compiled again
// may go on through the interpreter, which makes a record cost up to three times as
// much (docs/decisions/022).
const sweeping = "-XX:SweeperThreshold=0.02"

// By how many times hotter than by default methods have to prove until the optimizing compiler
// takes them: its work is what each JVM pays anew for one application. A loop of tasks gets there
// in a fraction of a second, and little of a driver ever does. The first compiler, which costs a
// tenth, takes them as early as by default. The figures are in docs/decisions/022.
const (
	hotterInExecutors = 10
	hotterInDrivers   = 50
)

// optimizing are the options by which the optimizing compiler waits so many times longer.
func optimizing(hotter int) []string {
	var options []string
	for _, threshold := range []struct {
		name      string
		byDefault int // In all JVMs of Java 17 to 25.
	}{
		{"Tier4InvocationThreshold", 5000}, {"Tier4MinInvocationThreshold", 600},
		{"Tier4CompileThreshold", 15000}, {"Tier4BackEdgeThreshold", 40000},
	} {
		options = append(options, fmt.Sprintf("-XX:%s=%d", threshold.name, hotter*threshold.byDefault))
	}
	return options
}

// compilation is how JIT compilation of executors is set, which are several per node: the compiler
// goes before the tasks (nice 5) that meanwhile run the slow code it is about to replace. Nice
// values count inside an executor's group only; lowering one's own takes no permission.
var compilation = append(optimizing(hotterInExecutors), "-XX:ThreadPriorityPolicy=1", "-XX:JavaPriority5_To_Priority=5",
	"-XX:CompileCommand=quiet", estimatorApart)

// estimatorApart keeps how Spark estimates the size of its maps out of the loops of tasks. It uses
// Range.foreach, as each `for (i <- a to b)` of Scala does. With the estimator in it that method's
// code is so large that the compiler does not take it into callers that it compiles later. Then it
// is a race whether a user's loop is compiled into its task (docs/decisions/022).
const estimatorApart = "-XX:CompileCommand=dontinline,org.apache.spark.util.SizeEstimator$::*"

// DriverOptions returns the options that a driver's JVM is given beside those of its user, who may
// have tuned the compiler.
func DriverOptions(users []string) []string {
	if slices.ContainsFunc(users, tunesCompiler) {
		return nil
	}
	return optimizing(hotterInDrivers)
}

func tunesCompiler(option string) bool {
	name := strings.TrimLeft(strings.TrimPrefix(option, "-XX:"), "+-")
	return strings.HasPrefix(name, "CompileThreshold") || strings.HasPrefix(name, "Tier")
}

// collectors are the choices among which a JVM allows one only.
var collectors = []string{"Serial", "Parallel", "G1", "Z", "Shenandoah", "Epsilon"}

func choosesCollector(option string) bool {
	return slices.ContainsFunc(collectors, func(name string) bool { return option == "-XX:+Use"+name+"GC" })
}

// moduleOptions are what Spark 4.0 to 4.3 itself gives to every JVM that it
// starts on Java 17 and later (org.apache.spark.launcher.JavaModuleOptions). The
// first one makes older JVMs skip those they do not know.
var moduleOptions = []string{
	"-XX:+IgnoreUnrecognizedVMOptions",
	"--add-modules=jdk.incubator.vector",
	"--add-opens=java.base/java.lang=ALL-UNNAMED",
	"--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
	"--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
	"--add-opens=java.base/java.io=ALL-UNNAMED",
	"--add-opens=java.base/java.net=ALL-UNNAMED",
	"--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/java.util=ALL-UNNAMED",
	"--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
	"--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
	"--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.cs=ALL-UNNAMED",
	"--add-opens=java.base/sun.security.action=ALL-UNNAMED",
	"--add-opens=java.base/sun.util.calendar=ALL-UNNAMED",
	"--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
	"-Dio.netty.tryReflectionSetAccessible=true",
	"-Dio.netty.allocator.type=pooled",
	"-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
	"--sun-misc-unsafe-memory-access=allow",
	"--enable-native-access=ALL-UNNAMED",
}

// classPath is Spark's jars, this node's jar and Spark's configuration. The node's
// jar goes first where another one might come before it, because the page's
// layout is agreed with this node; then what the user puts in front of Spark.
// Where nobody does, the path begins as a driver's and shares its archive.
// The configuration goes last, since a directory in front of Spark rules out an
// archive: Spark's jars hold no file of the names that are configured.
func classPath(launch api.Launch, jar, spark string) []string {
	path := archived(launch, jar, spark)
	if path[0] != jar {
		path = append(path, jar)
	}
	if conf := filepath.Join(spark, "conf"); isDir(conf) {
		path = append(path, conf)
	}
	return path
}

// archived is the part of the class path that an archive is made for: all but
// what stands behind Spark.
func archived(launch api.Launch, jar, spark string) []string {
	path := sparkPath(spark)
	if _, err := os.Lstat(filepath.Join(spark, "jars", InstalledJar)); err == nil || len(launch.ClassPath) > 0 {
		path = slices.Concat([]string{jar}, launch.ClassPath, path)
	}
	return path
}

// InstalledJar is the name under which the pacer-spark jar stands in a Spark
// distribution.
const InstalledJar = "pacer-spark.jar"

// sparkPath is what Spark's launcher gives to every JVM behind the configuration:
// the logging interface by name, then all jars.
func sparkPath(spark string) []string {
	jars := filepath.Join(spark, "jars")
	// The pattern is well formed unless the home's name is odd: then all jars do.
	path, _ := filepath.Glob(filepath.Join(jars, "slf4j-api-*"))
	return append(path, filepath.Join(jars, "*"))
}

// ofMachine are variables that say of a machine what a JVM cannot find out by itself: its time
// zone, its language and the ways out of its network.
var ofMachine = []string{"TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_NUMERIC",
	"LC_TIME", "LC_MESSAGES", "LC_MONETARY", "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
	"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"}

// environment is built from what the machine needs, the application and the node, in this
// order: what else the node controller has in its own (credentials, PYTHONPATH) is not for executors.
func environment(launch api.Launch, paths Paths, node NodeSettings, spark, java string) []string {
	user := node.User
	env := map[string]string{
		"PATH":                    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LANG":                    "C.UTF-8",
		"HOME":                    first(user.Home, paths.Local),
		"USER":                    user.Name,
		"SPARK_USER":              user.Name,
		"MALLOC_ARENA_MAX":        "2",
		"MALLOC_MMAP_THRESHOLD_":  "131072",
		"MALLOC_TRIM_THRESHOLD_":  "131072",
		"PYTHONDONTWRITEBYTECODE": "1",
	}
	for _, key := range ofMachine {
		// A proxy's password is the node's, and a locale without a name is less than the default has.
		if value := os.Getenv(key); value != "" && value != "C" && value != "POSIX" && !strings.Contains(value, "@") {
			env[key] = value
		}
	}
	maps.Copy(env, launch.Env)
	// These are the node's to say, whatever the user set. Without its address Spark would ask for that of
	// the host's name, which in a container nothing need know.
	env["SPARK_HOME"], env["SPARK_LOCAL_IP"] = spark, node.Host
	if java != "" {
		env["JAVA_HOME"] = java
	}
	env["SPARK_LOCAL_DIRS"], env[PageEnv], env[WishEnv] = paths.Local, paths.Page, paths.Wish
	list := make([]string, 0, len(env))
	for key, value := range env {
		list = append(list, key+"="+value)
	}
	sort.Strings(list)
	return list
}

// sparkHome checks that home is a Spark of the driver's version.
func sparkHome(home, version string) (string, error) {
	if home == "" {
		return "",
			errors.New(
				"no Spark on this node: set spark-home in its configuration or SPARK_HOME where the application is submitted")
	}
	const prefix, suffix = "spark-core_2.13-", ".jar"
	found, err := filepath.Glob(filepath.Join(home, "jars", prefix+"*"+suffix))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("no Spark 4 (jars/%s*%s) in %s on this node", prefix, suffix, home)
	}
	have := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), prefix), suffix)
	if err := api.CheckSpark(have); err != nil {
		return "", fmt.Errorf("%s on this node: %w", home, err)
	}
	if version != "" && have != version {
		return "",
			fmt.Errorf(
				"the driver runs Spark %s, but %s on this node is Spark %s: install the driver's version or set spark-home",
				version, home, have)
	}
	return filepath.Abs(home)
}

// javaHome returns the home of the JVM to use: home if given, else that of the
// java on the path.
func javaHome(home string) (string, error) {
	if home == "" {
		found, err := exec.LookPath("java")
		if err != nil {
			return "", errors.New("no Java on this node: install a JDK 17 or later, or set java-home in its configuration")
		}
		if home, err = JavaOf(found); err != nil {
			return "", err
		}
	}
	binary := filepath.Join(home, "bin", "java")
	if st, err := os.Stat(binary); err != nil || st.IsDir() || st.Mode()&0o111 == 0 {
		return "", fmt.Errorf("no Java in %s on this node (%s cannot be executed)", home, binary)
	}
	return filepath.Abs(home)
}

// JavaOf returns the home of the JVM that the program java starts: where it
// stands, links followed.
func JavaOf(java string) (string, error) {
	real, err := filepath.EvalSymlinks(java)
	if err != nil {
		return "", fmt.Errorf("java on this node: %w", err)
	}
	return filepath.Dir(filepath.Dir(real)), nil
}

func readable(what, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return f.Close()
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
