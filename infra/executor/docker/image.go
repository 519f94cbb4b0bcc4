package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
)

// HostImage is an empty image: everything in its containers is this machine's.
const HostImage = "pacer-host:latest"

// importHost makes the host image of an archive without a file.
func (e *Engine) importHost(ctx context.Context) error {
	empty := bytes.NewReader(make([]byte, 1024)) // Two blocks of zeros end an archive.
	reply, err := e.client.ImageImport(ctx, image.ImportSource{Source: empty, SourceName: "-"}, HostImage,
		image.ImportOptions{})
	if err != nil {
		return fmt.Errorf("make the image %s: %w", HostImage, e.explain(err))
	}
	_, err = io.Copy(io.Discard, reply)
	return errors.Join(err, reply.Close())
}

func noImage(name string) error {
	return fmt.Errorf("image %s is not on this node: docker pull %s, or leave the image empty to use this machine's Spark",
		name, name)
}

// Spark is where an image has Spark and Java. JavaHome is empty when it does not
// say: its PATH has to lead to java.
type Spark struct{ SparkHome, JavaHome string }

// Spark looks into an image, without running anything of it, and returns where
// its Spark is. It is an error if there is none or another one than version ("" is
// any), or no Java.
func (e *Engine) Spark(ctx context.Context, name, version string) (Spark, error) {
	ctx, cancel := context.WithTimeout(ctx, workLimit)
	defer cancel()
	about, err := e.client.ImageInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return Spark{}, noImage(name)
	}
	if err != nil {
		return Spark{}, e.explain(err)
	}
	found, search := Spark{SparkHome: "/opt/spark"}, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	if about.Config != nil {
		for _, variable := range about.Config.Env {
			switch key, value, _ := strings.Cut(variable, "="); key {
			case "SPARK_HOME":
				found.SparkHome = value
			case "JAVA_HOME":
				found.JavaHome = value
			case "PATH":
				search = value
			}
		}
	}
	// A container that is never started shows the image's files.
	c, err := e.client.ContainerCreate(ctx, &container.Config{Image: about.ID, Cmd: []string{"none"}}, nil, nil, nil, "")
	if err != nil {
		return Spark{}, e.explain(err)
	}
	if found.JavaHome != "" {
		search = path.Join(found.JavaHome, "bin")
	}
	err = e.check(ctx, c.ID, name, found.SparkHome, version)
	if err == nil {
		err = e.java(ctx, c.ID, name, strings.Split(search, ":"))
	}
	return found, errors.Join(err, e.remove(context.WithoutCancel(ctx), c.ID))
}

// java looks for the program in a container.
func (e *Engine) java(ctx context.Context, id, name string, dirs []string) error {
	for _, dir := range dirs {
		if _, err := e.client.ContainerStatPath(ctx, id, path.Join(dir, "java")); !errdefs.IsNotFound(err) {
			return e.explain(err)
		}
	}
	return fmt.Errorf("image %s has no Java: there is no java in %s (JAVA_HOME or PATH in its environment says where)",
		name, strings.Join(dirs, ", "))
}

// check looks for Spark's core of a version in a container.
func (e *Engine) check(ctx context.Context, id, name, home, version string) error {
	jars := path.Join(home, "jars")
	_, err := e.client.ContainerStatPath(ctx, id, jars)
	if errdefs.IsNotFound(err) {
		return fmt.Errorf("image %s has no Spark: there is no %s in it (SPARK_HOME in its environment says where)",
			name, jars)
	}
	if err != nil || version == "" {
		return e.explain(err)
	}
	_, err = e.client.ContainerStatPath(ctx, id, path.Join(jars, "spark-core_2.13-"+version+".jar"))
	if errdefs.IsNotFound(err) {
		return fmt.Errorf(
			"the driver runs Spark %s, but the Spark in %s of image %s is another one: use an image with the driver's version",
			version, home, name)
	}
	return e.explain(err)
}
