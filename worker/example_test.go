package worker_test

import (
	"log"
	"os"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/samples/hardship"
	"github.com/holodeck-run/holodeck/worker"
)

// A worker of the user's own gets holodeck's activities as a plugin of its
// client.
func ExampleNewPlugin() {
	cfg, err := config.Load("worker.yaml", config.Options{Lookup: os.LookupEnv})
	if err != nil {
		log.Fatal(err) // every fault of the file, each with its place
	}
	plugin, err := worker.NewPlugin(cfg, worker.Options{Lookup: os.LookupEnv})
	if err != nil {
		log.Fatal(err) // every fault of its agents and gates
	}
	c, err := client.Dial(client.Options{HostPort: cfg.Temporal.Address, Plugins: []client.Plugin{plugin}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	w := sdkworker.New(c, cfg.Temporal.TaskQueue, sdkworker.Options{})
	w.RegisterWorkflow(hardship.Workflow)
	if err := w.Run(sdkworker.InterruptCh()); err != nil {
		log.Fatal(err)
	}
}
