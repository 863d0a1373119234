package cli

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/holodeck-run/holodeck/fault"
)

// completionFlag is how the completion scripts ask.
const completionFlag = "--generate-bash-completion"

// arrange puts flags before positional arguments, where urfave/cli alone finds
// them, and answers unknown commands and flags. What follows "--" stays as it
// is.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 || args[len(args)-1] == completionFlag {
		return args, nil
	}
	if strings.HasPrefix(args[0], "-") {
		_, err := split(app.Flags, args)
		return args, err
	}
	name := args[0]
	if name == "help" || name == "h" {
		return helpArguments(app, args)
	}
	command := app.Command(name)
	if command == nil {
		return nil, wrongUsage(fault.DidYouMean(name, commandNames(app.Commands)), "there is no command %q", name)
	}
	out := []string{name}
	rest := args[1:]
	if len(command.Subcommands) > 0 && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		sub := subcommand(command, rest[0])
		if sub == nil {
			return nil, wrongUsage(fault.DidYouMean(rest[0], commandNames(command.Subcommands)), "%s has no command %q", name, rest[0])
		}
		command, out, rest = sub, append(out, rest[0]), rest[1:]
	}
	arranged, err := split(command.Flags, rest)
	return append(out, arranged...), err
}

func helpArguments(app *cli.App, args []string) ([]string, error) {
	if len(args) > 1 && app.Command(args[1]) == nil {
		return nil, wrongUsage(fault.DidYouMean(args[1], commandNames(app.Commands)), "there is no command %q", args[1])
	}
	if len(args) > 1 {
		return []string{args[1], "--help"}, nil
	}
	return args, nil
}

func subcommand(c *cli.Command, name string) *cli.Command {
	for _, s := range c.Subcommands {
		if s.HasName(name) {
			return s
		}
	}
	return nil
}

func commandNames(commands []*cli.Command) []string {
	var names []string
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// split returns flags first, then "--" and the positional arguments.
func split(flags []cli.Flag, args []string) ([]string, error) {
	var front, back []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			back = append(back, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			back = append(back, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		flag := find(flags, name)
		if flag == nil && name != "help" && name != "h" {
			return nil, wrongUsage(didYouMeanFlag(name, flags), "there is no flag %s", strings.SplitN(arg, "=", 2)[0])
		}
		if flag != nil { // urfave/cli refuses two spellings of one flag side by side
			arg = strings.Replace(arg, strings.TrimSuffix(arg, strings.TrimLeft(arg, "-"))+name, "--"+flag.Names()[0], 1)
		}
		front = append(front, arg)
		if flag == nil || !takesValue(flag) {
			continue
		}
		if !hasValue && (i+1 == len(args) || args[i+1] == "--") {
			return nil, wrongUsage("Write --"+name+" VALUE.", "the flag --%s needs a value", name)
		}
		if !hasValue {
			i++
			value = args[i]
			front = append(front, value)
		}
		if strings.TrimSpace(value) == "" {
			return nil, wrongUsage("Give it a value, or leave it out.", "the value of --%s is blank", name)
		}
	}
	if len(back) > 0 {
		front = append(append(front, "--"), back...)
	}
	return front, nil
}

func find(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

func didYouMeanFlag(name string, flags []cli.Flag) string {
	var known []string
	for _, f := range flags {
		for _, n := range f.Names() {
			if len(n) > 1 {
				known = append(known, "--"+n)
			}
		}
	}
	return fault.NearestOr("--"+name, known, "See --help for the flags there are.")
}
