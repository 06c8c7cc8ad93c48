// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/rules"
	"github.com/monitoringlinter/monitoringlinter/runbook"
)

var _ = add(lint.Check{
	ID:       "alert/runbook-missing",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "alert whose runbook is not in the repository",
		Why: `Where the runbooks lie in the same repository as the rules, the link of an alert can be checked before either is published. The option runbooks says which folder is published under which URL; {alert} in the URL stands for the name of the file. An alert whose URL is one of these, and whose file is neither in the run nor on disk, will lead to a page that does not exist. A name in another case is another page.

Nothing is said when the run has no page of the folder. Links to a heading of a Markdown page at GitHub are checked without configuration, if the page is in the run under the same path and another alert links to one of its headings: a wrong fragment is a warning, since the page opens all the same.`,
		Bad: `-- rules.yaml --
groups:
- name: queue
  rules:
  - alert: QueueStuck
    expr: queue_moved == 0
    annotations:
      runbook_url: https://runbooks.shop.io/QueueStuck
-- runbooks/QueueStock.md --
# QueueStock
`,
		Good: `-- rules.yaml --
groups:
- name: queue
  rules:
  - alert: QueueStuck
    expr: queue_moved == 0
    annotations:
      runbook_url: https://runbooks.shop.io/QueueStuck
-- runbooks/QueueStuck.md --
# QueueStuck
`,
		Config:  "runbooks: [{dir: runbooks, url: 'https://runbooks.shop.io/{alert}'}]",
		TurnOff: "The runbooks of the folder are published late or from elsewhere.",
		Since:   "v0.1.0",
		Refs: []string{
			"https://github.com/openshift/runbooks/commit/a936006",
			"https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#section-links",
		},
	},
	Run: lint.With(alertRunbookMissing{Annotation: "runbook_url"}, checkAlertRunbookMissing),
})

type alertRunbookMissing struct {
	Runbooks   runbook.Runbooks `yaml:"runbooks" shared:"runbooks" doc:"Folders of runbooks and the URLs they are published under."`
	Annotation string           `yaml:"annotation" doc:"Name of the annotation that holds the URL."`
}

// Validate reports options that make no sense.
func (o alertRunbookMissing) Validate() error { return o.Runbooks.Validate() }

func checkAlertRunbookMissing(p *lint.Pass, project *lint.Project, o alertRunbookMissing) {
	var links []alertRunbookLink
	for r := range lint.All[*rules.Rule](project) {
		e, ok := r.Annotation(o.Annotation)
		if !ok || !r.IsAlert() || e.Templated() || alertUnrendered(e.Value.Value) {
			continue
		}
		if u := strings.TrimSpace(e.Value.Value); strings.HasPrefix(u, "http") {
			links = append(links, alertRunbookLink{r, e, u})
		}
	}
	var locations []*alertRunbookLocation
	for _, l := range o.Runbooks {
		if l.URL != "" {
			locations = append(locations, newAlertRunbookLocation(project, l))
		}
	}
	for _, link := range links {
		checkAlertRunbookLocations(p, link, locations)
	}
	alertRunbookFragments(p, links)
}

// An alertRunbookLink is the URL that an alert has for its runbook.
type alertRunbookLink struct {
	rule  *rules.Rule
	entry rules.Entry
	url   string
}

func (l alertRunbookLink) report(p *lint.Pass, severity lint.Severity, format string, args ...any) {
	p.Report(lint.Finding{Span: l.entry.Place(), Severity: severity, Object: l.rule.Object(), Origin: l.rule.Origin(),
		Message: fmt.Sprintf("%s %s ", l.rule.Object(), l.entry.Key.Value) + fmt.Sprintf(format, args...)})
}

// An alertRunbookLocation is a folder, and the pages that are in it.
type alertRunbookLocation struct {
	runbook.Location
	pattern *regexp.Regexp
	roots   map[string]bool // where the folder lies
	files   map[string]bool // paths below it
	urls    map[string]bool
	walked  bool
}

func newAlertRunbookLocation(project *lint.Project, at runbook.Location) *alertRunbookLocation {
	l := &alertRunbookLocation{Location: at, pattern: at.Pattern(), roots: map[string]bool{}, files: map[string]bool{}, urls: map[string]bool{}}
	for page := range lint.All[*runbook.Page](project) {
		if rel, ok := l.Rel(page); ok {
			l.roots[strings.TrimSuffix(path.Clean(page.Source().Path), rel)] = true
			l.add(rel)
		}
	}
	return l
}

func (l *alertRunbookLocation) add(rel string) {
	l.files[rel] = true
	l.urls[l.Published(rel)] = true
}

