package pacer_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// documents are the Markdown files of the repository by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	walk(t, func(name string, body []byte) {
		if path.Ext(name) == ".md" {
			out[name] = string(body)
		}
	})
	if len(out) < 5 {
		t.Fatalf("found %d documents only: is this the module's root?", len(out))
	}
	return out
}

var quoted = regexp.MustCompile("`([^`\\s]+)`")

// TestAWordHasOneMeaning holds that docs/nomenclature.md explains each word once, also where a row has several.
func TestAWordHasOneMeaning(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(documents(t)["docs/nomenclature.md"]) {
		cells := strings.SplitN(line, "|", 3)
		if len(cells) < 3 {
			continue
		}
		for word := range strings.SplitSeq(strings.ToLower(cells[1]), ",") {
			word = strings.Trim(word, " `")
			if seen[word] {
				t.Errorf("docs/nomenclature.md explains %q twice", word)
			}
			seen[word] = true
		}
	}
	if len(seen) < 100 {
		t.Errorf("docs/nomenclature.md explains %d words only", len(seen))
	}
}

// TestFilesNamedInDocumentsExist looks at what is quoted as code and has the form of a
// file of this tree: a path below one of its directories.
func TestFilesNamedInDocumentsExist(t *testing.T) {
	for name, text := range documents(t) {
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			file := strings.TrimSuffix(m[1], "/")
			first, _, below := strings.Cut(file, "/")
			switch path.Ext(file) {
			case ".go", ".sh", ".md", ".jsonl", ".yml", ".scala", ".py", ".txt":
			default:
				continue
			}
			if info, err := os.Stat(first); !below || err != nil || !info.IsDir() || made[first] || pattern.MatchString(file) {
				continue
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s names %s: %v", name, file, err)
			}
		}
	}
}

// pattern is what stands for many files: a part in capitals is to be put in.
var pattern = regexp.MustCompile(`[A-Z]{3,}[^a-z]*\.[a-z]+$|[*<{]`)

// made are directories that make targets write.
var made = map[string]bool{"out": true, "bin": true}

// TestDocumentsTellNoDiary holds documents to what is: how the work went belongs to Git.
// The changelog tells what was.
func TestDocumentsTellNoDiary(t *testing.T) {
	diary := regexp.MustCompile(`(?i)\b(yesterday|today|this session|last session|this week|last week|so far we|we tried|we found|I found|it turned out|` +
		`now fixed|no longer|used to be|recently|newly|Issue \d+|design 10\.\d|spark-facts)\b`)
	for name, text := range documents(t) {
		if name == "CHANGELOG.md" {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if found := diary.FindString(line); found != "" {
				t.Errorf("%s:%d says %q", name, i+1, found)
			}
		}
	}
}
