// SPDX-License-Identifier: Apache-2.0

package runbook

import (
	"testing"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

func TestLocation(t *testing.T) {
	for _, c := range []struct {
		dir, url, page string
		published      string // "" if the page does not lie there
		link, group    string // a URL of the location, and what of it stands for the page
	}{
		{"docs", "https://a.b/{alert}", "docs/X.md", "https://a.b/X", "https://a.b/Y/?q#f", "Y"},
		{"docs", "https://a.b/{alert}", "src/docs/X.md", "https://a.b/X", "https://a.b/c/Y", ""},
		{"docs", "https://a.b/{alert}", "mydocs/X.md", "", "https://a.b/Y", "Y"},
		{"./docs/", "https://a.b/{dir}/{alert|lower}/", "docs/k/X.md", "https://a.b/k/x", "https://a.b/k/y", "y"},
		{"docs", "https://a.b/{dir}/{alert}", "docs/X.md", "https://a.b/X", "https://a.b/Y", ""},
		{".", "https://github.com/a/b/tree/{branch}/{path}", "d/X.md", "https://github.com/a/b/blob/{branch}/d/X.md", "https://github.com/a/b/blob/main/d/Y.md", "d/Y.md"},
		{"docs", "https://a.b/{alert}/{alert}#{alert}", "docs/X.md", "https://a.b/X/X", "https://a.b/Y/Y", "Y"},
		{"docs", "https://a.b/{branch}/{branch}/(", "docs/X.md", "https://a.b/{branch}/{branch}/(", "https://a.b/1/2/(", ""},
	} {
		l := Location{Dir: c.dir, URL: c.url}
		published := ""
		if rel, ok := l.Rel(Parse(source.NewFileString(c.page, ""), false)); ok {
			published = l.Published(rel)
		}
		if published != c.published {
			t.Errorf("%+v: %s is published as %q, want %q", l, c.page, published, c.published)
		}
		group := ""
		pattern := l.Pattern()
		if m, i := pattern.FindStringSubmatch(Canonical(c.link)), pattern.SubexpIndex("page"); m != nil && i >= 0 {
			group = m[i]
		}
		if group != c.group {
			t.Errorf("%+v: %s stands for %q, want %q", l, c.link, group, c.group)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		location Location
		want     string
	}{
		{Location{"docs", "https://a.b/{dir}/{alert|lower}"}, ""},
		{Location{"docs", "https://a.b/{branch}/{path}"}, ""},
		{Location{"docs", ""}, ""},
		{Location{"", "https://a.b/{alert}"}, "runbooks: a folder has no dir; write dir: . for the folder of the configuration"},
		{Location{"docs", "a.b/{alert}"}, `runbooks: url "a.b/{alert}" is no http or https URL`},
		{Location{"docs", "https://a.b/{alrt}"}, `runbooks: url "https://a.b/{alrt}" has {alrt}, which stands for nothing; there are {alert}, {alert|lower}, {dir}, {path} and {branch}`},
		{Location{"docs", "https://a.b/{dir}#{alert}"}, `runbooks: url "https://a.b/{dir}#{alert}" is the same for all runbooks: it needs {alert}, {alert|lower} or {path}`},
	} {
		got := ""
		if err := (Runbooks{c.location}).Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: got %q, want %q", c.location, got, c.want)
		}
	}
}
