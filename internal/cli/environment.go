package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/holodeck-run/holodeck/config"
)

// environment reads .env of the working folder below what is set already.
func (t *tool) environment() error {
	values := map[string]string{}
	for _, pair := range t.Environ {
		if name, value, ok := strings.Cut(pair, "="); ok {
			values[name] = value
		}
	}
	t.env = func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
	data, err := os.ReadFile(t.path(".env"))
	if err != nil {
		return nil // no .env is the usual case, and an unreadable one is not ours to judge
	}
	t.env, err = t.env.WithDotEnv(".env", data)
	return err
}

// path returns a path of the working folder.
func (t *tool) path(name string) string {
	if filepath.IsAbs(name) || t.Dir == "" {
		return name
	}
	return filepath.Join(t.Dir, name)
}

// absolute returns a path that means the same to another process.
func (t *tool) absolute(name string) string {
	abs, err := filepath.Abs(t.path(name))
	if err != nil {
		return name
	}
	return abs
}

// cacheDir is where compiled code is kept; "" if there is no such place.
func (t *tool) cacheDir() string {
	if dir := t.env.Get("HOLODECK_CACHE_DIR"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "holodeck")
}

// model is the override of one run, "" for none.
func (t *tool) model() string { return t.env.Get("HOLODECK_MODEL") }

// sampleModel is the model that the samples use: what HOLODECK_MODEL says,
// else a provider whose key is present, else the rules of their files.
func (t *tool) sampleModel() string {
	switch {
	case t.model() != "":
		return t.model()
	case t.env.Get("OPENAI_API_KEY") != "":
		return "openai:gpt-5-mini"
	case t.env.Get("ANTHROPIC_API_KEY") != "":
		return "anthropic:claude-haiku-4-5"
	default:
		return ""
	}
}

// loadConfig reads worker.yaml: the one that is named, else the one of the
// working folder; nil if there is none and none is needed.
func (t *tool) loadConfig(named string, o config.Options) (*config.Worker, error) {
	o.Lookup = t.env
	if named == "" {
		named = "worker.yaml"
		if _, err := os.Stat(t.path(named)); err != nil && o.Local {
			return nil, nil
		}
	}
	return config.Load(t.path(named), o)
}
