package api

import (
	"strconv"
	"strings"
)

// The releases of Spark that Pacer's jar works with: every 4.x from the first to
// the last of these minor versions. It is compiled once, against one of them.
const (
	sparkMajor     = 4
	sparkFirst     = 0
	sparkLast      = 3
	sparkSupported = "4.0 to 4.3"
)

// CheckSpark returns a KindInvalid error that names version unless Pacer works
// with that release of Spark ("4.3.0", "4.1.1-SNAPSHOT").
func CheckSpark(version string) error {
	if version == "" {
		return Errorf(KindInvalid, "Spark of unknown version is not supported: Pacer works with Spark %s", sparkSupported)
	}
	major, rest, _ := strings.Cut(version, ".")
	minor, _, more := strings.Cut(rest, ".")
	m, errMajor := strconv.Atoi(major)
	n, errMinor := strconv.Atoi(minor)
	if more && errMajor == nil && errMinor == nil && m == sparkMajor && n >= sparkFirst && n <= sparkLast {
		return nil
	}
	return Errorf(KindInvalid, "Spark %s is not supported: Pacer works with Spark %s", version, sparkSupported)
}
