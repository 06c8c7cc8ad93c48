// SPDX-License-Identifier: Apache-2.0

// Package files finds the files that are to be linted: those that the command
// line names, those below the folders it names, and standard input.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
	Excluded  func(path string) bool // paths as findings show them; nil excludes none
	Stdin     io.Reader
	StdinName string // what findings on standard input show for a path; "" is <stdin>
	// Fail makes the document of a file below a folder that can't be read.
	Fail func(f *source.File, err error) lint.Document
}

// A Notice is something to know about a path that is not linted.
type Notice struct{ Path, Message string }

// Find returns the files that the arguments of the command line stand for,
// each once, ordered by path. The error names every argument that stands for
// none, or for one that can't be read; the others are returned all the same.
func Find(args []string, o Options) ([]lint.Input, []Notice, error) {
	f := &finder{Options: o, seen: map[string]int{}}
	if f.Excluded == nil {
		f.Excluded = func(string) bool { return false }
	}
	var errs []error
	for _, arg := range args {
		if err := f.argument(arg); err != nil {
			errs = append(errs, err)
		}
	}
	slices.SortFunc(f.inputs, func(a, b lint.Input) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(f.notices, func(a, b Notice) int { return strings.Compare(a.Path, b.Path) })
	return f.inputs, slices.Compact(f.notices), errors.Join(errs...)
}

type finder struct {
	Options
	inputs  []lint.Input
	notices []Notice
	seen    map[string]int // index in inputs by path
}

// add adds an input unless it is there already; a file that is named wins over
// the same file below a folder.
func (f *finder) add(in lint.Input) {
	in.Fail = f.Fail
	if i, ok := f.seen[in.Path]; ok {
		f.inputs[i].Named = f.inputs[i].Named || in.Named
		return
	}
	f.seen[in.Path] = len(f.inputs)
	f.inputs = append(f.inputs, in)
}

func (f *finder) argument(arg string) error {
	if arg == "-" {
		return f.stdin()
	}
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(arg, "*?[{") {
		return f.glob(arg)
	}
	if err != nil {
		return describe(err)
	}
	return f.named(arg, info)
}

// describe says of a failed look at a path what the user can do about it.
func describe(err error) error {
	var pe *fs.PathError
	switch {
	case !errors.As(err, &pe):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no such file or folder", pe.Path)
	}
	return fmt.Errorf("%s: %w", pe.Path, pe.Err)
}

func (f *finder) named(arg string, info fs.FileInfo) error {
	if info.IsDir() {
		return f.walk(arg)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is neither a file nor a folder", arg)
	}
	file, err := os.Open(arg)
	if err != nil {
		return describe(err)
	}
	file.Close()
	f.add(lint.Input{Path: clean(arg), Named: true, Read: func() ([]byte, error) { return read(arg) }})
	return nil
}

func (f *finder) glob(pattern string) error {
	matches, err := doublestar.FilepathGlob(pattern, doublestar.WithFailOnIOErrors(), doublestar.WithNoFollow())
	if err != nil && len(matches) == 0 {
		return fmt.Errorf("%s: %w", pattern, err)
	}
	if len(matches) == 0 {
		return fmt.Errorf("%s: no file matches", pattern)
	}
	var errs []error
	for _, m := range matches {
		if f.Excluded(clean(m)) {
			continue
		}
		info, err := os.Stat(m)
		switch {
		case err != nil:
			errs = append(errs, describe(err))
		case info.IsDir(): // a folder that a glob happens to match is not asked for
		case info.Mode().IsRegular():
			f.add(lint.Input{Path: clean(m), Read: func() ([]byte, error) { return read(m) }})
		}
	}
	return errors.Join(errs...)
}

func (f *finder) stdin() error {
	if f.Stdin == nil {
		return errors.New("-: there is no standard input")
	}
	name := f.StdinName
	if name == "" {
		name = "<stdin>"
	}
	// Read at once: the input may be read again to see whether it is empty.
	data, err := limited(f.Stdin)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("reading standard input: %w", err)
	}
	f.add(lint.Input{Path: filepath.ToSlash(name), Named: true, Read: func() ([]byte, error) { return data, err }})
	return nil
}

// extensions are the endings of files that are read below a folder.
var extensions = map[string]bool{".yaml": true, ".yml": true, ".json": true, ".rules": true, ".rule": true, ".alerts": true, ".md": true}

func ofInterest(name string) bool { return extensions[strings.ToLower(path.Ext(name))] }

func (f *finder) walk(root string) error {
	return filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		name := clean(p)
		if err != nil {
			if p == root {
				return describe(err)
			}
			f.add(lint.Input{Path: name, Read: func() ([]byte, error) { return nil, describe(err) }})
			return nil
		}
		switch {
		case p != root && f.Excluded(name):
			if e.IsDir() {
				return filepath.SkipDir
			}
		case e.IsDir():
			switch e.Name() {
			case ".git", ".hg", ".svn", "node_modules":
				if p != root {
					return filepath.SkipDir
				}
			}
		case e.Type()&fs.ModeSymlink != 0:
			f.link(root, p)
		case e.Type().IsRegular() && ofInterest(e.Name()):
			f.add(lint.Input{Path: name, Read: func() ([]byte, error) { return read(p) }})
		}
		return nil
	})
}

// link says of a symbolic link below a folder why it is not followed: what is
// in the tree is linted where it lies, and what is not is not to be read.
func (f *finder) link(root, p string) {
	info, err := os.Stat(p)
	if err != nil {
		if ofInterest(p) {
			f.notices = append(f.notices, Notice{clean(p), "symbolic link to nothing"})
		}
		return
	}
	if !info.IsDir() && !(info.Mode().IsRegular() && ofInterest(p)) {
		return
	}
	message := "symbolic link, not followed: it leads out of the tree"
	if target, err := filepath.EvalSymlinks(p); err == nil {
		base, err := filepath.EvalSymlinks(root)
		if err == nil {
			target, _ = filepath.Abs(target)
			base, _ = filepath.Abs(base)
			here, _ := filepath.EvalSymlinks(filepath.Dir(p))
			here, _ = filepath.Abs(here)
			switch {
			case info.IsDir() && below(target, here):
				message = "symbolic link to a folder it lies in, not followed"
			case below(base, target):
				message = "symbolic link, not followed: its target is linted where it lies"
			}
		}
	}
	f.notices = append(f.notices, Notice{clean(p), message})
}

// below reports whether p is dir or lies below it.
func below(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// clean returns a path as findings show it.
func clean(p string) string { return filepath.ToSlash(filepath.Clean(p)) }

func read(p string) ([]byte, error) {
	f, err := os.Open(p)
	if err != nil {
		return nil, describe(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, describe(err)
	}
	if info.Size() > MaxSize {
		return nil, ErrTooLarge
	}
	// One byte of room, so that the end of the file needs no second buffer.
	data := make([]byte, 0, info.Size()+1)
	return appendLimited(data, f)
}

func limited(r io.Reader) ([]byte, error) { return appendLimited(make([]byte, 0, 64<<10), r) }

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
