package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/holodeck-run/holodeck/fault"
)

func TestRetryIsAPropertyOfTheKind(t *testing.T) {
	retryable := map[fault.Kind]bool{fault.GateValidation: true, fault.Execution: true, fault.Download: true}
	for _, k := range fault.Kinds() {
		e := fault.New(k, "op", "", "cause")
		if e.Retryable() != retryable[k] {
			t.Errorf("%s retryable = %v, want %v", k, e.Retryable(), retryable[k])
		}
		e.Permanent = true
		if e.Retryable() {
			t.Errorf("a permanent %s is retryable", k)
		}
	}
}

func TestMessageSaysWhatIsWrongAndWhatToChange(t *testing.T) {
	cases := []struct {
		name string
		err  *fault.Error
		want string
	}{
		{"with a hint", fault.New(fault.Config, "read worker.yaml", "Add at least one node.", "nodes is empty"), "read worker.yaml: nodes is empty. Add at least one node."},
		{"without a hint", fault.New(fault.Config, "read worker.yaml", "", "nodes is empty"), "read worker.yaml: nodes is empty"},
		{"without an operation", fault.New(fault.Config, "", "Fix it.", "wrong."), "wrong. Fix it."},
		{"that ends in a question", fault.New(fault.Config, "", "Correct it.", "mesage is unknown. Did you mean message?"), "mesage is unknown. Did you mean message? Correct it."},
		{"of several lines", fault.New(fault.Config, "", "Fix them.", "a\nb"), "a\nb\nFix them."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.err.Message(); got != c.want {
				t.Errorf("Message() = %q, want %q", got, c.want)
			}
		})
	}
}

func TestKindIsFoundThroughWrapping(t *testing.T) {
	cause := errors.New("gone")
	err := fmt.Errorf("outer: %w", &fault.Error{Kind: fault.FileNotFound, Err: cause})
	if !fault.Is(err, fault.FileNotFound) || fault.Is(err, fault.Config) || !errors.Is(err, cause) {
		t.Errorf("kind or cause lost in %v", err)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"address", "namespace", "task_queue", "tls"}
	for name, want := range map[string]string{
		"adress": "address", "Namespace": "namespace", "task-queue": "task_queue", "taskqueue": "task_queue",
		"tsl": "tls", "zebra": "", "": "", "namepsace": "namespace",
	} {
		if got := fault.Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
