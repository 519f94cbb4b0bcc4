package config

import (
	"io"
	"log/slog"

	"github.com/sparkpacer/pacer/api"
)

// Log says how daemons log. Section `log` of the configuration.
type Log struct {
	// Format is text or json.
	Format string
	// Level is debug, info, warn or error.
	Level string
}

func (c Log) level() (slog.Level, error) {
	var level slog.Level
	err := level.UnmarshalText([]byte(c.Level))
	return level, err
}

var logLevel = values{text: "debug, info, warn, error", ok: func(v any) bool {
	_, err := Log{Level: v.(string)}.level()
	return err == nil
}}

// Follow has a logger of Logger go by c's level from now on.
func (c Log) Follow(level *slog.LevelVar) {
	if l, err := c.level(); err == nil { // Config.Check has refused it before.
		level.Set(l)
	}
}

// Logger returns a logger that writes to w as c says, from level on, which it sets.
func (c Log) Logger(w io.Writer, level *slog.LevelVar) *slog.Logger {
	c.Follow(level)
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		a.Value = a.Value.Resolve()
		if a.Value.Kind() == slog.KindString {
			a.Value = slog.StringValue(api.Masked(a.Key, a.Value.String()))
		}
		return a
	}}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
