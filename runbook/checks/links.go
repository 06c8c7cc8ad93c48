// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/runbook"
)

var _ = add(lint.Check{
	ID:       "runbook/links",
	Severity: lint.Error,
	Doc: lint.Doc{
		Title: "runbook with a link to a page or heading that does not exist",
		Why: `Runbooks share steps by linking to each other. A link to a page that was renamed, or to a heading that reads otherwise now, ends the search for help.

Links to Markdown files by a relative path are looked up among the files of the run and on disk, and fragments among the headings of the page, under the anchors that GitHub makes. Anchors that differ only in case, hyphens or underscores are left alone: site generators differ there. So are links that begin with a slash or lead out of the folder the run began in, and files of other kinds.`,
		Bad: `-- runbooks/QueueStuck.md --
# QueueStuck

## Diagnosis

Look at the [workers](#worker).

## The workers

They take from the queue.
`,
		Good: `-- runbooks/QueueStuck.md --
# QueueStuck

## Diagnosis

Look at the [workers](#the-workers).

## The workers

They take from the queue.
`,
		TurnOff: "Links are written for a site generator that moves the pages.",
		Since:   "v0.1.0",
		Refs:    []string{"https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#section-links"},
	},
	Run: lint.With(links{}, checkLinks),
})

type links struct {
	Runbooks runbook.Runbooks `yaml:"runbooks" shared:"runbooks" doc:"Folders of runbooks and the URLs they are published under."`
}

func checkLinks(p *lint.Pass, page *runbook.Page, o links) {
	if !page.Named && !o.Runbooks.Cover(page) || page.Deprecated() {
		return
	}
	const hinted = 20 // findings; the search for what was meant is slow on a page with thousands
	found := 0
	for _, l := range page.Links() {
		if strings.Contains(l.Destination, "{{") || strings.Contains(l.Destination, "{%") {
			continue
		}
		u, err := url.Parse(l.Destination)
		if err != nil || u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/") {
			continue
		}
		target := page
		if u.Path != "" {
			ext := strings.ToLower(path.Ext(u.Path))
			name := path.Join(path.Dir(page.Source().Path), u.Path)
			if ext != ".md" && ext != ".markdown" || !filepath.IsLocal(filepath.FromSlash(name)) {
				continue
			}
			target = runbook.PagesOf(p.Project)[name]
			if target == nil {
				if _, err := os.Stat(filepath.FromSlash(name)); err == nil {
					continue // there, and not of the run
				}
				hint := ""
				if found++; found <= hinted {
					hint = nearest(runbook.PagesOf(p.Project), name)
				}
				p.Reportf(l.Span, "%s links to '%s', which does not exist%s", page.Object(), u.Path, hint)
				continue
			}
		}
		if u.Fragment != "" && !hasAnchor(target, u.Fragment) {
			where := "on this page"
			if target != page {
				where = "in " + target.Source().Path
			}
			hint := ""
			if found++; found <= hinted {
				hint = nearestAnchor(target, u.Fragment)
			}
			p.Reportf(l.Span, "%s links to '#%s', and no heading %s has that anchor%s", page.Object(), u.Fragment, where, hint)
		}
	}
}

func hasAnchor(page *runbook.Page, fragment string) bool {
	return page.HasAnchorLike(fragment) || fragment == "top" || len(page.Headings()) == 0
}

func nearestAnchor(page *runbook.Page, fragment string) string {
	if name, ok := near.Name(fragment, page.Anchors()); ok {
		return fmt.Sprintf(": '#%s' seems to be meant", name)
	}
	return ""
}

// nearest says which page of the same folder seems to be meant.
func nearest(all runbook.Pages, name string) string {
	var candidates []string
	for other := range all {
		if path.Dir(other) == path.Dir(name) {
			candidates = append(candidates, path.Base(other))
		}
	}
	slices.Sort(candidates)
	if other, ok := near.Name(path.Base(name), candidates); ok {
		return fmt.Sprintf(": '%s' seems to be meant", other)
	}
	return ""
}
