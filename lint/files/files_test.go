// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monitoringlinter/monitoringlinter/lint"
)

// tree makes files in a new folder and moves there: a path that ends in a slash
// is a folder, "a -> b" a symbolic link.
func tree(t *testing.T, paths ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, p := range paths {
		if link, target, ok := strings.Cut(p, " -> "); ok {
			if err := os.Symlink(target, link); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(p, "/") {
			if err := os.WriteFile(p, []byte(p), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tree    []string
		args    []string
		options Options
		want    []string // with ! after those that are named
		notices []string
		err     string
	}{
		{"a folder", []string{"r/a.yaml", "r/b/c.YML", "r/d.json", "r/e.rules", "r/f.rule", "r/g.alerts", "r/h.md", "r/i.txt", "r/j"}, []string{"r"}, Options{},
			[]string{"r/a.yaml", "r/b/c.YML", "r/d.json", "r/e.rules", "r/f.rule", "r/g.alerts", "r/h.md"}, nil, ""},
		{"the current folder", []string{"b.yaml", "a/c.yaml"}, []string{"."}, Options{}, []string{"a/c.yaml", "b.yaml"}, nil, ""},
		{"folders nobody means", []string{"a.yaml", ".git/b.yaml", "node_modules/c.yaml", ".github/d.yaml"}, []string{"."}, Options{}, []string{".github/d.yaml", "a.yaml"}, nil, ""},
		{"a named file of any ending", []string{"rules.txt"}, []string{"./rules.txt"}, Options{}, []string{"rules.txt!"}, nil, ""},
		{"named and below a folder", []string{"r/a.yaml", "r/b.yaml"}, []string{"r", "r/../r/a.yaml", "r/"}, Options{}, []string{"r/a.yaml!", "r/b.yaml"}, nil, ""},
		{"a glob", []string{"a/x.yaml", "b/y.yaml", "b/c/z.yaml", "b/c/n.yml"}, []string{"**/*.yaml"}, Options{}, []string{"a/x.yaml", "b/c/z.yaml", "b/y.yaml"}, nil, ""},
		{"a glob of one level", []string{"r/x.yaml", "r/y.txt", "r/s/z.yaml"}, []string{"./r/*.yaml"}, Options{}, []string{"r/x.yaml"}, nil, ""},
		{"a glob of folders", []string{"a/r/x.yaml", "b/r/y.yaml", "b/s/z.yaml"}, []string{"*/r/*.yaml"}, Options{}, []string{"a/r/x.yaml", "b/r/y.yaml"}, nil, ""},
		{"a glob with braces", []string{"r/x.yaml", "r/y.yml", "r/z.md", "s/x.yaml"}, []string{"r/*.{yaml,yml}", "{s,t}/x.yaml"}, Options{}, []string{"r/x.yaml", "r/y.yml", "s/x.yaml"}, nil, ""},
		{"a glob of another ending", []string{"r/x.tmpl", "r/y.yaml"}, []string{"r/*.tmpl"}, Options{}, []string{"r/x.tmpl"}, nil, ""},
		{"a glob of any ending", []string{"r/x.png", "r/y.yaml", "r/s/z.rules"}, []string{"r/**"}, Options{}, []string{"r/s/z.rules", "r/y.yaml"}, nil, ""},
		{"a glob does not enter what others wrote", []string{"a.yaml", ".git/b.yaml", "s/node_modules/c.yaml"}, []string{"**/*.yaml"}, Options{}, []string{"a.yaml"}, nil, ""},
		{"a glob does not follow links", []string{"r/a.yaml", "s/b.yaml", "r/b.yaml -> ../s/b.yaml", "r/c.md -> ../s/b.yaml", "r/s -> ../s"}, []string{"r/*.yaml"}, Options{}, []string{"r/a.yaml"},
			[]string{"r/b.yaml: symbolic link, not followed: it leads out of the tree"}, ""},
		{"a glob and an excluded folder", []string{"a.yaml", "vendor/b.yaml"}, []string{"**/*.yaml", "vendor/*.yaml"}, Options{Excluded: func(p string) bool { return strings.HasPrefix(p, "vendor") }}, []string{"a.yaml"}, nil, ""},
		{"a malformed glob", nil, []string{"*.{yaml"}, Options{}, nil, nil, "*.{yaml: there is no such file, and as a glob it is malformed"},
		{"a file whose name looks like a glob", []string{"[a].yaml"}, []string{"[a].yaml"}, Options{}, []string{"[a].yaml!"}, nil, ""},
		{"excluded", []string{"a.yaml", "vendor/b.yaml", "vendor/c/d.yaml"}, []string{"."}, Options{Excluded: func(p string) bool { return p == "vendor" }}, []string{"a.yaml"}, nil, ""},
		{"an excluded folder that is named", []string{"vendor/b.yaml"}, []string{"vendor/"}, Options{Excluded: func(p string) bool { return p == "vendor" }}, nil, []string{"vendor: excluded by the configuration, not read"}, ""},
		{"an excluded file that is named", []string{"vendor/b.yaml"}, []string{"vendor/b.yaml"}, Options{Excluded: func(p string) bool { return p == "vendor/b.yaml" }}, nil, []string{"vendor/b.yaml: excluded by the configuration, not read"}, ""},
		{"a file that is named in an excluded folder", []string{"a.yaml", "vendor/b.yaml"}, []string{"vendor/b.yaml", "a.yaml"}, Options{Excluded: func(p string) bool { return p == "vendor" }}, []string{"a.yaml!"}, []string{"vendor/b.yaml: excluded by the configuration, not read"}, ""},
		{"overlapping folders", []string{"r/a.yaml", "r/s/b.yaml"}, []string{"r/s", "r", "./r/s/../s"}, Options{}, []string{"r/a.yaml", "r/s/b.yaml"}, nil, ""},
		{"a folder by two names", []string{"r/a.yaml", "l -> r"}, []string{"r", "l"}, Options{}, []string{"r/a.yaml"}, nil, ""},
		{"no name at all", nil, []string{""}, Options{}, nil, nil, `"": there is no such file or folder`},
		{"a name that would forge output", nil, []string{"a\x1b\n*.yaml"}, Options{}, nil, nil, `"a\x1b\n*.yaml": no file matches`},
		{"standard input twice", nil, []string{"-", "-"}, Options{Stdin: strings.NewReader("x")}, []string{"<stdin>!"}, nil, ""},
		{"no standard input", nil, []string{"-"}, Options{}, nil, nil, "-: there is no standard input"},
		{"standard input", nil, []string{"-"}, Options{Stdin: strings.NewReader("x")}, []string{"<stdin>!"}, nil, ""},
		{"standard input of parts", nil, []string{"-", "-"}, Options{Stdin: strings.NewReader("x"), Split: func([]byte) []Part { return []Part{{Path: "b/./a.yaml"}, {}} }}, []string{"<stdin>", "b/a.yaml"}, nil, ""},
		{"standard input of parts with a name", nil, []string{"-"}, Options{Stdin: strings.NewReader("x"), StdinName: "a.yaml", Split: func([]byte) []Part { return []Part{{Path: "b.yaml"}} }}, []string{"a.yaml!"}, nil, ""},
		{"standard input with a name", nil, []string{"-"}, Options{Stdin: strings.NewReader("x"), StdinName: "a/b.yaml"}, []string{"a/b.yaml!"}, nil, ""},
		{"what does not exist", []string{"a.yaml"}, []string{"nope.yaml", "a.yaml", "nope/*.yaml"}, Options{}, []string{"a.yaml!"}, nil,
			"nope.yaml: there is no such file or folder\nnope/*.yaml: no file matches"},
		{"a link to a folder above", []string{"r/a.yaml", "r/loop -> ../r"}, []string{"r"}, Options{}, []string{"r/a.yaml"}, []string{"r/loop: symbolic link to a folder it lies in, not followed"}, ""},
		{"a link within the tree", []string{"r/a.yaml", "r/b.yaml -> a.yaml"}, []string{"r"}, Options{}, []string{"r/a.yaml"}, []string{"r/b.yaml: symbolic link, not followed: its target is linted where it lies"}, ""},
		{"a link out of the tree", []string{"r/a.yaml", "s/secret.yaml", "r/b.yaml -> ../s/secret.yaml", "r/s -> ../s"}, []string{"r"}, Options{}, []string{"r/a.yaml"},
			[]string{"r/b.yaml: symbolic link, not followed: it leads out of the tree", "r/s: symbolic link, not followed: it leads out of the tree"}, ""},
		{"a link to nothing", []string{"r/a.yaml", "r/b.yaml -> nope", "r/c -> nope"}, []string{"r"}, Options{}, []string{"r/a.yaml"}, []string{"r/b.yaml: symbolic link to nothing"}, ""},
		{"a link to itself", []string{"r/a.yaml -> a.yaml"}, []string{"r"}, Options{}, nil, []string{"r/a.yaml: symbolic link, not followed: its target can't be read"}, ""},
		{"a link to what is not linted", []string{"r/a.txt", "r/node_modules/b.yaml", "r/a.yaml -> a.txt", "r/m -> node_modules"}, []string{"r"}, Options{}, nil,
			[]string{"r/a.yaml: symbolic link, not followed, and its target is not linted: name the link to have it linted",
				"r/m: symbolic link, not followed, and its target is not linted: name the link to have it linted"}, ""},
		{"a link to another folder that is named", []string{"r/", "s/a.yaml", "r/s -> ../s"}, []string{"r", "s"}, Options{}, []string{"s/a.yaml"}, []string{"r/s: symbolic link, not followed: its target is linted where it lies"}, ""},
		{"links of no interest", []string{"r/a.txt", "r/b.txt -> a.txt", "r/.git -> a.txt"}, []string{"r"}, Options{}, nil, nil, ""},
		{"an excluded link", []string{"r/", "s/a.yaml", "r/s -> ../s"}, []string{"r"}, Options{Excluded: func(p string) bool { return p == "r/s" }}, nil, nil, ""},
		{"a folder that is named through a link", []string{"r/a.yaml", "l -> r"}, []string{"l"}, Options{}, []string{"l/a.yaml"}, nil, ""},
		{"a link that is named, and its folder", []string{"r/a.yaml", "r/b.yaml -> a.yaml"}, []string{"r", "r/b.yaml"}, Options{}, []string{"r/b.yaml!"}, nil, ""},
		{"a link that is named", []string{"a.yaml", "b.yaml -> a.yaml"}, []string{"b.yaml"}, Options{}, []string{"b.yaml!"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree(t, tt.tree...)
			inputs, notices, err := Find(tt.args, tt.options)
			var got, notes []string
			for _, in := range inputs {
				name := in.Path
				if in.Named {
					name += "!"
				}
				got = append(got, name)
			}
			for _, n := range notices {
				notes = append(notes, n.Path+": "+n.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.notices, notes); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
			message := ""
			if err != nil {
				message = err.Error()
			}
			if message != tt.err {
				t.Errorf("error %q, want %q", message, tt.err)
			}
		})
	}
}

func TestRead(t *testing.T) {
	tree(t, "r/a.yaml")
	for size, want := range map[int]error{0: nil, 1: nil, MaxSize: nil, MaxSize + 1: ErrTooLarge} {
		if err := os.WriteFile("r/a.yaml", bytes.Repeat([]byte("x"), size), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"r"}, {"-"}} {
			inputs, _, err := Find(args, Options{Stdin: bytes.NewReader(bytes.Repeat([]byte("x"), size))})
			if err != nil {
				t.Fatal(err)
			}
			data, err := inputs[0].Read()
			if !errors.Is(err, want) || err == nil && len(data) != size {
				t.Errorf("%v: Read of %d bytes = %d bytes, %v; want %v", args, size, len(data), err, want)
			}
		}
	}
}

// TestOtherFolders names files from another folder, relative and absolute.
func TestOtherFolders(t *testing.T) {
	tree(t, "r/a.yaml", "s/b.yaml")
	t.Chdir("s")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want []string }{
		{[]string{".."}, []string{"../r/a.yaml", "../s/b.yaml"}},
		{[]string{"../r/*.yaml"}, []string{"../r/a.yaml"}},
		{[]string{".", ".."}, []string{"../r/a.yaml", "b.yaml"}},
		{[]string{dir}, []string{filepath.ToSlash(dir) + "/b.yaml"}},
		{[]string{".", dir, filepath.Join(dir, "*.yaml")}, []string{"b.yaml"}},
		{[]string{".", filepath.Join(dir, "b.yaml")}, []string{filepath.ToSlash(dir) + "/b.yaml"}},
	} {
		inputs, _, err := Find(tt.args, Options{})
		if err != nil {
			t.Errorf("Find(%q): %v", tt.args, err)
		}
		var got []string
		for _, in := range inputs {
			got = append(got, in.Path)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Find(%q) (-want +got):\n%s", tt.args, diff)
		}
	}
}

// TestStandardInputStandsForItsFile pipes in what an editor has not saved yet.
func TestStandardInputStandsForItsFile(t *testing.T) {
	tree(t, "r/a.yaml", "r/b.yaml")
	inputs, _, err := Find([]string{"r", "r/a.yaml", "-"}, Options{Stdin: strings.NewReader("not saved"), StdinName: "./r/a.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, in := range inputs {
		data, err := in.Read()
		if err != nil {
			t.Fatal(err)
		}
		got[in.Path] = string(data)
	}
	want := map[string]string{"r/a.yaml": "not saved", "r/b.yaml": "r/b.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
}

// TestNeitherFileNorFolder names a socket; below a folder it is passed over, and
// a link to it is of no interest.
func TestNeitherFileNorFolder(t *testing.T) {
	tree(t, "r/a.yaml")
	l, err := net.Listen("unix", "r/b.yaml")
	if err != nil {
		t.Skipf("no sockets here: %v", err)
	}
	defer l.Close()
	if err := os.Symlink("b.yaml", "r/c.yaml"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	inputs, notices, err := Find([]string{"r", "r/b.yaml"}, Options{})
	if want := "r/b.yaml: is neither a file nor a folder"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if len(inputs) != 1 || inputs[0].Path != "r/a.yaml" || len(notices) > 0 {
		t.Errorf("inputs %v and notices %v, want r/a.yaml and none", inputs, notices)
	}
}

// TestFolderThatCannotBeListed has the file system fail, after it has listed
// some entries.
func TestFolderThatCannotBeListed(t *testing.T) {
	tree(t, "r/a.yaml", "r/b/c.yaml", "r/d.yaml")
	denied := errors.New("permission denied")
	find := func(args ...string) (paths []string, reads map[string]error, err error) {
		f := &finder{inputs: map[string]lint.Input{}, folders: map[string]bool{}}
		f.Excluded = func(string) bool { return false }
		f.list = func(folder string) ([]fs.DirEntry, error) {
			entries, _ := os.ReadDir(folder)
			if folder == "r/b" {
				return entries, &fs.PathError{Op: "readdirent", Path: folder, Err: denied}
			}
			return entries, nil
		}
		inputs, _, err := f.find(args)
		reads = map[string]error{}
		for _, in := range inputs {
			paths = append(paths, in.Path)
			_, reads[in.Path] = in.Read()
		}
		return paths, reads, err
	}
	for _, arg := range []string{"r", "r/**"} {
		paths, reads, err := find(arg)
		if diff := cmp.Diff([]string{"r/a.yaml", "r/b", "r/b/c.yaml", "r/d.yaml"}, paths); diff != "" || err != nil {
			t.Errorf("%s: error %v, inputs (-want +got):\n%s", arg, err, diff)
		}
		for _, p := range paths {
			if want := map[string]error{"r/b": denied}[p]; reads[p] != want {
				t.Errorf("%s: Read of %s: %v, want %v", arg, p, reads[p], want)
			}
		}
	}
	for _, arg := range []string{"r/b", "r/b/*.yaml"} {
		if _, _, err := find(arg); fmt.Sprint(err) != arg+": permission denied" {
			t.Errorf("error %v, want %s: permission denied", err, arg)
		}
	}
}

// TestReadFails removes a file after it was found.
func TestReadFails(t *testing.T) {
	tree(t, "r/a.yaml")
	inputs, _, err := Find([]string{"r"}, Options{})
	if err != nil || len(inputs) != 1 {
		t.Fatalf("inputs %v, error %v", inputs, err)
	}
	if err := os.Remove("r/a.yaml"); err != nil {
		t.Fatal(err)
	}
	if _, err := inputs[0].Read(); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "a.yaml") {
		t.Errorf("Read of a file that is gone: %v, want an error without the path", err)
	}
}

// A growing file is larger when it is read than it was said to be.
func TestReadOfWhatGrows(t *testing.T) {
	if _, err := appendLimited(make([]byte, 0, 1), zeros{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("reading without end: %v, want %v", err, ErrTooLarge)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestUnreadable needs a user whom permissions hold back.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("permissions do not hold this user back")
	}
	tree(t, "r/a.yaml", "r/b/c.yaml", "d.yaml")
	for _, p := range []string{"r/a.yaml", "r/b", "d.yaml"} {
		if err := os.Chmod(p, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(p, 0o755) })
	}
	inputs, _, err := Find([]string{"r", "d.yaml"}, Options{})
	if want := "d.yaml: permission denied"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
	for i, path := range []string{"r/a.yaml", "r/b"} {
		if len(inputs) <= i || inputs[i].Path != path {
			t.Fatalf("inputs %v, want r/a.yaml and r/b", inputs)
		}
		if _, err := inputs[i].Read(); fmt.Sprint(err) != "permission denied" {
			t.Errorf("Read of %s: %v, want permission denied", path, err)
		}
	}
}
