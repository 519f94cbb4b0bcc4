package daemon

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/sparkpacer/pacer/infra/executor"
)

// allowedHomes are where the drivers' Spark and Java may be (docs/decisions/034): what the
// configuration lists and nothing else, or what this machine shows to have.
func (c NodeConfig) allowedHomes() (sparks, javas executor.Places, err error) {
	sparks, err1 := places("spark-homes", c.SparkHomes, c.foundSparks)
	javas, err2 := places("java-homes", c.JavaHomes, foundJavas)
	return sparks, javas, errors.Join(err1, err2)
}

func places(key, list string, found func() []string) (executor.Places, error) {
	listed, err := executor.ParsePlaces(list)
	if err != nil {
		return executor.Places{}, fmt.Errorf("%s: %w", key, err)
	}
	if len(listed) > 0 {
		return executor.Places{Listed: listed, Only: true}, nil
	}
	return executor.Places{Listed: found()}, nil
}

// foundSparks are the environment's Spark, that of the spark-submit on the path, that of this
// user's `pacer submit`, and where distributions are put.
func (c NodeConfig) foundSparks() []string {
	homes := []string{os.Getenv("SPARK_HOME"), c.OwnSpark}
	if path, err := exec.LookPath("spark-submit"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(real)))
		}
	}
	return absolute(append(homes, "/opt/spark*", "/usr/local/spark*"))
}

// foundJavas are the environment's Java, the one on the path, and where distributions are put.
func foundJavas() []string {
	homes := []string{os.Getenv("JAVA_HOME")}
	if path, err := exec.LookPath("java"); err == nil {
		if home, err := executor.JavaOf(path); err == nil {
			homes = append(homes, home)
		}
	}
	return absolute(append(homes, "/usr/lib/jvm/*", "/opt/java*", "/opt/jdk*"))
}

// absolute are those of paths that name a directory and not a pattern of everything.
func absolute(paths []string) []string {
	var out []string
	for _, path := range paths {
		if path = filepath.Clean(path); filepath.IsAbs(path) && path != "/" {
			out = append(out, path)
		}
	}
	return out
}
