package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

func TestNothingOfOthersReachesATerminalAsACommand(t *testing.T) {
	for text, want := range map[string]string{
		"wordcount\n":             "wordcount\n",
		"a\tb\u00a0ü 😀":           "a\tb\u00a0ü 😀",
		"\x1b[2Jgone":             `\u001b[2Jgone`,
		"title \x1b]0;x\a":        `title \u001b]0;x\u0007`,
		"csi \u009b31m":           `csi \u009b31m`,
		"over\rwritten\b":         `over\u000dwritten\u0008`,
		"turned \u202etxt.exe":    `turned \u202etxt.exe`,
		"no UTF-8 \xff\xc3":       `no UTF-8 \xff\xc3`,
		"a tag \U000e0041 of one": `a tag \U000e0041 of one`,
	} {
		var out bytes.Buffer
		sh := NewShell("pacer", nil, &out, &out)
		if n, err := fmt.Fprint(sh.Stdout, text); n != len(text) || err != nil {
			t.Errorf("%q: %d bytes of %d, %v", text, n, len(text), err)
		}
		if out.String() != want {
			t.Errorf("%q is written as %q, want %q", text, out.String(), want)
		}
		if Raw(sh.Stderr) != &out || Raw(&out) != &out {
			t.Error("the writer beneath is another one")
		}
	}
	if got, want := Visible("two\nlines\tand \x7f"), `two\u000alines\u0009and \u007f`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is JSON says the same when it has been written.
func TestJSONStaysWhatItWas(t *testing.T) {
	want := "del \x7f csi \u009b esc \x1b turned \u202e"
	body, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := NewShell("pacer", nil, &out, &out).Stdout.Write(body); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got != want {
		t.Errorf("%q came back as %q, %v", want, got, err)
	}
}
