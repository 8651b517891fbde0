/* bind_text.c: the loops of text.h for arrays of Python. All that they rely on is checked here. */

#include "bind.h"
#include "text.h"

#define SO_LEXICON "switchout.lexicon"
#define SO_COUNTER "switchout.counter"
#define SO_REWRITER "switchout.rewriter"

/* Whether an array of bytes has SO_PADDING and `more` bytes behind what is used of it. */
static int is_padded(so_array data, int64_t used, int64_t more)
{
    return used >= 0 && used <= data.n - SO_PADDING - more;
}

static so_lines read_lines(so_args *in)
{
    so_array data = so_read_array(in, "data", 1), starts = so_read_array(in, "starts", 8), ends = so_read_array(in, "ends", 8);
    so_lines lines = {data.data, starts.data, ends.data, ends.n, so_read_int(in, "gap")};
    int is_wrong = lines.gap < 0 || lines.gap > 1 || starts.n != ends.n || !is_padded(data, 0, 0);
    for (int64_t i = 0; i < ends.n && !is_wrong; i++)
        is_wrong = lines.starts[i] < 0 || lines.ends[i] < lines.starts[i] || !is_padded(data, lines.ends[i], lines.gap);
    if (!in->failed && is_wrong) so_fail(in, PyExc_ValueError, "lines", "not inside of the padded data");
    return lines;
}

static int64_t longest_line(const so_lines *lines)
{
    int64_t longest = 0;
    for (int64_t i = 0; i < lines->n; i++) longest = so_max(longest, lines->ends[i] - lines->starts[i]);
    return longest;
}

/* ---- Lines and columns ---- */

