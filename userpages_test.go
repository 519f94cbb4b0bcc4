package pacer_test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The laws of the pages that users read, printed as the rows docs.* of `make bench-users`:
//
//	docs.riddles            sentences that hide their subject
//	docs.long_sentences     sentences of more than 30 words
//	docs.unexplained        words of Pacer's inside that a page uses, and the glossary has not
//	docs.broken_links       links of all documents to files and headings that are not there
//	docs.tutorial_commands  commands of docs/guide/first-deadline.md
//	docs.readme_lines       lines of README.md

// userPages are those that a user reads, beside docs/guide and docs/reference.
var userPages = []string{"README.md", "docs/README.md", "docs/attach.md", "docs/cluster-mode.md", "docs/configuration.md",
	"docs/memory.md", "docs/monitoring.md", "docs/profile.md", "docs/trace.md", "docs/whatif.md"}

// userWords, tutorialCommands and readmeLines are how many a sentence, the tutorial and README may have: two screens.
const userWords, tutorialCommands, readmeLines = 30, 10, 80

// insiders are words that users neither bring along nor meet in the glossary: they stand in docs/nomenclature.md for those
// who change the code.
var insiders = regexp.MustCompile(`(?i)\b(ledger|plant|facets?|deciders?|agenda|outlook|tenants?|engines?|hand-over|` +
	`newcomers?|dominant share|Directives?|epochs?)\b`)

func ofUser(name string) bool {
	dir := path.Dir(name)
	return dir == "docs/guide" || dir == "docs/reference" || slices.Contains(userPages, name)
}

func TestUserPagesArePlain(t *testing.T) {
	counts, seen := map[string]int{}, 0
	fault := func(figure, name, text string) {
		counts[figure]++
		t.Errorf("%s: docs.%s: %s", name, figure, strings.Join(strings.Fields(text), " "))
	}
	for name, text := range documents(t) {
		if !ofUser(name) {
			continue
		}
		seen++
		eachSentence(text, func(s string) {
			if len(strings.Fields(s)) > userWords {
				fault("long_sentences", name, s)
			}
			if riddle.MatchString(s) && !strings.Contains(s, "?") {
				fault("riddles", name, s)
			}
		})
		for _, word := range insiders.FindAllString(examples.ReplaceAllString(text, ""), -1) {
			fault("unexplained", name, word)
		}
	}
	if seen < 20 {
		t.Errorf("%d pages of users only", seen)
	}
	for _, figure := range []string{"riddles", "long_sentences", "unexplained"} {
		fmt.Printf("docs.%s %d\n", figure, counts[figure])
	}
}

// eachSentence calls with each sentence of a text; marks of lists and of emphasis are none of it.
func eachSentence(text string, with func(string)) {
	for _, paragraph := range piece.Split(examples.ReplaceAllString(text, "\n\n"), -1) {
		for _, s := range fullStop.Split(paragraph, -1) {
			with(strings.TrimLeft(strings.TrimSpace(s), "*_- "))
		}
	}
}

func TestTheTutorialIsShort(t *testing.T) {
	all := documents(t)
	commands := 0
	for _, block := range regexp.MustCompile("(?ms)^```sh run.*?\n(.*?)^```").FindAllStringSubmatch(all["docs/guide/first-deadline.md"], -1) {
		inside := regexp.MustCompile(`(?ms)<<'EOF'\n.*?^EOF$`).ReplaceAllString(block[1], "")
		commands += len(strings.FieldsFunc(inside, func(r rune) bool { return r == '\n' }))
	}
	if commands == 0 || commands > tutorialCommands {
		t.Errorf("the tutorial has %d commands, at most %d may be", commands, tutorialCommands)
	}
	lines := strings.Count(all["README.md"], "\n")
	if lines > readmeLines {
		t.Errorf("README.md has %d lines, at most %d may be: two screens", lines, readmeLines)
	}
	fmt.Printf("docs.tutorial_commands %d\ndocs.readme_lines %d\n", commands, lines)
}

var (
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchors are those of a document's headings, as GitHub and the site's toc make them of words, digits, - and _.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		title := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(strings.ToLower(m[1]), "$1")
		title = regexp.MustCompile(`[^\p{L}\p{N}\-_ ]`).ReplaceAllString(title, "")
		found[strings.ReplaceAll(title, " ", "-")] = true
	}
	return found
}

// TestLinksOfDocumentsExist follows each link of each document to its file, and into a document to its heading.
func TestLinksOfDocumentsExist(t *testing.T) {
	all, broken := documents(t), 0
	for name, text := range all {
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(to); err != nil {
				broken++
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if body, known := all[to]; known && anchor != "" && !anchors(body)[anchor] {
				broken++
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
	fmt.Printf("docs.broken_links %d\n", broken)
}

// TestThePartsOfATimeAreExplained holds that the guide to `pacer why` has a row of each part.
func TestThePartsOfATimeAreExplained(t *testing.T) {
	code, err := os.ReadFile("api/why.go")
	if err != nil {
		t.Fatal(err)
	}
	guide := documents(t)["docs/guide/why.md"]
	parts := regexp.MustCompile(`(?m)^\tPart\w+ +Part = "(.*?)"`).FindAllStringSubmatch(string(code), -1)
	if len(parts) < 10 {
		t.Fatalf("api/why.go has %d parts only", len(parts))
	}
	for _, part := range parts {
		if !strings.Contains(guide, "\n| "+part[1]+" |") {
			t.Errorf("docs/guide/why.md does not explain %q", part[1])
		}
	}
}

// TestSymptomsAreWhatIsSaid holds that the words by which the guide finds a trouble are in the code; three dots stand for
// a value.
func TestSymptomsAreWhatIsSaid(t *testing.T) {
	var code strings.Builder
	walk(t, func(name string, body []byte) {
		if path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			code.Write(body)
		}
	})
	said, symptoms := code.String(), 0
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*) \|`).FindAllStringSubmatch(documents(t)["docs/guide/trouble.md"], -1) {
		for _, symptom := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[1], -1) {
			symptoms++
			for part := range strings.SplitSeq(symptom[1], "...") {
				if !strings.Contains(said, strings.TrimSpace(part)) {
					t.Errorf("docs/guide/trouble.md: the code does not say %q", part)
				}
			}
		}
	}
	if symptoms < 10 {
		t.Errorf("docs/guide/trouble.md quotes %d symptoms only", symptoms)
	}
}
