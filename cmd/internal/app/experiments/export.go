package experiments

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/report"
)

// Export writes the tables, the file of the experiment and a README to a folder.
func (x *Experiment) Export(dir string, f storage.Format, t *findings.Table) error {
	text, err := os.ReadFile(x.File)
	if err != nil {
		return err
	}
	return storage.ExportExperiment(dir, f, &storage.Experiment{Table: t, Name: filepath.Base(x.File), File: text, Version: about.Version()})
}

// Report writes the report as an HTML page. It does not name folders of this machine.
func (x *Experiment) Report(w io.Writer, t *findings.Table) error {
	text, err := os.ReadFile(x.File)
	if err != nil {
		return err
	}
	name := filepath.Base(x.File)
	return report.WriteExperiment(w, &report.Experiment{Table: t, File: name, Text: text, Command: Command(name), Version: about.Version()})
}

// Command returns the command that executes the experiment in a file.
func Command(file string) string {
	if strings.ContainsAny(file, " \t\"'$&;()<>|*?`\\!") {
		file = strconv.Quote(file)
	}
	return "throngctl experiment run " + file
}
