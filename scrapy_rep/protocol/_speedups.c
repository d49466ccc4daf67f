/* The rules of one crawler, and the longest of them that matches a path: RFC 9309 section 2.2 as Google reads it.
 *
 * The same answers as `rules.Rules`, which is written to be read and says why; the tests ask both the same questions.
 * Here a body is read in one pass without an object for a line, and a decision is one pass over the rules.
 *
 * Nothing is read beyond the lengths that Python gives, and nothing recurses. What is allocated is one array, of
 * sizeof(Rule) octets for each rule, twice for an index page, and the respelt patterns, of at most three octets for
 * each of a rule. An object never changes once it is made, so threads may share it.
 */

#define Py_LIMITED_API 0x030A0000
#include <Python.h> /* no format has a "#": what was built on CPython 3.13 could not use it on 3.12 */
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#define MAX_LINE 16663 /* records.MAX_LINE: three times as much fits into 16 bits */
#define LONG_PIECE 64  /* octets from which on a piece is left to the search of CPython, which takes linear time */

typedef struct { const char *at; size_t length; } Text;
typedef struct {
    const char *value;    /* as written, in the body */
    const char *pattern;  /* as compared, in the body or in Rules.respelt, without its anchor */
    uint32_t line;
    uint16_t length;      /* of the value */
    uint16_t compared;    /* octets of the pattern, at first of what it is made of */
    uint16_t specificity; /* what ranks it: Google's count of octets */
    uint8_t is_for;       /* FOR_NAMED, FOR_ALL or both */
    uint8_t allow : 1, anchored : 1;
} Rule;

typedef struct {
    PyObject_HEAD
    PyObject *body, *respelt; /* bytes, and a tuple of them or NULL */
    Rule *rules;
    size_t count, room;
    char by_name;
} Rules;

enum { FOR_NAMED = 1, FOR_ALL = 2 };
static char common[256]; /* path_pattern.COMMON: octets that have one spelling */

static int is_space(char octet) { return octet == ' ' || (octet >= '\t' && octet <= '\r'); }
static int is_digit(char octet) { return octet >= '0' && octet <= '9'; }
static char lower(char octet) { return octet >= 'A' && octet <= 'Z' ? (char)(octet | 0x20) : octet; }
static int is_letter(char octet) { return lower(octet) >= 'a' && lower(octet) <= 'z'; }

