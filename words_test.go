package pacer_test

import (
	"bytes"
	"fmt"
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

	// fullStop is where a thought ends, piece how text is apart that has no full stops, examples what is no text.
	fullStop = regexp.MustCompile(`[.!?][)*]*\s+`)
	piece    = regexp.MustCompile(`\n\s*\n|\n#+ |\||\n\s*[-*] |\n\s*\d+\. `)
	examples = regexp.MustCompile("(?s:```.*?```)|(?m:^\\t.*$)")
)

// mostWords is how many words a sentence should have at most.
const mostWords = 35

// mostLong is how many sentences of comments of Go without tests and of documents may have more. No landing raises a
// number; a landing that gets below it by ten lowers it.
var mostLong = map[string]int{".go": 81, ".md": 16}

// mostRiddles is how many sentences that hide their subject comments of Go without tests and documents may have. No
// landing raises a number; a landing that gets below it by ten lowers it.
var mostRiddles = map[string]int{".go": 72, ".md": 4}

// TestSentencesHaveSubjects counts the sentences that begin with Who, What, Those, Nobody and the like: house.riddles.
func TestSentencesHaveSubjects(t *testing.T) {
	found := counted(t, riddles)
	atMost(t, "hide their subject", found, mostRiddles)
	fmt.Printf("house.riddles %d\n", found[".go"]+found[".md"])
}

// TestSentencesAreShort counts the sentences of more than mostWords words: house.long_sentences.
func TestSentencesAreShort(t *testing.T) {
	found := counted(t, long)
	atMost(t, "are too long", found, mostLong)
	fmt.Printf("house.long_sentences %d\n", found[".go"]+found[".md"])
}

// counted adds up what count finds in documents and in comments of Go without tests.
func counted(t *testing.T, count func(text string) int) map[string]int {
	found := map[string]int{}
	walk(t, func(name string, body []byte) {
		switch ext := path.Ext(name); {
		case ext == ".md":
			found[ext] += count(string(body))
		case ext == ".go" && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "test/"):
			file, err := parser.ParseFile(token.NewFileSet(), name, bytes.TrimSpace(body), parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range file.Comments {
				found[ext] += count(group.Text())
			}
		}
	})
	return found
}

// atMost compares what was found with the law, which is lowered by a landing that gets below it by ten.
func atMost(t *testing.T, what string, found, law map[string]int) {
	for ext, most := range law {
		if n := found[ext]; n > most || n < most-10 {
			t.Errorf("%d sentences in %s files %s, the law says %d: mend them, or lower the law", n, ext, what, most)
		}
	}
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

func long(text string) (n int) {
	for _, paragraph := range piece.Split(examples.ReplaceAllString(text, "\n\n"), -1) {
		for _, s := range fullStop.Split(paragraph, -1) {
			if len(strings.Fields(s)) > mostWords {
				n++
			}
		}
	}
	return n
}
