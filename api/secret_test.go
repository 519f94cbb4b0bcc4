package api_test

import (
	"encoding/json"
	"strings"
	"testing"

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
