// Package reference describes what expressions can use: the built-in functions and the fields of an agent, a session and the
// simulated time. Editors show it.
package reference

// Name is a built-in function, a constant or a field. Signature is empty unless it is a function.
type Name struct{ Name, Signature, Help string }

// Functions returns the built-in functions and constants. Those of a module have its name in front: math.floor.
func Functions() []Name { return append(general(), mathematics()...) }

func general() []Name {
	return []Name{
		{"None", "", "No value."},
		{"True", "", "True."},
		{"False", "", "False."},
		{"abs", "abs(x)", "The absolute value of a number."},
		{"all", "all(list)", "True if all elements are true."},
		{"any", "any(list)", "True if one element is true."},
		{"bool", "bool(x)", "True or False: whether x is empty, zero or missing."},
		{"bytes", "bytes(x)", "A text or a list of numbers as bytes."},
		{"chance", "chance(p)", "Draws True with probability p, from 0 to 1."},
		{"chr", "chr(code)", "The character with a Unicode number."},
		{"dict", "dict(pairs)", "A dict of pairs and keyword arguments."},
		{"dir", "dir(x)", "The names of the fields and methods of x."},
		{"enumerate", "enumerate(list, start=0)", "Pairs of a number and an element."},
		{"extract", "extract(text, pattern)", "The first group of a pattern (RE2) in a text, or missing if it does not match."},
		{"fail", "fail(text)", "Fails the step with a message."},
		{"float", "float(x)", "A number or a text as a number with decimals."},
		{"form_field", "form_field(html, name)", "The value of a form field in an HTML page, or of a meta element; missing if there is none."},
		{"get", "get(x, key, default=None)", "A field or key of x, or the default if it is missing."},
		{"getattr", "getattr(x, name, default)", "The field of x with that name."},
		{"hasattr", "hasattr(x, name)", "True if x has a field of that name."},
		{"hash", "hash(text)", "A whole number computed from a text, the same everywhere."},
		{"int", "int(x, base=10)", "A number or a text as a whole number, without its decimals."},
		{"json", "", "Functions that read and write JSON."},
		{"json.decode", "json.decode(text, default)", "The data in a JSON text."},
		{"json.encode", "json.encode(x)", "Data as a JSON text."},
		{"keys", "keys(x)", "The field names of a record, or the keys of a dict."},
		{"len", "len(x)", "The number of elements, fields or characters."},
		{"list", "list(x)", "The elements of x as a list."},
		{"lognormal", "lognormal(median, sigma)", "Draws a positive number; half of them are below the median."},
		{"math", "", "Mathematical functions."},
		{"max", "max(a, b, …)", "The largest argument, or element of a list."},
		{"min", "min(a, b, …)", "The smallest argument, or element of a list."},
		{"normal", "normal(mean, deviation)", "Draws a number from the normal distribution."},
		{"ord", "ord(character)", "The Unicode number of a character."},
		{"pick", "pick(list)", "Draws one element of a list."},
		{"print", "print(x, …)", "Writes to the log of the run."},
		{"range", "range(start, stop, step=1)", "Whole numbers from start up to, but not including, stop."},
		{"repr", "repr(x)", "A value as it is written in an expression."},
		{"reversed", "reversed(list)", "The elements in reverse order."},
		{"round", "round(x, digits)", "The nearest whole number, or a number with so many decimals."},
		{"sample", "sample(list, n)", "Draws n different elements of a list."},
		{"set", "set(list)", "The different elements of a list."},
		{"shuffle", "shuffle(list)", "The elements in random order."},
		{"sorted", "sorted(list, key=None, reverse=False)", "The elements in ascending order."},
		{"str", "str(x)", "A value as text."},
		{"tuple", "tuple(list)", "The elements as a tuple, a list that cannot change."},
		{"type", "type(x)", "The name of the type of a value."},
		{"uniform", "uniform(from, to)", "Draws a number between two numbers, all equally likely."},
		{"unresolved", "unresolved(example, candidates…)", "The example. It marks what an import could not decide; validate and try list it."},
		{"uuid", "uuid()", "Draws a UUID."},
		{"weighted", "weighted(weights)", "Draws a key of a dict, with the values as weights: {\"a\": 2, \"b\": 1}."},
		{"zip", "zip(list, list, …)", "Tuples of the first, second, … elements of lists."},
	}
}

