// SPDX-License-Identifier: Apache-2.0

// Package files finds the files that are to be linted: those that the command
// line names, those below the folders it names, and standard input.
//
// The tree may be a stranger's pull request, so below a folder no symbolic link
// is followed: nothing outside is read, and nothing is read twice or without
// end. What the user names is followed.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// MaxSize is the number of bytes above which a file is not read.
const MaxSize = 16 << 20

// ErrTooLarge is the error of a file of more than [MaxSize] bytes.
var ErrTooLarge = fmt.Errorf("the file is larger than %d MiB", MaxSize>>20)

// Options say how files are found.
type Options struct {
	// Excluded says of a file or folder that it is left out, even if it is named:
	// hooks name every file that changed. Paths are as findings show them; nil
	// excludes none.
	Excluded  func(path string) bool
	Stdin     io.Reader
	StdinName string // what findings on standard input show for a path; "" is <stdin>
	// Split takes what another program made of many files and wrote to standard
	// input apart again, unless it has a name; nil, and no parts, leave it whole.
	Split func(data []byte) []Part
	// Fail makes the document of a file that can't be read, or of a folder that
	// can't be listed, below one that is named.
	Fail func(f *source.File, err error) lint.Document
}

// A Part is what standard input holds of a file.
type Part struct {
	Path string // "" if it is of no file that is known
	Data []byte
}

// A Notice is something to know about a path that is not linted.
type Notice struct{ Path, Message string }

// Find returns the files that the arguments of the command line stand for,
// ordered by path: files, folders, globs, and - for standard input. However
// often a file is named or found, and by whichever path, it is there once. The
// error names every argument that stands for nothing, or for what can't be
// read; the files of the others are returned all the same.
func Find(args []string, o Options) ([]lint.Input, []Notice, error) {
	f := &finder{Options: o, list: os.ReadDir, inputs: map[string]lint.Input{}, folders: map[string]bool{}}
	if f.Excluded == nil {
		f.Excluded = func(string) bool { return false }
	}
	return f.find(args)
}

type finder struct {
	Options
	list    func(folder string) ([]fs.DirEntry, error)
	inputs  map[string]lint.Input // by where the file really is
	stdin   lint.Input            // its Path is "" if it is not asked for
	walks   []*walk
	folders map[string]bool // those entered, by where they really are
	links   []link
	notices []Notice
}

func (f *finder) find(args []string) ([]lint.Input, []Notice, error) {
	var errs []error
	for _, arg := range args {
		errs = append(errs, f.argument(arg))
	}
	if f.stdin.Path != "" {
		// An editor pipes what is not saved yet: it stands for the file it has the
		// name of, so that the project is seen as it will be.
		f.inputs[f.stdinKey()] = f.stdin
	}
	// Whether the target of a link is linted is known only now.
	for _, l := range f.links {
		if message := f.explain(l); message != "" {
			f.notices = append(f.notices, Notice{l.path, message})
		}
	}
	slices.SortFunc(f.notices, func(a, b Notice) int { return strings.Compare(a.Path, b.Path) })
	// By key first, lest equal paths be in the order of the map.
	var inputs []lint.Input
	for _, key := range slices.Sorted(maps.Keys(f.inputs)) {
		inputs = append(inputs, f.inputs[key])
	}
	slices.SortStableFunc(inputs, func(a, b lint.Input) int { return strings.Compare(a.Path, b.Path) })
	return inputs, slices.Compact(f.notices), errors.Join(errs...)
}

// add adds the file that really is at key, unless it is there already; a file
// that is named wins over the same file below a folder.
func (f *finder) add(key string, in lint.Input) {
	if old, ok := f.inputs[key]; ok && (old.Named || !in.Named) {
		return
	}
	in.Fail = f.Fail
	f.inputs[key] = in
}

func (f *finder) argument(arg string) error {
	if arg == "-" {
		return f.standardInput()
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return f.folder(arg)
	case err == nil && info.Mode().IsRegular():
		return f.file(arg)
	case err == nil:
		return fmt.Errorf("%s: is neither a file nor a folder", shown(arg))
	case strings.ContainsAny(arg, "*?[{"): // on Windows, such a name is not just absent but invalid
		return f.glob(arg)
	}
	return describe(arg, err)
}

