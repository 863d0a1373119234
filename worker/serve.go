package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// DeploymentOptions are Worker Versioning's options.
type DeploymentOptions = sdkworker.DeploymentOptions

// Service is what a worker process of our own serves.
type Service struct {
	TaskQueue  string
	Activities []*Activities            // an earlier one's name wins over a later one's
	Workflows  func(sdkworker.Registry) // registers workflows; nil: activities only
	OnFatal    func(error)              // the worker cannot go on; may be nil
	Stop       time.Duration            // how long running activities may go on; 0: the first configuration's
	Deployment DeploymentOptions        // Worker Versioning; zero: off
}

// Running is a worker that polls.
type Running struct{ worker sdkworker.Worker }

// Serve starts a worker that shares c. Stop it before c is closed.
func Serve(c client.Client, s Service) (*Running, error) {
	first := s.Activities[0].cfg
	o := sdkworker.Options{
		MaxConcurrentActivityExecutionSize: first.Worker.MaxConcurrentAgents + first.Worker.MaxConcurrentParse,
		WorkerStopTimeout:                  s.Stop,
		DisableWorkflowWorker:              s.Workflows == nil,
		OnFatalError:                       s.OnFatal,
		DeploymentOptions:                  s.Deployment,
	}
	if o.WorkerStopTimeout == 0 {
		o.WorkerStopTimeout = first.Worker.StopTimeout
	}
	w := sdkworker.New(c, s.TaskQueue, o)
	var taken []string
	for _, a := range s.Activities {
		a.stopTime = o.WorkerStopTimeout
		a.RegisterExcept(w, taken)
		taken = append(taken, a.Names()...)
	}
	if s.Workflows != nil {
		s.Workflows(w)
	}
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("start worker on task queue %s: %w", s.TaskQueue, err)
	}
	return &Running{w}, nil
}

// Stop ends polling and waits for running activities, up to the service's
// time.
func (r *Running) Stop() { r.worker.Stop() }

// Deployment returns Worker Versioning's options of the configuration; zero
// when it names no deployment. The default build id is a digest of the binary,
// the configuration's own bytes, and every file that its nodes were read from,
// variables unexpanded: a new key is not a new build.
func (a *Activities) Deployment(configData []byte) (DeploymentOptions, error) {
	d := a.cfg.Deployment
	if d.Name == "" {
		return DeploymentOptions{}, nil
	}
	if d.BuildID == "" {
		var err error
		if d.BuildID, err = a.buildID(configData); err != nil {
			return DeploymentOptions{}, err
		}
	}
	return DeploymentOptions{
		UseVersioning:             true,
		Version:                   sdkworker.WorkerDeploymentVersion{DeploymentName: d.Name, BuildID: d.BuildID},
		DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
	}, nil
}

func (a *Activities) buildID(configData []byte) (string, error) {
	h := sha256.New()
	binary, err := os.Executable()
	if err == nil {
		err = hashFile(h, binary)
	}
	if err != nil {
		return "", fmt.Errorf("digest the binary for deployment.build_id: %w", err)
	}
	_, _ = h.Write(configData)
	for _, name := range a.sources {
		data, err := a.cfg.Home.Read(name)
		if err != nil {
			return "", fmt.Errorf("digest %s for deployment.build_id: %w", name, err)
		}
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		_, _ = h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func hashFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(w, f)
	return err
}

func describe(namespace string) *workflowservice.DescribeNamespaceRequest {
	return &workflowservice.DescribeNamespaceRequest{Namespace: namespace}
}
