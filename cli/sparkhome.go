package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/magiconair/properties"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/infra/executor"
)

// installedJar is the name under which `pacer jar install` leaves the jar.
const installedJar = executor.InstalledJar

// spark is a Spark distribution as pacer submit uses it.
type spark struct {
	// submit is the path of spark-submit; home is its distribution, "" when
	// only spark-submit is known.
	submit, home string
}

// findSpark looks for spark-submit as a user would expect: SPARK_HOME, then
// PATH, then the pyspark that the python3 in PATH imports. getenv stands for the
// environment.
func findSpark(ctx context.Context, getenv func(string) string) (spark, error) {
	if home := getenv("SPARK_HOME"); home != "" {
		path := filepath.Join(home, "bin", "spark-submit")
		if !executable(path) || isPacer(path) {
			return spark{}, command.Coded(command.ExitNotFound, fmt.Errorf(
				"SPARK_HOME is %s, but %s is not there, or is a link to pacer", home, path))
		}
		return spark{submit: path, home: home}, nil
	}
	if path := lookPath("spark-submit", getenv("PATH")); path != "" {
		return spark{submit: path, home: homeOf(ctx, path)}, nil
	}
	if home := pysparkHome(ctx, lookPath("python3", getenv("PATH"))); home != "" {
		return spark{submit: filepath.Join(home, "bin", "spark-submit"), home: home}, nil
	}
	return spark{}, command.Coded(command.ExitNotFound, fmt.Errorf(
		"cannot find spark-submit: set SPARK_HOME, put it in PATH, or pip install pyspark for the python3 in PATH"))
}

// version is what the distribution's own jars tell of it, "" for nothing.
func (sp spark) version() string {
	const core = "spark-core_"
	found, _ := filepath.Glob(filepath.Join(sp.home, "jars", core+"*.jar")) // A home with wildcards finds nothing.
	if len(found) == 0 || sp.home == "" {
		return ""
	}
	_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(found[0])[len(core):], ".jar"), "-")
	return version
}

// supported refuses a Spark that the jar would not work in: Spark 3 comes with another Scala, in which the
// jar could not even say so. Where the version is not known, the driver's jar will say.
func (sp spark) supported() error {
	version := sp.version()
	if version == "" {
		return nil
	}
	if err := api.CheckSpark(version); err != nil {
		return command.Coded(command.ExitUsage, fmt.Errorf("%s: %w", sp.home, err))
	}
	return nil
}

// homeOf finds the distribution that the spark-submit at path starts: the one it
// stands in, or that of the Python environment it was installed to by pip.
func homeOf(ctx context.Context, path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	home := filepath.Dir(filepath.Dir(path))
	if isDir(filepath.Join(home, "jars")) {
		return home
	}
	return pysparkHome(ctx, filepath.Join(filepath.Dir(path), "python3"))
}

// pysparkHome returns the distribution inside the pyspark package of a Python
// interpreter, "" when there is none. It does not import pyspark, which takes
// seconds on a busy machine.
func pysparkHome(ctx context.Context, python string) string {
	if python == "" || !executable(python) {
		return ""
	}
	const find = "import importlib.util as u; s = u.find_spec('pyspark'); print(s.submodule_search_locations[0] if s " +
		"else '')"
	out, err := exec.CommandContext(ctx, python, "-c", find).Output()
	home := strings.TrimSpace(string(out))
	if err != nil || home == "" || !executable(filepath.Join(home, "bin", "spark-submit")) {
		return ""
	}
	return home
}

// lookPath is exec.LookPath over a given PATH. It passes over links to this binary.
func lookPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if p := filepath.Join(dir, name); dir != "" && executable(p) && !isPacer(p) {
			return p
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// properties reads the settings that spark-submit would take from files: the
// file given by --properties-file, or spark-defaults.conf without one (or with
// --load-spark-defaults in addition), and those given by --extra-properties-file. Where several
// have a setting the last of the latter wins, then the given file.
func (sp spark) properties(s submission, getenv func(string) string) (settingFiles, error) {
	var paths []string // A later one wins.
	given, has := s.last[optionProperties]
	_, both := s.last[optionDefaults]
	if dir := sp.confDir(getenv); dir != "" && (!has || both) {
		// Spark passes over a path that is no file.
		if path := filepath.Join(dir, "spark-defaults.conf"); isFile(path) {
			paths = append(paths, path)
		}
	}
	if has {
		paths = append(paths, given)
	}
	f := settingFiles{all: map[string]string{}, from: map[string]string{}}
	for _, path := range append(paths, s.extra...) {
		read := map[string]string{}
		err := readProperties(path, read)
		if os.IsNotExist(err) {
			f.missing = err
		} else if err != nil {
			return f, fmt.Errorf("read %s: %w", path, err)
		}
		for key, value := range read {
			f.all[key], f.from[key] = value, path
		}
	}
	return f, nil
}

func (sp spark) confDir(getenv func(string) string) string {
	if dir := getenv("SPARK_CONF_DIR"); dir != "" {
		return dir
	}
	if sp.home == "" {
		return ""
	}
	return filepath.Join(sp.home, "conf")
}

// readProperties adds the settings of a Java properties file to into as Spark reads
// them: nothing in a value stands for another one, and the blanks around it go.
func readProperties(path string, into map[string]string) error {
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	read, err := loader.LoadFile(path)
	if err != nil {
		return err
	}
	for key, value := range read.Map() {
		into[key] = strings.TrimFunc(value, func(r rune) bool { return r <= ' ' && r != '\r' && r != '\n' })
	}
	return nil
}

// ownSpark is the home of the Spark that pacer submit takes, "" where it finds none.
func (sh *shell) ownSpark(ctx context.Context) string {
	sp, err := findSpark(ctx, sh.getenv)
	if err != nil {
		return ""
	}
	return sp.home
}