func (f *finder) file(arg string) error {
	file, err := os.Open(arg)
	if err != nil {
		return describe(arg, err)
	}
	file.Close()
	if f.excluded(clean(arg)) {
		f.notices = append(f.notices, Notice{clean(arg), "excluded by the configuration, not read"})
		return nil
	}
	f.add(resolve(arg), lint.Input{Path: clean(arg), Named: true, Read: func() ([]byte, error) { return read(arg) }})
	return nil
}

func (f *finder) folder(arg string) error {
	root := clean(arg)
	if root != "." && f.excluded(root) {
		f.notices = append(f.notices, Notice{root, "excluded by the configuration, not read"})
		return nil
	}
	if err := f.walk(&walk{root: root, at: resolve(arg)}); err != nil {
		return describe(arg, err)
	}
	return nil
}

// excluded reports whether a path or a folder that it lies in is left out.
func (f *finder) excluded(name string) bool {
	for i := 1; i < len(name); i++ {
		if name[i] == '/' && f.Excluded(name[:i]) {
			return true
		}
	}
	return f.Excluded(name)
}

// glob finds the files that a glob matches, in a walk like that of a folder:
// what is not entered or followed there is not here either.
func (f *finder) glob(arg string) error {
	root, pattern := doublestar.SplitPattern(path.Clean(filepath.ToSlash(arg)))
	if !doublestar.ValidatePattern(pattern) {
		return fmt.Errorf("%s: there is no such file, and as a glob it is malformed", shown(arg))
	}
	w := &walk{root: clean(root), at: resolve(root), pattern: pattern}
	if err := f.walk(w); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return describe(arg, err)
	}
	if !w.found {
		return fmt.Errorf("%s: no file matches", shown(arg))
	}
	return nil
}

func (f *finder) standardInput() error {
	if f.stdin.Path != "" {
		return nil
	}
	if f.Stdin == nil {
		return errors.New("-: there is no standard input")
	}
	name := "<stdin>"
	if f.StdinName != "" {
		name = clean(f.StdinName)
	}
	// Read at once: the input may be read again to see whether it is empty.
	data, err := limited(f.Stdin)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("reading standard input: %w", err)
	}
	if f.Split != nil && f.StdinName == "" && err == nil {
		if parts := f.Split(data); len(parts) > 0 {
			f.parts(parts)
			return nil
		}
	}
	f.stdin = lint.Input{Path: name, Named: true, Read: func() ([]byte, error) { return data, err }, Fail: f.Fail}
	return nil
}

// parts adds the files that standard input was made of. They are not named:
// most of what a chart renders to is none of the linter's business.
func (f *finder) parts(parts []Part) {
	f.Stdin = strings.NewReader("") // all of it is read
	for _, p := range parts {
		name := "<stdin>"
		if p.Path != "" {
			name = clean(p.Path)
		}
		f.inputs["<stdin>\x00"+name] = lint.Input{Path: name, Read: func() ([]byte, error) { return p.Data, nil }, Fail: f.Fail}
	}
}

func (f *finder) stdinKey() string {
	if f.StdinName == "" {
		return "" // no file's key
	}
	return resolve(f.StdinName)
}

// extensions are the endings of files that are read below a folder.
var extensions = map[string]bool{".yaml": true, ".yml": true, ".json": true, ".rules": true, ".rule": true, ".alerts": true, ".md": true}

func ofInterest(name string) bool { return extensions[strings.ToLower(path.Ext(name))] }

// foreign are folders that hold what others wrote, or no files of their own.
var foreign = map[string]bool{".git": true, ".hg": true, ".svn": true, "node_modules": true}

// A walk goes through a folder that the user named, or that a glob begins with.
type walk struct {
	root    string // as findings show it
	at      string // where it really is
	pattern string // of a glob, from root on; "" takes all files of interest
	found   bool   // there is something it is after, excluded or not
}

// takes reports whether the walk is after a file of that name below its root.
func (w *walk) takes(rel string) bool {
	if w.pattern == "" {
		return ofInterest(rel)
	}
	// A pattern such as rules/** says nothing of the ending.
	return doublestar.MatchUnvalidated(w.pattern, rel) && (!strings.HasSuffix(w.pattern, "*") || ofInterest(rel))
}

// enters reports whether what the walk is after may lie in the folder.
func (w *walk) enters(rel string) bool {
	if foreign[path.Base(rel)] {
		return false
	}
	return w.pattern == "" || strings.Contains(w.pattern, "**") || strings.Count(rel, "/") < strings.Count(w.pattern, "/")
}