/* Where *octet* is between the two, or *end*. */
static const char *find(const char *at, const char *end, char octet)
{
    const char *found = at < end ? memchr(at, octet, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

static Text trimmed(const char *at, const char *end)
{
    while (at < end && is_space(*at))
        at++;
    while (end > at && is_space(end[-1]))
        end--;
    return (Text){at, (size_t)(end - at)};
}

typedef enum { OTHER, USER_AGENT, ALLOW, DISALLOW } Kind;

/* records.kind_of, of the kinds that matter here: keys match by prefix. */
static Kind kind_of(Text key)
{
    static const struct { const char *word; Kind kind; } words[] = {
        {"disallow", DISALLOW}, {"allow", ALLOW}, {"user-agent", USER_AGENT}, {"useragent", USER_AGENT},
        {"user agent", USER_AGENT}, {"dissallow", DISALLOW}, {"dissalow", DISALLOW}, {"disalow", DISALLOW},
        {"diasllow", DISALLOW}, {"disallaw", DISALLOW},
    };
    for (size_t number = 0; number < sizeof words / sizeof *words; number++) {
        const char *word = words[number].word;
        for (size_t at = 0; at < key.length && lower(key.at[at]) == word[at]; at++)
            if (!word[at + 1])
                return words[number].kind;
    }
    return OTHER;
}

/* records.split_line: the kind of a line, and its value. */
static Kind read_line(const char *at, const char *end, Text *value)
{
    end = end - at > MAX_LINE ? at + MAX_LINE : end;
    end = find(at, find(at, end, '\0'), '#');
    Text text = trimmed(at, end);
    at = text.at;
    end = at + text.length;
    const char *key_end = find(at, end, ':'), *rest = key_end + 1;
    if (key_end == end) { /* no colon: two words, and no third */
        for (key_end = at; key_end < end && *key_end != ' ' && *key_end != '\t'; key_end++);
        for (rest = key_end; rest < end && (*rest == ' ' || *rest == '\t'); rest++);
        if (rest == end || find(rest, end, ' ') < end || find(rest, end, '\t') < end)
            return OTHER;
    }
    *value = trimmed(rest, end);
    return kind_of(trimmed(at, key_end));
}

/* product_token.is_global */
static int is_global(Text agent)
{
    return agent.length && agent.at[0] == '*' && (agent.length == 1 || is_space(agent.at[1]));
}

/* product_token.Token.is_named_by */
static int is_named_by(Text agent, Text name, int wide)
{
    for (size_t at = 0; at < agent.length; at++) {
        char octet = agent.at[at];
        int counts = is_letter(octet) || octet == '_' || octet == '-';
        if (!counts && !(wide && (is_digit(octet) || octet == '.' || (uint8_t)octet >= 0x80)))
            return at == name.length;
        if (at == name.length || lower(octet) != name.at[at])
            return 0;
    }
    return agent.length == name.length;
}

/* -1 with an exception set. */
static int append(Rules *self, Rule rule)
{
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 8;
        Rule *rules = PyMem_Realloc(self->rules, room * sizeof *rules);
        if (!rules)
            return PyErr_NoMemory() ? 0 : -1;
        self->rules = rules;
        self->room = room;
    }
    self->rules[self->count++] = rule;
    return 0;
}

/* Add the rule of a line; where it allows ".../index.htm...", another allows ".../". -1 with an exception set. */
static int add_rule(Rules *self, Rule rule)
{
    size_t folder = rule.length;
    while (folder && rule.value[folder - 1] != '/')
        folder--;
    int has_index_page = folder && rule.length - folder >= 9 && !memcmp(rule.value + folder, "index.htm", 9);
    if (append(self, rule) < 0)
        return -1;
    rule.compared = (uint16_t)folder;
    rule.anchored = 1;
    return rule.allow && has_index_page ? append(self, rule) : 0;
}

/* Every rule that is for the crawler, or for all: reader.groups_in. -1 with an exception set. */
static int read_body(Rules *self, Text body, Text name, int wide)
{
    const char *at = body.at, *end = body.at + body.length;
    for (const char *mark = "\xef\xbb\xbf"; *mark && at < end && *at == *mark; mark++)
        at++;
    const char *line_feed = find(at, end, '\n'); /* looked for once: all lines may end with "\r" */
    uint8_t is_for = 0; /* whom the run of user-agent lines names */
    int is_closed = 0;
    for (uint32_t line = 1; at < end; line++) {
        line_feed = line_feed < at ? find(at, end, '\n') : line_feed;
        const char *line_end = find(at, line_feed, '\r');
        Text value;
        Kind kind = read_line(at, line_end, &value);
        at = line_end + 1 + (end - line_end > 1 && line_end[0] == '\r' && line_end[1] == '\n');
        if (kind == USER_AGENT) {
            is_for = is_closed ? 0 : is_for;
            is_closed = 0;
            if (is_global(value))
                is_for |= FOR_ALL;
            else if (name.at && is_named_by(value, name, wide))
                is_for |= self->by_name = FOR_NAMED;
        }
        else if (kind != OTHER) {
            is_closed = 1;
            uint16_t length = (uint16_t)value.length;
            Rule rule = {.value = value.at, .line = line, .length = length, .compared = length, .is_for = is_for,
                         .allow = kind == ALLOW};
            if (is_for && add_rule(self, rule) < 0)
                return -1;
        }
    }
    return 0;
}

/* Whether a pattern, of which *compared* octets are written in the file, is compared otherwise. */
static int has_two_spellings(const Rule *rule)
{
    size_t at = 0;
    while (at < rule->compared && (common[(uint8_t)rule->value[at]] || rule->value[at] == '*'))
        at++;
    return at < rule->compared && (rule->value[at] != '$' || at + 1 < rule->compared);
}

/* Set how a rule is compared: path_pattern.Pattern.of. May set an exception. */
static void spell(Rule *rule, PyObject *respelt, size_t *used)
{
    Text pattern = {rule->value, rule->compared};
    rule->specificity = (uint16_t)(pattern.length + rule->anchored);
    for (size_t at = 0; at < pattern.length; at++)
        rule->specificity += (uint8_t)pattern.at[at] >= 0x80 ? 2 : 0;
    if (has_two_spellings(rule)) {
        PyObject *text = PyTuple_GetItem(respelt, (Py_ssize_t)(*used)++);
        char *octets;
        Py_ssize_t length;
        if (!text || PyBytes_AsStringAndSize(text, &octets, &length) < 0 ||
            (length > UINT16_MAX && !PyErr_Format(PyExc_ValueError, "a pattern of %zd octets", length)))
            return;
        pattern = (Text){octets, (size_t)length};
    }
    int has_dollar = pattern.length && pattern.at[pattern.length - 1] == '$';
    rule->anchored |= has_dollar;
    rule->pattern = pattern.at;
    rule->compared = (uint16_t)(pattern.length - has_dollar);
}

/* Keep the rules that count, and set how they are compared; -1 with an exception set. */
static int choose(Rules *self, PyObject *respell)
{
    size_t count = 0;
    for (size_t at = 0; at < self->count; at++)
        if (self->rules[at].is_for & (self->by_name ? FOR_NAMED : FOR_ALL))
            self->rules[count++] = self->rules[at];
    self->count = count;
    PyObject *written = PyList_New(0); /* for one call: a hostile body has thousands */
    for (size_t at = 0; at < count && !PyErr_Occurred(); at++)
        if (has_two_spellings(&self->rules[at])) {
            PyObject *text = PyBytes_FromStringAndSize(self->rules[at].value, self->rules[at].compared);
            PyList_Append(written, text); /* which refuses NULL */
            Py_XDECREF(text);
        }
    int is_asked = !PyErr_Occurred() && PyList_Size(written);
    PyObject *answer = is_asked ? PyObject_CallFunctionObjArgs(respell, written, NULL) : NULL;
    self->respelt = answer ? PySequence_Tuple(answer) : NULL;
    Py_XDECREF(answer);
    Py_XDECREF(written);
    for (size_t at = 0, used = 0; at < count && !PyErr_Occurred(); at++)
        spell(&self->rules[at], self->respelt, &used);
    return PyErr_Occurred() ? -1 : 0;
}

/* Where a piece, which is not empty, is in what is left of a path; NULL if nowhere, or with an exception set. */
static const char *find_piece(Text piece, const char *at, const char *end)
{
    if (piece.length > (size_t)(end - at))
        return NULL;
    if (piece.length > LONG_PIECE) {
        PyObject *text = PyBytes_FromStringAndSize(at, end - at);
        PyObject *wanted = PyBytes_FromStringAndSize(piece.at, (Py_ssize_t)piece.length);
        PyObject *found = text && wanted ? PyObject_CallMethod(text, "find", "O", wanted) : NULL;
        Py_ssize_t offset = found ? PyLong_AsSsize_t(found) : -1;
        Py_XDECREF(text);
        Py_XDECREF(wanted);
        Py_XDECREF(found);
        return offset < 0 ? NULL : at + offset;
    }
    for (size_t last = piece.length - 1; at < end - last; at++) /* which tells most starts apart */
        if (*at == *piece.at && at[last] == piece.at[last] && !memcmp(at, piece.at, piece.length))
            return at;
    return NULL;
}

/* path_pattern.Pattern.matches: the pieces between the wildcards, leftmost first. -1 with an exception set. */
static int matches(const Rule *rule, const char *at, const char *end)
{
    const char *pattern_end = rule->pattern + rule->compared, *star = find(rule->pattern, pattern_end, '*');
    size_t length = (size_t)(star - rule->pattern);
    if (length > (size_t)(end - at) || memcmp(rule->pattern, at, length))
        return 0;
    at += length;
    while (star < pattern_end) {
        Text piece = {star + 1, 0};
        star = find(piece.at, pattern_end, '*');
        piece.length = (size_t)(star - piece.at);
        if (star == pattern_end && rule->anchored)
            return piece.length <= (size_t)(end - at) && !memcmp(end - piece.length, piece.at, piece.length);
        at = piece.length ? find_piece(piece, at, end) : at;
        if (!at)
            return PyErr_Occurred() ? -1 : 0;
        at += piece.length;
    }
    return !rule->anchored || at == end;
}

static PyObject *best(Rules *self, PyObject *path)
{
    char *at;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(path, &at, &length) < 0)
        return NULL;
    const Rule *found = NULL;
    for (size_t number = 0; number < self->count; number++) {
        const Rule *rule = &self->rules[number];
        /* The longest wins, among equals allow, then the first line. */
        if (found && (rule->specificity < found->specificity ||
                      (rule->specificity == found->specificity && rule->allow <= found->allow)))
            continue;
        /* Nearly all end here: the first octet is a slash on both sides. */
        if (length > 1 && rule->compared > 1 && rule->pattern[1] != at[1] && rule->pattern[0] != '*' &&
            rule->pattern[1] != '*')
            continue;
        int is_match = matches(rule, at, at + length);
        if (is_match < 0)
            return NULL;
        found = is_match ? rule : found;
    }
    return PyLong_FromSsize_t(found ? found - self->rules : -1);
}

