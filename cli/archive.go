package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/executor"
)

// Settings of a user that have to do with class-data archives: the options of the driver's JVM, and what goes in front
// of Spark on its class path.
const (
	confDefaultOptions = "spark.driver.defaultJavaOptions"
	confExtraOptions   = "spark.driver.extraJavaOptions"
	confDefaultPath    = "spark.driver.defaultExtraClassPath"
	confExtraPath      = "spark.driver.extraClassPath"
)

// driverOptions returns the options of the driver's JVM, "" where the user has his own default ones. They are how it
// compiles, and the class-data archive that a node controller on this machine has made for its Spark, where there is
// one and the driver can use it. For a driver on a node it is that node's.
func (l *launch) driverOptions(onNode bool) string {
	if l.given(confDefaultOptions, "") != "" || l.inCluster() {
		return ""
	}
	users := strings.Fields(l.given(confExtraOptions, "--driver-java-options") + " " + l.getenv("SPARK_SUBMIT_OPTS"))
	options := executor.DriverOptions(users)
	switch {
	case slices.ContainsFunc(users, executor.ChoosesArchive):
	case l.given(confDefaultPath, "--driver-default-class-path") != "" ||
		l.given(confExtraPath, "--driver-class-path") != "":
	case onNode:
		options = append(options, executor.ArchiveMark)
	case l.sp.home == "" || l.config.Node.ArchiveDir() == "":
	case !executor.EmptyDir(l.sp.confDir(l.getenv)): // It goes in front of Spark.
	default:
		options = append(options, l.archiveOptions()...)
	}
	return strings.Join(options, " ")
}

func (l *launch) archiveOptions() []string {
	archive, err := l.driverArchive()
	if err != nil {
		return nil // spark-submit itself says what is wrong with its Java.
	}
	// A node controller that runs as root keeps its archives in the second one.
	system := daemon.NodeConfig{State: daemon.SystemStateDir}
	for _, dir := range []string{l.config.Node.ArchiveDir(), system.ArchiveDir()} {
		if archive.Usable(dir, uint32(os.Getuid())) {
			return archive.Options(dir)
		}
	}
	return nil
}

// driverArchive is the archive for drivers of the Java that spark-submit takes.
func (l *launch) driverArchive() (executor.Archive, error) {
	java := l.getenv("JAVA_HOME")
	if java == "" {
		var err error
		if java, err = executor.JavaOf(lookPath("java", l.getenv("PATH"))); err != nil {
			return executor.Archive{}, err
		}
	}
	return executor.SparkArchive(java, l.sp.home)
}