/* find_lines(data, size, starts, ends): fills in as many lines as fit and returns how many. */
static PyObject *find_lines(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_array data = so_read_array(&in, "data", 1);
    int64_t size = so_read_int(&in, "size"), n;
    so_array starts = so_read_writable(&in, "starts", 8), ends = so_read_writable(&in, "ends", 8);
    if (so_is_bad(&in, !is_padded(data, size, 0) || starts.n != ends.n, "size: not so many bytes in the padded data")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    n = so_find_lines(data.data, size, starts.data, ends.data, ends.n);
    Py_END_ALLOW_THREADS
    so_end(&in);
    return PyLong_FromLongLong(n);
}

/* find_columns(*lines, tabs, stops): fills in where columns 1 and 2 end; a line without tab, or -1. */
static PyObject *find_columns(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_lines lines = read_lines(&in);
    so_array tabs = so_read_writable(&in, "tabs", 8), stops = so_read_writable(&in, "stops", 8);
    int64_t without;
    if (so_is_bad(&in, tabs.n != lines.n || stops.n != lines.n, "tabs, stops: one for each line")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    without = so_find_columns(&lines, tabs.data, stops.data);
    Py_END_ALLOW_THREADS
    so_end(&in);
    return PyLong_FromLongLong(without);
}

/* Whether lines that follow each other, a byte between them, end there. */
static int are_ends(so_array data, const int64_t *ends, int64_t n)
{
    int64_t before = -1;
    for (int64_t i = 0; i < n; before = ends[i++])
        if (ends[i] <= before || !is_padded(data, ends[i], 1)) return 0;
    return 1;
}

/* join_columns(source, source_ends, target, target_ends, rest, rest_starts, rest_ends, rows, out). */
static PyObject *join_columns(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_array source = so_read_array(&in, "source", 1), source_ends = so_read_array(&in, "source_ends", 8);
    so_array target = so_read_array(&in, "target", 1), target_ends = so_read_array(&in, "target_ends", 8);
    so_array data = so_read_array(&in, "rest", 1), starts = so_read_array(&in, "rest_starts", 8), ends = so_read_array(&in, "rest_ends", 8);
    so_array rows = so_read_array(&in, "rows", 8), out = so_read_writable(&in, "out", 1);
    so_lines rest = {data.data, starts.data, ends.data, ends.n, 1};
    if (so_is_bad(&in, source_ends.n != rows.n || target_ends.n != rows.n || starts.n != ends.n, "ends, rows: sizes")) return NULL;
    if (so_is_bad(&in, !are_ends(source, source_ends.data, rows.n) || !are_ends(target, target_ends.data, rows.n), "ends: not inside of the padded data")) return NULL;
    const int64_t *row = rows.data;
    int64_t size = rows.n ? ((int64_t *)source_ends.data)[rows.n - 1] + ((int64_t *)target_ends.data)[rows.n - 1] + 2 : 0;
    for (int64_t k = 0; k < rows.n; k++) {
        int is_wrong = row[k] < 0 || row[k] >= rest.n || rest.starts[row[k]] < 0 || rest.starts[row[k]] > data.n || rest.ends[row[k]] < 0 || !is_padded(data, rest.ends[row[k]], 1);
        if (so_is_bad(&in, is_wrong, "rest: not inside of the padded data")) return NULL;
        size += so_max(rest.ends[row[k]] + 1 - rest.starts[row[k]], 0);
    }
    if (so_is_bad(&in, !is_padded(out, size, 0), "out: not enough room")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    size = so_join_columns(source.data, source_ends.data, target.data, target_ends.data, &rest, row, rows.n, out.data);
    Py_END_ALLOW_THREADS
    so_end(&in);
    return PyLong_FromLongLong(size);
}

/* kept_pairs(*source, *target, keep, n_dropped): which pairs have words on both sides. */
static PyObject *kept_pairs(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_lines source = read_lines(&in), target = read_lines(&in);
    so_array keep = so_read_writable(&in, "keep", 1), n_dropped = so_read_writable(&in, "n_dropped", 8);
    if (so_is_bad(&in, source.n != target.n || keep.n != source.n || n_dropped.n != 3, "keep, n_dropped: sizes")) return NULL;
    Py_BEGIN_ALLOW_THREADS
    so_kept_pairs(&source, &target, keep.data, n_dropped.data);
    Py_END_ALLOW_THREADS
    so_end(&in);
    Py_RETURN_NONE;
}

/* ---- Words ---- */

static int64_t slots_for(int64_t n_words)
{
    int64_t n_slots = 16;
    while (n_slots < 3 * n_words) n_slots *= 2;
    return n_slots;
}

static int are_words(const int64_t *offsets, int64_t n, int64_t n_bytes)
{
    if (n < 1 || offsets[0] != 0 || offsets[n - 1] != n_bytes) return 0;
    for (int64_t i = 1; i < n; i++)
        if (offsets[i] <= offsets[i - 1] || offsets[i] - offsets[i - 1] > INT32_MAX) return 0;
    return 1;
}

/* make_lexicon(words, offsets): the lexicon, and a word that stands there twice, or -1. */
static PyObject *make_lexicon(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    so_array blob = so_read_array(&in, "words", 1), offsets = so_read_array(&in, "offsets", 8);
    if (so_is_bad(&in, offsets.n > INT32_MAX || !are_words(offsets.data, offsets.n, blob.n), "offsets: expected words of at least one byte")) return NULL;
    int64_t n_words = offsets.n - 1, n_slots = slots_for(n_words), twin = -1;
    size_t slots_size = (size_t)n_slots * sizeof(so_slot), offsets_size = 8 * (size_t)offsets.n;
    so_lexicon *lexicon = calloc(1, sizeof *lexicon + slots_size + offsets_size + (size_t)blob.n + SO_PADDING);
    if (lexicon) {
        lexicon->slots = (so_slot *)(lexicon + 1);
        lexicon->offsets = (int64_t *)((char *)lexicon->slots + slots_size);
        lexicon->blob = (uint8_t *)lexicon->offsets + offsets_size;
        lexicon->n_slots = n_slots, lexicon->n_words = n_words;
        so_put(so_put((char *)lexicon->offsets, offsets, 8), blob, 1);
        Py_BEGIN_ALLOW_THREADS
        twin = so_fill_slots(lexicon);
        Py_END_ALLOW_THREADS
    }
    so_end(&in);
    PyObject *capsule = so_give_struct(lexicon, SO_LEXICON);
    return capsule ? Py_BuildValue("NL", capsule, (long long)twin) : NULL;
}

typedef struct {
    so_lexicon lexicon;
    int64_t *counts;
    int64_t words_room, bytes_room;
    int is_busy; /* a thread counts, without the interpreter's lock */
} counter;

static void free_counter(PyObject *capsule)
{
    counter *c = PyCapsule_GetPointer(capsule, SO_COUNTER);
    free(c->lexicon.slots), free(c->lexicon.offsets), free(c->lexicon.blob), free(c->counts), free(c);
}

/* Takes new memory for an array if there is some; the old one stays valid otherwise. */
static int resize(void **array, int64_t n_bytes)
{
    void *larger = realloc(*array, (size_t)n_bytes);
    if (larger) *array = larger;
    return larger != NULL;
}

/* Room for so many more words and bytes; returns whether there was memory. */
static int grow_counter(counter *c, int64_t more_words, int64_t more_bytes)
{
    so_lexicon *lexicon = &c->lexicon;
    int64_t n_bytes = lexicon->offsets ? lexicon->offsets[lexicon->n_words] : 0;
    if (lexicon->n_words + more_words > c->words_room || !lexicon->offsets) {
        int64_t room = so_max(2 * c->words_room, lexicon->n_words + more_words), n_slots = slots_for(room);
        if (!resize((void **)&lexicon->offsets, 8 * (room + 1)) || !resize((void **)&c->counts, 8 * room)) return 0;
        so_slot *slots = calloc((size_t)n_slots, sizeof *slots);
        if (!slots) return 0;
        free(lexicon->slots);
        lexicon->slots = slots, lexicon->n_slots = n_slots, c->words_room = room;
        if (lexicon->n_words == 0) lexicon->offsets[0] = 0;
        so_fill_slots(lexicon);
    }
    if (n_bytes + more_bytes + SO_PADDING > c->bytes_room) {
        int64_t room = so_max(2 * c->bytes_room, n_bytes + more_bytes + SO_PADDING);
        if (!resize((void **)&lexicon->blob, room)) return 0;
        memset(lexicon->blob + n_bytes, 0, (size_t)(room - n_bytes));
        c->bytes_room = room;
    }
    return 1;
}

static PyObject *make_counter(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    if (so_is_bad(&in, 0, "")) return NULL;
    counter *c = calloc(1, sizeof *c);
    if (!c) return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(c, SO_COUNTER, free_counter);
    if (!capsule) return free(c), NULL;
    if (!grow_counter(c, 1 << 11, 1 << 14)) return Py_DECREF(capsule), PyErr_NoMemory();
    return capsule;
}

/* count_words(counter, *lines). */
static PyObject *count_words(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    counter *c = (counter *)so_read_struct(&in, SO_COUNTER);
    so_lines lines = read_lines(&in);
    if (so_is_bad(&in, c && c->is_busy, "counter: another thread uses it")) return NULL;
    int64_t *edges = malloc(8 * (size_t)(longest_line(&lines) + 2)), line = 0;
    int has_memory = edges != NULL;
    c->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS
    for (; line < lines.n && has_memory; line++) {
        int64_t n_bytes = lines.ends[line] - lines.starts[line];
        has_memory = grow_counter(c, n_bytes / 2 + 1, n_bytes);
        if (has_memory) so_count_line(&c->lexicon, c->counts, &lines, line, edges);
    }
    Py_END_ALLOW_THREADS
    c->is_busy = 0;
    free(edges);
    so_end(&in);
    if (!has_memory) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* counted(counter): all words one after the other, where each ends (8 bytes), how often it came (8). */
static PyObject *counted(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    const counter *c = so_read_struct(&in, SO_COUNTER);
    if (so_is_bad(&in, c && c->is_busy, "counter: another thread uses it")) return NULL;
    const so_lexicon *lexicon = &c->lexicon;
    Py_ssize_t n_bytes = (Py_ssize_t)lexicon->offsets[lexicon->n_words], n_words = (Py_ssize_t)lexicon->n_words;
    return Py_BuildValue("y#y#y#", (const char *)lexicon->blob, n_bytes, (const char *)(lexicon->offsets + 1), 8 * n_words,
                         (const char *)c->counts, 8 * n_words);
}

/* ---- Rewriting ---- */

typedef struct {
    so_rewriter rewriter;
    PyObject *lexicon, *law; /* they must live as long */
    uint8_t room[];          /* has_row, then the null word and its padding */
} owned_rewriter;

static void free_rewriter(PyObject *capsule)
{
    owned_rewriter *owned = PyCapsule_GetPointer(capsule, SO_REWRITER);
    Py_DECREF(owned->lexicon);
    Py_DECREF(owned->law);
    free(owned);
}

/* make_rewriter(lexicon, law, has_row, null_word, count_known). */
static PyObject *make_rewriter(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    const so_lexicon *lexicon = so_read_struct(&in, SO_LEXICON);
    const so_law *law = so_read_struct(&in, SO_LAW);
    so_array has_row = so_read_array(&in, "has_row", 1), null_word = so_read_array(&in, "null_word", 1);
    int64_t count_known = so_read_int(&in, "count_known");
    if (so_is_bad(&in, law && (law->row_start != NULL) != (has_row.data != NULL), "has_row: for a law with rows, and for no other")) return NULL;
    if (so_is_bad(&in, has_row.data && has_row.n != law->max_length + 1, "has_row: one for each length of the law")) return NULL;
    int draws = law->null_id < 0 && (law->cumulative ? law->last > 0 || law->row_start : law->limit_drawable >= 0);
    if (so_is_bad(&in, draws && lexicon->n_words < 2, "lexicon: fewer than two words may be drawn")) return NULL;
    owned_rewriter *owned = calloc(1, sizeof *owned + (size_t)has_row.n + (size_t)null_word.n + SO_PADDING);
    if (!owned) return so_end(&in), PyErr_NoMemory();
    so_put(so_put((char *)owned->room, has_row, 1), null_word, 1);
    so_rewriter made = {lexicon, law, has_row.data ? owned->room : NULL, owned->room + has_row.n, null_word.n, count_known != 0};
    owned->rewriter = made;
    owned->lexicon = args[0], owned->law = args[1];
    so_end(&in);
    PyObject *capsule = PyCapsule_New(owned, SO_REWRITER, free_rewriter);
    if (!capsule) return free(owned), NULL;
    Py_INCREF(args[0]);
    Py_INCREF(args[1]);
    return capsule;
}

/* Room for the words of the longest line, in one block. */
static void *make_scratch(const so_lines *lines, so_scratch *scratch)
{
    int64_t n_bytes = longest_line(lines), n_words = n_bytes / 2 + 1;
    int64_t *block = malloc(8 * (size_t)(n_bytes + 2 + 3 * n_words) + sizeof(so_keys) * (size_t)n_words);
    if (!block) return NULL;
    scratch->keys = (so_keys *)block;
    scratch->edges = (int64_t *)(scratch->keys + n_words);
    scratch->known = scratch->edges + n_bytes + 2;
    scratch->hits = scratch->known + n_words;
    scratch->news = scratch->hits + n_words;
    return block;
}

/* rewrite(rewriter, *lines, keep, address, copies, with_original, out, ends, changes, progress):
   address is seed, epoch, stream, first example; progress is a so_progress, where to go on and then
   where it stopped. */
static PyObject *rewrite(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    so_args in;
    so_begin(&in, args, n_args);
    const owned_rewriter *owned = so_read_struct(&in, SO_REWRITER);
    so_lines lines = read_lines(&in);
    so_array keep = so_read_array(&in, "keep", 1), address = so_read_array(&in, "address", 8);
    int64_t copies = so_read_int(&in, "copies"), with_original = so_read_int(&in, "with_original") != 0;
    so_array out = so_read_writable(&in, "out", 1), ends = so_read_writable(&in, "ends", 8);
    so_array changes = so_read_writable(&in, "changes", 4), progress = so_read_writable(&in, "progress", 8);
    if (so_is_bad(&in, (keep.data && keep.n != lines.n) || address.n != 4 || progress.n != 6, "keep, address, progress: sizes")) return NULL;
    if (so_is_bad(&in, copies < 0 || copies > UINT32_MAX, "copies: out of range")) return NULL;
    const uint64_t *where = address.data;
    so_progress p;
    memcpy(&p, progress.data, sizeof p);
    int64_t per_line = copies + with_original;
    int fits = p.line >= 0 && p.line <= lines.n && p.emitted >= 0 && p.emitted <= so_min(ends.n, changes.n) && is_padded(out, p.size, 0);
    fits = fits && (per_line == 0 || lines.n - p.line <= (so_min(ends.n, changes.n) - p.emitted) / per_line);
    if (so_is_bad(&in, !fits, "out, ends, changes: not enough room")) return NULL;
    so_task task = {lines, keep.data, where[3], {where[0], (uint32_t)where[1], (uint32_t)where[2]}, copies, (int)with_original};
    so_written written = {out.data, out.n, ends.data, changes.data};
    so_scratch scratch;
    void *block = make_scratch(&lines, &scratch);
    if (block) {
        Py_BEGIN_ALLOW_THREADS
        p = so_rewrite(&owned->rewriter, &task, &written, p, &scratch);
        Py_END_ALLOW_THREADS
        memcpy(progress.data, &p, sizeof p);
        free(block);
    }
    so_end(&in);
    if (!block) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

#define SO_TEXT_METHODS \
    SO_METHOD(find_lines, "Where lines start and end.") \
    SO_METHOD(find_columns, "Where columns end.") \
    SO_METHOD(join_columns, "Columns side by side.") \
    SO_METHOD(kept_pairs, "Which pairs have words on both sides.") \
    SO_METHOD(make_lexicon, "A hash table of words.") \
    SO_METHOD(make_counter, "An empty counter of words.") \
    SO_METHOD(count_words, "Counts the words of lines.") \
    SO_METHOD(counted, "What a counter has counted.") \
    SO_METHOD(make_rewriter, "A lexicon and a law.") \
    SO_METHOD(rewrite, "Lines, changed.")
