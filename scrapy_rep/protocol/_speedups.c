/* The rules of one crawler, and the longest rule that matches a path: RFC 9309 section 2.2 as Google implements it.
 *
 * Gives the same answers as `rules.Rules`, which is written to be read and gives the reasons; tests compare the two.
 * This file reads a body in one pass without an object per line, and decides in one pass over the rules.
 *
 * No read goes beyond the lengths that Python passes, and nothing recurses. The allocations are one array with
 * sizeof(Rule) bytes per rule, twice that for an index page, and the respelt patterns with at most three bytes per
 * byte of a rule. Rules never change after construction, and a cached verdict is complete: threads may share an
 * object.
 */

#define Py_LIMITED_API 0x030A0000
#include <Python.h> /* no format uses "#", which a build on CPython 3.13 could not use on 3.12 */
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#define MAX_LINE 16663 /* records.MAX_LINE: three times as much fits into 16 bits */
#define KEPT 8         /* cached verdicts: objects that a crawl needs again and again */
#define LONG_PIECE 64  /* bytes; longer pieces use CPython's search, which takes linear time */

typedef struct { const char *at; size_t length; } Text;
typedef struct {
    const char *value;    /* as written, in the body */
    const char *pattern;  /* as compared, in the body or in Rules.respelt, without its anchor */
    uint32_t line;
    uint16_t length;      /* of the value */
    uint16_t compared;    /* bytes of the pattern; before respelling, bytes of its source */
    uint16_t specificity; /* the rank: Google's count of bytes */
    uint8_t is_for;       /* FOR_NAMED, FOR_ALL or both */
    uint8_t second;       /* the byte after the first slash, 0 if it excludes no path */
    uint8_t allow : 1, anchored : 1, has_star : 1, is_respelt : 1;
} Rule;

typedef struct {
    PyObject_HEAD
    PyObject *body, *no_rule, *itself, *judge; /* bytes; verdicts, or None; makes the verdict of a rule */
    char *respelt;
    Rule *rules;
    size_t count, room;
    struct { const Rule *rule; PyObject *verdict; } kept[KEPT]; /* indexed by rule number modulo KEPT */
    char by_name;
} Rules;

enum { FOR_NAMED = 1, FOR_ALL = 2 };
enum { COMMON = 1, UNRESERVED = 2, NEVER_PLAIN = 4, BEYOND_ASCII = 8, DOLLAR = 16 };
static uint8_t traits[256]; /* by byte of a path; named as in path_pattern */

