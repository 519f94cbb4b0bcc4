package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/units"
)

// nodeSubmission is an application whose driver a node of Pacer's is to start: --deploy-mode cluster.
type nodeSubmission struct {
	l *launch
	// dir is where files are that have no other place.
	dir string
	// settings are all that the driver is to have: of files, of Pacer, of the command line, which wins.
	settings map[string]string
	driver   api.Component
	// sources are what is in the driver's files.
	sources []io.ReaderAt
}

// The settings that a driver's node says, and those of which the files go up with an option of spark-submit.
var (
	ofNode = []string{"spark.master", confDeployMode, confDriverHost, confDriverBind, confSubmission, confSubmitted,
		confWatched, confCredentials, confTLSCA, confPlaintext}
	fileOptions = []fileOption{{"--jars", "spark.jars"}, {"--files", "spark.files"},
		{"--py-files", "spark.submit.pyFiles"}, {"--archives", "spark.archives"}}
)

// fileOption is an option of spark-submit that names files, with its setting.
type fileOption struct{ option, setting string }

// newNodeSubmission reads what is submitted. Nothing has gone anywhere.
func newNodeSubmission(l *launch) (*nodeSubmission, error) {
	if l.files.missing != nil {
		return nil, command.Usagef("%s: %w", optionProperties, l.files.missing)
	}
	s := &nodeSubmission{l: l, settings: map[string]string{}}
	if l.described != nil {
		s.dir = l.described.dir
	}
	maps.Copy(s.settings, l.files.all)
	maps.Copy(s.settings, l.settings)
	maps.Copy(s.settings, l.line.conf)
	for _, key := range ofNode {
		delete(s.settings, key)
	}
	if program := l.program(); program != "" && s.settings[confProgram] == "" {
		s.settings[confProgram] = program
	}
	s.driver = api.Component{Name: api.DriverName, Class: api.ComponentCore, Env: s.environment(),
		Supervise: slices.Contains(l.line.args[:l.line.app], "--supervise")}
	var err error
	if s.driver.Memory, s.driver.Cores, err = s.size(); err != nil {
		return nil, err
	}
	return s, s.command()
}

// environment is what of this machine's the driver is to have: its interpreter, its language and its time zone.
func (s *nodeSubmission) environment() map[string]string {
	env := map[string]string{}
	for _, name := range []string{"PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "TZ", "LANG", "LC_ALL"} {
		if value := s.l.getenv(name); value != "" {
			env[name] = value
		}
	}
	return env
}

// setting is a setting of the driver, which a flag of spark-submit sets too.
func (s *nodeSubmission) setting(key, flag string) string {
	return cmp.Or(s.l.line.last[flag], s.settings[key])
}

// size is what the driver takes of its node: as Spark computes it for containers.
func (s *nodeSubmission) size() (memory units.Bytes, cores units.Cores, err error) {
	heap, err := s.bytes("spark.driver.memory", "--driver-memory", units.GiB)
	if err != nil {
		return 0, 0, err
	}
	overhead, err := s.overhead("spark.driver.", heap)
	if err != nil {
		return 0, 0, err
	}
	n, err := s.number("spark.driver.cores", "--driver-cores")
	return heap + overhead, units.Cores(max(1, n)), err
}

// number is a setting that counts from 1 on, 0 where nothing is said.
func (s *nodeSubmission) number(key, flag string) (int, error) {
	text := s.setting(key, flag)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, command.Usagef("%s %q: want a number from 1 on", key, text)
	}
	return n, nil
}

// bytes is a setting that counts MiB where it has no unit.
func (s *nodeSubmission) bytes(key, flag string, otherwise units.Bytes) (units.Bytes, error) {
	text := s.setting(key, flag)
	if text == "" {
		return otherwise, nil
	}
	b, err := units.ParseBytes(text, units.MiB)
	if err != nil || b < 0 {
		return 0, command.Usagef("%s %q: want a size such as 512m or 2g", key, text)
	}
	return b, nil
}

