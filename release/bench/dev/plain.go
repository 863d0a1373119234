package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"
	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const host = "127.0.0.1"

// startPlain starts the server as start-dev is known to configure it.
func startPlain(file string) (server, error) {
	var ports [7]int
	for i := range ports {
		l, err := net.Listen("tcp", host+":0")
		if err != nil {
			return server{}, err
		}
		ports[i] = l.Addr().(*net.TCPAddr).Port
		defer l.Close() //nolint:errcheck // it is closed below
		if err := l.Close(); err != nil {
			return server{}, err
		}
	}
	db := plainStore(file)
	if file != "" {
		if err := sqlite.SetupSchema(db); err != nil {
			return server{}, err
		}
	}
	ns, err := sqlite.NewNamespaceConfig("active", "default", false, nil)
	if err != nil {
		return server{}, err
	}
	if err := sqlite.CreateNamespaces(db, ns); err != nil {
		return server{}, err
	}
	address := at(ports[0])
	noAuth := authorization.NewNoopClaimMapper()
	srv, err := temporal.NewServer(
		temporal.WithConfig(plainConfig(db, ports)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(map[primitives.ServiceName]static.Hosts{
			primitives.FrontendService: static.SingleLocalHost(address),
			primitives.HistoryService:  static.SingleLocalHost(at(ports[1])),
			primitives.MatchingService: static.SingleLocalHost(at(ports[2])),
			primitives.WorkerService:   static.SingleLocalHost(at(ports[3])),
		}),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "warn", OutputFile: os.DevNull}))),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return noAuth }),
		temporal.WithDynamicConfigClient(plainDynamic()),
	)
	if err != nil {
		return server{}, fmt.Errorf("build the plain server: %w", err)
	}
	if err := srv.Start(); err != nil {
		return server{}, fmt.Errorf("start the plain server: %w", err)
	}
	ui := uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		Host: host, Port: ports[6], TemporalGRPCAddress: address, EnableUI: true, HideLogs: true, CORS: uiconfig.CORS{CookieInsecure: true},
	}))
	go func() {
		if err := ui.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return server{address, func() error { ui.Stop(); return srv.Stop() }}, nil
}

func plainStore(file string) *config.SQL {
	if file != "" {
		return &config.SQL{PluginName: "sqlite", DatabaseName: file, ConnectAttributes: map[string]string{"mode": "rwc"}}
	}
	return &config.SQL{PluginName: "sqlite", DatabaseName: uuid.NewString(), ConnectAttributes: map[string]string{"mode": "memory", "cache": "shared"}}
}

func at(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

func plainDynamic() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key():                 8096,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 100,
		dynamicconfig.FrontendPersistenceMaxQPS.Key():                    10_000,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():                     45_000,
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key():      true,
		dynamicconfig.ForceNexusEndpointRefreshOnRead.Key():              true,
		dynamicconfig.EnableChasm.Key():                                  true,
		dynamicconfig.MakeKey("activity.enableStandalone"):               true,
	}
}

func plainConfig(db *config.SQL, ports [7]int) *config.Config {
	service := func(port int) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: host}}
	}
	front := service(ports[0])
	front.RPC.HTTPPort = ports[4]
	return &config.Config{
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: host},
			Metrics:    &metrics.Config{Prometheus: &metrics.PrometheusConfig{ListenAddress: at(ports[5]), HandlerPath: "/metrics"}},
		},
		Persistence: config.Persistence{
			DefaultStore: "sqlite", VisibilityStore: "sqlite", NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{"sqlite": {SQL: db}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
			ClusterInformation: map[string]cluster.ClusterInformation{"active": {
				Enabled: true, InitialFailoverVersion: 1, RPCAddress: at(ports[0]), HTTPAddress: at(ports[4]), ClusterID: uuid.NewString(),
			}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			"frontend": front, "history": service(ports[1]), "matching": service(ports[2]), "worker": service(ports[3]),
		},
		Archival: config.Archival{History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"}},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: at(ports[0])},
	}
}
