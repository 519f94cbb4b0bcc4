package api

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/units"
)

// DriverName is the name of the component that is an application's driver.
const DriverName ExecutorID = "driver"

// Attempt is the id of a component's n-th process, from 1: each is started once. The first one's is the name itself.
func Attempt(name ExecutorID, n int) ExecutorID {
	if n <= 1 {
		return name
	}
	return name + ExecutorID("-"+strconv.Itoa(n))
}

// Runs is how the component of an id is started that a has by that, nil for none.
func (a *PlanApp) Runs(id ExecutorID) *Component {
	if a.Component != nil && strings.HasPrefix(string(id), string(DriverName)) {
		return a.Component
	}
	return a.Components[id]
}

// Component reports whether id is that of a component: executors have numbers, components names.
func (id ExecutorID) Component() bool { return id != "" && (id[0] < '0' || id[0] > '9') }

// ComponentClass says how much an application needs a component.
type ComponentClass string

const (
	// ComponentCore is one without which the application cannot run: it starts with all of its kind, or not at all.
	ComponentCore ComponentClass = "core"
	// ComponentElastic is one that comes as there is room.
	ComponentElastic ComponentClass = "elastic"
)

// Component is a program that a node runs for an application beside its executors.
type Component struct {
	Name  ExecutorID     `json:"name"`
	Class ComponentClass `json:"class"`
	// Cores is what it is thought to use, Memory what it claims of its node's.
	Cores  units.Cores `json:"cores"`
	Memory units.Bytes `json:"memory_bytes"`
	// Command is what the program is given: of a driver the arguments of spark-submit. It runs in a directory in which
	// Files are below FilesDir.
	Command []string          `json:"command"`
	Env     map[string]string `json:"env,omitempty"`
	Files   []ComponentFile   `json:"files"`
	// Count is how many there are in a Group, 0 for one, and Image has their programs, "" for as the node has executors'.
	// The k-th of them on a host listens at Port + k, or at the next that is free there, 0 for nowhere.
	Count int    `json:"count,omitempty"`
	Image string `json:"image,omitempty"`
	Port  int    `json:"port,omitempty"`
	// Supervise has a driver that is lost with its node begin again elsewhere.
	Supervise bool `json:"supervise,omitempty"`
	// Submission is its application's, Submitted when that was made, in milliseconds since 1970 by the planner's clock.
	// The planner says both.
	Submission string `json:"submission,omitempty"`
	Submitted  int64  `json:"submitted_ms,omitempty"`
}

// FilesDir is where a component finds its files, each in a directory with its place in the list for a name.
const FilesDir = "files"

// ComponentFile is a file that a component is started with: what it is called, and its content by its SHA-256.
type ComponentFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Path is where the k-th file of a component is, from where that runs.
func (f ComponentFile) Path(k int) string { return path.Join(FilesDir, strconv.Itoa(k), f.Name) }

// The bounds of a component and of a piece of a file.
const (
	MostComponentFiles = 512
	MostFilePiece      = 1 << 20
)

// ValidDigest reports whether s is a SHA-256 in lower-case hexadecimal.
func ValidDigest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// validate reports whether c has no more texts than it may have, whatever else is wrong with it.
func (c *Component) validate(f *faults) bool {
	all, zero := 0, false
	take := func(s string) { all, zero = all+len(s), zero || strings.Contains(s, "\x00") }
	f.check(c.Name.Component() && plain(string(c.Name)) && len(c.Name) <= MostToken/2, "component name %q is none",
		Clip(string(c.Name), MostToken))
	f.check(c.Class == ComponentCore || c.Class == ComponentElastic, "component class is %q, want %s or %s",
		Clip(string(c.Class), MostToken), ComponentCore, ComponentElastic)
	f.between("component cores", float64(c.Cores), 0, MostCores)
	f.size("component memory_bytes", int64(c.Memory))
	f.check(c.Memory > 0, "component memory_bytes is %d, want > 0", int64(c.Memory))
	f.count("the number of files", len(c.Files), MostComponentFiles)
	for _, text := range c.Command {
		take(text)
	}
	for name, value := range c.Env {
		f.check(name != "" && !strings.Contains(name, "="), "env of the component has a variable %q", Clip(name, MostToken))
		take(name)
		take(value)
	}
	for i := range c.Files[:min(len(c.Files), MostComponentFiles)] {
		file := &c.Files[i]
		take(file.Name)
		f.check(file.Name != "" && file.Name != "." && file.Name != ".." && !strings.ContainsAny(file.Name, "/\x00"),
			"file %q: want a name without a directory", Clip(file.Name, MostToken))
		f.check(ValidDigest(file.SHA256), "file %q: the digest is no SHA-256", Clip(file.Name, MostToken))
		f.size("size of file "+Clip(file.Name, MostToken), file.Size)
	}
	f.text("submission", c.Submission, MostToken)
	f.between("submitted_ms", float64(c.Submitted), 0, MostAmount)
	f.check(!zero, "the component has a zero byte in one of its texts")
	f.check(all <= MostLaunch, "the component's command, environment and names of files have %d bytes, at most %d "+
		"are taken", all, MostLaunch)
	return all <= MostLaunch
}

