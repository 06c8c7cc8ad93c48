// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Bounds of a configuration file, far above what people write.
const (
	maxSize      = 1 << 20 // bytes
	maxDepth     = 50      // levels of nesting
	maxNodes     = 100_000 // values, with aliases written out
	maxGlobs     = 2000    // with their alternatives
	maxOverrides = 256
)

// A document is a YAML file that is being read.
type document struct {
	file  *source.File
	text  string // of the file, after the byte order mark
	skip  int    // length of the byte order mark
	lines []int  // offsets in text of lines as YAML counts them
	globs int    // read so far
	errs  *Errors
}

func newDocument(file *source.File, errs *Errors) *document {
	d := &document{file: file, text: strings.TrimPrefix(file.Data, "\ufeff"), errs: errs, lines: []int{0}}
	d.skip = len(file.Data) - len(d.text)
	return d
}

// root returns the mapping that the file holds, or nil.
func (d *document) root() *yaml.Node {
	if len(d.text) > maxSize {
		d.fail(0, "file is larger than 1 MiB")
		return nil
	}
	if !utf8.ValidString(d.text) {
		d.fail(strings.IndexFunc(d.text, func(r rune) bool { return r == utf8.RuneError }), "file is not UTF-8")
		return nil
	}
	d.countLines()
	decoder := yaml.NewDecoder(strings.NewReader(d.text))
	var top yaml.Node
	if err := decoder.Decode(&top); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		d.syntaxError(err)
		return nil
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		d.errorf(&second, "file holds a second YAML document; the configuration is one")
		return nil
	} else if !errors.Is(err, io.EOF) {
		d.syntaxError(err)
		return nil
	}
	root := top.Content[0]
	if isNull(root) || !d.bounded(root) {
		return nil
	}
	if root = resolve(root); root.Kind != yaml.MappingNode {
		d.errorf(root, "the configuration must be a mapping, not %s", describe(root))
		return nil
	}
	return root
}

// countLines finds the lines as YAML 1.1 counts them.
func (d *document) countLines() {
	for i := 0; i < len(d.text); {
		n := strings.IndexAny(d.text[i:], "\n\r\u0085\u2028\u2029")
		if n < 0 {
			return
		}
		i += n
		_, size := utf8.DecodeRuneInString(d.text[i:])
		if strings.HasPrefix(d.text[i:], "\r\n") {
			size = 2
		}
		i += size
		d.lines = append(d.lines, i)
	}
}

func (d *document) syntaxError(err error) {
	message, at := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if m := lineOfError.FindStringSubmatch(err.Error()); m != nil {
		message = m[2]
		if line, err := strconv.Atoi(m[1]); err == nil {
			at = d.lines[min(max(line, 1), len(d.lines))-1]
			for at < len(d.text) && d.text[at] == ' ' {
				at++
			}
		}
	}
	d.fail(at, "not valid YAML: "+message)
}

// bounded reports whether the tree is small enough to be walked, and says so if
// it is not: an alias may stand for much more than it takes to write, or for
// what it is itself a part of.
func (d *document) bounded(root *yaml.Node) bool {
	left := maxNodes
	var walk func(n *yaml.Node, depth int) bool
	walk = func(n *yaml.Node, depth int) bool {
		switch left--; {
		case left < 0:
			d.errorf(root, "file holds more than %d values, with aliases written out", maxNodes)
			return false
		case depth > maxDepth:
			d.errorf(n, "nested deeper than %d levels", maxDepth)
			return false
		}
		for _, c := range resolve(n).Content {
			if !walk(c, depth+1) {
				return false
			}
		}
		return true
	}
	return walk(root, 1)
}

// span returns the place of a node.
func (d *document) span(n *yaml.Node) source.Span {
	if n.Line < 1 || n.Line > len(d.lines) {
		return d.file.Span(0, 0)
	}
	start := source.RuneOffset(d.text, d.lines[n.Line-1], n.Column)
	end := min(start+1, len(d.text))
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(d.text[start:], n.Value) {
		end = start + len(n.Value)
	}
	return d.file.Span(d.skip+start, d.skip+end)
}

func (d *document) errorf(n *yaml.Node, format string, args ...any) {
	*d.errs = append(*d.errs, &Error{d.span(n), fmt.Sprintf(format, args...)})
}

func (d *document) fail(offset int, message string) {
	*d.errs = append(*d.errs, &Error{d.file.Span(d.skip+offset, d.skip+offset), message})
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// describe names what a node is, for messages.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case isNull(n):
		return "nothing"
	}
	return quote(n.Value)
}

// pairs yields the keys and values of a mapping, and reports keys that can't
// stand there. It clears ok, unless nil, if there are any.
func (d *document) pairs(n *yaml.Node, ok *bool) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		first := map[string]*yaml.Node{}
		refuse := func(key *yaml.Node, format string, args ...any) {
			d.errorf(key, format, args...)
			if ok != nil {
				*ok = false
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := resolve(n.Content[i]), resolve(n.Content[i+1])
			switch other := first[key.Value]; {
			case key.Kind != yaml.ScalarNode:
				refuse(key, "a key must be text, not %s", describe(key))
			case key.Tag == "!!merge":
				refuse(key, "merge keys (<<) can't be used here; use an alias for the whole value")
			case other != nil:
				refuse(key, "key %s stands here twice; the first is on line %d", quote(key.Value), d.file.Position(d.span(other).Start).Line)
			default:
				first[key.Value] = key
				if !yield(key, value) {
					return
				}
			}
		}
	}
}

// mapping yields the pairs of a value that must be a mapping.
func (d *document) mapping(n *yaml.Node, what string) iter.Seq2[*yaml.Node, *yaml.Node] {
	if n.Kind != yaml.MappingNode {
		d.errorf(n, "%s must be a mapping, not %s", what, describe(n))
		return func(func(_, _ *yaml.Node) bool) {}
	}
	return d.pairs(n, nil)
}

// texts yields the items of a value that must be a list of texts.
func (d *document) texts(n *yaml.Node, what string) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) {
		if !d.conform(n, reflect.TypeFor[[]string](), what) {
			return
		}
		for _, item := range n.Content {
			if !yield(resolve(item)) {
				return
			}
		}
	}
}