static int is_space(char octet) { return octet == ' ' || (octet >= '\t' && octet <= '\r'); }
static int is_digit(char octet) { return octet >= '0' && octet <= '9'; }
static char lower(char octet) { return octet >= 'A' && octet <= 'Z' ? (char)(octet | 0x20) : octet; }
static int is_letter(char octet) { return lower(octet) >= 'a' && lower(octet) <= 'z'; }
static int is_hex(char octet) { return is_digit(octet) || (lower(octet) >= 'a' && lower(octet) <= 'f'); }
static int of_hex(char octet) { return is_digit(octet) ? octet - '0' : lower(octet) - 'a' + 10; }
/* The first *octet* from *at* on, or *end*. */
static const char *find(const char *at, const char *end, char octet)
{
    const char *found = at < end ? memchr(at, octet, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

static const char *first(const char *one, const char *other) { return one < other ? one : other; }

/* The next place of a byte. A search starts only after the last place found: every line may end with "\r". */
typedef struct { const char *at; char octet; } Mark;

static const char *next(Mark *mark, const char *at, const char *end)
{
    mark->at = mark->at < at ? find(at, end, mark->octet) : mark->at;
    return mark->at;
}

typedef enum { OTHER, USER_AGENT, ALLOW, DISALLOW } Kind;

/* records.split_line and kind_of, for the kinds that matter here, whose keys match by prefix; sets *value*. */
static Kind read_line(const char *at, const char *end, Text *value)
{
    static const struct { const char *word; Kind kind; } words[] = {
        {"disallow", DISALLOW}, {"allow", ALLOW}, {"user-agent", USER_AGENT}, {"useragent", USER_AGENT},
        {"user agent", USER_AGENT}, {"dissallow", DISALLOW}, {"dissalow", DISALLOW}, {"disalow", DISALLOW},
        {"diasllow", DISALLOW}, {"disallaw", DISALLOW},
    };
    while (at < end && is_space(*at))
        at++;
    while (end > at && is_space(end[-1]))
        end--;
    Kind kind = OTHER;
    const char *octet = at;
    for (size_t number = 0; number < sizeof words / sizeof *words && !kind; number++) {
        const char *word = words[number].word;
        for (octet = at; octet < end && *word && (*octet | 0x20) == *word; octet++) /* case is ignored */
            word++;
        kind = *word ? OTHER : words[number].kind;
    }
    if (!kind)
        return OTHER;
    const char *rest = octet;
    while (rest < end && *rest != ':')
        rest++;
    if (rest++ == end) { /* no colon: exactly two words */
        for (rest = at; rest < end && *rest != ' ' && *rest != '\t'; rest++);
        if (rest < octet) /* the key "user agent" is two words */
            return OTHER;
        for (; rest < end && (*rest == ' ' || *rest == '\t'); rest++);
        if (rest == end || find(rest, end, ' ') < end || find(rest, end, '\t') < end)
            return OTHER;
    }
    while (rest < end && is_space(*rest))
        rest++;
    *value = (Text){rest, (size_t)(end - rest)};
    return kind;
}

/* product_token.is_global */
static int is_global(Text agent)
{
    return agent.length && agent.at[0] == '*' && (agent.length == 1 || is_space(agent.at[1]));
}

/* product_token.ProductToken.is_named_by */
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

/* Add the rule of a line; an allow for ".../index.htm..." adds another for ".../". -1 with an exception set. */
static int add_rule(Rules *self, Rule rule)
{
    if (self->room < self->count + 2) {
        size_t room = self->room ? 2 * self->room : 8;
        Rule *rules = PyMem_Realloc(self->rules, room * sizeof *rules);
        if (!rules)
            return PyErr_NoMemory() ? 0 : -1;
        self->rules = rules;
        self->room = room;
    }
    self->rules[self->count++] = rule;
    size_t folder = rule.allow ? rule.length : 0;
    while (folder && rule.value[folder - 1] != '/')
        folder--;
    if (folder && rule.length - folder >= 9 && !memcmp(rule.value + folder, "index.htm", 9)) {
        rule.compared = (uint16_t)folder;
        rule.anchored = 1;
        self->rules[self->count++] = rule;
    }
    return 0;
}

/* Read every rule for the crawler or for "*", as reader.groups_in. -1 with an exception set. */
static int read_body(Rules *self, Text body, Text name, int wide)
{
    const char *at = body.at, *end = body.at + body.length;
    for (const char *mark = "\xef\xbb\xbf"; *mark && at < end && *at == *mark; mark++)
        at++;
    Mark line_feed = {find(at, end, '\n'), '\n'}, carriage = {find(at, end, '\r'), '\r'};
    Mark hash = {find(at, end, '#'), '#'}, nul = {find(at, end, '\0'), '\0'};
    uint8_t is_for = 0; /* the crawlers that the run of user-agent lines names */
    int is_closed = 0;
    for (uint32_t line = 1; at < end; line++) {
        const char *line_end = first(next(&line_feed, at, end), next(&carriage, at, end));
        const char *text_end = first(next(&hash, at, end), next(&nul, at, end));
        Text value;
        text_end = first(text_end, line_end - at > MAX_LINE ? at + MAX_LINE : line_end);
        Kind kind = read_line(at, text_end, &value);
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

/* Write a pattern in the spelling for comparisons, as path_pattern._SPELLINGS; return the end of the output. */
static char *respell(Text pattern, int is_canonical, char *to)
{
    const int encoded = is_canonical ? NEVER_PLAIN | DOLLAR : BEYOND_ASCII;
    const char *at = pattern.at, *end = at + pattern.length;
    for (; at < end; at++) {
        uint8_t octet = (uint8_t)*at;
        int is_encoded = traits[octet] & encoded;
        if (octet == '%' && end - at > 2 && is_hex(at[1]) && is_hex(at[2])) {
            octet = (uint8_t)(16 * of_hex(at[1]) + of_hex(at[2]));
            /* After a stray "%", a decoded byte would create a new escape. */
            size_t behind = (size_t)(at - pattern.at);
            int is_stray = (behind && at[-1] == '%') || (behind > 1 && at[-2] == '%' && is_hex(at[-1]));
            is_encoded = !is_canonical || is_stray || !(traits[octet] & UNRESERVED);
            at += 2;
        }
        if (is_encoded) {
            *to++ = '%';
            *to++ = "0123456789ABCDEF"[octet >> 4];
        }
        *to++ = is_encoded ? "0123456789ABCDEF"[octet & 15] : (char)octet;
    }
    return to;
}

/* Prepare a rule for comparison, as path_pattern.Pattern.of. Returns how many bytes its respelt pattern may take. */
static size_t measure(Rule *rule)
{
    size_t specificity = rule->compared + rule->anchored, growth = 0;
    int has_star = 0, is_respelt = 0;
    rule->pattern = rule->value;
    if (rule->compared && rule->value[rule->compared - 1] == '$') {
        rule->anchored = 1;
        rule->compared--;
    }
    for (const char *at = rule->value, *end = at + rule->compared; at < end; at++) {
        uint8_t octet = (uint8_t)*at, of = traits[octet];
        if (of & COMMON)
            continue;
        has_star |= octet == '*';
        is_respelt |= octet != '*';
        specificity += of & BEYOND_ASCII ? 2 : 0;
        growth += of & (NEVER_PLAIN | DOLLAR) ? 2 : 0;
    }
    rule->has_star = has_star;
    rule->is_respelt = is_respelt;
    rule->specificity = (uint16_t)specificity;
    return is_respelt ? rule->compared + growth : 0;
}

/* Keep the rules that apply, and prepare them for comparison; -1 with an exception set. */
static int choose(Rules *self, int is_canonical)
{
    size_t count = 0, octets = 0;
    for (size_t at = 0; at < self->count; at++)
        if (self->rules[at].is_for & (self->by_name ? FOR_NAMED : FOR_ALL)) {
            Rule *rule = &self->rules[count++];
            *rule = self->rules[at];
            octets += measure(rule);
        }
    self->count = count;
    char *to = self->respelt = octets ? PyMem_Malloc(octets) : NULL;
    if (octets && !to)
        return PyErr_NoMemory() ? 0 : -1;
    for (size_t at = 0; at < count; at++) {
        Rule *rule = &self->rules[at];
        if (rule->is_respelt) {
            rule->pattern = to;
            to = respell((Text){rule->value, rule->compared}, is_canonical, to);
            rule->compared = (uint16_t)(to - rule->pattern);
        }
        int tells = rule->compared > 1 && rule->pattern[0] != '*' && rule->pattern[1] != '*';
        rule->second = tells ? (uint8_t)rule->pattern[1] : 0;
    }
    return 0;
}

/* The place of a non-empty piece in the rest of a path; NULL if there is none, or with an exception set. */
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
    for (size_t last = piece.length - 1; at < end - last; at++) /* the last byte excludes most places */
        if (*at == *piece.at && at[last] == piece.at[last] && !memcmp(at, piece.at, piece.length))
            return at;
    return NULL;
}

/* path_pattern.Pattern.matches: the pieces between the wildcards, leftmost first. -1 with an exception set. */
static int matches(const Rule *rule, const char *at, const char *end)
{
    const char *pattern_end = rule->pattern + rule->compared, *star = pattern_end;
    if (rule->has_star)
        star = find(rule->pattern, pattern_end, '*');
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

/* Set *found* to the rule that decides for a path, or NULL if no rule matches; -1 with an exception set. */
static int best(const Rules *self, Text path, const Rule **found)
{
    uint8_t second = path.length > 1 ? (uint8_t)path.at[1] : 0;
    *found = NULL;
    for (const Rule *rule = self->rules, *end = rule + self->count; rule < end; rule++) {
        if (rule->second && rule->second != second) /* excludes nearly all rules */
            continue;
        /* The longest rule wins, then allow, then the first line. */
        if (*found && (rule->specificity < (*found)->specificity ||
                       (rule->specificity == (*found)->specificity && rule->allow <= (*found)->allow)))
            continue;
        int is_match = matches(rule, path.at, path.at + path.length);
        if (is_match < 0)
            return -1;
        *found = is_match ? rule : *found;
    }
    return 0;
}

static PyObject *verdict(Rules *self, PyObject *path)
{
    char *at;
    Py_ssize_t length;
    const Rule *rule;
    if (PyBytes_AsStringAndSize(path, &at, &length) < 0)
        return NULL;
    if (self->itself != Py_None && length == 11 && !memcmp(at, "/robots.txt", 11))
        return Py_NewRef(self->itself);
    if (best(self, (Text){at, (size_t)length}, &rule) < 0)
        return NULL;
    if (!rule)
        return Py_NewRef(self->no_rule);
    size_t place = (size_t)(rule - self->rules) % KEPT;
    if (self->kept[place].rule == rule)
        return Py_NewRef(self->kept[place].verdict);
    PyObject *value = PyBytes_FromStringAndSize(rule->value, rule->length), *allow = rule->allow ? Py_True : Py_False;
    PyObject *found = PyObject_CallFunction(self->judge, "ONI", allow, value, (unsigned int)rule->line);
    if (!found)
        return NULL;
    PyObject *former = self->kept[place].verdict; /* possibly from a faster thread */
    self->kept[place].rule = rule;
    self->kept[place].verdict = Py_NewRef(found);
    Py_XDECREF(former);
    return found;
}

/* path_pattern.path_of for a canonical path; None for bytes with two spellings and URLs without an authority. */
static PyObject *path_of(PyObject *Py_UNUSED(module), PyObject *url)
{
    Py_ssize_t length;
    const char *at = PyUnicode_Check(url) ? PyUnicode_AsUTF8AndSize(url, &length) : NULL;
    PyErr_Clear(); /* raised for lone surrogates */
    if (!at || length < 8 || memcmp(at, "http", 4))
        Py_RETURN_NONE;
    const char *end = at + length;
    at += at[4] == 's' ? 8 : 7;
    if (memcmp(at - 3, "://", 3))
        Py_RETURN_NONE;
    while (at < end && *at != '/' && *at != '?' && *at != ';' && *at != '#')
        at++;
    const char *octet = at;
    while (octet < end && traits[(uint8_t)*octet] & COMMON)
        octet++;
    if (at == end || *at != '/' || (octet < end && *octet != '#'))
        Py_RETURN_NONE;
    return PyBytes_FromStringAndSize(at, octet - at);
}

static PyObject *new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    PyObject *body, *token, *is_canonical, *no_rule, *itself, *judge;
    if (!PyArg_UnpackTuple(arguments, "Rules", 6, 6, &body, &token, &is_canonical, &no_rule, &itself, &judge))
        return NULL;
    PyObject *name = PyTuple_GetItem(token, 0), *wide = PyTuple_GetItem(token, 1);
    char *octets, *named = NULL;
    Py_ssize_t size, length = 0;
    if (!name || !wide || PyBytes_AsStringAndSize(body, &octets, &size) < 0 ||
        (name != Py_None && PyBytes_AsStringAndSize(name, &named, &length) < 0))
        return NULL;
    Rules *self = (Rules *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    self->body = Py_NewRef(body);
    self->no_rule = Py_NewRef(no_rule);
    self->itself = Py_NewRef(itself);
    self->judge = Py_NewRef(judge);
    Text file = {octets, (size_t)size}, own = {named, (size_t)length};
    if (!read_body(self, file, own, wide == Py_True) && !choose(self, is_canonical == Py_True))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void dealloc(Rules *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(self->body);
    Py_XDECREF(self->no_rule);
    Py_XDECREF(self->itself);
    Py_XDECREF(self->judge);
    for (size_t place = 0; place < KEPT; place++)
        Py_XDECREF(self->kept[place].verdict);
    PyMem_Free(self->rules);
    PyMem_Free(self->respelt);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {{"verdict", (PyCFunction)verdict, METH_O, "The verdict on a path."}, {0}};
static PyMemberDef members[] = {{"by_name", T_BOOL, offsetof(Rules, by_name), READONLY, NULL}, {0}};
static PyType_Slot slots[] = {{Py_tp_new, new}, {Py_tp_dealloc, dealloc}, {Py_tp_methods, methods},
                              {Py_tp_members, members}, {0}};
static PyType_Spec spec = {"scrapy_rep.protocol._speedups.Rules", sizeof(Rules), 0, Py_TPFLAGS_DEFAULT, slots};

static int fill_module(PyObject *module)
{
    for (int octet = 0; octet < 0x100; octet++) {
        int is_name = is_letter((char)octet) || is_digit((char)octet) || (octet && strchr("-._~", octet));
        int is_never = octet <= ' ' || octet >= 0x7f || strchr("\"<>[\\]^`{|}'", octet);
        int is_special = octet == '#' || strchr("%*$", octet);
        traits[octet] = is_name ? COMMON | UNRESERVED : is_never ? NEVER_PLAIN : is_special ? 0 : COMMON;
        traits[octet] |= octet >= 0x80 ? BEYOND_ASCII : octet == '$' ? DOLLAR : 0;
    }
    PyObject *type = PyType_FromSpec(&spec);
    int failed = !type || PyModule_AddObjectRef(module, "Rules", type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static PyMethodDef functions[] = {{"path_of", path_of, METH_O, "The path of a URL as it stands, or None."}, {0}};
static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, fill_module}, {0}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_speedups", .m_methods = functions, .m_slots = module_slots};

PyMODINIT_FUNC PyInit__speedups(void) { return PyModuleDef_Init(&module); }