// leastOverhead is what a JVM has beside its heap at least (PacerConf.scala).
const leastOverhead = 384 * units.MiB

// overhead is what a JVM has beside its heap: more where Python runs beside it.
func (s *nodeSubmission) overhead(of string, heap units.Bytes) (units.Bytes, error) {
	factor := 0.1
	if strings.EqualFold(filepath.Ext(s.l.line.main()), ".py") {
		factor = 0.4
	}
	if text := s.settings[of+"memoryOverheadFactor"]; text != "" {
		var err error
		if factor, err = strconv.ParseFloat(text, 64); err != nil || !(factor > 0 && factor < 1e6) {
			return 0, command.Usagef("%smemoryOverheadFactor %q: want a number above 0", of, text)
		}
	}
	least, err := s.bytes(of+"minMemoryOverhead", "", leastOverhead)
	if err != nil {
		return 0, err
	}
	return s.bytes(of+"memoryOverhead", "", max(least, units.Bytes(float64(heap)*factor)))
}

// command is the driver's command line, with its files in the order in which it names them.
func (s *nodeSubmission) command() error {
	var args []string
	given := s.l.line.args[:s.l.line.app]
	dropped := []string{"--conf", "-c", "--master", "--deploy-mode", "--supervise", optionProperties, optionExtra,
		optionDefaults}
	for i := 0; i < len(given); i++ {
		name, _, joined := strings.Cut(given[i], "=")
		option := given[i : i+1]
		if !joined && sparkOptions[name] {
			option = given[i : i+2]
			i++
		}
		files := slices.ContainsFunc(fileOptions, func(f fileOption) bool { return f.option == name })
		if !files && !slices.Contains(dropped, name) {
			args = append(args, option...)
		}
	}
	var front []string
	for _, f := range fileOptions {
		list, err := s.list(f.option, s.setting(f.setting, f.option))
		if err != nil {
			return err
		}
		delete(s.settings, f.setting)
		if f.option == "--jars" {
			list = joinJars(list, executor.JarMark)
		}
		if list != "" {
			front = append(front, f.option, list)
		}
	}
	program := slices.Clone(s.l.line.args[s.l.line.app:])
	if len(program) == 0 {
		return command.Usagef("submit needs an application")
	}
	if file := program[0]; file != "spark-internal" && !strings.HasSuffix(file, "-shell") {
		var err error
		if program[0], err = s.file("the application", file); err != nil {
			return err
		}
	}
	if options := s.l.driverOptions(true); options != "" {
		front = append(front, "--conf", confDefaultOptions+"="+options)
	}
	settings := s.add("settings.conf", bytes.NewReader(propertiesOf(s.settings)))
	s.driver.Command = slices.Concat([]string{optionProperties, settings}, front, args, program)
	return nil
}

// list are the files of an option, where the driver finds them.
func (s *nodeSubmission) list(option, files string) (string, error) {
	var all []string
	for _, file := range strings.Split(files, ",") {
		if file = strings.TrimSpace(file); file == "" {
			continue
		}
		there, err := s.file(option, file)
		if err != nil {
			return "", err
		}
		all = append(all, there)
	}
	return strings.Join(all, ","), nil
}

// file is where the driver finds a file: one of this machine goes up, one that has an address stays where it is.
func (s *nodeSubmission) file(what, uri string) (string, error) {
	name, alias, aliased := strings.Cut(uri, "#")
	scheme, rest, addressed := strings.Cut(name, ":")
	if addressed && len(scheme) > 1 && !strings.Contains(scheme, "/") {
		if scheme != "file" {
			return uri, nil
		}
		name = "/" + strings.TrimLeft(rest, "/")
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.dir, name)
	}
	st, err := os.Stat(name)
	if err != nil {
		return "", command.Usagef("%s: %w", what, err)
	}
	if !st.Mode().IsRegular() { // To open a pipe may take for ever.
		return "", command.Usagef("%s: %s is no file", what, name)
	}
	from, err := os.Open(name)
	if err != nil {
		return "", command.Usagef("%s: %w", what, err)
	}
	there := s.add(filepath.Base(name), from)
	if aliased {
		there += "#" + alias
	}
	return there, nil
}

