package wizard

import (
	"errors"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestFromAnAddressToAFile(t *testing.T) {
	f := &fake{}
	st := newStage(t, f)
	if st.win.Canvas().Focused() != fyne.Focusable(st.source.address) {
		t.Error("the address is not focused")
	}
	st.read()
	if got := f.reads[0]; got.Place != "http://127.0.0.1:8000" || got.Text != nil || got.Second != nil {
		t.Errorf("read %+v", got)
	}
	if !st.shows("OpenAPI 3.1: Corner shop 1.4: 6 steps, 4 in the journey. Left out: 3 (image), 1 (font). 1 note.") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.same("login", "search", "add_to_cart", "order")
	if uitest.Button(st.top(), "Add a second recording…") != nil {
		t.Error("a second recording of a document is offered")
	}
	st.tap("Details…")
	if !st.shows("The callback orderPaid was not imported.\nhttps://cdn.example.com/logo.png × 3: image") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.tap("OK")
	st.tap("Next")
	st.until("A new file.")
	for _, text := range []string{"Sign-in: a bearer token, the secret SHOP_TOKEN.", "API key of 127.0.0.1 (SHOP_KEY)", "Every value has a source."} {
		if !st.shows(text) {
			t.Errorf("%q is not shown: %q", text, uitest.Texts(st.top()))
		}
	}
	if st.shows("hush") {
		t.Error("a secret is shown")
	}
	st.q.Until("the stored secret", func() bool { return st.shows("It is in the memory of this program.") })
	st.finish.secrets["SHOP_TOKEN"].SetText("typed")
	st.finish.addresses[0].SetText("http://10.0.0.7:9000/")
	st.key(fyne.KeyReturn)
	st.q.Until("created", func() bool { return len(st.created) == 1 })
	if st.IsOpen() || st.created[0] != "/scenarios/corner-shop.throng.yaml" {
		t.Errorf("created %v", st.created)
	}
	if d := f.saved; d.Secrets[0].Value != "typed" || d.Secrets[1].Value != "hush" || d.Services[0].URL != "http://10.0.0.7:9000" {
		t.Errorf("saved %+v %+v", d.Secrets, d.Services)
	}
}

func TestDroppedStepsMarkThoseThatNeedThem(t *testing.T) {
	f := &fake{}
	st := newStage(t, f)
	st.read()
	if st.shows("needs a value") {
		t.Fatalf("shown: %q", uitest.Texts(st.top()))
	}
	st.steps.toggle("GET /products")
	st.same("login", "add_to_cart", "order")
	if !st.shows("The step add_to_cart needs a value or a step that is not before it.") || !strings.Contains(f.newest(), "unresolved(") {
		t.Errorf("shown: %q, written:\n%s", uitest.Texts(st.top()), f.newest())
	}
	st.steps.table.Select("POST /cart")
	st.steps.explain()
	if !st.shows("It needs a value: search is not in the journey.") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.steps.toggle("GET /products")
	st.same("login", "search", "add_to_cart", "order")
	st.steps.toggle("POST /cart")
	st.tap("Next")
	st.until("1 value without a source.")
	if !st.shows("order: id of POST /cart (for example 7)") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
}

func TestReorderWithKeysAndButtons(t *testing.T) {
	st := newStage(t, &fake{})
	st.read()
	st.steps.table.Select("POST /cart")
	st.steps.explain()
	st.tap("Up")
	st.same("login", "add_to_cart", "search", "order")
	if !st.shows("It needs a value: search comes after it.") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.tap("Down")
	st.tap("Down")
	st.same("login", "search", "order", "add_to_cart")
	st.tap("Down") // it is the last one of those that are shown
	st.same("login", "search", "order", "add_to_cart")
	st.steps.typed(fyne.KeyUp, fyne.KeyModifierAlt)
	st.same("login", "search", "add_to_cart", "order")
	st.steps.typed(fyne.KeySpace, 0)
	st.same("login", "search", "order")
	if st.steps.typed(fyne.KeyUp, 0) {
		t.Error("an arrow key alone does not move the selection")
	}
	st.tap("None")
	st.same()
	if b := uitest.Button(st.top(), "Next"); b == nil || !b.Disabled() {
		t.Error("a journey without steps is accepted")
	}
	st.tap("All")
	if got := len(st.journey()); got != 6 {
		t.Errorf("%d steps are chosen", got)
	}
}

func TestGroups(t *testing.T) {
	st := newStage(t, &fake{})
	st.read()
	if st.shows("accounts") || st.shows("admin") {
		t.Errorf("groups of one step are titled: %q", uitest.Texts(st.top()))
	}
	st.steps.only.SetChecked(false)
	if !st.shows("admin") || !st.shows("0 of 2") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.steps.toggle("GET /health")
	if !st.shows("1 of 2") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.steps.toggle(groupKey + "GET /health")
	st.same("login", "search", "add_to_cart", "order", "health", "delete_product")
	st.steps.toggle(groupKey + "GET /health")
	st.same("login", "search", "add_to_cart", "order")
}

func TestJourneyInWords(t *testing.T) {
	st := newStage(t, &fake{})
	st.read()
	st.steps.words.SetText("order, health")
	st.key(fyne.KeyReturn)
	st.same("search", "add_to_cart", "order", "health")
	if st.shown != st.steps {
		t.Error("Return in the field goes to the next page")
	}
	st.steps.words.SetText("fly to the moon")
	st.tap("Apply")
	if !st.shows("no step like fly to the moon") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.same("search", "add_to_cart", "order", "health")
	if st.steps.forward(); !st.shows("no step like fly to the moon") || st.shows("Step 3 of 3") {
		t.Error("refused words do not hold up the next page")
	}
	st.steps.words.SetText("login")
	if st.shows("no step like") {
		t.Error("the problem stays after a change")
	}
	st.tap("Apply")
	st.same("login")
	st.key(fyne.KeyReturn) // the words are applied
	if st.shown != st.finish {
		t.Error("Return does not open the next page")
	}
}

// TestRefusedWordsHoldNext checks that words which were not applied do not leave an older journey in the scenario.
func TestRefusedWordsHoldNext(t *testing.T) {
	st := newStage(t, &fake{})
	st.read()
	st.steps.words.SetText("order, change it")
	st.tap("Next") // without Apply
	if !st.shows("no step like change it") || st.shown != st.steps || !uitest.Button(st.top(), "Next").Disabled() {
		t.Errorf("refused words go to the next page; shown: %q", uitest.Texts(st.top()))
	}
	st.same("login", "search", "add_to_cart", "order")
	st.steps.words.SetText("")
	if uitest.Button(st.top(), "Next").Disabled() {
		t.Error("an empty field holds the next page")
	}
	st.steps.words.SetText("login, search")
	st.tap("Next")
	st.same("login", "search")
	if st.shown != st.finish {
		t.Error("words that fit hold the next page")
	}
}

func TestErrorsOfReading(t *testing.T) {
	f := &fake{readErr: &engine.FieldError{Field: "import", Problem: "http://127.0.0.1:8000 cannot be reached: connection refused", Hint: "check that it is running, and the address"}}
	st := newStage(t, f)
	st.tap("Read")
	if !st.shows("Type the address of the backend first") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.source.address.SetText("http://127.0.0.1:8000")
	st.tap("Next")
	st.until("connection refused (check that it is running, and the address).")
	if st.shown != st.source || st.source.address.Text != "http://127.0.0.1:8000" {
		t.Error("the address is lost")
	}
	f.mu.Lock()
	f.readErr, f.wait = nil, make(chan struct{})
	f.mu.Unlock()
	st.tap("Read")
	st.until("Reading… Cancel stops it.")
	st.tap("Cancel")
	st.until("Stopped. Nothing was read.")
	if !st.IsOpen() {
		t.Error("the dialog is closed")
	}
	st.key(fyne.KeyEscape)
	if st.IsOpen() {
		t.Error("Escape does not close the dialog")
	}
}

func TestCancelAsksOnceSomethingWasRead(t *testing.T) {
	st := newStage(t, &fake{})
	st.read()
	st.key(fyne.KeyEscape)
	if !st.shows("Discard this import?") {
		t.Fatalf("shown: %q", uitest.Texts(st.top()))
	}
	st.key(fyne.KeyEscape)
	if !st.IsOpen() || st.shows("Discard this import?") {
		t.Error("Escape discards")
	}
	st.tap("Cancel")
	st.tap("Discard")
	if st.IsOpen() || st.win.Canvas().Overlays().Top() != nil {
		t.Error("the dialog is open")
	}
	st.Take("/tmp/visit.har")
	st.until("Step 2 of 3")
	if got := st.desk.reads[1]; got.Place != "/tmp/visit.har" {
		t.Errorf("read %+v", got)
	}
}

func TestCommandsAreRead(t *testing.T) {
	f := &fake{recorded: true}
	st := newStage(t, f)
	st.source.curl.SetText("curl https://a.example.com/x")
	st.win.Canvas().Focus(st.source.curl)
	st.key(fyne.KeyReturn) // a new line
	if len(f.reads) != 0 {
		t.Fatalf("read %+v", f.reads)
	}
	st.tap("Next")
	st.until("Step 2 of 3")
	if got := f.reads[0]; got.Place != "" || !strings.Contains(string(got.Text), "curl https://a.example.com/x") {
		t.Errorf("read %+v", got)
	}
	st.tap("Back")
	st.tap("Next") // nothing was typed since
	if st.shown != st.steps || len(f.reads) != 1 {
		t.Errorf("read %d times", len(f.reads))
	}
}

func TestChainThatCannotBeDrawn(t *testing.T) {
	f := &fake{chainErr: errors.New("line 4 is wrong")}
	st := newStage(t, f)
	st.read()
	st.until("The chain cannot be drawn: Line 4 is wrong.")
	f.mu.Lock()
	f.chainErr = nil
	f.mu.Unlock()
	st.steps.toggle("GET /health")
	st.settled()
	if st.shows("cannot be drawn") || !st.steps.graph.Visible() {
		t.Error("the chain is not drawn again")
	}
}

func TestMergeIsToldBefore(t *testing.T) {
	f := &fake{plan: Plan{Exists: true, Merged: &importer.Merged{Added: []string{"pay"}, Kept: []string{"search", "login"}}}}
	st := newStage(t, f)
	st.read()
	st.tap("Next")
	st.until("The journey is merged into it")
	if uitest.Button(st.top(), "Update scenario") == nil {
		t.Error("the button does not say that the file is updated")
	}
	if !st.shows("1 step added: pay. 2 steps kept as you edited them: search, login.") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	f.mu.Lock()
	f.planErr = &engine.FieldError{Field: "/scenarios/other.yaml", Problem: "it has no chain that an import made", Hint: "nothing was changed; choose another file"}
	f.mu.Unlock()
	st.finish.path.SetText("/scenarios/other.yaml")
	st.until("It has no chain that an import made (nothing was changed; choose another file)")
	if b := uitest.Button(st.top(), "Create scenario"); b == nil || !b.Disabled() {
		t.Error("it can be created")
	}
	st.finish.path.SetText("")
	if !st.shows("The scenario needs a file") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	f.mu.Lock()
	f.plan, f.planErr, f.saveErr = Plan{}, nil, errors.New("the disk is full")
	f.mu.Unlock()
	st.finish.path.SetText("/scenarios/new.yaml")
	st.q.Until("possible", func() bool { b := uitest.Button(st.top(), "Create scenario"); return b != nil && !b.Disabled() })
	st.tap("Create scenario")
	st.until("The scenario was not written. The disk is full.")
	if len(st.created) > 0 || !st.IsOpen() {
		t.Error("it was created")
	}
	f.mu.Lock()
	f.saveErr, f.unkept = nil, []string{"SHOP_KEY"}
	f.mu.Unlock()
	st.tap("Create scenario")
	st.until("The keychain of this computer could not store SHOP_KEY.")
	if len(st.created) != 1 {
		t.Errorf("created %v", st.created)
	}
}

func TestAddressesAreChecked(t *testing.T) {
	st := newStage(t, &fake{})
	st.read()
	st.tap("Next")
	st.until("A new file.")
	for text, problem := range map[string]string{
		"": "the source does not say where the backend is", "shop": "not an address", "https://me:secret@shop.example.com": "an address must not contain a password",
	} {
		st.finish.addresses[0].SetText(text)
		if b := uitest.Button(st.top(), "Create scenario"); !st.shows(problem) || b == nil || !b.Disabled() {
			t.Errorf("%q: shown: %q", text, uitest.Texts(st.top()))
		}
	}
	for text, want := range map[string]string{
		"http://localhost:3000": "http://localhost:3000", "127.0.0.1:8802/": "http://127.0.0.1:8802", "localhost/api": "http://localhost/api", "staging.example.com": "https://staging.example.com",
	} {
		st.finish.addresses[0].SetText(text)
		if b := uitest.Button(st.top(), "Create scenario"); b.Disabled() {
			t.Errorf("%s is refused", text)
		}
		if st.finish.keep(); st.finish.draft().Services[0].URL != want {
			t.Errorf("%s is kept as %s", text, st.finish.draft().Services[0].URL)
		}
	}
}

// TestUnknownAddress checks that a scenario of a document runs on a mock of it until the address is known.
func TestUnknownAddress(t *testing.T) {
	d := shop()
	d.Services[0].URL, d.Services[0].OpenAPI = "", "openapi.json"
	d.Secrets[0].Use = "user name at 127.0.0.1"
	d.Services[0].Auth.Note = importer.OneAccount
	f := &fake{draft: d}
	st := newStage(t, f)
	st.read()
	st.tap("Next")
	st.until("A new file.")
	b := uitest.Button(st.top(), "Create scenario")
	if b.Disabled() || !st.shows("leave it empty to run on a mock") || !st.shows("Every value has a source.") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	if st.win.Canvas().Focused() != fyne.Focusable(st.finish.addresses[0]) {
		t.Error("the address is not focused")
	}
	if st.finish.secrets["SHOP_TOKEN"].Password || !st.finish.secrets["SHOP_KEY"].Password {
		t.Error("a user name is hidden, or a key is shown")
	}
	st.finish.addresses[0].SetText("http://127.0.0.1:9000")
	if !st.shows("Sign-in: a bearer token, the secret SHOP_TOKEN.") || st.shows("leave it empty") || st.shows("import again") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.finish.addresses[0].SetText("")
	st.tap("Create scenario")
	st.q.Until("created", func() bool { return len(st.created) == 1 })
	if text := string(f.saved.Write().Text); !strings.Contains(text, "url: mock:openapi.json") {
		t.Errorf("written:\n%s", text)
	}
}

// TestValuesWithoutASource checks that the table marks steps with such values, and says why a step was left out only while it is.
func TestValuesWithoutASource(t *testing.T) {
	d := shop()
	d.Steps[5].Path.Parts[1] = importer.Value{Open: &importer.Open{Name: "product_id", Example: int64(1)}}
	d.Steps[5].Against = "Not in the journey: no operation returns product_id."
	st := newStage(t, &fake{draft: d})
	st.read()
	st.steps.only.SetChecked(false)
	st.steps.table.Select("DELETE /products/{id}")
	st.steps.explain()
	if !st.shows("Delete a product: DELETE /products/{id}. Not in the journey: no operation returns product_id.") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.steps.toggle("DELETE /products/{id}")
	if !st.shows("It needs a value: product_id has no source. The file marks what to fill in.") || st.shows("Not in the journey") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.steps.table.Select("")
	st.steps.explain()
	if !st.shows("The step delete_product needs a value or a step that is not before it.") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
}

func TestRequestsNameTheirValues(t *testing.T) {
	open := importer.Value{Open: &importer.Open{}}
	for id, path := range map[string][]importer.Value{
		"GET /carts/{id}":               {value("/carts/"), open},
		"GET /carts/{id}/items/{n} #2":  {value("/carts/"), open, value("/items/"), open},
		"GET /shops/7/carts/{cart} buy": {value("/shops/7/carts/"), open},
	} {
		want := strings.TrimSuffix(strings.TrimSuffix(id, " #2"), " buy")
		if got := request(&importer.Step{ID: id, Method: "GET", Path: importer.Value{Parts: path}}); got != want {
			t.Errorf("%s is shown as %s", id, got)
		}
	}
	if got := request(&importer.Step{ID: "step-7", Method: "GET", Path: importer.Value{Parts: []importer.Value{value("/a/"), open}}}); got != "GET /a/{}" {
		t.Errorf("shown as %s", got)
	}
}
