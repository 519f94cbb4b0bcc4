package pacer_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The words of comments and documents: the subject of a sentence is a thing that has a name.

var (
	// sentenceEnd is where a sentence ends, riddle how one begins that hides its subject.
	sentenceEnd = regexp.MustCompile(`[.:;]\s+`)
	riddle      = regexp.MustCompile(
		`^(Who|Whoever|What|Those|Nobody|Of (one|those|what|whom)|One (that|who|whose|of)|Nothing (that|is)) `)
	// paragraphs are apart by empty lines, headings and the cells of tables.
	paragraphs = regexp.MustCompile(`\n\s*\n|\n#+ |\|`)
)

// mostRiddles is how many sentences that hide their subject comments of Go without tests and documents may have. No
// landing raises a number; a landing that gets below it by ten lowers it.
var mostRiddles = map[string]int{".go": 465, ".md": 103}

// TestSentencesHaveSubjects counts the sentences that begin with Who, What, Those, Nobody and the like: house.riddles.
func TestSentencesHaveSubjects(t *testing.T) {
	found := map[string]int{}
	walk(t, func(name string, body []byte) {
		switch ext := path.Ext(name); {
		case ext == ".md":
			found[ext] += riddles(string(body))
		case ext == ".go" && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "test/"):
			file, err := parser.ParseFile(token.NewFileSet(), name, bytes.TrimSpace(body), parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range file.Comments {
				found[ext] += riddles(group.Text())
			}
		}
	})
	for ext, most := range mostRiddles {
		if n := found[ext]; n > most || n < most-10 {
			t.Errorf("%d sentences in %s files hide their subject, the law says %d: name it, or lower the law", n, ext, most)
		}
	}
	t.Logf("house.riddles %d in Go, %d in documents", found[".go"], found[".md"])
}

func riddles(text string) (n int) {
	for _, paragraph := range paragraphs.Split(text, -1) {
		for _, s := range sentenceEnd.Split(strings.Join(strings.Fields(paragraph), " "), -1) {
			if riddle.MatchString(s) && !strings.Contains(s, "?") {
				n++
			}
		}
	}
	return n
}
