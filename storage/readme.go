package storage

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
)

// description is a file in README.md.
type description struct {
	name, about string
	table       *table // nil if it has no columns
}

// readme writes README.md: how to read the files, and what each column means.
func (e *exporting) readme(ctx context.Context, r Reader, run engine.RunID, version string) error {
	record, err := r.Run(ctx, run)
	if err != nil {
		return err
	}
	file, err := e.create("README.md")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(visible.NewWriter(file))
	fmt.Fprintf(w, "# %s\n\nResults of run %s, exported by Throng %s. Scenario %s, seed %d, %s sessions.\n", inline(record.Title), record.ID, version, inline(record.Source.Name),
		record.Settings.Seed, engine.FormatCount(record.Done))
	if record.InProgress {
		fmt.Fprint(w, "\nThe run was in progress; files may end at different moments.\n")
	}
	e.listing(w, "Times are UTC. An empty cell is unknown or does not apply. `agent_index` and `cycle` connect the files.", examples{
		`print(sessions.groupby("outcome").size())`, "SELECT event, count(*) FROM events GROUP BY event;", "table(sessions$outcome)",
	})
	return w.Flush()
}

// listing lists the files, how to read them, and their columns.
func (e *exporting) listing(w io.Writer, about string, x examples) {
	fmt.Fprint(w, "\n## Files\n\n| File | Rows | Content |\n|---|---:|---|\n")
	for _, d := range e.described {
		rows := ""
		if d.table != nil {
			rows = engine.FormatCount(d.table.rows)
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", d.name, rows, inline(d.about))
	}
	e.reading(w, x)
	fmt.Fprintf(w, "\n## Columns\n\n%s\n", about)
	if e.format == CSV {
		fmt.Fprint(w, "A text that a spreadsheet would take for a formula starts with an apostrophe.\n")
	}
	for _, d := range e.described {
		if d.table == nil {
			continue
		}
		fmt.Fprintf(w, "\n### %s\n\n| Column | Type | Unit | Meaning |\n|---|---|---|---|\n", d.name)
		for _, c := range d.table.columns {
			fmt.Fprintf(w, "| %s | %s | %s | %s |\n", inline(c.name), kindNames[c.kind], c.unit, inline(c.help))
		}
	}
}

// examples are lines that use the tables, for each tool.
type examples struct{ pandas, duckdb, r string }

// reading describes how to read the files in pandas, DuckDB and R. The lines work in the folder.
func (e *exporting) reading(w io.Writer, x examples) {
	read := readers[e.format]
	var pandas, duckdb, r []string
	for _, d := range e.described {
		if d.table == nil {
			continue
		}
		name := strings.TrimSuffix(d.name, filepath.Ext(d.name))
		pandas = append(pandas, name+" = "+fmt.Sprintf(read.pandas, d.name))
		duckdb = append(duckdb, fmt.Sprintf("CREATE VIEW \"%s\" AS SELECT * FROM %s;", name, fmt.Sprintf(read.duckdb, d.name)))
		r = append(r, name+" <- "+fmt.Sprintf(read.r, d.name))
	}
	fmt.Fprintf(w, "\n## Reading\n\nRun these lines in this folder.\n\npandas:\n\n```python\nimport pandas as pd\n\n%s\n\n%s\n```\n", strings.Join(pandas, "\n"), x.pandas)
	fmt.Fprintf(w, "\nDuckDB:\n\n```sql\n%s\n\n%s\n```\n", strings.Join(duckdb, "\n"), x.duckdb)
	fmt.Fprintf(w, "\nR%s:\n\n```r\n%s\n\n%s\n```\n", read.needs, strings.Join(r, "\n"), x.r)
}

// readers are the calls that read a file, by format.
var readers = map[Format]struct{ pandas, duckdb, r, needs string }{
	CSV:     {`pd.read_csv("%s")`, `read_csv('%s', header = true)`, `read.csv("%s")`, ""},
	JSONL:   {`pd.read_json("%s", lines=True)`, `read_json_auto('%s')`, `jsonlite::stream_in(file("%s"), verbose = FALSE)`, ", with the package jsonlite"},
	Parquet: {`pd.read_parquet("%s")`, `'%s'`, `arrow::read_parquet("%s")`, ", with the package arrow"},
}

// inline makes a text safe for a cell of a Markdown table.
func inline(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;").Replace(text)
}