func mathematics() []Name {
	return []Name{
		{"math.acos", "math.acos(x)", "The arc cosine, in radians."},
		{"math.acosh", "math.acosh(x)", "The inverse hyperbolic cosine."},
		{"math.asin", "math.asin(x)", "The arc sine, in radians."},
		{"math.asinh", "math.asinh(x)", "The inverse hyperbolic sine."},
		{"math.atan", "math.atan(x)", "The arc tangent, in radians."},
		{"math.atan2", "math.atan2(y, x)", "The angle of the point (x, y), in radians."},
		{"math.atanh", "math.atanh(x)", "The inverse hyperbolic tangent."},
		{"math.ceil", "math.ceil(x)", "The next whole number at or above x."},
		{"math.copysign", "math.copysign(x, y)", "The number x with the sign of y."},
		{"math.cos", "math.cos(x)", "The cosine of an angle in radians."},
		{"math.cosh", "math.cosh(x)", "The hyperbolic cosine."},
		{"math.degrees", "math.degrees(x)", "Radians as degrees."},
		{"math.e", "", "Euler's number, 2.718…"},
		{"math.exp", "math.exp(x)", "Euler's number to the power of x."},
		{"math.fabs", "math.fabs(x)", "The absolute value, with decimals."},
		{"math.floor", "math.floor(x)", "The next whole number at or below x."},
		{"math.gamma", "math.gamma(x)", "The gamma function."},
		{"math.hypot", "math.hypot(x, y)", "The distance of the point (x, y) from the origin."},
		{"math.log", "math.log(x, base)", "The logarithm, to base e by default."},
		{"math.mod", "math.mod(x, y)", "The remainder of x divided by y, with the sign of x."},
		{"math.pi", "", "The number pi, 3.141…"},
		{"math.pow", "math.pow(x, y)", "The number x to the power of y."},
		{"math.radians", "math.radians(x)", "Degrees as radians."},
		{"math.remainder", "math.remainder(x, y)", "The difference between x and the nearest multiple of y."},
		{"math.round", "math.round(x)", "The nearest whole number, half away from zero."},
		{"math.sin", "math.sin(x)", "The sine of an angle in radians."},
		{"math.sinh", "math.sinh(x)", "The hyperbolic sine."},
		{"math.sqrt", "math.sqrt(x)", "The square root."},
		{"math.tan", "math.tan(x)", "The tangent of an angle in radians."},
		{"math.tanh", "math.tanh(x)", "The hyperbolic tangent."},
	}
}

// Fields returns the fields of a name that every scenario has: agent, session or now. Attributes of agents are not included.
func Fields(of string) []Name {
	switch of {
	case "agent":
		return []Name{
			{"id", "", "The ID of the agent."},
			{"index", "", "The number of the agent, from 0."},
			{"memory", "", "The agent's memory: what its remember steps have set."},
			{"notes", "", "The agent's notes, a list of texts, oldest first."},
			{"inbox", "", "Messages to the agent: records of sender, cycle, text and data."},
		}
	case "session":
		return []Name{
			{"uuid", "", "An ID that is unique to this session and run, for services."},
			{"seed_uuid", "", "An ID of this session that is the same in every run with the seed, for results."},
			{"cycle", "", "The number of the cycle, from 0."},
		}
	case "now":
		return []Name{
			{"year", "", "The simulated year."},
			{"month", "", "The month, from 1."},
			{"day", "", "The day of the month, from 1."},
			{"hour", "", "The hour, from 0 to 23."},
			{"minute", "", "The minute, from 0 to 59."},
			{"second", "", "The second, from 0 to 59."},
			{"weekday", "", "The day of the week: 0 is Monday."},
			{"yearday", "", "The day of the year: 1 is January 1."},
			{"date", "", "The date as text: 2026-01-02."},
			{"iso", "", "The time as text, in RFC 3339."},
			{"unix", "", "Seconds since January 1, 1970."},
		}
	}
	return nil
}
