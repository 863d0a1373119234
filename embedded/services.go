package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/server/chasm"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/serialization"
	"go.temporal.io/server/common/pprof"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/resource"
	"go.temporal.io/server/service/frontend"
	"go.temporal.io/server/service/history"
	"go.temporal.io/server/service/history/replication"
	"go.temporal.io/server/service/matching"
	"go.temporal.io/server/service/worker"
	"go.temporal.io/server/temporal"
	"go.uber.org/fx"
	"go.yaml.in/yaml/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// services assembles the server from its modules, so that each service gets
// the socket we hold and the worker service runs on its own.
type services struct {
	plan      *plan
	worker    *fx.App
	leftovers leftovers
}

func (s *Server) startServices(ctx context.Context, p *plan) error {
	cfg := p.serverConfig(s)
	if err := writeConfig(p, cfg); err != nil {
		return err
	}
	sv := &services{plan: p}
	s.onStop("the connections between the services", sv.leftovers.close)
	// The frontend's HTTP API opens its socket itself.
	if err := p.held.http.Close(); err != nil {
		return fmt.Errorf("hand over %s: %w", s.ports.http, err)
	}
	server, err := temporal.NewServerFx(
		sv.module(),
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(p.hosts()),
		temporal.WithLogger(tagged{root: p.log}),
		temporal.WithDynamicConfigClient(p.dynamic),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithChainedFrontendGrpcInterceptors(s.gate.intercept),
		temporal.WithCustomMetricsHandler(p.metrics),
	)
	if err != nil {
		return fmt.Errorf("build the server: %w", err)
	}
	s.onStop("the services", server.Stop)
	if err := server.Start(); err != nil {
		return fmt.Errorf("start the services: %w", err)
	}
	s.onStop("the worker service", sv.startWorker(s.gate))
	return nil
}

// startWorker starts the worker service in the background: what it does
// (schedules, batches, deployments, clean-up) can begin a moment later. A stop
// waits for the end of that start, since the service cannot be stopped in it.
func (sv *services) startWorker(g *gate) (stop func() error) {
	started := make(chan error, 1)
	go func() {
		err := errors.New("start the worker service: it gave up")
		defer func() { started <- err }()
		err = sv.worker.Start(context.Background())
	}()
	return func() error {
		err := <-started
		g.close()
		sv.leftovers.stopWorkers()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		return sv.worker.Stop(ctx)
	}
}

// module is the server's top module with service providers of our own.
func (sv *services) module() fx.Option {
	return fx.Options(
		fx.Provide(
			temporal.NewServerFxImpl,
			temporal.ServerOptionsProvider,
			resource.ArchivalMetadataProvider,
			temporal.TaskCategoryRegistryProvider,
			temporal.ApplyClusterMetadataConfigProvider,
			sv.history, sv.matching, sv.frontend, sv.system,
		),
		dynamicconfig.Module,
		pprof.Module,
		temporal.TraceExportModule,
		chasm.Module,
		serialization.Module,
		temporal.FxLogAdapter,
		fx.Invoke(temporal.ServerLifetimeHooks),
	)
}

func (sv *services) history(p temporal.ServiceProviderParamsCommon) (temporal.ServicesGroupOut, error) {
	app := sv.service(p, primitives.HistoryService, sv.plan.held.history,
		fx.Decorate(newNotifier, uncut), history.QueueModule, history.Module, replication.Module)
	return temporal.NewService(app, primitives.HistoryService, p.Logger), app.Err()
}

func (sv *services) matching(p temporal.ServiceProviderParamsCommon) (temporal.ServicesGroupOut, error) {
	app := sv.service(p, primitives.MatchingService, sv.plan.held.matching, matching.Module)
	return temporal.NewService(app, primitives.MatchingService, p.Logger), app.Err()
}

