package field

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/test/realenv"
)

// habit is how somebody runs a program who has run it under stock Spark for years.
type habit struct {
	// env are variables of its environment, unset those that it has not.
	env, unset []string
	// flags are of pacer submit alone.
	flags, program program
	// want is nil for what stock Spark does in this environment.
	want *expectation
	// tells are in one line of its output each.
	tells []string
	// shows holds what Pacer shows of the application.
	shows func(t *testing.T, a api.AppDetail)
}

// holds runs the program under a name.
func (h habit) holds(t *testing.T, of *realenv.System, name string) {
	t.Helper()
	s := of.For(t, h.env...)
	if len(h.unset) > 0 {
		s.Inside = append(s.Inside, "env")
	}
	for _, variable := range h.unset {
		s.Inside = append(s.Inside, "--unset="+variable)
	}
	if h.want == nil {
		want := stock(t, h.program, h.env...)
		h.want = &want
	}
	run := s.Submit(append(append(program{"--name", name}, h.flags...), h.program...)...)
	h.want.wants(t, run)
	for _, text := range h.tells {
		told(t, run, text)
	}
	if h.shows != nil {
		h.shows(t, called(t, s, name))
	}
}

// ends is what a program does that prints an answer.
func ends(answer string, code int) *expectation { return &expectation{answer, code} }

// What people bring along from years of stock Spark, on one hardened machine: each runs as there, and what is set
// aside or cannot be is told in a line.
func TestHabits(t *testing.T) {
	realenv.RequireAll(t)
	s := hardened(t, "077", daemon.EachUser)
	nameless := script("nameless.py")
	plain := stock(t, nameless)
	linked, copied, nowhere := belowHome(t, "--symlinks"), belowHome(t, "--copies"), t.TempDir()
	yarn := directory(t, map[string]string{"spark-defaults.conf": "spark.master yarn\nspark.submit.deployMode cluster\n"})
	broken := t.TempDir()
	if err := os.Mkdir(broken+"/spark-defaults.conf", 0o755); err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	zone, err := time.LoadLocation("Pacific/Kiritimati")
	if err != nil {
		t.Fatal(err)
	}
	soon := time.Now().In(zone).Add(10 * time.Minute)
	for name, h := range map[string]habit{
		"files of a YARN cluster": {
			env: []string{"SPARK_CONF_DIR=" + yarn}, program: nameless, want: &plain,
			tells: []string{"master yarn and deploy mode cluster in " + yarn + "/spark-defaults.conf are set aside"},
		},
		"defaults that are a directory": {
			env: []string{"SPARK_CONF_DIR=" + broken}, program: nameless,
		},
		"properties that are a directory": {
			flags: program{"--properties-file", broken}, program: nameless, want: ends("", command.ExitFailure), tells: []string{broken},
		},
		"an interpreter below root's home": {
			env: []string{"PYSPARK_PYTHON=" + linked + "/bin/python3"}, program: script("machine.py", "python"),
		},
		"an environment that a shell has activated": {
			env:   []string{"PATH=" + copied + "/bin:" + os.Getenv("PATH")},
			unset: []string{"PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"}, program: script("machine.py", "python"), want: ends("RESULT python "+copied, 0),
		},
		"an interpreter that is a directory": {
			env: []string{"PYSPARK_PYTHON=" + nowhere}, program: nameless, want: ends("", command.ExitFailure),
			tells: []string{nowhere + " is no program, and Python workers will not start with it"},
		},
		"placeholders, libraries and a scratch disk": {
			flags: program{"--conf", "spark.executor.extraJavaOptions=-Dfield.who={{APP_ID}}/{{EXECUTOR_ID}}",
				"--conf", "spark.executor.extraLibraryPath=/opt/field/lib", "--conf", "spark.local.dir=" + scratch},
			program: script("machine.py", "named", "libraries"), want: ends("RESULT named True\nRESULT libraries /opt/field/lib", 0),
			tells: []string{"spark.local.dir is set aside"},
		},
		"a clock in another zone": {
			env: []string{"TZ=" + zone.String()}, flags: program{"--pacer-by", soon.Format("15:04:05")}, program: script("machine.py", "zone"),
			shows: func(t *testing.T, a api.AppDetail) {
				if left := a.Deadline.Duration(); left <= 0 || left > 10*time.Minute {
					t.Errorf("its deadline is %v after its start", left)
				}
			},
		},
		"a moment a year ago": {
			flags: program{"--pacer-by", "2025-11-29T06:00"}, program: nameless, want: &plain,
			tells: []string{"2025-11-29T06:00 is past: the application is late and runs at all cores"},
		},
		"machines that are taken away": {
			flags: program{"--conf", "spark.task.maxFailures=8"}, program: script("spot.py", "5"),
			want: ends("RESULT [4950, 5050, 5151, 5253, 5356]", 0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			realenv.Beside(t)
			h.holds(t, s, "field: "+name)
		})
	}
	t.Run("a chain that is behind", func(t *testing.T) {
		realenv.Beside(t)
		behind(t, s.For(t), append(program{"--name", "field chain"}, nameless...), plain)
	})
	t.Run("a program below a notebook's kernel", func(t *testing.T) {
		realenv.Beside(t)
		belowKernel(t, s.For(t), plain)
	})
}

