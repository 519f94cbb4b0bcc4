package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// stageID is a stage's number and attempt, "-" for a stage of the profile that does not come.
func stageID(k api.StageKey) string {
	if k.Stage < 0 {
		return "-"
	}
	return fmt.Sprintf("%d.%d", k.Stage, k.Attempt)
}

// parentsOf names the stages that s reads from: of one that has no number yet those of the profile.
func parentsOf(s api.AppStage) string {
	var parents []string
	for _, id := range s.Parents {
		parents = append(parents, strconv.Itoa(id))
	}
	text := strings.Join(parents, ",")
	if text != "" && s.Stage < 0 {
		text += " of the profile"
	}
	return text
}

// surely is how likely a match is that is told without saying how likely.
const surely = 0.995

// matchOf says what the profile knows of a stage, "" without a profile.
func matchOf(m *api.StageMatch) string {
	if m == nil {
		return ""
	}
	text := string(m.Known)
	switch {
	case m.By == "":
	case m.Known == api.StageEstimated:
		text += " from " + basis(m.By)
	default:
		text += " by " + m.By
	}
	if m.Stage >= 0 {
		text = fmt.Sprintf("%d %s", m.Stage, text)
	}
	if m.Sure > 0 && m.Sure < surely {
		text += fmt.Sprintf(" %.0f %%", m.Sure.Percent())
	}
	return text
}

// basis says what the work of a stage is estimated from.
func basis(by string) string {
	switch by {
	case "kind":
		return "its kind"
	case "run":
		return "this run"
	case "task":
		return "a mean task"
	}
	return by
}
