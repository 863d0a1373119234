package worker

import (
	"context"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/temporal"

	"github.com/holodeck-run/holodeck/config"
)

// Plugin gives a client, and every worker made from it, the activities of a
// configuration. Pass it once, to client.Options.Plugins; or to
// worker.Options.Plugins for one worker alone: then it does not see the client,
// and a result is measured without the client's codec and external storage.
type Plugin struct {
	*temporal.SimplePlugin
	activities *Activities
}

// NewPlugin binds cfg and returns its plugin. All faults surface here; the
// hooks of a plugin cannot fail. Plugins do not run in the SDK's test
// environments made without SetWorkerOptions: call Register there.
//
// The plugin adds to the client what is not set yet: a converter that does
// not escape HTML, and tracing when o.Tracer is set. The user's codec,
// converter, external storage and interceptors stay.
func NewPlugin(cfg *config.Worker, o Options) (*Plugin, error) {
	a, err := NewActivities(cfg, o)
	if err != nil {
		return nil, err
	}
	return a.Plugin()
}

// Plugin returns the plugin of bound activities.
func (a *Activities) Plugin() (*Plugin, error) {
	options := temporal.SimplePluginOptions{
		Name: "holodeck",
		ConfigureClient: func(_ context.Context, o client.PluginConfigureClientOptions) error {
			if o.ClientOptions.DataConverter == nil {
				o.ClientOptions.DataConverter = DataConverter()
			}
			return nil
		},
		RunContextBefore: func(_ context.Context, o temporal.SimplePluginRunContextBeforeOptions) error {
			if !o.WorkflowReplayer {
				a.Register(o.Registry)
			}
			return nil
		},
	}
	if a.tracer != nil {
		tracing, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{Tracer: a.tracer})
		if err != nil {
			return nil, err
		}
		options.ClientInterceptors = append(options.ClientInterceptors, tracing)
	}
	simple, err := temporal.NewSimplePlugin(options)
	if err != nil {
		return nil, err
	}
	return &Plugin{simple, a}, nil
}

// NewClient implements client.Plugin: it looks at the options when they are
// final, whatever plugins come after this one.
func (p *Plugin) NewClient(ctx context.Context, o client.PluginNewClientOptions, next func(context.Context, client.PluginNewClientOptions) error) error {
	p.activities.limits.use(o.ClientOptions)
	return p.SimplePlugin.NewClient(ctx, o, next)
}

// Activities returns what the plugin registers.
func (p *Plugin) Activities() *Activities { return p.activities }

// ClientOnly returns a plugin's client half: it configures the client and
// leaves the workers made from it alone. For a process that registers the
// activities itself.
func ClientOnly(p *Plugin) client.Plugin { return clientOnly{p: p} }

type clientOnly struct {
	client.PluginBase
	p *Plugin
}

// Name implements client.Plugin.
func (c clientOnly) Name() string { return c.p.Name() }

// ConfigureClient implements client.Plugin.
func (c clientOnly) ConfigureClient(ctx context.Context, o client.PluginConfigureClientOptions) error {
	return c.p.ConfigureClient(ctx, o)
}

// NewClient implements client.Plugin.
func (c clientOnly) NewClient(ctx context.Context, o client.PluginNewClientOptions, next func(context.Context, client.PluginNewClientOptions) error) error {
	return c.p.NewClient(ctx, o, next)
}
