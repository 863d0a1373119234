package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
	"go.temporal.io/api/serviceerror"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/samples"
)

// This file holds the commands that need no more than a screen each.

func (t *tool) signalCommand() *cli.Command {
	return &cli.Command{
		Name:      "signal",
		Usage:     "send a signal to a running workflow",
		ArgsUsage: "WORKFLOW_ID SIGNAL",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "input", Usage: "the signal's argument: `JSON` or @FILE"},
		}, connectionFlags()[:2]...),
		Action: t.signal,
	}
}

func (t *tool) signal(c *cli.Context) error {
	if c.NArg() != 2 {
		return wrongUsage("Write holodeck signal WORKFLOW_ID SIGNAL.", "signal takes a workflow's id and a signal's name")
	}
	input, err := t.workflowInput(c.String("input"), nil)
	if err != nil {
		return err
	}
	g, err := t.oneStack(c)
	if err != nil {
		return err
	}
	defer g.close()
	id, name := c.Args().Get(0), c.Args().Get(1)
	err = g.client.SignalWorkflow(c.Context, id, "", name, input)
	if _, missing := errors.AsType[*serviceerror.NotFound](err); missing {
		return fault.New(fault.Config, "signal "+id, "Check the id; the Web UI lists the workflows.", "no workflow with that id is running at %s", g.where)
	}
	if err != nil {
		return fmt.Errorf("signal %s: %w", id, err)
	}
	t.note("Sent %s to %s.", name, id)
	return nil
}

func (t *tool) samplesCommand() *cli.Command {
	return &cli.Command{
		Name:  "samples",
		Usage: "list the samples, or copy one",
		Action: func(c *cli.Context) error {
			for _, s := range samples.All() {
				how := "holodeck run " + s.Usage
				if s.Workflow == nil {
					how = "holodeck samples copy " + s.Name
				}
				fmt.Fprintf(t.Stdout, "%-10s %s\n           %s\n", s.Name, s.Summary, how)
			}
			return nil
		},
		Subcommands: []*cli.Command{{
			Name:      "copy",
			Usage:     "write a sample's files into a new folder",
			ArgsUsage: "SAMPLE [DIR]",
			Action:    t.copySample,
		}},
	}
}

func (t *tool) copySample(c *cli.Context) error {
	if c.NArg() < 1 || c.NArg() > 2 {
		return wrongUsage("Write holodeck samples copy SAMPLE [DIR].", "copy takes a sample and a folder")
	}
	name, dir := c.Args().Get(0), c.Args().Get(1)
	if dir == "" {
		dir = name
	}
	for _, s := range samples.All() {
		if s.Name != name {
			continue
		}
		if _, err := os.Stat(t.path(dir)); err == nil {
			return fault.New(fault.Config, "copy to "+dir, "Name a folder that does not exist yet.", "it exists already")
		}
		if err := os.CopyFS(t.path(dir), s.Files); err != nil {
			return fault.New(fault.Config, "copy to "+dir, "Name a folder that can be made.", "%w", fault.Cause(err))
		}
		t.note("Copied %s to %s.", name, dir)
		return nil
	}
	var names []string
	for _, s := range samples.All() {
		names = append(names, s.Name)
	}
	return wrongUsage(fault.DidYouMean(name, names), "there is no sample %q", name)
}

func (t *tool) versionCommand() *cli.Command {
	return &cli.Command{
		Name:   "version",
		Usage:  "print the version",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print it as JSON, with the versions of what is inside"}},
		Action: t.printVersion,
	}
}

// versions names this build and what is inside it.
type versions struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Server   string `json:"temporal_server"`
	SDK      string `json:"temporal_sdk"`
	UI       string `json:"temporal_ui"`
}

// version prefers the link-time value, then the module's version, so that
// go install says the right thing too.
func (t *tool) version() versions {
	v := versions{Version: t.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	if v.Version == "" {
		v.Version = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = s.Value
		}
	}
	for _, d := range info.Deps {
		switch d.Path {
		case "go.temporal.io/server":
			v.Server = strings.TrimPrefix(d.Version, "v")
		case "go.temporal.io/sdk":
			v.SDK = strings.TrimPrefix(d.Version, "v")
		case "github.com/temporalio/ui-server/v2":
			v.UI = strings.TrimPrefix(d.Version, "v")
		}
	}
	return v
}

func (t *tool) printVersion(c *cli.Context) error {
	v := t.version()
	if !c.Bool("json") {
		_, err := fmt.Fprintf(t.Stdout, "holodeck %s (Temporal server %s, SDK %s, UI %s; %s %s)\n", v.Version, v.Server, v.SDK, v.UI, v.Go, v.Platform)
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return t.printJSON(data)
}

func (t *tool) manCommand() *cli.Command {
	return &cli.Command{
		Name:   "man",
		Usage:  "print the man page",
		Hidden: true,
		Action: func(c *cli.Context) error {
			page, err := c.App.ToManWithSection(1)
			if err == nil {
				_, err = fmt.Fprint(t.Stdout, page)
			}
			return err
		},
	}
}

func (t *tool) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a completion script for bash, zsh or fish",
		ArgsUsage: "SHELL",
		Description: `   bash:  holodeck completion bash > /etc/bash_completion.d/holodeck
   zsh:   holodeck completion zsh > "${fpath[1]}/_holodeck"
   fish:  holodeck completion fish > ~/.config/fish/completions/holodeck.fish`,
		Action: func(c *cli.Context) error {
			shells := map[string]string{"bash": bashCompletion, "zsh": zshCompletion}
			shell := c.Args().First()
			script, ok := shells[shell]
			if shell == "fish" {
				var err error
				if script, err = c.App.ToFishCompletion(); err != nil {
					return err
				}
				ok = true
			}
			if !ok || c.NArg() != 1 {
				return wrongUsage("Write holodeck completion bash, zsh or fish.", "there is no completion for %q", shell)
			}
			_, err := fmt.Fprint(t.Stdout, script)
			return err
		},
	}
}

const bashCompletion = `# bash completion of holodeck
_holodeck() {
  local words=("${COMP_WORDS[@]:0:$COMP_CWORD}") cur="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  local offers
  if [[ "$cur" == -* ]]; then
    offers=$("${words[@]}" "$cur" --generate-bash-completion 2>/dev/null)
  else
    offers=$("${words[@]}" --generate-bash-completion 2>/dev/null)
  fi
  COMPREPLY=($(compgen -W "$offers" -- "$cur"))
}
complete -o bashdefault -o default -F _holodeck holodeck
`

const zshCompletion = `#compdef holodeck
_holodeck() {
  local -a offers
  if [[ "$words[CURRENT]" == -* ]]; then
    offers=("${(@f)$(${words[1,CURRENT]} --generate-bash-completion 2>/dev/null)}")
  else
    offers=("${(@f)$(${words[1,CURRENT-1]} --generate-bash-completion 2>/dev/null)}")
  fi
  if [[ -n "$offers[1]" ]]; then _describe holodeck offers; else _files; fi
}
if [ "$funcstack[1]" = _holodeck ]; then _holodeck "$@"; else compdef _holodeck holodeck; fi
`
