package realenv

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// application is what is read of a SparkApplication.
type application struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Mode, Image     string
		MainApplication string            `yaml:"mainApplicationFile"`
		MainClass       string            `yaml:"mainClass"`
		SparkConf       map[string]string `yaml:"sparkConf"`
		Arguments       []string
		Driver          struct {
			Cores, Memory string
			Account       string `yaml:"serviceAccount"`
		}
		Executor struct{ Cores, Instances, Memory string }
	}
}

var recipe = regexp.MustCompile("(?s)```yaml\n(apiVersion: sparkoperator.*?)```")

// OperatorArguments are those with which the Spark Operator runs spark-submit for the SparkApplication in a page: its
// sparkConf, and what it makes of the other fields.
func OperatorArguments(t testing.TB, page, master string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := recipe.FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no SparkApplication", page)
	}
	var a application
	if err := yaml.Unmarshal(found[1], &a); err != nil {
		t.Fatal(err)
	}
	if a.Kind != "SparkApplication" || a.Spec.Mode != "cluster" {
		t.Fatalf("%s has a %s of mode %s", page, a.Kind, a.Spec.Mode)
	}
	conf := maps.Clone(a.Spec.SparkConf)
	for key, value := range map[string]string{
		"spark.app.name": a.Metadata.Name, "spark.kubernetes.namespace": a.Metadata.Namespace,
		"spark.kubernetes.submission.waitAppCompletion":           "false",
		"spark.kubernetes.container.image":                        a.Spec.Image,
		"spark.kubernetes.driver.pod.name":                        a.Metadata.Name + "-driver",
		"spark.kubernetes.authenticate.driver.serviceAccountName": a.Spec.Driver.Account,
		"spark.driver.cores":                                      a.Spec.Driver.Cores,
		"spark.driver.memory":                                     a.Spec.Driver.Memory,
		"spark.executor.cores":                                    a.Spec.Executor.Cores,
		"spark.executor.memory":                                   a.Spec.Executor.Memory,
		"spark.executor.instances":                                a.Spec.Executor.Instances,
	} {
		if value != "" {
			conf[key] = value
		}
	}
	args := []string{"--master", master, "--deploy-mode", "cluster"}
	if a.Spec.MainClass != "" {
		args = append(args, "--class", a.Spec.MainClass)
	}
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		args = append(args, "--conf", fmt.Sprintf("%s=%s", key, conf[key]))
	}
	return append(append(args, a.Spec.MainApplication), a.Spec.Arguments...)
}
