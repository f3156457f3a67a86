package language

import (
	"regexp"
	"strings"
)

// rule bans one phrase. Patterns ignore case; a space matches any white space, and every pattern is between word boundaries.
type rule struct {
	has      string // lower-case text that every match contains; it keeps the test fast
	pattern  string
	sentence string // instead of pattern: a whole sentence, upper and lower case as written
	write    string // what to write instead
	except   string // pattern over the match and 40 bytes on each side; a match of it is good English
	why      string // why the exception is good English
	names    bool   // the rule also holds for identifiers and file names, read as words: takeUp is "take up"
}

// rules are the phrases and metaphors that the project's style bans.
var rules = []rule{
	// Riddles and relative clauses.
	{has: "that which", pattern: `that which`, write: "name the thing"},
	{has: "of which", pattern: `of which`, write: "whose, or two sentences"},
	{has: "by which", pattern: `by which`, write: "two sentences"},
	{has: "what it is that", pattern: `what it is that`, write: "what"},
	{has: "told of", pattern: `told of`, write: "notified of, or informed about"},
	{has: "told", pattern: `(is|are|was|were|be|being) told`, write: "is notified, is informed, or receives"},
	{has: "told apart", pattern: `told apart`, write: "distinguished"},
	{has: "tell apart", pattern: `tell(s)? apart`, write: "distinguish"},
	{has: "none", pattern: `(is|are|was|were) none`, write: "does not exist, is not one, or not set", except: `(?i)there (is|are|was|were) none|if none (is|are)|\b(is|are|was|were)\s+(?-i:None)`, why: "there is none; None is a value of Starlark"},
	{has: " no ", pattern: `(is|are|was|were) no`, write: "is not", except: `(?i)there('s| still| already)? (is|are|was|were)\s+no\b|\b(is|are|was|were)\s+no\s+(longer|more\s+than|fewer|less|larger|smaller|higher|lower|later|earlier|need|way|reason)\b`, why: "there is no, no longer, no more than"},
	{has: "nobody", pattern: `nobody('s)?`, write: "no one, or name who: no caller, no user", except: `^"?nobody"?$|Nobody has asked me about A`, why: "the Unix user nobody; a sentence of the mock model, whose answers keep their bytes"},
	{has: "whoever", pattern: `whoever`, write: "name who: callers, subscribers"},
	{has: "whom", pattern: `(of|for|to|by) whom`, write: "name who"},
	{has: "hear", pattern: `hears? of|heard of|to hear`, write: "subscribe to, or learn of", names: true},
	{has: "said of", pattern: `said of`, write: "reported about"},
	{has: "wh", sentence: `(What|Who|Whose|Whom|Whoever) [a-z][^.?!:]*\.`, write: "start the sentence with its subject", except: `What you say about A stays`, why: "a sentence of the mock model, whose answers keep their bytes"},

	// Words for other words.
	{has: "want of", pattern: `(for|in) want of`, write: "because X is missing"},
	{has: "beside", pattern: `beside`, write: "in addition to, or next to", except: `\|Beside\|`, why: "the name of a field, in a pattern"},
	{has: "to be had", pattern: `to be had`, write: "available"},
	{has: "gives", pattern: `gives`, write: "returns", except: `(?i)gives\s+(up|way|each|every|them|users|callers|readers|you|it\s+(a|the|its))\b`, why: "gives up; gives somebody something"},
	{has: "s on", pattern: `goes on`, write: "continues", except: `(?i)goes\s+on\s+(the|a|an|top|disk|its)\b`, why: "is put on something"},
	{has: "go on", pattern: `go on`, write: "continue, or resume", except: `(?i)go\s+on\s+(the|a|an|top|disk|its)\b`, why: "is put on something", names: true},
	{has: " on", pattern: `went on|gone on`, write: "continued, or resumed", except: `(?i)went\s+on\s+(the|a|an)\b`, why: "was put on something"},
	{has: "bear", pattern: `bears?`, write: "can take, or carries", except: `Gummy Bears`, why: "the mock shop sells them"},
	{has: "lest", pattern: `lest`, write: "so that it does not"},
	{has: "such as", pattern: `such as (have|has|are|is|were|was|do|does)`, write: "those that"},
	{has: "at once", pattern: `at once`, write: "concurrently, in one operation, or immediately"},
	{has: "and the like", pattern: `(and|or) the like`, write: "name what, or leave it out"},
	{has: "ought", pattern: `ought`, write: "should"},
	{has: "shall", pattern: `shall`, write: "must, should or will", except: `says shall she`, why: "a list of common words"},
	{has: "for ever", pattern: `for ever`, write: "forever, or without end"},
	{has: "anew", pattern: `anew`, write: "again"},
	{has: "in vain", pattern: `in vain`, write: "without success"},
	{has: "upon", pattern: `upon`, write: "on", except: `until upon very`, why: "a list of common words"},
	{has: "thereof", pattern: `thereof|whereof|whereby|wherein|thereby`, write: "two sentences"},
	{has: "is to be", pattern: `(is|are|was|were) to be`, write: "must be, will be, or should be"},
	{has: "as good as", pattern: `as good as`, write: "almost"},
	{has: "no more", pattern: `no more`, write: "no longer, or not any more", except: `(?i)no\s+more\s+(than|[a-z]+s\b|data|work|input|memory|room|space)`, why: "no more than, no more rows"},
	{has: "part", pattern: `(take|takes|took|taken|taking) part`, write: "participates, or is active", names: true},
	{has: "up", pattern: `(take|takes|took|taken|taking) up`, write: "resume, or occupy", names: true},
	{has: "in turn", pattern: `one after (the )?other`, write: "in turn"},
	{has: "said ", pattern: `as was said`, write: "leave it out"},
	{has: "goes wrong", pattern: `gone wrong with`, write: "failed"},
	{has: "came to nothing", pattern: `came to nothing`, write: "failed"},
	{has: "ended badly", pattern: `end(s|ed)? badly`, write: "failed"},
	{has: "went ", pattern: `went (well|badly|wrong)`, write: "succeeded, or failed"},
	{has: "by itself", pattern: `of itself`, write: "by itself"},

	// The vocabulary.
	{has: "gate", pattern: `gates?`, write: "concurrency limit", except: `engine/internal/gate`, why: "the path of a package"},
	{has: "pilot", pattern: `pilots?`, write: "governor", names: true},
	{has: "pacer", pattern: `pacers?`, write: "rate limiter", names: true},
	{has: "back", pattern: `(hold|holds|held|holding) back`, write: "throttled, or delayed", names: true},
	{has: "held clock", pattern: `held clocks?`, write: "paused clock", names: true},
	{has: "rehears", pattern: `rehears(al|als|e|es|ed|ing)`, write: "mock", except: `rehearsal (shop|model|answer|embedding)|rehearsal-|draw`, why: "keys of draws keep their text, so that results keep their bytes", names: true},
	{has: "back", pattern: `(look|looks|looked|looking) back`, write: "history", names: true},
	{has: "bin", pattern: `(the|a|from|in|into|to|of) (the )?bin`, write: "trash", except: `(?i)[/.]bin\b|\bbin/|\$`, why: "bin folders of Unix"},
	{has: "herald", pattern: `heralds?`, write: "notification", names: true},
	{has: "lost here", pattern: `lost here`, write: "engine overhead"},
	{has: "outlook", pattern: `outlooks?`, write: "forecast", names: true},
	{has: "checklist", pattern: `checklists?`, write: "preflight checks", names: true},
	{has: "examination", pattern: `examinations?`, write: "preflight checks", names: true},
	{has: "berth", pattern: `berths?`, write: "slot", names: true},
	{has: "tray", pattern: `trays?`, write: "merge queue", except: `(?i)system tray|systray`, why: "the desktop's system tray", names: true},
	{has: "lane", pattern: `lanes?`, write: "queue, or worker", except: `(Pantry|Foundry) Lane`, why: "names in the mock shop", names: true},
	{has: "scribe", pattern: `scribes?`, write: "journal writer", names: true},
	{has: "farewell", pattern: `farewells?`, write: "final message", names: true},
	{has: "mercy", pattern: `mercy`, write: "grace period", names: true},
	{has: "chore", pattern: `chores?`, write: "task, or job", names: true},
	{has: "parcel", pattern: `parcels?`, write: "batch", names: true},
	{has: "attendance", pattern: `attendances?`, write: "active agents", names: true},
	{has: "hearsay", pattern: `hearsay`, write: "notification", names: true},

	// Sentences that were replaced.
	{has: "answers no", pattern: `answers nobody`, write: "disables it"},
	{has: "let agents", pattern: `let agents`, write: "a verb: retire agents"},
	{has: "differ in", pattern: `tell what runs differ in`, write: "compare runs"},
	{has: "draws depend", pattern: `all draws depend`, write: "random seed"},
	{has: "a mistake in throng", pattern: `a mistake in throng`, write: "Throng crashed"},
	{has: "worked on the run", pattern: `worked on the run`, write: "Throng was not running"},
	{has: "at worst", pattern: `at worst`, write: "up to, or at most"},
	{has: "is measured in the run", pattern: `it is measured in the run`, write: "based on the run of"},
	{has: "found before", pattern: `found before, on this machine`, write: "previous calibrations"},
	{has: "shows round", pattern: `shows? round`, write: "tour"},
	{has: "fields of setup", pattern: `in the fields of setup`, write: "uses the values from Setup"},
	{has: "have sessions", pattern: `have sessions`, write: "a verb: retry failed sessions"},
	{has: "may cost; 0", pattern: `0 is (any|none|no limit|off)`, write: "0 disables it, or default: unlimited"},
}

// compiled is a rule ready to match.
type compiled struct {
	rule
	match  *regexp.Regexp
	except *regexp.Regexp
}

func compile(rules []rule) []compiled {
	var all []compiled
	for _, r := range rules {
		pattern := `(?i)\b(?:` + r.pattern + `)\b`
		if r.sentence != "" {
			pattern = `(?:^|[.!?]\s+)(?:` + r.sentence + `)(?:\s|$)`
		}
		c := compiled{rule: r, match: regexp.MustCompile(strings.ReplaceAll(pattern, " ", `\s+`))}
		if r.except != "" {
			c.except = regexp.MustCompile(r.except)
		}
		all = append(all, c)
	}
	return all
}
