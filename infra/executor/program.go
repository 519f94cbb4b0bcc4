package executor

import (
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// inFiles is a shell's script that runs a program where its files are, with its name looked up in PATH.
const inFiles = `cd "$1" && shift && exec "$@"`

// ProgramCommand returns the command line of a component other than a driver, in an image where it or the node has one.
func ProgramCommand(c *api.Component, paths Paths, node NodeSettings) CommandLine {
	env := unpaged(environment(api.Launch{Env: c.Env}, paths, node, c.Env["SPARK_HOME"], c.Env["JAVA_HOME"]))
	env = slices.DeleteFunc(env, func(v string) bool { return v == "SPARK_HOME=" })
	return CommandLine{Args: append([]string{"/bin/sh", "-c", inFiles, "component", paths.Files}, c.Command...), Env: env,
		Image: node.Image, Memory: c.Memory, Shows: []string{paths.Files}, Waited: true}
}

// unpaged is the environment of a component: without the pages that executors alone have.
func unpaged(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		return strings.HasPrefix(v, PageEnv+"=") || strings.HasPrefix(v, WishEnv+"=")
	})
}
