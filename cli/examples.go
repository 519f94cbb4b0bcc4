package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples are shown below the help of commands and in their manual pages, by the command's path.
var examples = map[string]string{
	"pacer submit": "pacer submit --pacer-deadline 15m --class org.example.Report report.jar 2026-11-29\n" +
		"pacer submit --pacer-by 06:00 --pacer-profile nightly report.py",
	"pacer up":   "pacer up --memory 8g\npacer up --detach",
	"pacer down": "pacer down",
	"pacer plan": "pacer plan --profile nightly --deadline 15m\npacer plan --eventlog s3/app-2026 --cores 4,8,16",

	"pacer apps":          "pacer apps --watch",
	"pacer apps show":     "pacer apps show app-k3x9",
	"pacer apps kill":     "pacer apps kill app-k3x9",
	"pacer apps cap":      "pacer apps cap app-k3x9 2",
	"pacer apps release":  "pacer apps release app-k3x9",
	"pacer apps deadline": "pacer apps deadline app-k3x9 +10m",
	"pacer apps logs":     "pacer apps logs app-k3x9 3 --follow",
	"pacer apps why":      "pacer apps why app-k3x9",
	"pacer kill":          "pacer kill app-k3x9",
	"pacer cap":           "pacer cap app-k3x9 2",
	"pacer release":       "pacer release app-k3x9",
	"pacer deadline":      "pacer deadline app-k3x9 06:30",
	"pacer logs":          "pacer logs app-k3x9 --tail 20",
	"pacer why":           "pacer why app-k3x9",
	"pacer identify":      "pacer identify app-k3x9 --stage 4",
	"pacer top":           "pacer top",
	"pacer web":           "pacer web",
	"pacer report":        "pacer report --by profile",

	"pacer nodes":             "pacer nodes",
	"pacer nodes drain":       "pacer nodes drain worker-3",
	"pacer nodes undrain":     "pacer nodes undrain worker-3",
	"pacer nodes consolidate": "pacer nodes consolidate --apply",
	"pacer supervisor show":   "pacer supervisor show",
	"pacer supervisor set":    "pacer supervisor set edf-pure --node worker-3",
	"pacer policy show":       "pacer policy show",
	"pacer policy set":        "pacer policy set flexible",
	"pacer policy default":    "pacer policy default",

	"pacer profiles list":          "pacer profiles list",
	"pacer profiles show":          "pacer profiles show nightly",
	"pacer profiles put":           "pacer profiles put nightly.json",
	"pacer profiles rm":            "pacer profiles rm nightly",
	"pacer profiles history":       "pacer profiles history nightly",
	"pacer profiles diff":          "pacer profiles diff nightly",
	"pacer profiles pin":           "pacer profiles pin nightly 4",
	"pacer profiles unpin":         "pacer profiles unpin nightly",
	"pacer profiles knee":          "pacer profiles knee nightly",
	"pacer profiles schema":        "pacer profiles schema > profile.schema.json",
	"pacer profiles from-eventlog": "pacer profiles from-eventlog /var/log/spark/app-2026 --name nightly --put",

	"pacer auth init":       "pacer auth init planner.example 192.0.2.7",
	"pacer auth list":       "pacer auth list",
	"pacer auth revoke":     "pacer auth revoke user-ann",
	"pacer auth nats":       "pacer auth nats > authorization.conf",
	"pacer auth token":      "pacer auth token --scrape --for 2160h --out scrape.token",
	"pacer config show":     "pacer config show",
	"pacer config validate": "pacer config validate",
	"pacer backup":          "pacer backup /var/backups/pacer.db",
	"pacer restore":         "pacer restore /var/backups/pacer.db",
	"pacer jar":             "pacer jar",
	"pacer jar install":     "pacer jar install /opt/spark",
	"pacer link":            "pacer link /opt/pacer/links",
	"pacer doctor":          "pacer doctor user\nsudo pacer doctor node -o json",
	"pacer version":         "pacer version -o json",

	"pacer simulate": "pacer simulate eq21",
	"pacer replay":   "pacer replay app-k3x9.history",
	"pacer repro":    "pacer repro 000",
}

// exemplify gives c and the commands below it their examples, unless they have some of their own.
func exemplify(c *cobra.Command) {
	if c.Example == "" {
		c.Example = strings.TrimRight(strings.ReplaceAll("  "+examples[c.CommandPath()], "\n", "\n  "), " ")
	}
	for _, sub := range c.Commands() {
		exemplify(sub)
	}
}
