package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"github.com/sparkpacer/pacer/units"
)

// Sources is where a configuration comes from, weakest first.
type Sources struct {
	// File is the path of a YAML file; "" is the one that PACER_CONFIG names, else the
	// user's or the machine's where there is one.
	File string
	// Environ is the environment as os.Environ gives it.
	Environ []string
	// Sets are KEY=VALUE from flags.
	Sets []string
}

// envPrefix starts the names of environment variables that set a key; ownEnv are
// those that have a meaning of their own.
const envPrefix = "PACER_"

var ownEnv = map[string]bool{"PACER_CONFIG": true, CredentialDirEnv: true}

// ownEnvPrefixes are left to tests, benchmarks and executors.
var ownEnvPrefixes = []string{"PACER_TEST_", "PACER_BENCH_", "PACER_PROGRESS_", "PACER_DEMO_"}

// load fills the struct that target points to, which holds the defaults: file <
// environment < sets. Its error lists every fault: unknown keys, values of the
// wrong type.
func load(target any, from Sources) error {
	defaults := flatten(target)
	v := viper.New()
	for key, value := range defaults {
		v.SetDefault(key, value)
	}
	var faults []error
	if from.File != "" {
		v.SetConfigFile(from.File)
		v.SetConfigType("yaml")
		if err := v.ReadInConfig(); err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		for _, key := range v.AllKeys() {
			if _, ok := defaults[key]; !ok {
				faults = append(faults, fmt.Errorf("%s: unknown key %s%s", from.File, key, meant(key, defaults)))
			}
		}
	}
	set := func(key, value, where string) {
		if _, ok := defaults[key]; !ok {
			faults = append(faults, fmt.Errorf("%s: unknown key %s%s", where, key, meant(key, defaults)))
			return
		}
		v.Set(key, value)
	}
	for name, value := range pacerEnv(from.Environ) {
		set(keyOfEnv(name, defaults), value, "environment "+name)
	}
	for _, s := range from.Sets {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			faults = append(faults, fmt.Errorf("--set %q: want KEY=VALUE", s))
			continue
		}
		set(strings.TrimSpace(key), value, "--set")
	}
	if err := decode(v.AllSettings(), target); err != nil {
		faults = append(faults, err)
	}
	sort.SliceStable(faults, func(i, j int) bool { return faults[i].Error() < faults[j].Error() })
	return errors.Join(faults...)
}

// decode puts settings into target and reports every value that does not fit.
func decode(settings map[string]any, target any) error {
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: target, WeaklyTypedInput: true,
		MatchName:  func(key, field string) bool { return key == field || key == kebab(field) },
		DecodeHook: decodeUnit,
	})
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	var several interface{ Unwrap() []error }
	if err := d.Decode(settings); errors.As(err, &several) {
		return errors.Join(several.Unwrap()...)
	} else if err != nil {
		return err
	}
	return nil
}

// decodeUnit reads durations and sizes in Spark's notation, and refuses what a
// lenient conversion would change silently.
func decodeUnit(_, to reflect.Type, from any) (any, error) {
	text, isText := from.(string)
	number := reflect.ValueOf(from)
	switch {
	case to == reflect.TypeFor[time.Duration]() && isText:
		return units.ParseDuration(text)
	case to == reflect.TypeFor[time.Duration]() && number.IsValid() && number.CanInt() && number.Type() != to:
		return time.Duration(number.Int()) * time.Second, nil
	case to == reflect.TypeFor[units.Bytes]() && isText:
		return units.ParseBytes(text, 1)
	case to.Kind() == reflect.Int && number.IsValid() && number.CanFloat() && number.Float() != math.Trunc(number.Float()):
		return nil, fmt.Errorf("%v is not a whole number", from)
	case number.IsValid() && number.Kind() == reflect.Bool && to.Kind() != reflect.Bool && to.Kind() != reflect.Interface:
		return nil, fmt.Errorf("%v is neither a number nor a text", from)
	}
	return from, nil
}

// notForUsers are fields that the program sets itself.
var notForUsers = []string{"planner.release", "planner.identity", "node.release"}

// flatten returns the values of a struct by key: field names in lower case with
// hyphens, joined by dots. Fields that no text can set (functions, pointers,
// interfaces) have no key, nor have those tagged `mapstructure:"-"`.
func flatten(target any) map[string]any {
	out := map[string]any{}
	walk(reflect.Indirect(reflect.ValueOf(target)), "", out)
	for _, key := range notForUsers {
		delete(out, key)
	}
	return out
}

func walk(v reflect.Value, prefix string, out map[string]any) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
		if !field.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = kebab(field.Name)
		}
		switch value.Kind() {
		case reflect.Struct:
			if strings.Contains(options, "squash") {
				walk(value, prefix, out)
			} else {
				walk(value, prefix+name+".", out)
			}
		case reflect.Func, reflect.Pointer, reflect.Interface, reflect.Chan:
		default:
			out[prefix+name] = value.Interface()
		}
	}
}

// kebab turns a field's name into a key: MaxPool to max-pool, HTTPAddress to
// http-address, JavaHome to java-home.
func kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// pacerEnv returns the variables that are meant to set keys.
func pacerEnv(environ []string) map[string]string {
	out := map[string]string{}
next:
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, envPrefix) || ownEnv[name] {
			continue
		}
		for _, p := range ownEnvPrefixes {
			if strings.HasPrefix(name, p) {
				continue next
			}
		}
		out[name] = value
	}
	return out
}

// envName is the variable that sets a key: PACER_PLANNER_MAX_POOL for
// planner.max-pool.
func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

func keyOfEnv(name string, known map[string]any) string {
	for key := range known {
		if envName(key) == name {
			return key
		}
	}
	return strings.ToLower(strings.TrimPrefix(name, envPrefix))
}

// meant names a known key that ends like an unknown one, for the message.
func meant(key string, known map[string]any) string {
	last := key[strings.LastIndexByte(key, '.')+1:]
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if squeeze(k) == squeeze(key) || squeeze(k[strings.LastIndexByte(k, '.')+1:]) == squeeze(last) {
			return " (is it " + k + "?)"
		}
	}
	return ""
}

func squeeze(s string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(s))
}
