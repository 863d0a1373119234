package embedded

import (
	"strings"
	"testing"
)

func TestTheListOfWorkflowsStillUsesItsIndexes(t *testing.T) {
	t.Parallel()
	db, err := openDB(connectDSN(":memory:", "", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is in it
	if err := createSchema(db); err != nil {
		t.Fatal(err)
	}
	for condition, index := range map[string]string{
		"Keyword01 = ?":             "by_keyword_01",
		"Int02 BETWEEN ? AND ?":     "by_int_02",
		"Datetime01 > ?":            "by_datetime_01",
		"TemporalScheduledById = ?": "by_temporal_scheduled_by_id",
		"parent_workflow_id = ?":    "by_parent_workflow_id",
		"workflow_id = ?":           "by_workflow_id",
		"status = ?":                "by_status",
		"Keyword01 IS NULL":         "default_idx",
	} {
		args := make([]any, 1+strings.Count(condition, "?"))
		for i := range args {
			args[i] = "x"
		}
		plan, err := db.Query("EXPLAIN QUERY PLAN SELECT run_id FROM executions_visibility WHERE namespace_id = ? AND "+condition+
			" ORDER BY coalesce(close_time, '9999-12-31 23:59:59+00:00') DESC, start_time DESC, run_id LIMIT 10", args...)
		if err != nil {
			t.Fatal(err)
		}
		var id, parent, unused int
		var detail string
		if !plan.Next() {
			t.Fatal("no plan")
		}
		if err := plan.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(detail, index+" ") {
			t.Errorf("%s: %s, want %s", condition, detail, index)
		}
		if err := plan.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
