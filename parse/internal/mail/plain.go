package mail

import (
	"strings"
	"time"
)

// flowed joins the lines that were broken for the journey (RFC 3676): those
// that end in a space go on in the next, if it is quoted as deep.
func flowed(s string, dropSpace bool) string {
	var b strings.Builder
	soft, depth := false, 0
	for i, line := range strings.Split(s, "\n") {
		quoted := len(line) - len(strings.TrimLeft(line, ">"))
		rest := strings.TrimPrefix(line[quoted:], " ")
		switch {
		case i == 0:
		case soft && quoted == depth && rest != "-- ":
			line = rest
		default:
			b.WriteByte('\n')
		}
		soft, depth = strings.HasSuffix(line, " ") && rest != "-- ", quoted
		if soft && dropSpace {
			line = line[:len(line)-1]
		}
		b.WriteString(line)
	}
	return b.String()
}

// calendar takes what a person would want to know out of an invitation (RFC
// 5545).
func calendar(s string) string {
	s = strings.NewReplacer("\n ", "", "\n\t", "").Replace(s)
	names := map[string]string{"SUMMARY": "What", "DTSTART": "Start", "DTEND": "End", "LOCATION": "Where", "ORGANIZER": "Organizer", "ATTENDEE": "Attendee", "DESCRIPTION": "Description"}
	unescape := strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`)
	inside := false
	var out []string
	for _, line := range strings.Split(s, "\n") {
		key, value, ok := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, "BEGIN:"):
			inside = value == "VEVENT" || value == "VTODO"
			continue
		case !ok || !inside:
			continue
		}
		name, _, _ := strings.Cut(key, ";")
		if label := names[strings.ToUpper(name)]; label != "" && value != "" {
			if strings.HasPrefix(name, "DT") {
				value = moment(value)
			}
			out = append(out, "- "+label+": "+unescape.Replace(strings.TrimPrefix(value, "mailto:")))
		}
	}
	return strings.Join(out, "\n")
}

// moment writes the time of an invitation as ISO 8601 has it for people.
func moment(value string) string {
	for from, to := range map[string]string{"20060102T150405": "2006-01-02 15:04", "20060102T150405Z": "2006-01-02 15:04 UTC", "20060102": "2006-01-02"} {
		if t, err := time.Parse(from, value); err == nil {
			return t.Format(to)
		}
	}
	return value
}

// unglued puts a blank line behind a quotation, without which markdown takes
// what follows for a part of it.
func unglued(s string) string {
	lines := strings.Split(s, "\n")
	var out []string
	for i, l := range lines {
		if i > 0 && strings.HasPrefix(lines[i-1], ">") && !strings.HasPrefix(l, ">") && strings.TrimSpace(l) != "" {
			out = append(out, "")
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}