static PyObject *rule(Rules *self, PyObject *position)
{
    size_t at = PyLong_AsSize_t(position);
    if (at >= self->count)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_IndexError, "no such rule");
    const Rule *found = &self->rules[at];
    PyObject *value = PyBytes_FromStringAndSize(found->value, found->length);
    return Py_BuildValue("ONI", found->allow ? Py_True : Py_False, value, (unsigned int)found->line);
}

/* path_pattern.path_of where nothing has to be respelt, else None: an octet that has two spellings, no authority. */
static PyObject *path_of(PyObject *Py_UNUSED(module), PyObject *url)
{
    Py_ssize_t length;
    const char *at = PyUnicode_Check(url) ? PyUnicode_AsUTF8AndSize(url, &length) : NULL;
    PyErr_Clear(); /* of lone surrogates */
    if (!at || length < 8 || memcmp(at, "http", 4))
        Py_RETURN_NONE;
    const char *end = at + length;
    at += at[4] == 's' ? 8 : 7;
    if (memcmp(at - 3, "://", 3))
        Py_RETURN_NONE;
    while (at < end && *at != '/' && *at != '?' && *at != ';' && *at != '#')
        at++;
    const char *octet = at;
    while (octet < end && common[(uint8_t)*octet])
        octet++;
    if (at == end || *at != '/' || (octet < end && *octet != '#'))
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(at, octet - at);
}