// Submit is what `pacer submit --deploy-mode cluster` asks for. Of VerbUpload it has Piece alone: the reply's
// says what is there already. Of VerbSubmit it has Driver, a Group or both, and Register as the driver will, whose
// Launch has no DriverURL. With DryRun it only asks what would run where.
type Submit struct {
	Piece    *FilePiece       `json:"piece,omitempty"`
	Register *RegisterRequest `json:"register,omitempty"`
	Driver   *Component       `json:"driver,omitempty"`
	Group    *Group           `json:"group,omitempty"`
	DryRun   bool             `json:"dry_run,omitempty"`
}

// FilePiece is a part of a file: what there is from Offset on, at most MostFilePiece bytes. Size is the whole file's.
// Without Data it asks; Offset is then, in the reply, how much of the file is there.
type FilePiece struct {
	SHA256 string `json:"sha256"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Data   []byte `json:"data,omitempty"`
}

// FetchRequest is a node's for what a component needs that it is to start: with a Key a ticket for its submission,
// whose secret the node has made, else a piece of one of its files.
type FetchRequest struct {
	V    int       `json:"v"`
	Node string    `json:"node"`
	App  AppID     `json:"app"`
	Key  string    `json:"key,omitempty"`
	File FilePiece `json:"file,omitzero"`
}

// FetchReply answers a FetchRequest.
type FetchReply struct {
	V     int       `json:"v"`
	Error *Error    `json:"error,omitempty"`
	File  FilePiece `json:"file,omitzero"`
}

// Validate reports every fault of r at once.
func (r *FetchRequest) Validate() error {
	if err := CheckVersion("the node", r.V); err != nil {
		return err
	}
	var f faults
	f.token("app", string(r.App))
	f.check(r.Key == "" || ValidKey(r.Key), "key is no public key")
	f.check(r.Key != "" || ValidDigest(r.File.SHA256), "the digest is no SHA-256")
	f.size("offset", r.File.Offset)
	return f.err("fetch of node " + r.Node)
}

// Bytes is how many bytes c takes as JSON.
func (c *Component) Bytes() int {
	body, err := json.Marshal(c)
	if err != nil {
		return 0 // It has nothing that JSON cannot have.
	}
	return len(body)
}

// Launch is how c is started in the place of an executor of l: with memory of its own.
func (c *Component) Launch(l *Launch) *Launch {
	own := *l
	own.Heap, own.Overhead, own.OffHeap, own.OffHeapFixed, own.OffHeapFloor = c.Memory, 0, 0, true, 0
	own.Cores, own.TaskCPUs, own.Withheld = max(1, int(c.Cores.CeilTo(1))), 0, 0
	return &own
}

// Validate reports every fault of c at once.
func (c *Component) Validate() error {
	var f faults
	c.validate(&f)
	return f.err("component")
}

func (s *Submit) validate(f *faults) {
	if p := s.Piece; p != nil {
		f.check(ValidDigest(p.SHA256), "the digest of the piece is no SHA-256")
		f.size("size of the file", p.Size)
		f.size("offset of the piece", p.Offset)
		f.check(len(p.Data) <= MostFilePiece, "a piece has %d bytes, at most %d are taken", len(p.Data), MostFilePiece)
	}
}