// behind is the story of three jobs, one after the other, that are to be done by the same moment, which the first one
// takes all the time of: no job is left out.
func behind(t *testing.T, s *realenv.System, job program, want expectation) {
	t.Helper()
	run := s.Submit(job...)
	want.wants(t, run)
	by := time.Now().Add(run.Took() * 5 / 4).Format("2006-01-02T15:04:05")
	job = append(program{"--pacer-by", by}, job...)
	for range 3 {
		run = s.Submit(job...)
		want.wants(t, run)
	}
	told(t, run, by+" is past: the application is late and runs at all cores")
	if a := called(t, s, "field chain"); a.State != api.AppFinished || a.ErrorPct == nil || *a.ErrorPct >= 0 {
		t.Errorf("the third one is %s, error %v", a.State, a.ErrorPct)
	}
	refused := s.Submit(append(program{"--pacer-require-feasible"}, job...)...)
	if code := refused.Wait(realenv.Patience); code != command.ExitInfeasible {
		t.Errorf("one that has to be feasible: exit %d", code)
	}
	told(t, refused, by+" is past, and the deadline has to be feasible")
}

// belowKernel is the story of a batch program that a notebook's kernel has started: it makes its session itself, has
// an end, and its deadline is believed.
func belowKernel(t *testing.T, s *realenv.System, want expectation) {
	t.Helper()
	code, jar := s.Pacer("jar")
	if code != 0 {
		t.Fatalf("pacer jar: exit %d: %s", code, jar)
	}
	settings := []string{"--master", "sparkpacer://" + s.Address, "--jars", strings.TrimSpace(jar), "--name", "field-kernel",
		"--driver-memory", "512m", "--conf", "spark.executor.memory=768m", "--conf", "spark.pacer.deadline=5m", "pyspark-shell"}
	line := append(s.Inside, append(program{os.Getenv("PYSPARK_PYTHON")}, script("nameless.py")...)...)
	run := realenv.Start(t, append(s.Env, "JPY_PARENT_PID=1", "PYSPARK_SUBMIT_ARGS="+strings.Join(settings, " "),
		"PACER_CREDENTIALS_DIR="+s.Credentials()), line[0], line[1:]...)
	want.wants(t, run)
	profile := taught(t, s, "field-kernel")
	if a := called(t, s, "field-kernel"); a.Deadline <= 0 || profile.Runs != 1 {
		t.Errorf("deadline %v, pacing %s, %d runs are recorded", a.Deadline, a.Pacing, profile.Runs)
	}
}
