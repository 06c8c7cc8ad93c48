// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"regexp"
	"strconv"
)

// A promVersion is a version of Prometheus; the zero value stands for one that is
// not known.
type promVersion struct{ major, minor int }

var promVersionForm = regexp.MustCompile(`^v?(\d{1,3})(?:\.(\d{1,3}))?(?:\.\d{1,3})?(?:[-+].*)?$`)

// parsePromVersion reads a version as people write it: v3.5, 3 or 2.53.1. One
// without a minor version is the last of its kind.
func parsePromVersion(s string) promVersion {
	m := promVersionForm.FindStringSubmatch(s)
	if m == nil {
		return promVersion{}
	}
	const last = 999
	v := promVersion{minor: last}
	v.major, _ = strconv.Atoi(m[1])
	if m[2] != "" {
		v.minor, _ = strconv.Atoi(m[2])
	}
	return v
}

func (v promVersion) known() bool { return v.major > 0 }

// before reports whether v is older than o.
func (v promVersion) before(o promVersion) bool {
	return v.major < o.major || v.major == o.major && v.minor < o.minor
}

func (v promVersion) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

func promVersionError(s string) error {
	if s != "" && !parsePromVersion(s).known() {
		return fmt.Errorf("prometheus-version: %q is no version such as v3.5", s)
	}
	return nil
}
