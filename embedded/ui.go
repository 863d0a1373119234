package embedded

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	"github.com/temporalio/ui-server/v2/server/auth"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/cors"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/holodeck-run/holodeck/fault"
)

// serveUI answers with the Web UI on the socket held for it. The UI's own
// server would bind a port itself and end the process if it could not, so its
// routes are put together here.
func (s *Server) serveUI(_ context.Context, p *plan) error {
	if !p.UI {
		return nil
	}
	assets, err := p.uiAssets()
	if err != nil {
		return err
	}
	provider, err := config.NewConfigProviderWithRefresh(p.uiConfig(s))
	if err != nil {
		return fmt.Errorf("set up the UI: %w", err)
	}
	conn, err := api.CreateGRPCConnection(provider)
	if err != nil {
		return fmt.Errorf("set up the UI: %w", err)
	}
	s.onStop("the UI's client", conn.Close)

	e := echo.New()
	e.Logger.SetOutput(io.Discard)
	uiMiddleware(e, provider, p.UIPublicPath)
	route.SetHealthRoute(e)
	pass := []api.Middleware{headers.WithForwardHeaders([]string{auth.AuthorizationExtrasHeader, "Caller-Type"})}
	v1 := e.Group("/api/v1")
	v1.GET("/settings", api.GetSettings(provider))
	if p.UINewsFetch {
		v1.GET("/releases", api.GetLatestReleases(provider, api.NewReleaseChecker()))
	}
	v1.GET("/ui-extensions", api.GetUIExtensions(provider, api.TemporalAccessCheck(conn, pass)))
	v1.GET(api.WorkflowRawHistoryUrl, api.WorkflowRawHistoryHandler(workflowservice.NewWorkflowServiceClient(conn)))
	v1.Any("/*", api.TemporalAPIHandler(provider, pass, conn))
	if err := route.SetUIRoutes(e, "", moved{assets, p.UIPublicPath}, provider); err != nil {
		return &fault.Error{Kind: fault.Config, Op: "read the UI's assets", Hint: "Name a folder with index.html with --ui-asset-path.", Err: err}
	}
	route.SetRenderRoute(e, "/")
	s.serveHTTP("the UI", p.held.ui, e)
	return nil
}

// uiMiddleware sets the guards the UI's own server has: the UI may change
// workflows, so other sites must not be able to use it.
func uiMiddleware(e *echo.Echo, provider *config.ConfigProviderWithRefresh, publicPath string) {
	e.Pre(route.PublicPath(publicPath))
	e.Use(
		middleware.Recover(),
		middleware.Gzip(),
		cors.CORSMiddleware(cors.CORSConfig{
			AllowHeaders: []string{
				echo.HeaderOrigin, echo.HeaderContentType, echo.HeaderAccept,
				echo.HeaderXCSRFToken, echo.HeaderAuthorization, auth.AuthorizationExtrasHeader, "Caller-Type",
			},
			AllowCredentials: true,
			ConfigProvider:   provider,
		}),
		middleware.Secure(),
		csrf.EnsureTokenCookie(false),
		middleware.CSRFWithConfig(csrf.MiddlewareConfig(provider, false)),
	)
}

func (p *plan) uiConfig(s *Server) *config.Config {
	return &config.Config{
		TemporalGRPCAddress: s.ports.frontend,
		Host:                p.UIIP,
		Port:                p.held.ui.Addr().(*net.TCPAddr).Port,
		PublicPath:          p.UIPublicPath,
		EnableUI:            true,
		UIAssetPath:         p.UIAssetPath,
		DefaultNamespace:    defaultNamespace,
		DisableNewsFetch:    !p.UINewsFetch,
		NotifyOnNewVersion:  p.UINewsFetch,
		HideLogs:            true,
		Codec:               config.Codec{Endpoint: p.UICodecEndpoint},
		CORS:                config.CORS{CookieInsecure: true},
	}
}

func (p *plan) uiAssets() (fs.FS, error) {
	if p.UIAssetPath != "" {
		if !isFolder(p.UIAssetPath) {
			return nil, fault.New(fault.Config, "read the UI's assets", "Name a folder with index.html with --ui-asset-path.", "%s is not a folder", p.UIAssetPath)
		}
		return os.DirFS(p.UIAssetPath), nil
	}
	all, err := ui.Assets()
	if err != nil {
		return nil, fmt.Errorf("read the UI's assets: %w", err)
	}
	return fs.Sub(all, "local")
}

// moved are the UI's assets for a public path. The UI's routes could do the
// same, but would write a warning to standard error.
type moved struct {
	fs.FS
	path string
}

// contentPolicy is the index's policy, which names its scripts at the root.
var contentPolicy = regexp.MustCompile(`(?i)<meta[^>]*content-security-policy[^>]*>`)

// ReadFile reads an asset, the index with its references moved.
func (m moved) ReadFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(m.FS, name)
	if err != nil || m.path == "" || name != "index.html" {
		return text, err
	}
	index := strings.NewReplacer(`base: ""`, `base: "`+m.path+`"`, `"/_app/`, `"`+m.path+`/_app/`).Replace(string(text))
	return []byte(contentPolicy.ReplaceAllString(index, "")), nil
}
