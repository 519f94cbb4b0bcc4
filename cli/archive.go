package cli

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/executor"
)

// What of a user's settings has to do with class-data archives: the options of
// the driver's JVM, and what goes in front of Spark on its class path.
const (
	confDefaultOptions = "spark.driver.defaultJavaOptions"
	confExtraOptions   = "spark.driver.extraJavaOptions"
	confDefaultPath    = "spark.driver.defaultExtraClassPath"
	confExtraPath      = "spark.driver.extraClassPath"
)

// driverOptions returns the options with which the driver maps the class-data
// archive that a node controller on this machine has made for its Spark; "" when
// there is none, when the driver could not use it, or when the user has a say.
func (l *launch) driverOptions() string {
	get := func(key, flag string) string { return cmp.Or(l.line.last[flag], l.line.conf[key], l.files[key]) }
	options := strings.Fields(get(confExtraOptions, "--driver-java-options"))
	switch {
	case l.sp.home == "" || l.config.Node.ArchiveDir() == "":
	case get(confDefaultOptions, "") != "" || slices.ContainsFunc(options, executor.ChoosesArchive):
	case get(confDefaultPath, "--driver-default-class-path") != "" || get(confExtraPath, "--driver-class-path") != "":
	case !emptyDir(l.sp.confDir(l.getenv)): // It goes in front of Spark.
	default:
		return l.archiveOptions()
	}
	return ""
}

func (l *launch) archiveOptions() string {
	archive, err := l.driverArchive()
	if err != nil {
		return "" // spark-submit itself says what is wrong with its Java.
	}
	// A node controller that runs as root keeps its archives in the second one.
	system := daemon.NodeConfig{State: daemon.SystemStateDir}
	for _, dir := range []string{l.config.Node.ArchiveDir(), system.ArchiveDir()} {
		if archive.Usable(dir, uint32(os.Getuid())) {
			return strings.Join(archive.Options(dir), " ")
		}
	}
	return ""
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

// emptyDir reports whether there is nothing in dir, or no dir.
func emptyDir(dir string) bool {
	entries, err := os.ReadDir(dir)
	return os.IsNotExist(err) || err == nil && len(entries) == 0
}
