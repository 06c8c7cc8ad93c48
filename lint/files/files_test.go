// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{"a file whose name looks like a glob", []string{"[a].yaml"}, []string{"[a].yaml"}, Options{}, []string{"[a].yaml!"}, nil, ""},
		{"excluded", []string{"a.yaml", "vendor/b.yaml", "vendor/c/d.yaml"}, []string{"."}, Options{Excluded: func(p string) bool { return p == "vendor" }}, []string{"a.yaml"}, nil, ""},
		{"standard input", nil, []string{"-"}, Options{Stdin: strings.NewReader("x")}, []string{"<stdin>!"}, nil, ""},
		{"standard input with a name", nil, []string{"-"}, Options{Stdin: strings.NewReader("x"), StdinName: "a/b.yaml"}, []string{"a/b.yaml!"}, nil, ""},
		{"what does not exist", []string{"a.yaml"}, []string{"nope.yaml", "a.yaml", "nope/*.yaml"}, Options{}, []string{"a.yaml!"}, nil,
			"nope.yaml: there is no such file or folder\nnope/*.yaml: no file matches"},
		{"a link to a folder above", []string{"r/a.yaml", "r/loop -> ../r"}, []string{"r"}, Options{}, []string{"r/a.yaml"}, []string{"r/loop: symbolic link to a folder it lies in, not followed"}, ""},
		{"a link within the tree", []string{"r/a.yaml", "r/b.yaml -> a.yaml"}, []string{"r"}, Options{}, []string{"r/a.yaml"}, []string{"r/b.yaml: symbolic link, not followed: its target is linted where it lies"}, ""},
		{"a link out of the tree", []string{"r/a.yaml", "s/secret.yaml", "r/b.yaml -> ../s/secret.yaml", "r/s -> ../s"}, []string{"r"}, Options{}, []string{"r/a.yaml"},
			[]string{"r/b.yaml: symbolic link, not followed: it leads out of the tree", "r/s: symbolic link, not followed: it leads out of the tree"}, ""},
		{"a link to nothing", []string{"r/a.yaml", "r/b.yaml -> nope", "r/c -> nope"}, []string{"r"}, Options{}, []string{"r/a.yaml"}, []string{"r/b.yaml: symbolic link to nothing"}, ""},
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
		if _, err := inputs[i].Read(); err == nil {
			t.Errorf("%s can be read", path)
		}
	}
}
