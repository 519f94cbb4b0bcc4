package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
)

func TestSecretsAreMaskedByTheirKeys(t *testing.T) {
	for key, secret := range map[string]bool{
		"spark.authenticate.secret": true, "spark.ssl.keyPassword": true, "AWS_SECRET_ACCESS_KEY": true, "AWS_SESSION_TOKEN": true,
		"fs.azure.account.key.x": true, "spark.hadoop.fs.s3a.access.key": true, "DB_PASSWD": true, "API_KEY": true, "ENCRYPTION-KEY": true,
		"GOOGLE_APPLICATION_CREDENTIALS": true, "spark.hadoop.fs.gs.private_key": true,
		"PATH": false, "SPARK_USER": false, "spark.sql.shuffle.partitions": false, "KEYBOARD": false, "spark.app.name": false,
	} {
		if got := api.Masked(key, "hunter2"); got == "hunter2" == secret {
			t.Errorf("%s is shown as %q", key, got)
		}
	}
}

// Nothing of a Plan's secrets is left in it, all else is, and the Plan is not changed.
func TestAPlanIsShownWithoutItsSecrets(t *testing.T) {
	launch := api.Launch{DriverURL: "spark://h", JavaOptions: []string{"-Xmx1g", "-Dspark.authenticate.secret=hunter2", "-javaagent:/a.jar=port=1,token=hunter2\nhunter2"},
		Env: map[string]string{"PATH": "/bin", "DB_PASSWORD": "hunter2"}}
	plain := api.Launch{DriverURL: "spark://h", JavaOptions: []string{"-Dx=y"}}
	p := api.Plan{V: api.Version, Apps: []api.PlanApp{{ID: "a", Launch: &plain}, {ID: "b", Launch: &launch}, {ID: "c"}}}
	before, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal(p.Masked())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(shown), "hunter2") || !strings.Contains(string(shown), "-Xmx1g") || !strings.Contains(string(shown), "-Dx=y") ||
		!strings.Contains(string(shown), "-Dspark.authenticate.secret=") || !strings.Contains(string(shown), "port=1") || !strings.Contains(string(shown), `"PATH":"/bin"`) {
		t.Errorf("%s", shown)
	}
	if after, err := json.Marshal(p); err != nil || string(after) != string(before) {
		t.Errorf("the Plan has changed: %s, %v", after, err)
	}
	if again, err := json.Marshal(p.Masked().Masked()); err != nil || string(again) != string(shown) {
		t.Errorf("masked again it is %s, %v", again, err)
	}
	if q := (&api.Plan{Apps: p.Apps[:1]}); q.Masked() != q || (*api.Plan)(nil).Masked() != nil {
		t.Error("what has no secrets is copied")
	}
}

// A store keeps a launch without its secrets, and knows how much is missing; the driver's word
// makes it whole again, and nothing but that.
func TestALaunchIsKeptWithoutItsSecrets(t *testing.T) {
	whole := api.Launch{DriverURL: "spark://h", Cores: 3, JavaOptions: []string{"-Xmx1g", "-Dspark.authenticate.secret=hunter2", "-DtokenX=\"\n\""},
		Env: map[string]string{"PATH": "/bin", "_SPARK_AUTH_SECRET": "hunter2", "EMPTY_TOKEN": ""}}
	kept := whole.Kept()
	body, err := json.Marshal(kept)
	if err != nil || strings.Contains(string(body), "hunter2") || !strings.Contains(string(body), "-Xmx1g") || !strings.Contains(string(body), `"PATH":"/bin"`) {
		t.Errorf("kept as %s, %v", body, err)
	}
	if kept.Withheld != 2*len("hunter2")+len(`\"\n\"`) || whole.Withheld != 0 || kept.Bytes() < whole.Bytes() {
		t.Errorf("%d bytes are withheld, it takes %d of %d", kept.Withheld, kept.Bytes(), whole.Bytes())
	}
	if again := kept.Kept(); again != kept {
		t.Errorf("kept again it is %+v", again)
	}
	kept.Cores = 4
	want := whole
	want.Cores = 4
	if d := cmp.Diff(&want, kept.Complete(&whole)); d != "" {
		t.Error(d)
	}
	plain := api.Launch{Env: map[string]string{"PATH": "/bin", "EMPTY_TOKEN": ""}}
	if plain.Kept() != &plain || plain.Withheld != 0 {
		t.Errorf("one without secrets: %+v", plain.Kept())
	}
	if shown := kept.Masked(); shown.Withheld != 1 {
		t.Errorf("its mask tells of %d bytes", shown.Withheld)
	}
	request := api.RegisterRequest{V: api.Version, Submission: "s", Name: "n", Launch: api.Launch{DriverURL: "spark://h", Heap: 1, Withheld: 1}}
	if err := request.Validate(); err == nil || !strings.Contains(err.Error(), "withheld") {
		t.Errorf("a driver that withholds something: %v", err)
	}
}
