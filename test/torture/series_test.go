package torture

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// series are samples of quantities over time.
type series struct {
	at   []float64 // Hours.
	seen map[string][]float64
}

func (s *series) add(at time.Duration, values map[string]float64) {
	if s.seen == nil {
		s.seen = map[string][]float64{}
	}
	s.at = append(s.at, at.Hours())
	for name, v := range values {
		s.seen[name] = append(s.seen[name], v)
	}
}

// into writes how much each quantity grew into a soak.
func (s *series) into(of *Soak) {
	of.Samples, of.Slope, of.Error, of.Last = len(s.at), map[string]float64{}, map[string]float64{}, map[string]float64{}
	for name, values := range s.seen {
		of.Slope[name], of.Error[name] = Slope(s.at, values)
		of.Last[name] = values[len(values)-1]
	}
}

// parts are the quantities in the lines of a process's status.
var parts = map[string]string{"VmRSS:": RSS, "RssAnon:": "rss_anon_mib", "RssFile:": "rss_file_mib", "RssShmem:": "rss_shmem_mib"}

// processHas is what a process has now: resident memory, descriptors, and the stores and work
// directories that it keeps below dir.
func processHas(pid int, dir string) map[string]float64 {
	out := map[string]float64{RSS: math.NaN()}
	if body, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		for line := range strings.Lines(string(body)) {
			words := strings.Fields(line)
			if name, ok := parts[words[0]]; ok {
				kib, _ := strconv.ParseFloat(words[1], 64)
				out[name] = kib / 1024
			}
		}
	}
	if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err == nil {
		out[Descriptors] = float64(len(open))
	}
	out[Stores], out[Work] = 0, 0
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // Files come and go meanwhile.
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // As above.
		}
		switch size := float64(info.Size()) / (1 << 20); {
		case strings.HasSuffix(path, ".db"):
			out[Stores] += size
		case strings.Contains(path, "/work/"):
			out[Work] += size + 1.0/256 // With its inode.
		}
		return nil
	})
	return out
}
