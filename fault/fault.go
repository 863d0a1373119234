// Package fault is holodeck's vocabulary of failure.
//
// In goes whatever went wrong, with the operation that met it and a hint that
// names what to change; out comes one [Error] of exactly one [Kind]. The kinds
// are the failure types users match in their Temporal retry policies, so their
// spelling is a promise.
//
// The package does not print, log or make Temporal failures: the command turns
// an Error into text and an exit code, and the worker turns it into an
// application failure, each in one place.
package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Kind is a failure type as it stands on the wire.
type Kind string

// The kinds of fault. Which of them Temporal retries is [Kind.Retryable].
const (
	GateValidation      Kind = "GateValidationError"      // the model's answer fails the gate
	Execution           Kind = "ExecutionError"           // the model call failed
	Download            Kind = "DownloadError"            // a URL could not be fetched
	Config              Kind = "ConfigError"              // worker.yaml, agent.yaml or a file reference is wrong
	GateSchema          Kind = "GateSchemaError"          // the gate's schema is unusable
	FileNotFound        Kind = "FileNotFoundError"        // no regular file at that path inside the roots
	UnsupportedFileType Kind = "UnsupportedFileTypeError" // no reader, or content contradicts the declared type
	ExtractionParam     Kind = "ExtractionParamError"     // pages, sheet or range cannot apply
	Document            Kind = "DocumentError"            // damaged, encrypted or without text
	BackendInit         Kind = "BackendInitError"         // the provider cannot be used
	PayloadsTooLarge    Kind = "PayloadsTooLarge"         // over the namespace's payload limit
	PayloadValidation   Kind = "PayloadValidationError"   // the activity's input does not decode
	DecisionTable       Kind = "DecisionTableError"       // the table is wrong
	Feel                Kind = "FeelError"                // an expression cannot be evaluated on these facts
)

// Kinds returns every kind, in the order of the documentation.
func Kinds() []Kind {
	return []Kind{
		GateValidation, Execution, Download, Config, GateSchema, FileNotFound, UnsupportedFileType,
		ExtractionParam, Document, BackendInit, PayloadsTooLarge, PayloadValidation, DecisionTable, Feel,
	}
}

// Retryable says whether a later attempt at the same input may succeed. An
// [Error] of a retryable kind can still be final: see [Error.Permanent].
func (k Kind) Retryable() bool {
	switch k {
	case GateValidation, Execution, Download:
		return true
	default:
		return false
	}
}

// Benign says whether the fault is part of normal running, so that it is not
// logged or counted as a failure of the worker.
func (k Kind) Benign() bool { return k == GateValidation }

// Error is one fault: what was being done, what went wrong, what to change.
type Error struct {
	Kind       Kind
	Op         string        // what was being done, verb first: "open statement.pdf"
	Err        error         // what went wrong; required
	Hint       string        // what to change, one sentence; empty if nothing can be
	Permanent  bool          // final although the kind is retryable (a 404 download, a spent budget)
	RetryAfter time.Duration // the earliest sensible next attempt; zero leaves it to the retry policy
	Details    any           // facts for a program, marshalled to JSON; may be nil
}

// New returns an Error of kind k whose cause is the formatted text.
func New(k Kind, op, hint, format string, args ...any) *Error {
	return &Error{Kind: k, Op: op, Hint: hint, Err: fmt.Errorf(format, args...)}
}

// Error gives the operation and the cause, without the hint.
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable says whether a later attempt at the same input may succeed.
func (e *Error) Retryable() bool { return e.Kind.Retryable() && !e.Permanent }

// Message gives the fault in full: what is wrong, then what to change.
func (e *Error) Message() string {
	if e.Hint == "" {
		return e.Error()
	}
	text := strings.TrimRight(e.Error(), ".\n")
	if strings.Contains(text, "\n") {
		return text + "\n" + e.Hint
	}
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text + " " + e.Hint
	}
	return text + ". " + e.Hint
}

// As returns the outermost [Error] in err's chain.
func As(err error) (*Error, bool) {
	return errors.AsType[*Error](err)
}

// Is reports whether err is a fault of kind k.
func Is(err error, k Kind) bool {
	e, ok := As(err)
	return ok && e.Kind == k
}

// Cause returns what went wrong with a file without its operation and path,
// for messages that name the file themselves.
func Cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
