package api_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

func TestElementsAndMembersAreCounted(t *testing.T) {
	for text, want := range map[string][2]int{
		`{"a":"","b":""}`:                            {0, 2},
		`{"a":["x,y",{"c":1}],"b":{}}`:               {2, 4},
		`[[],[1,2,3],"a\",[{"]`:                      {7, 0},
		`]}{"a":1,`:                                  {0, 2},
		`[` + strings.Repeat("0,", 500) + `0]`:       {101, 0},
		`{` + strings.Repeat(`"":0,`, 500) + `"":0}`: {0, 201},
	} {
		if n, m := api.Elements([]byte(text), 100, 200); n != want[0] || m != want[1] {
			t.Errorf("%.40s: %d elements and %d members, want %v", text, n, m, want)
		}
	}
}
