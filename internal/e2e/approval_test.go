package e2e_test

import (
	"testing"

	"github.com/holodeck-run/holodeck/samples"
	"github.com/holodeck-run/holodeck/samples/approval"
)

func TestASignalOrTheTimerDecides(t *testing.T) {
	cases := []struct {
		name    string
		in      approval.Input
		signal  *approval.Decision
		outcome string
		by      string
	}{
		{"approved", approval.Input{Subject: "A break", SLA: "1h"}, &approval.Decision{Approved: true, By: "Ann"}, "approved", "Ann"},
		{"declined", approval.Input{Subject: "A break", SLA: "1h"}, &approval.Decision{By: "Ben", Note: "no"}, "declined", "Ben"},
		{"nobody in time", approval.Input{Subject: "A break", SLA: "100ms"}, nil, "escalated", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := begin(t, nil)
			model := speak(t, completes(`{"id":1}`))
			p.serve(t, bind(t, folder(t, model.URL)), samples.Register)
			run := p.start(t, approval.Name, c.in)
			if c.signal != nil {
				if err := p.SignalWorkflow(t.Context(), run.GetID(), "", approval.Signal, c.signal); err != nil {
					t.Fatal(err)
				}
			}
			var got approval.Result
			if err := run.Get(t.Context(), &got); err != nil {
				t.Fatal(err)
			}
			if got.Outcome != c.outcome || got.By != c.by || got.Subject != "A break" {
				t.Errorf("result = %+v", got)
			}
		})
	}
}

func TestApprovalSaysWhatItWaitsFor(t *testing.T) {
	p := begin(t, nil)
	model := speak(t, completes(`{"id":1}`))
	p.serve(t, bind(t, folder(t, model.URL)), samples.Register)
	run := p.start(t, approval.Name, approval.Input{SLA: "1h"})
	answer, err := p.QueryWorkflow(t.Context(), run.GetID(), "", "status")
	if err != nil {
		t.Fatal(err)
	}
	var status string
	if err := answer.Get(&status); err != nil || status != "waiting for the signal decide" {
		t.Errorf("status = %q, %v", status, err)
	}
	if err := p.CancelWorkflow(t.Context(), run.GetID(), ""); err != nil {
		t.Fatal(err)
	}
	if err := run.Get(t.Context(), nil); err == nil {
		t.Error("a cancelled approval has a result")
	}
}

func TestAWrongTermIsAConfigFault(t *testing.T) {
	p := begin(t, nil)
	model := speak(t, completes(`{"id":1}`))
	p.serve(t, bind(t, folder(t, model.URL)), samples.Register)
	run := p.start(t, approval.Name, approval.Input{SLA: "soon"})
	if err := run.Get(t.Context(), nil); err == nil {
		t.Fatal("the workflow succeeded")
	}
	events := p.history(t, run)
	if info := events[len(events)-1].GetWorkflowExecutionFailedEventAttributes().GetFailure().GetApplicationFailureInfo(); info.GetType() != "ConfigError" {
		t.Errorf("failure is %v", info)
	}
}
