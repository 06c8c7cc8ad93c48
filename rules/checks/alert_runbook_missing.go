// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"net/url"
	"os"
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
	for _, l := range o.Runbooks {
		if l.URL != "" {
			l := alertRunbookLocation{Location: l, pattern: l.Pattern(), urls: map[string]bool{}}
			for page := range lint.All[*runbook.Page](project) {
				if rel, ok := l.Rel(page); ok {
					l.add(page, rel)
				}
			}
			l.check(p, links)
		}
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

// An alertRunbookLocation is a folder with the pages of the run in it.
type alertRunbookLocation struct {
	runbook.Location
	pattern *regexp.Regexp
	root    string // what stands before the path of a page below the folder
	rels    []string
	urls    map[string]bool
}

func (l *alertRunbookLocation) add(page *runbook.Page, rel string) {
	l.root = strings.TrimSuffix(page.Source().Path, rel)
	l.rels = append(l.rels, rel)
	l.urls[l.Published(rel)] = true
}

func (l *alertRunbookLocation) check(p *lint.Pass, links []alertRunbookLink) {
	if len(l.rels) == 0 {
		return
	}
	var names []string
	for _, rel := range l.rels {
		names = append(names, strings.TrimSuffix(rel[strings.LastIndexByte(rel, '/')+1:], ".md"))
	}
	slices.Sort(names)
	branch := l.pattern.SubexpIndex("branch")
	for _, link := range links {
		u := runbook.Canonical(link.url)
		m := l.pattern.FindStringSubmatchIndex(u)
		page := l.pattern.SubexpIndex("page")
		if m == nil || page < 0 {
			continue
		}
		name := u[m[2*page]:m[2*page+1]]
		if branch >= 0 {
			u = u[:m[2*branch]] + "{branch}" + u[m[2*branch+1]:]
		}
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
			u, _ = url.PathUnescape(u)
		}
		if l.urls[u] {
			continue
		}
		file := name
		if !strings.Contains(l.URL, "{path}") {
			file += ".md"
		}
		// A run on a few files, as before a commit, does not have all pages; a
		// page that is there only for a disk that ignores case is not there.
		if at := filepath.FromSlash(l.root + file); filepath.IsLocal(at) && !strings.Contains(l.URL, "{alert|lower}") {
			if _, err := os.Stat(at); err == nil && !slices.ContainsFunc(l.rels, func(rel string) bool { return strings.EqualFold(rel, file) }) {
				continue
			}
		}
		if strings.Contains(l.URL, "{dir}") && slices.Contains(names, name) {
			link.report(p, lint.Unset, "leads to another folder than that of '%s.md': the page is published under another URL", name)
			continue
		}
		fault := fmt.Sprintf("leads to a runbook that does not exist: there is no '%s' in %s", file, l.Dir)
		if near, ok := near.Name(name, names); ok {
			how := "seems to be meant"
			if strings.EqualFold(near, name) {
				how = "is there in another case, and URLs tell the two apart"
			}
			fault += fmt.Sprintf("; '%s.md' %s", near, how)
		}
		link.report(p, lint.Unset, "%s", fault)
	}
}

var githubPage = regexp.MustCompile(`^https://github\.com/[^/]+/[^/]+/(?:blob|tree)/[^/]+/(.+\.md)#(.+)$`)

// alertRunbookFragments reports fragments that lead to no heading of a page at
// GitHub. That the page of the same path in the run is the one that is linked
// to shows in that another alert links to one of its headings.
func alertRunbookFragments(p *lint.Pass, links []alertRunbookLink) {
	var pages map[string]*runbook.Page
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
		if pages == nil {
			pages = map[string]*runbook.Page{}
			for page := range lint.All[*runbook.Page](p.Project) {
				pages[page.Source().Path] = page
			}
		}
		fragment, err := url.PathUnescape(m[2])
		if page := pages[m[1]]; page != nil && err == nil {
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
			var anchors []string
			for _, h := range t.page.Headings() {
				anchors = append(anchors, h.Anchor)
			}
			hint := ""
			if near, ok := near.Name(t.fragment, anchors); ok {
				hint = fmt.Sprintf("; '#%s' is there", near)
			}
			t.link.report(p, lint.Warning, "leads to the heading '#%s', which %s does not have%s", t.fragment, t.page.Source().Path, hint)
		}
	}
}