// add has a file go up, and returns where the driver finds it.
func (s *nodeSubmission) add(name string, from io.ReaderAt) string {
	k := len(s.driver.Files)
	s.driver.Files = append(s.driver.Files, api.ComponentFile{Name: name})
	s.sources = append(s.sources, from)
	return fmt.Sprintf("%s/%d/%s", executor.FilesMark, k, name)
}

// propertiesOf is a Java properties file with these settings.
func propertiesOf(settings map[string]string) []byte {
	var b bytes.Buffer
	key := strings.NewReplacer(`\`, `\\`, " ", `\ `, ":", `\:`, "=", `\=`, "#", `\#`, "!", `\!`, "\n", `\n`, "\r", `\r`,
		"\t", `\t`)
	value := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`)
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s=%s\n", key.Replace(k), value.Replace(settings[k]))
	}
	return b.Bytes()
}

// register is how the driver will register, as far as that is known before it runs.
func (s *nodeSubmission) register(elapsed units.Seconds) (r api.RegisterRequest, err error) {
	l := s.l
	heap, err := s.bytes("spark.executor.memory", "--executor-memory", units.GiB)
	if err != nil {
		return r, err
	}
	overhead, err := s.overhead("spark.executor.", heap)
	if err != nil {
		return r, err
	}
	python, err := s.bytes("spark.executor.pyspark.memory", "", 0)
	if err != nil {
		return r, err
	}
	launch := api.Launch{SparkHome: l.sp.home, JavaHome: l.getenv("JAVA_HOME"), SparkVersion: l.sp.version(), Heap: heap,
		Overhead: overhead + python}
	if launch.OffHeap, err = s.bytes("spark.memory.offHeap.size", "", 0); err != nil {
		return r, err
	}
	launch.OffHeapFixed = s.settings["spark.memory.offHeap.enabled"] != "" || launch.OffHeap > 0
	if !strings.EqualFold(s.settings["spark.memory.offHeap.enabled"], "true") {
		launch.OffHeap = 0
	}
	if launch.Cores, err = s.number("spark.executor.cores", "--executor-cores"); err != nil {
		return r, err
	}
	r = api.RegisterRequest{Submission: l.settings[confSubmission], Elapsed: elapsed,
		Name:    cmp.Or(s.setting("spark.app.name", "--name"), filepath.Base(l.line.main())),
		Profile: s.settings[confProfile], Program: s.settings[confProgram],
		RequireFeasible: strings.EqualFold(s.settings[confRequire], "true"),
		NoWait:          strings.EqualFold(s.settings[confNoWait], "true"),
		Mode:            api.Mode(strings.ToLower(s.settings[confMode])),
		Class:           api.Class(strings.ToLower(s.settings[confClass])), Launch: launch}
	_, r.UTCOffset = l.now.Zone()
	if r.Nodes, err = s.nodes(); err != nil {
		return r, err
	}
	if r.Deadline, r.ByMoment, err = due(l.setting, l.settings[confBy] != "", l.now); r.ByMoment {
		r.Deadline = max(1e-3, r.Deadline)
	}
	if text := s.settings[confCertainty]; text != "" && err == nil {
		var c float64
		c, err = strconv.ParseFloat(text, 64)
		r.Launch.Certainty = units.Fraction(c)
	} else if err == nil {
		r.Launch.Certainty = usualCertainty
	}
	return r, err
}

// usualCertainty is how likely a deadline is to be kept where nothing is said (PacerConf.scala).
const usualCertainty units.Fraction = 0.95

// nodes is on how many nodes the application wants executors, nil where it does not say.
func (s *nodeSubmission) nodes() (*api.NodeRange, error) {
	least, err := s.number("spark.pacer.nodes.least", "")
	most, faulty := s.number("spark.pacer.nodes.most", "")
	if err = cmp.Or(err, faulty); err != nil || least+most == 0 {
		return nil, err
	}
	return &api.NodeRange{Least: least, Most: most}, nil
}

// digests works out what the files have.
func (s *nodeSubmission) digests() error {
	for k, from := range s.sources {
		f, sum := &s.driver.Files[k], sha256.New()
		if f.SHA256 != "" {
			continue // A description's, which were read when it was checked.
		}
		size, err := io.Copy(sum, io.NewSectionReader(from, 0, math.MaxInt64))
		if f.Size, f.SHA256 = size, hex.EncodeToString(sum.Sum(nil)); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// upload brings files to the planner.
func (s *nodeSubmission) upload(ctx context.Context, planner *uploader) error {
	if err := s.digests(); err != nil {
		return err
	}
	for k, from := range s.sources {
		if err := s.send(ctx, planner, s.driver.Files[k], from); err != nil {
			return fmt.Errorf("upload of %s: %w", s.driver.Files[k].Name, err)
		}
	}
	return nil
}

// sendAgain is how long it takes until a planner is asked again that does not answer now, twice that the next time and
// so on up to sendRest. sendFor is how long it is asked.
const (
	sendAgain = 300 * time.Millisecond
	sendRest  = 3 * time.Second
	sendFor   = 2 * time.Minute
)

// sendRate is how many bytes of files go up in a second, sendFull how many at once: as JSON they are within what a
// planner takes of one user's requests (bus.mostRequests). Pieces beyond it are refused, and the connection is cut.
const (
	sendRate = 2560 << 10
	sendFull = 8 << 20
)

// uploader asks a planner, and has the pace at which files go up.
type uploader struct {
	conn  client
	w     io.Writer
	began time.Time
	sent  int
	said  string
}

// pace waits until n more bytes may go up.
func (a *uploader) pace(ctx context.Context, n int) {
	if a.sent += n; a.sent <= sendFull {
		a.began = time.Now()
		return
	}
	due := time.Duration(float64(a.sent-sendFull) / sendRate * float64(time.Second))
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(a.began.Add(due))):
	}
}

// send sends a file, from where the planner has it.
func (s *nodeSubmission) send(ctx context.Context, planner *uploader, f api.ComponentFile, from io.ReaderAt) error {
	buf := make([]byte, api.MostFilePiece)
	piece := &api.FilePiece{SHA256: f.SHA256, Size: f.Size}
	for {
		planner.pace(ctx, len(piece.Data))
		reply, err := planner.ask(ctx, api.VerbUpload,
			func() (api.Submit, error) { return api.Submit{Piece: piece}, ctx.Err() })
		there := reply.Piece
		if err != nil || there == nil || there.Offset >= f.Size {
			return err
		}
		n, err := from.ReadAt(buf[:min(int64(len(buf)), f.Size-there.Offset)], there.Offset)
		if n == 0 {
			return fmt.Errorf("it has changed: %w", err)
		}
		piece = &api.FilePiece{SHA256: f.SHA256, Size: f.Size, Offset: there.Offset, Data: buf[:n]}
	}
}

// ask asks the planner, again for a while where it does not answer or says that it cannot now. A request that comes
// twice is done once, and is answered even when ctx ends while it is under way: what was taken has to be known.
func (a *uploader) ask(ctx context.Context, verb api.Verb,
	what func() (api.Submit, error)) (api.ControlReply, error) {
	until := time.Now().Add(sendFor)
	for again := sendAgain; ; again = min(2*again, sendRest) {
		asked, err := what()
		if err != nil {
			return api.ControlReply{}, err
		}
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		reply, err := a.conn.Control(limit, verb, api.ControlRequest{Query: &api.Query{Submit: &asked}})
		cancel()
		if api.KindOf(err) != api.KindTransient || time.Now().After(until) {
			return reply, err
		}
		if text := err.Error(); text != a.said {
			fmt.Fprintf(a.w, "pacer: %v; trying again for up to %v\n", err, sendFor)
			a.said = text
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}
