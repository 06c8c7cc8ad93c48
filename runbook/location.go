// SPDX-License-Identifier: Apache-2.0

package runbook

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A Location is a folder of runbooks, and the URL that each is published under.
type Location struct {
	Dir string `yaml:"dir" doc:"Folder of the runbooks."`
	URL string `yaml:"url" doc:"URL of a runbook; {alert} stands for the name of its file without the ending, {alert|lower} for that in lower case, {dir} for its folder and {path} for its path below dir, {branch} for any branch."`
}

// Rel returns the path of the page below the folder, and whether it lies there.
// The folder may stand below others, as when the run began further up.
func (l Location) Rel(p *Page) (string, bool) {
	dir := path.Clean(strings.ReplaceAll(l.Dir, `\`, "/"))
	full := path.Clean(p.file.Path)
	if dir == "." {
		return full, true
	}
	if rel, ok := strings.CutPrefix(full, dir+"/"); ok {
		return rel, true
	}
	if i := strings.LastIndex(full, "/"+dir+"/"); i >= 0 {
		return full[i+len(dir)+2:], true
	}
	return "", false
}

// Runbooks are the Locations that a configuration names; none stand for every
// folder called runbooks.
type Runbooks []Location

// Hold reports whether the page is a runbook that can be read: not an index or a
// helper, not a page that is kept for old links only, and in one of the folders
// unless the user named it.
func (r Runbooks) Hold(p *Page) bool {
	return !p.IsIndex() && !p.IsHelper() && (p.Named || r.Cover(p)) && p.Fault() == nil && !p.Deprecated() && !p.Refers()
}

// Cover reports whether the page lies in one of the folders.
func (r Runbooks) Cover(p *Page) bool {
	if len(r) == 0 {
		return p.InRunbooks()
	}
	for _, l := range r {
		if _, ok := l.Rel(p); ok {
			return true
		}
	}
	return false
}

// Validate reports a location that can't hold or publish anything.
func (r Runbooks) Validate() error {
	for _, l := range r {
		if l.Dir == "" {
			return errors.New("runbooks: a folder has no dir; write dir: . for the folder of the configuration")
		}
		if l.URL == "" {
			continue // the pages are not published, or nobody knows where
		}
		if !strings.HasPrefix(l.URL, "http://") && !strings.HasPrefix(l.URL, "https://") {
			return fmt.Errorf("runbooks: url %q is no http or https URL", l.URL)
		}
		ofPage := false
		for _, name := range placeholder.FindAllString(Canonical(l.URL), -1) {
			switch name {
			case "{alert}", "{alert|lower}", "{path}":
				ofPage = true
			case "{dir}", "{branch}":
			default:
				return fmt.Errorf("runbooks: url %q has %s, which stands for nothing; there are {alert}, {alert|lower}, {dir}, {path} and {branch}", l.URL, name)
			}
		}
		if !ofPage {
			return fmt.Errorf("runbooks: url %q is the same for all runbooks: it needs {alert}, {alert|lower} or {path}", l.URL)
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// Pattern returns the regular expression of the URLs of the location, as
// Canonical writes them. Its groups are page, what stands for the alert or its
// path, and branch.
func (l Location) Pattern() *regexp.Regexp {
	u := Canonical(l.URL)
	var b strings.Builder
	b.WriteString("^")
	end := 0
	named := map[string]bool{}
	group := func(name, what string) {
		if named[name] { // a name may be given once only
			b.WriteString(what)
			return
		}
		named[name] = true
		b.WriteString("(?P<" + name + ">" + what + ")")
	}
	for _, m := range placeholder.FindAllStringIndex(u, -1) {
		b.WriteString(regexp.QuoteMeta(u[end:m[0]]))
		switch u[m[0]:m[1]] {
		case "{alert}", "{alert|lower}":
			group("page", `[^/]+`)
		case "{branch}":
			group("branch", `[^/]+`)
		case "{dir}":
			b.WriteString(`.*`)
		case "{path}":
			group("page", `.+`)
		}
		end = m[1]
	}
	b.WriteString(regexp.QuoteMeta(u[end:]) + "$")
	return regexp.MustCompile(b.String())
}

// Published returns the URL of the page at rel, in which {branch} still stands
// for any branch.
func (l Location) Published(rel string) string {
	name := strings.TrimSuffix(path.Base(rel), path.Ext(rel))
	dir := path.Dir(rel)
	u := Canonical(l.URL)
	if dir == "." {
		dir = ""
		u = strings.ReplaceAll(u, "/{dir}", "")
	}
	return strings.NewReplacer("{alert}", name, "{alert|lower}", strings.ToLower(name), "{dir}", dir, "{path}", rel).Replace(u)
}

// Canonical returns a URL without what does not tell pages apart: fragment,
// query, a slash at the end, and whether GitHub shows it as blob or tree.
func Canonical(u string) string {
	u, _, _ = strings.Cut(u, "#")
	u, _, _ = strings.Cut(u, "?")
	u = strings.TrimSuffix(u, "/")
	if strings.HasPrefix(u, "https://github.com/") {
		u = strings.Replace(u, "/tree/", "/blob/", 1)
	}
	return u
}

// A SectionName is how the heading of a section may read.
type SectionName struct {
	Name    string   `yaml:"name" doc:"What the heading reads."`
	Aliases []string `yaml:"aliases" doc:"What it may read instead."`
}

// Is reports whether a heading reads like that, in upper or lower case: alone,
// with a number before it and a colon after it, with words that follow
// ("Mitigation steps"), or together with another name ("Diagnosis and mitigation").
func (n SectionName) Is(heading string) bool {
	for _, part := range betweenNames.Split(heading, -1) {
		part = plainHeading(part)
		for _, name := range n.All() {
			if len(part) >= len(name) && strings.EqualFold(part[:len(name)], name) && (len(part) == len(name) || strings.IndexByte(" :(-", part[len(name)]) >= 0) {
				return true
			}
		}
	}
	return false
}

var betweenNames = regexp.MustCompile(`(?i)\s+and\s+|\s*[&/,+]\s*`)

var aroundHeading = regexp.MustCompile(`^[^\pL]+|[^\pL\pN)]+$`)

func plainHeading(s string) string { return aroundHeading.ReplaceAllString(s, "") }

// All returns the name and its aliases.
func (n SectionName) All() []string { return append([]string{n.Name}, n.Aliases...) }

// FourSections are the sections that runbooks of the field have, with their
// names in Chinese, Japanese and German.
var FourSections = []SectionName{
	{"Meaning", []string{"含義", "含义", "意味", "Bedeutung"}},
	{"Impact", []string{"影響", "影响", "Auswirkung", "Auswirkungen"}},
	{"Diagnosis", []string{"診斷", "诊断", "診断", "Diagnose"}},
	{"Mitigation", []string{"緩解", "缓解", "緩和", "対処", "Abhilfe", "Behebung"}},
}

// FindSection returns the section of level 2 that has the name.
func (p *Page) FindSection(n SectionName) (Section, bool) {
	for _, s := range p.Sections() {
		if s.Level == 2 && n.Is(s.Heading.Text) {
			return s, true
		}
	}
	return Section{}, false
}
