package main

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/throng-sim/throng/cmd/throngctl/internal/completion"
	"github.com/throng-sim/throng/cmd/throngctl/internal/manual"
)

// completionCmd prints a completion script.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"Shell: bash, zsh, fish or powershell."`
}

// The scripts call throngctl __complete. If it returns nothing, the shell completes file names.
var (
	//go:embed completion/bash.sh
	forBash string
	//go:embed completion/zsh.sh
	forZsh string
	//go:embed completion/fish.fish
	forFish string
	//go:embed completion/powershell.ps1
	forPowerShell string
)

// Run is called by kong.
func (c *completionCmd) Run(t *terminal) error {
	_, err := fmt.Fprint(t.out, map[string]string{"bash": forBash, "zsh": forZsh, "fish": forFish, "powershell": forPowerShell}[c.Shell])
	return err
}

// completeCmd prints the completions of the last word: one a line, followed by a tab and its meaning.
type completeCmd struct {
	Last  *string  `help:"The last word, for shells that cannot pass an empty argument; it is not among the words then."`
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run is called by kong.
func (c *completeCmd) Run(ctx context.Context, t *terminal) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if c.Last != nil {
		words = append(words, *c.Last)
	}
	for _, one := range (completion.Completer{Root: model().Node, Data: t.data}).Complete(ctx, words) {
		fmt.Fprintf(t.out, "%s\t%s\n", one.Value, one.About)
	}
	return nil
}

// manCmd prints the manual page.
type manCmd struct{}

// Run is called by kong.
func (c *manCmd) Run(t *terminal) error {
	return manual.Write(t.out, model(), manual.Content{Steps: firstSteps, Exits: exits})
}
