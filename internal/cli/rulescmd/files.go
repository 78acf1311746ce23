package rulescmd

import (
	"context"
	_ "embed" // the file to start from
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
	"github.com/hookmux/hookmux/internal/wire"
)

var (
	//go:embed starter.yaml
	starter string
	//go:embed safe.yaml
	safeRules string
	//go:embed programs.yaml
	programsStarter string
)

func newCommand(app *cmdutil.App) *cobra.Command {
	var project, describe, safe bool
	cmd := &cobra.Command{
		Use:   "new [NAME]",
		Short: "Write a commented file of rules to start from",
		Long: `Writes NAME.yaml (rules.yaml unless you give a name) into ~/.config/hookmux/rules, or
with --project into this project's .hookmux/rules. Its rules only log until you turn
them on. With --programs it writes a commented description of one of your own tools
into the folder programs beside it instead, so that guards know what its subcommands
delete, deploy, run or print. With --safe it writes rules that allow what needs no
question: reads, tests and linters in the project. Existing files aren't overwritten.`,
		Example: "  hookmux rules new\n  hookmux rules new --safe\n  hookmux rules new team --project\n  hookmux rules new acme --programs",
		Args:    cmdutil.OptionalArg(),
		RunE: func(cmd *cobra.Command, args []string) error {
			kind := rulesStarter
			switch {
			case describe && safe, safe && project:
				return cmdutil.UsageError("use --safe on its own: a project's rules can't allow anything")
			case describe:
				kind = programStarter
			case safe:
				kind = safeStarter
			}
			name := kind.name
			if len(args) > 0 {
				name = args[0]
			}
			if !cmdutil.PlainName(name) {
				return cmdutil.UsageError("%q can't be a file name; use letters, digits, - and _", name)
			}
			return writeStarter(cmd.Context(), app, kind, name, project)
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "in this project's .hookmux/rules; active after hookmux trust")
	cmd.Flags().BoolVar(&safe, "safe", false, "rules that allow reads, tests and linters in the project")
	cmd.Flags().BoolVar(&describe, "programs", false, "describe one of your own tools instead")
	return cmd
}

// startFile is a kind of file that `rules new` writes.
type startFile struct {
	name, folder, text, next string
}

var (
	rulesStarter = startFile{ruleset.FolderName, ruleset.FolderName, starter,
		"its rules only log for now; try one: hookmux why 'git push origin main'"}
	safeStarter = startFile{"safe", ruleset.FolderName, safeRules,
		"`hookmux config accept` makes it active; then try: hookmux why 'go test ./...'"}
	programStarter = startFile{programs.FolderName, programs.FolderName, programsStarter,
		"describe your tool there; `hookmux rules check` says whether it can be read"}
)

func writeStarter(ctx context.Context, app *cmdutil.App, kind startFile, name string, project bool) error {
	folder, err := settingsFolder(app, kind.folder, project)
	if err != nil {
		return err
	}
	file, err := filepath.Abs(filepath.Join(folder, name+".yaml"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists; choose another name", file)
	}
	if err != nil {
		return err
	}
	_, err = out.WriteString(kind.text)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	app.Say("wrote %s", termsafe.Line(app.Shorten(file), 300))
	if project {
		app.Say("it is active after `hookmux trust`")
	} else if err := confirmWritten(ctx, app, file, kind.text); err != nil {
		app.Say("it isn't accepted yet (%s); run `hookmux config accept` to activate it", termsafe.Line(err.Error(), 300))
	}
	app.Say("%s", kind.next)
	return nil
}

// confirmWritten accepts a file that this command wrote.
func confirmWritten(ctx context.Context, app *cmdutil.App, file, text string) error {
	return app.CallDaemon(ctx, wire.MethodAcceptFile, wire.AcceptFileParams{File: file, Content: text}, nil)
}

func checkCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [FILE|PACK…]",
		Short: "Check rules and run their examples",
		Long: `Reads rules, runs every example, and says what is wrong as file:line:column. Without
an argument it checks your rule files, this project's and the administrator's as they
are on disk, whether they are active or not, descriptions of programs, and packs.
PACK is the name of a pack, a folder with a pack.yaml, or git+URL@VERSION. Exits with
1 if something is wrong.`,
		Example: "  hookmux rules check\n  hookmux rules check .hookmux/rules/team.yaml   # in CI\n" +
			"  hookmux rules check ./team-pack",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				pack, err := FindPack(cmd.Context(), app, args[0])
				if err != nil {
					return err
				}
				if pack != nil {
					return CheckPack(app, pack, asJSON)
				}
			}
			for _, name := range args {
				if _, err := os.Stat(name); err != nil {
					return cmdutil.FileError(name, err)
				}
			}
			found, described, problems, err := checkFiles(app, args)
			if err != nil {
				return err
			}
			if asJSON {
				if err := app.PrintJSON(map[string]any{"rules": found, "programs": described, "problems": problems}); err != nil {
					return err
				}
			} else {
				sayProblems(app, problems)
				if len(problems) == 0 && found == 0 && described == 0 && len(args) > 0 {
					return cmdutil.FailWith(cmdutil.ExitFailed, strings.Join(args, ", ")+" has no rules; a file of rules begins with version: 1")
				}
				if len(problems) == 0 && found == 0 && described == 0 {
					app.Say("no rule files yet; `hookmux rules new` writes one")
				} else if len(problems) == 0 {
					if found > 0 {
						app.Say("%s, all examples pass", countRules(found))
					}
					if described == 1 {
						app.Say("1 description of a program is fine")
					} else if described > 1 {
						app.Say("%d descriptions of programs are fine", described)
					}
				}
			}
			if len(problems) > 0 {
				return cmdutil.Exit(cmdutil.ExitFailed)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {rules, programs: how many are right, problems}")
	return cmd
}

func countRules(n int) string {
	if n == 1 {
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", n)
}

// checkFiles reads files of rules; without any, all there are, active or not.
func checkFiles(app *cmdutil.App, names []string) (found, described int, problems []rules.Problem, err error) {
	if len(names) > 0 {
		var files []ruleFile
		for _, name := range names {
			layer := rules.User
			abs, err := filepath.Abs(name)
			if err == nil && filepath.Base(filepath.Dir(filepath.Dir(abs))) == ".hookmux" {
				layer = rules.Project
			}
			files = append(files, ruleFile{name, layer})
		}
		files, described, problems = takePrograms(files)
		list, more, _ := readFiles(files)
		return len(list), described, append(problems, more...), nil
	}
	files, err := filesHere(app)
	if err != nil {
		return 0, 0, nil, err
	}
	list, problems, _ := readFiles(files)
	own, err := programFilesHere(app)
	if err != nil {
		return 0, 0, nil, err
	}
	_, described, wrong := takePrograms(own)
	problems = append(problems, wrong...)
	inForce, more, err := listed(app)
	if err != nil {
		return 0, 0, nil, err
	}
	n := len(list)
	for _, r := range inForce {
		if r.Layer == rules.Pack {
			n++
		}
	}
	if j, err := openEvaluator(app); err == nil {
		if root := j.Registry.FindProject(app.Cwd()); root != "" {
			more = append(more, ruleset.Ignored(filepath.Join(root, ".hookmux", ruleset.FolderName))...)
		}
	}
	for _, p := range more { // those of packs, and of folders that cannot be read
		if !slices.ContainsFunc(slices.Concat(files, own), func(f ruleFile) bool { return f.path == p.File }) &&
			!slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	return n, described, problems, nil
}

// takePrograms checks those of the files that describe programs, and returns the others.
func takePrograms(files []ruleFile) (others []ruleFile, described int, problems []rules.Problem) {
	for _, f := range files {
		abs, err := filepath.Abs(f.path)
		if err != nil || filepath.Base(filepath.Dir(abs)) != programs.FolderName {
			others = append(others, f)
			continue
		}
		data, err := userfile.ReadFile(f.path, 4<<20)
		if err != nil {
			problems = append(problems, rules.Problem{File: f.path, Text: fmt.Sprintf("can't be read: %v", plainError(err))})
			continue
		}
		list, wrong := ruleset.ParsePrograms(f.path, data)
		described += len(list)
		problems = append(problems, wrong...)
	}
	return others, described, problems
}

// programFilesHere are your descriptions of programs, and this project's.
func programFilesHere(app *cmdutil.App) ([]ruleFile, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	folders := []string{filepath.Join(dirs.Config, programs.FolderName)}
	if j, err := openEvaluator(app); err == nil {
		if root := j.Registry.FindProject(app.Cwd()); root != "" {
			folders = append(folders, filepath.Join(root, ".hookmux", programs.FolderName))
		}
	}
	var list []ruleFile
	for _, folder := range folders {
		names, _ := ruleset.ListFiles(folder) // none: there is nothing to check
		for _, name := range names {
			list = append(list, ruleFile{path: name})
		}
	}
	return list, nil
}

// ruleFile is a file of rules as it is on disk.
type ruleFile struct {
	path  string
	layer rules.Layer
}

// filesHere returns the files of the administrator, the user and this project.
func filesHere(app *cmdutil.App) ([]ruleFile, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	j, err := openEvaluator(app)
	if err != nil {
		return nil, err
	}
	folders := []ruleFile{
		{filepath.Join(dirs.System, ruleset.FolderName), rules.System},
		{filepath.Join(dirs.Config, ruleset.FolderName), rules.User},
	}
	if root := j.Registry.FindProject(app.Cwd()); root != "" {
		folders = append(folders, ruleFile{filepath.Join(root, ".hookmux", ruleset.FolderName), rules.Project})
	}
	var list []ruleFile
	for _, folder := range folders {
		names, err := ruleset.ListFiles(folder.path)
		if err != nil {
			continue // reported by what reads the rules in force
		}
		for _, name := range names {
			list = append(list, ruleFile{name, folder.layer})
		}
	}
	return list, nil
}

// readFiles reads rules and runs their examples. unreadable is how many files could not
// be read at all.
func readFiles(files []ruleFile) (list []*rules.Rule, problems []rules.Problem, unreadable int) {
	var sources []rules.Source
	unread := []rules.Problem{}
	for _, f := range files {
		data, err := userfile.ReadFile(f.path, 4<<20)
		if err != nil {
			text := fmt.Sprintf("can't be read: %v", plainError(err))
			unread = append(unread, rules.Problem{File: f.path, Text: text, Whole: true})
			continue
		}
		sources = append(sources, rules.Source{Name: f.path, Data: data, Layer: f.layer})
	}
	list, problems = rules.Parse(sources...)
	return list, append(unread, problems...), len(unread)
}

// plainError returns an error without the name of the file, which is in front of it already.
func plainError(err error) error {
	if wrapped := (*fs.PathError)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// sayWaiting names the files that say something other than what is in force.
func sayWaiting(app *cmdutil.App, inForce []ListedRule) {
	files, err := filesHere(app)
	if err != nil {
		return // the list itself is what was asked for
	}
	for _, f := range files {
		list, _, unreadable := readFiles([]ruleFile{f})
		if unreadable > 0 || f.layer == rules.System || sameRules(list, inForce, f.path) {
			continue
		}
		remedy := "`hookmux config accept` applies the changes"
		if f.layer == rules.Project {
			remedy = "`hookmux trust` shows and applies the changes"
		}
		state := "has changed since you accepted it"
		if !slices.ContainsFunc(inForce, func(one ListedRule) bool { return one.File == f.path }) {
			state = "isn't accepted yet, so nothing in it applies"
		}
		app.Say("%s %s; %s", termsafe.Line(app.Shorten(f.path), 300), state, remedy)
	}
}

// sameRules reports whether a file says what is in force of it.
func sameRules(list []*rules.Rule, inForce []ListedRule, file string) bool {
	n := 0
	for _, r := range inForce {
		if r.File == file {
			n++
		}
	}
	return n == len(list) && !slices.ContainsFunc(list, func(r *rules.Rule) bool {
		return !slices.ContainsFunc(inForce, func(one ListedRule) bool { return r.SameAs(one.Rule) })
	})
}
