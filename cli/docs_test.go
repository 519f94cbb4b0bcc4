package cli

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

func TestTheDocumentedProfileIsOne(t *testing.T) {
	doc, err := os.ReadFile("../docs/profile.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(doc)
	if example == nil {
		t.Fatal("docs/profile.md shows no profile")
	}
	if _, err := api.DecodeProfile(strings.NewReader(string(example[1]))); err != nil {
		t.Error(err)
	}
	for _, of := range []reflect.Type{reflect.TypeFor[api.Profile](), reflect.TypeFor[api.ProfileHabit](), reflect.TypeFor[api.ProfileStage](),
		reflect.TypeFor[api.StageHabit](), reflect.TypeFor[api.Growth](), reflect.TypeFor[api.Jump]()} {
		for i := range of.NumField() {
			if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); !strings.Contains(string(doc), name+"`") {
				t.Errorf("docs/profile.md does not explain %s", name)
			}
		}
	}
}