// walk adds the pages that are on disk only: a run on a few files, as before a
// commit, does not have all of them.
func (l *alertRunbookLocation) walk() {
	if l.walked {
		return
	}
	l.walked = true
	for root := range l.roots {
		dir := filepath.FromSlash(cmp.Or(root, "."))
		_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // what can't be read is not there
			case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules"):
				return fs.SkipDir
			}
			if rel, err := filepath.Rel(dir, name); err == nil && !e.IsDir() && strings.EqualFold(filepath.Ext(name), ".md") {
				l.add(filepath.ToSlash(rel))
			}
			return nil
		})
	}
}

// match returns the part of a URL that stands for the page, the URL as Published
// writes it, and whether it is one of the location.
func (l *alertRunbookLocation) match(u string) (page, published string, ok bool) {
	u = runbook.Canonical(u)
	m := l.pattern.FindStringSubmatchIndex(u)
	if m == nil {
		return "", "", false
	}
	i := 2 * l.pattern.SubexpIndex("page")
	page = u[m[i]:m[i+1]]
	if i := 2 * l.pattern.SubexpIndex("branch"); i >= 0 {
		u = u[:m[i]] + "{branch}" + u[m[i+1]:]
	}
	if plain, err := url.PathUnescape(u); err == nil {
		u = plain
	}
	if plain, err := url.PathUnescape(page); err == nil {
		page = plain
	}
	return page, u, true
}

// checkAlertRunbookLocations reports a link that none of the locations publishes
// whose URLs look like it.
func checkAlertRunbookLocations(p *lint.Pass, link alertRunbookLink, locations []*alertRunbookLocation) {
	var first *alertRunbookLocation
	var page string
	for _, l := range locations {
		name, u, ok := l.match(link.url)
		if !ok {
			continue
		}
		if len(l.roots) == 0 {
			return // the run has nothing of that folder
		}
		if !l.urls[u] {
			l.walk()
		}
		if l.urls[u] {
			return
		}
		if first == nil {
			first, page = l, name
		}
	}
	if first != nil {
		link.report(p, lint.Unset, "%s", first.fault(page))
	}
}

func (l *alertRunbookLocation) fault(page string) string {
	file := l.file(page)
	var known []string // as the URL has them
	for rel := range l.files {
		if strings.Contains(l.URL, "{path}") {
			known = append(known, rel)
		} else {
			known = append(known, strings.TrimSuffix(path.Base(rel), path.Ext(rel)))
		}
	}
	slices.Sort(known)
	if strings.Contains(l.URL, "{dir}") && slices.ContainsFunc(known, func(name string) bool {
		return name == page || strings.Contains(l.URL, "{alert|lower}") && strings.ToLower(name) == page
	}) {
		return fmt.Sprintf("leads to another folder than that of '%s': write the folder of the page in %s", file, l.Dir)
	}
	fault := fmt.Sprintf("leads to a runbook that does not exist: there is no '%s' in %s", file, l.Dir)
	near, ok := near.Name(page, known)
	switch {
	case !ok:
		return fault + "; add the page, or mend the URL"
	case strings.EqualFold(near, page):
		return fmt.Sprintf("%s; '%s' is there in another case, and URLs tell the two apart", fault, l.file(near))
	}
	return fmt.Sprintf("%s; '%s' seems to be meant", fault, l.file(near))
}

// file returns the name of the file that a URL has as name.
func (l *alertRunbookLocation) file(name string) string {
	if strings.Contains(l.URL, "{path}") {
		return name
	}
	return name + ".md"
}

var githubPage = regexp.MustCompile(`^https://github\.com/[^/]+/[^/]+/(?:blob|tree)/[^/]+/(.+\.md)#(.+)$`)

// alertRunbookFragments reports fragments that lead to no heading of a page at
// GitHub. That the page of the same path in the run is the one that is linked
// to shows in that another alert links to one of its headings.
func alertRunbookFragments(p *lint.Pass, links []alertRunbookLink) {
	type target struct {
		link     alertRunbookLink
		page     *runbook.Page
		fragment string
	}
	found := map[string][]target{}
	for _, l := range links {
		m := githubPage.FindStringSubmatch(l.url)
		if m == nil {
			continue
		}
		fragment, err := url.PathUnescape(m[2])
		if page := runbook.PagesOf(p.Project)[m[1]]; page != nil && err == nil {
			base, _, _ := strings.Cut(l.url, "#")
			found[base] = append(found[base], target{l, page, fragment})
		}
	}
	for _, targets := range found {
		if !slices.ContainsFunc(targets, func(t target) bool { return t.page.HasAnchor(t.fragment) }) {
			continue
		}
		for _, t := range targets {
			if t.page.HasAnchor(t.fragment) {
				continue
			}
			hint := "; link to a heading of that page, or add this one"
			if near, ok := near.Name(t.fragment, t.page.Anchors()); ok {
				hint = fmt.Sprintf("; '#%s' is there", near)
			}
			t.link.report(p, lint.Warning, "leads to the heading '#%s', which %s does not have%s", t.fragment, t.page.Source().Path, hint)
		}
	}
}