static PyObject *new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"body", "name", "wide", "respell", NULL};
    PyObject *body, *name, *respell;
    int wide;
    char *octets, *named = NULL;
    Py_ssize_t size, length = 0;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "SOpO:Rules", names, &body, &name, &wide, &respell) ||
        PyBytes_AsStringAndSize(body, &octets, &size) < 0 ||
        (name != Py_None && PyBytes_AsStringAndSize(name, &named, &length) < 0))
        return NULL;
    Rules *self = (Rules *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    Py_INCREF(body);
    self->body = body;
    Text file = {octets, (size_t)size}, token = {named, (size_t)length};
    if (!read_body(self, file, token, wide) && !choose(self, respell))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void dealloc(Rules *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(self->body);
    Py_XDECREF(self->respelt);
    PyMem_Free(self->rules);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"best", (PyCFunction)best, METH_O, "The position of the rule that decides about a path, -1 when none matches."},
    {"rule", (PyCFunction)rule, METH_O, "The rule at a position: whether it allows, its value, its line."},
    {0},
};
static PyMemberDef members[] = {{"by_name", T_BOOL, offsetof(Rules, by_name), READONLY, NULL}, {0}};
static PyType_Slot slots[] = {{Py_tp_new, new}, {Py_tp_dealloc, dealloc}, {Py_tp_methods, methods},
                              {Py_tp_members, members}, {0}};
static PyType_Spec spec = {"scrapy_rep.protocol._speedups.Rules", sizeof(Rules), 0, Py_TPFLAGS_DEFAULT, slots};

static int fill_module(PyObject *module)
{
    for (int octet = 0; octet < 0x80; octet++)
        common[octet] = is_letter((char)octet) || is_digit((char)octet);
    for (const char *octet = "/-_.~?=&+,:;@!()"; *octet; octet++)
        common[(uint8_t)*octet] = 1;
    PyObject *type = PyType_FromSpec(&spec);
    int failed = !type || PyModule_AddObjectRef(module, "Rules", type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static PyMethodDef functions[] = {{"path_of", path_of, METH_O, "The path of a URL as it stands, or None."}, {0}};
static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, fill_module}, {0}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_speedups", .m_methods = functions, .m_slots = module_slots};

PyMODINIT_FUNC PyInit__speedups(void) { return PyModuleDef_Init(&module); }