// path returns the path of what lies below the root, as findings show it.
func (w *walk) path(rel string) string {
	switch {
	case rel == "":
		return w.root
	case w.root == ".":
		return rel
	case strings.HasSuffix(w.root, "/"):
		return w.root + rel
	}
	return w.root + "/" + rel
}

func (f *finder) walk(w *walk) error {
	f.walks = append(f.walks, w)
	return f.enter(w, "")
}

// enter finds the files of a folder below the root of the walk.
func (f *finder) enter(w *walk, rel string) error {
	f.folders[filepath.Join(w.at, rel)] = true
	entries, err := f.list(w.path(rel)) // may return some, and then fail
	for _, e := range entries {
		rel := path.Join(rel, e.Name())
		p, at := w.path(rel), filepath.Join(w.at, rel)
		switch kind := e.Type(); {
		case kind.IsDir():
			if !w.enters(rel) || f.Excluded(p) {
				continue
			}
			if err := f.enter(w, rel); err != nil {
				w.found = true // for all that is known
				f.add(at, lint.Input{Path: p, Read: func() ([]byte, error) { return nil, cause(err) }})
			}
		case kind&fs.ModeSymlink != 0:
			f.links = append(f.links, link{walk: w, rel: rel, path: p, at: at})
		case kind.IsRegular() && w.takes(rel):
			w.found = true
			if !f.Excluded(p) {
				f.add(at, lint.Input{Path: p, Read: func() ([]byte, error) { return read(p) }})
			}
		}
	}
	return err
}

// A link is a symbolic link that a walk came by.
type link struct {
	walk      *walk
	rel, path string
	at        string // where the link itself really is
}

// explain says why a link is not followed, or nothing if the walk is not after
// what it leads to.
func (f *finder) explain(l link) string {
	info, err := os.Stat(l.path)
	folder := err == nil && info.IsDir()
	file := err != nil || info.Mode().IsRegular()
	if f.Excluded(l.path) || !(file && l.walk.takes(l.rel) || folder && l.walk.enters(l.rel)) {
		return ""
	}
	target := ""
	if err == nil {
		target, err = filepath.EvalSymlinks(l.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "symbolic link to nothing"
	case err != nil:
		return "symbolic link, not followed: its target can't be read"
	}
	target = resolve(target)
	in, linted := f.inputs[target]
	switch {
	case linted && in.Path == l.path: // the link itself is named
		return ""
	case folder && below(target, filepath.Dir(l.at)):
		return "symbolic link to a folder it lies in, not followed"
	case linted || f.folders[target]:
		return "symbolic link, not followed: its target is linted where it lies"
	case slices.ContainsFunc(f.walks, func(w *walk) bool { return below(w.at, target) }):
		return "symbolic link, not followed, and its target is not linted: name the link to have it linted"
	}
	return "symbolic link, not followed: it leads out of the tree"
}

// below reports whether p is dir or lies below it; both are absolute.
func below(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// clean returns a path as findings show it.
func clean(p string) string { return filepath.ToSlash(filepath.Clean(p)) }

// resolve returns where a file really is: its absolute path without symbolic
// links. If that can't be found out the path is as good as it gets.
func resolve(p string) string {
	if target, err := filepath.EvalSymlinks(p); err == nil {
		p = target
	}
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	return p
}

// describe says of an argument that can't be read what the user needs to know.
func describe(arg string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file or folder", shown(arg))
	}
	return fmt.Errorf("%s: %w", shown(arg), cause(err))
}

// cause returns an error of the file system without the path, which whoever
// shows the error shows anyway.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// shown returns an argument as an error shows it. A hook may pass the names of
// files that a stranger chose.
func shown(arg string) string {
	if arg == "" || !utf8.ValidString(arg) || strings.ContainsFunc(arg, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(arg)
	}
	return arg
}

func read(p string) ([]byte, error) {
	f, err := os.Open(p)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, cause(err)
	}
	if info.Size() > MaxSize {
		return nil, ErrTooLarge
	}
	// One byte of room, so that the end of the file needs no second buffer.
	data, err := appendLimited(make([]byte, 0, info.Size()+1), f)
	if err != nil {
		return nil, cause(err)
	}
	return data, nil
}

func limited(r io.Reader) ([]byte, error) { return appendLimited(make([]byte, 0, 64<<10), r) }

// appendLimited reads all of r, and no more than is allowed: a file may grow
// while it is read.
func appendLimited(data []byte, r io.Reader) ([]byte, error) {
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data)+1)
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if len(data) > MaxSize {
			return nil, ErrTooLarge
		}
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