func (sv *services) frontend(p temporal.ServiceProviderParamsCommon) (temporal.ServicesGroupOut, error) {
	app := sv.service(p, primitives.FrontendService, sv.plan.held.frontend,
		fx.Supply(p.CustomFrontendInterceptors),
		fx.Decorate(func() log.SnTaggedLogger { return log.With(p.Logger, tag.Service(primitives.FrontendService)) }),
		frontend.Module)
	return temporal.NewService(app, primitives.FrontendService, p.Logger), app.Err()
}

// system is the worker service; the server does not start it: see startWorker.
func (sv *services) system(p temporal.ServiceProviderParamsCommon) (temporal.ServicesGroupOut, error) {
	sv.worker = sv.service(p, primitives.WorkerService, sv.plan.held.worker, worker.Module)
	return temporal.ServicesGroupOut{}, sv.worker.Err()
}

func (sv *services) service(p temporal.ServiceProviderParamsCommon, name primitives.ServiceName, l net.Listener, options ...fx.Option) *fx.App {
	return fx.New(append(
		options,
		p.GetCommonServiceOptions(name),
		fx.Decorate(func() net.Listener { return l }),
		fx.Decorate(sv.leftovers.keepClients, sv.leftovers.keepConnections),
	)...)
}

func (p *plan) hosts() map[primitives.ServiceName]static.Hosts {
	h := &p.held
	return map[primitives.ServiceName]static.Hosts{
		primitives.FrontendService: static.SingleLocalHost(dialable(h.frontend)),
		primitives.HistoryService:  static.SingleLocalHost(dialable(h.history)),
		primitives.MatchingService: static.SingleLocalHost(dialable(h.matching)),
		primitives.WorkerService:   static.SingleLocalHost(dialable(h.worker)),
	}
}

func (p *plan) serverConfig(s *Server) *config.Config {
	internal := func(l net.Listener) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: number(l), BindOnIP: loopback}}
	}
	front := config.Service{RPC: config.RPC{GRPCPort: number(p.held.frontend), BindOnIP: p.IP, HTTPPort: number(p.held.http)}}
	const sqlite = "sqlite"
	return &config.Config{
		Global: config.Global{Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback}},
		Persistence: config.Persistence{
			DefaultStore: sqlite, VisibilityStore: sqlite, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{sqlite: {SQL: p.store.config}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
				Enabled: true, InitialFailoverVersion: 1,
				RPCAddress: s.ports.frontend, HTTPAddress: s.ports.http,
				ClusterID: uuid.NewString(), // used once: the database keeps the first
			}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			"frontend": front, "history": internal(p.held.history),
			"matching": internal(p.held.matching), "worker": internal(p.held.worker),
		},
		Archival: config.Archival{History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"}},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: s.ports.frontend},
	}
}

func writeConfig(p *plan, cfg *config.Config) error {
	if p.LogConfig == nil {
		return nil
	}
	text, err := yaml.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if _, err := p.LogConfig.Write(text); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// awaitHealth returns when the frontend says it serves.
func (s *Server) awaitHealth(ctx context.Context, _ *plan) error {
	conn, err := grpc.NewClient("passthrough:///"+s.ports.frontend, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("reach the frontend: %w", err)
	}
	defer conn.Close() //nolint:errcheck // the question is answered
	health := healthpb.NewHealthClient(conn)
	watch, err := health.Watch(ctx, &healthpb.HealthCheckRequest{Service: "temporal.api.workflowservice.v1.WorkflowService"})
	for err == nil {
		var r *healthpb.HealthCheckResponse
		if r, err = watch.Recv(); err == nil && r.GetStatus() == healthpb.HealthCheckResponse_SERVING {
			return nil
		}
	}
	switch status.Code(err) { // the call can see the end of ctx first
	case codes.DeadlineExceeded:
		return context.DeadlineExceeded
	case codes.Canceled:
		return context.Canceled
	}
	return fmt.Errorf("reach the frontend: %w", err)
}
