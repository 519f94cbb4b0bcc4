package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/api"
)

// The marks stand in a driver's command for what its node knows: where its files are, the pacer-spark jar, and the
// options by which a JVM maps the class-data archive.
const (
	FilesMark   = "{{pacer.files}}"
	JarMark     = "{{pacer.jar}}"
	ArchiveMark = "{{pacer.archive}}"
)

// Reach is how a driver reaches its planner: by its ticket, in Credentials.
type Reach struct {
	// Planner is host:port.
	Planner         string
	Credentials, CA string
	Plaintext       bool
	// Secret is what driver and executors know each other by.
	Secret string
}

// DriverCommand returns the command line of a driver: stock spark-submit in client mode, with what its user has
// given to pacer submit. Faults are as those of Command.
func DriverCommand(c *api.Component, launch api.Launch, paths Paths, node NodeSettings,
	reach Reach) (CommandLine, error) {
	at, javaAt, err := homes(launch, node)
	spark, java := at.dir, javaAt.dir
	submit, reads := filepath.Join(spark, "bin", "spark-submit"), []string{node.Jar}
	file, archive := "", ""
	if err == nil {
		err = readable("pacer jar", node.Jar)
	}
	if node.Image == "" {
		reads = append(reads, submit, filepath.Join(spark, "jars"))
		err = errors.Join(err, readable("spark-submit", submit))
		if err == nil && EmptyDir(filepath.Join(spark, "conf")) {
			if a, ok := usableArchive(api.Launch{}, node, javaAt, at); ok {
				file, archive = a.File(node.Archives), strings.Join(a.Options(node.Archives), " ")
				reads = append(reads, file)
			}
		}
	}
	if err != nil {
		return CommandLine{}, api.Errorf(api.KindInvalid, "%s",
			api.Clip(strings.ReplaceAll(err.Error(), "\n", "; "), mostWhy))
	}
	args := []string{submit, "--deploy-mode", "client", "--master", "sparkpacer://" + reach.Planner}
	for _, setting := range [][2]string{
		{"spark.driver.host", node.Host}, {"spark.driver.bindAddress", node.Host},
		{"spark.pacer.submission", c.Submission}, {"spark.pacer.submitted", fmt.Sprint(c.Submitted)},
		{"spark.pacer.watched", "true"}, {"spark.pacer.credentials", reach.Credentials}, {"spark.pacer.tls.ca", reach.CA},
	} {
		if setting[1] != "" {
			args = append(args, "--conf", setting[0]+"="+setting[1])
		}
	}
	if reach.Plaintext {
		args = append(args, "--conf", "spark.pacer.plaintext=true")
	}
	marks := strings.NewReplacer(FilesMark, paths.Files, JarMark, node.Jar, ArchiveMark, archive)
	for _, arg := range c.Command {
		args = append(args, marks.Replace(arg))
	}
	launch.Env = c.Env
	env := unpaged(environment(launch, paths, node, spark, java))
	shows := append(node.shows(at, javaAt, file, interpreterOf(launch)...), paths.Files, paths.Credential)
	return CommandLine{Args: args, Env: append(env, "_SPARK_AUTH_SECRET="+reach.Secret),
		Reads: reads, Shows: shows, Image: node.Image, Memory: c.Memory, Waited: true}, nil
}

// PrepareDriver makes the directory of a component's files anew, and returns it open: the component's user may
// read what is put there.
func (p Paths) PrepareDriver(user Credential) (*os.Root, error) {
	uid, gid := owner(user)
	app := filepath.Dir(p.Dir)
	if err := (Layout{Root: filepath.Dir(filepath.Dir(app))}).makeApp(filepath.Base(app), gid); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(app)
	if err != nil {
		return nil, fmt.Errorf("work directory: %w", err)
	}
	defer root.Close()
	id := filepath.Base(p.Dir)
	err = errors.Join(private(root, id, gid), removeTree(p.Files), RemoveFile(p.Credential))
	name := filepath.Join(id, filepath.Base(p.Files))
	if err = errors.Join(err, own(root, name, uid, gid)); err != nil {
		return nil, fmt.Errorf("work directory: %w", err)
	}
	return os.OpenRoot(p.Files)
}

// Give gives an open file to the component's user, for its eyes alone.
func Give(f *os.File, user Credential) error {
	uid, gid := owner(user)
	return errors.Join(f.Chmod(0o600), f.Chown(uid, gid))
}

// GiveDir is Give for a directory.
func GiveDir(dir *os.File, user Credential) error {
	uid, gid := owner(user)
	return dir.Chown(uid, gid)
}

// SaveFor writes a new file that the component's user alone reads.
func SaveFor(user Credential, path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err == nil {
		_, err = f.Write(body)
		err = errors.Join(err, Give(f, user), f.Close())
	}
	if err != nil {
		return fmt.Errorf("%s of a component: %w", filepath.Base(path), err)
	}
	return nil
}
