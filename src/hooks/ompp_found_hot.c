/*
 * Accesses that the code in the program does not count by itself: to pages that are another thread's, or not one
 * structure's alone, or touched for the first time. This file and those of its library use no vector registers (their
 * compiler is told so, see Makefile.inc.am), so that code which has its values in them need not save them.
 */
#include "hooks/ompp_found_priv.h"

/* ---- Who asks ---------------------------------------------------------------------------------------------------- */

/* What ompp_whose_frame() is asked. */
typedef struct {
    ompp_counter_t *counter;
    uintptr_t address;
    ompp_accessor_t by;
    uint32_t object;
} asked_t;

static void *ask(void *data)
{
    asked_t *asked = data;

    asked->object = ompp_whose_frame(asked->counter, asked->address, asked->by);
    return NULL;
}

/* The structure that an object of the map stands for. */
static inline uint32_t whose(ompp_counter_t *counter, uint32_t object, uintptr_t address, ompp_accessor_t by)
{
    if (__builtin_expect(object != OMPP_WHOSE_STACK, 1)) return object;
    asked_t asked = {counter, address, by, ompp_whose_again(counter, address, by)};
    if (__builtin_expect(!asked.object, 0)) ompp_found_kept(ask, &asked);
    return asked.object;
}

static void *get(void *unused) { return (void)unused, ompp_counter_get(); }

static ompp_counter_t *seen(void)
{
    ompp_counter_t *counter = ompp_counter_self;

    return __builtin_expect(counter->own != OMPP_COUNT_UNSEEN, 1) ? counter : ompp_found_kept(get, NULL);
}

/* Who an access belongs to, by where it is counted: what simulated caches know structures by. */
static inline uint32_t structure_at(uint64_t at) { return (uint32_t)(at >> OMPP_INLINE_COUNT_BITS); }

/* ---- One access -------------------------------------------------------------------------------------------------- */

/* A page that nobody has touched, or a thread that is new. */
static ompp_found_t find_slow(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = seen();
    const uint32_t entry = ompp_found_touch(counter, address);
    const uint32_t object = whose(counter, ompp_map_in_page(entry, address), address, by);
    uint64_t at = (uint64_t)ompp_count_note(counter, object) << OMPP_INLINE_COUNT_BITS;

    ompp_count_at(counter, at)->foreign[kind] += ompp_found_is_foreign(counter, entry, address);
    if (counter->feed) ompp_found_tell(counter, entry, address, 1, kind, structure_at(at));
    return (ompp_found_t){counter, at};
}

static inline ompp_found_t find(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = ompp_counter_self;
    uint32_t entry = ompp_count_entry(counter, address), owner = ompp_found_owner(entry, address);
    uint64_t at = entry & OMPP_MAP_LOW;

    if (__builtin_expect(!owner, 0)) return find_slow(address, kind, by);
    if (at & OMPP_MAP_PAGE_LEADS)
        at = (uint64_t)ompp_count_note(counter, whose(counter, ompp_map_in_edge(entry, address), address, by))
             << OMPP_INLINE_COUNT_BITS;
    if (owner != counter->own) ompp_count_at(counter, at)->foreign[kind]++;
    if (counter->feed) ompp_found_tell(counter, entry, address, 1, kind, structure_at(at));
    return (ompp_found_t){counter, at};
}

ompp_found_t ompp_count_find_load(uintptr_t address) { return find(address, OMPP_LOAD, OMPP_CALLER); }

ompp_found_t ompp_count_find_store(uintptr_t address) { return find(address, OMPP_STORE, OMPP_CALLER); }

/* ---- For code that keeps its registers: ompp_gcc.cc -------------------------------------------------------------- */

#if defined(__x86_64__)
#define COUNTS (offsetof(ompp_counter_t, count) + offsetof(ompp_count_t, scalars)) /* in the counter */
_Static_assert(COUNTS == OMPP_INLINE_COUNT, "as LINE adds it (ompp_entries_hot.c)");

#define FOREIGN (1ull << OMPP_INLINE_FOREIGN_BIT)

/* The counter, so many bytes further as the structure's count is from the first one. */
static inline uintptr_t at(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_found_t found = find(address, kind, by);

    return (uintptr_t)found.counter + found.at;
}

/*
 * What is usual of it keeps all registers but rax by itself, and has a result of 0 for what is not: pages that nobody
 * has touched, structures above NEAR, 16 bytes that several share.
 */
#define KEEPS __attribute__((used, no_caller_saved_registers))

/* The program's rbp, and where BEGIN has put rdi: behind it is where the program goes on, 128 bytes below its stack
 * pointer. CALL has put rbp before rdi; in a function that BEGIN's code calls, there is a return address in between. */
static inline ompp_accessor_t accessor(uintptr_t rbp, const uintptr_t *rdi)
{
    return (ompp_accessor_t){rdi[1], (uintptr_t)(rdi + 2) + 128, rbp};
}

#define FRAME ((const uintptr_t *)__builtin_frame_address(0))
#define ACCESSOR accessor(FRAME[0], FRAME + 2)

/*
 * Where an access of the thread's own stack is counted, when this code has been in this frame: then nothing need be
 * looked up. \return 0: it has not.
 */
static inline uintptr_t in_frame(ompp_counter_t *counter, uintptr_t address, ompp_accessor_t by)
{
    if (!counter->locals || !ompp_whose_is_own(counter->whose, address)) return 0;
    if ((ompp_count_entry(counter, address) ^ counter->own) & ~OMPP_MAP_LOW) return 0; /* another thread's */
    const uint32_t object = ompp_whose_again(counter, address, by);
    if (!object) return 0;
    ompp_used_mark(counter->used, object);
    return (uintptr_t)counter + ((uint64_t)object << OMPP_INLINE_COUNT_BITS);
}

/* Of a page that leads to a table; more than there are where it is not usual. */
static inline uint32_t object_usual(ompp_counter_t *counter, uint32_t entry, uintptr_t address, ompp_accessor_t by)
{
    const uint32_t object = ompp_map_in_edge(entry, address);

    if (object <= OMPP_MAP_NEAR) return object;
    const uint32_t known = object == OMPP_WHOSE_STACK ? ompp_whose_again(counter, address, by) : object;
    return known && ompp_count_note(counter, known) ? known : UINT32_MAX;
}

/* None of a page whose accesses were told of until now. */
static inline uint32_t owner_usual(uint32_t value, uintptr_t address)
{
    const uint32_t owner = value & ~OMPP_MAP_LOW;

    if (__builtin_expect(owner != OMPP_MAP_SAMPLED, 1)) return owner;
    return ompp_feed_is_sampled(address)
               ? __atomic_load_n(ompp_map_entry(ompp_found_holder(address)), __ATOMIC_ACQUIRE) & ~OMPP_MAP_LOW
               : 0;
}

KEEPS uintptr_t ompp_frame_at(uintptr_t address);
KEEPS uintptr_t ompp_frame_at(uintptr_t address) { return in_frame(ompp_counter_self, address, ACCESSOR); }

/*
 * An access that is told of, of another line than those of before, to a page that is the thread's. What
 * ompp_feed_known() knows, QUICK has looked at (ompp_entries_hot.c).
 * \return where it is counted; 0: look.
 */
static inline uintptr_t told(uintptr_t address, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_self;
    ompp_feed_t *feed = counter->feed;
    const uint32_t entry = ompp_count_entry(counter, address);
    uint64_t at = entry ^ counter->own;

    if (!feed->all || ompp_feed_is_full(feed) || at >= 2 * OMPP_INLINE_LEADS) return 0;
    const bool is_whole = at < OMPP_INLINE_LEADS;
    if (!is_whole) {
        const uint32_t object = ompp_map_grain(entry, address);
        if (object > OMPP_MAP_NEAR) return 0;
        at = (uint64_t)object << OMPP_INLINE_COUNT_BITS;
    }
    if (feed->structures != __atomic_load_n(&ompp_feed_structures, __ATOMIC_ACQUIRE)) return 0;
    ompp_feed_add(feed, address, 1, kind, structure_at(at));
    if (is_whole && !feed->always[kind])
        feed->latest[(address >> feed->shift) & feed->mask].found = (uintptr_t)counter + at;
    return (uintptr_t)counter + at;
}

KEEPS uintptr_t ompp_told_load(uintptr_t address);
KEEPS uintptr_t ompp_told_load(uintptr_t address) { return told(address, OMPP_LOAD); }
KEEPS uintptr_t ompp_told_store(uintptr_t address);
KEEPS uintptr_t ompp_told_store(uintptr_t address) { return told(address, OMPP_STORE); }

static inline uintptr_t at_usual(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = ompp_counter_self;
    ompp_feed_t *feed = counter->feed;
    uintptr_t known = feed ? ompp_feed_known(feed, address, kind) : 0;

    if (known) return known;
    uint32_t entry = ompp_count_entry(counter, address), owner = owner_usual(entry, address), object;
    uint64_t at = entry & OMPP_MAP_LOW;

    if (!owner || (feed && ompp_feed_is_full(feed))) return 0;
    if (at & OMPP_MAP_PAGE_LEADS) {
        object = object_usual(counter, entry, address, by);
        if (object == UINT32_MAX) return 0;
        at = (uint64_t)object << OMPP_INLINE_COUNT_BITS;
    }
    if (owner != counter->own) ompp_count_at(counter, at)->foreign[kind]++;
    if (feed && ompp_feed_wants(feed, entry)) {
        ompp_feed_add(feed, address, 1, kind, structure_at(at));
        if (owner == counter->own && !(entry & OMPP_MAP_PAGE_LEADS))
            ompp_feed_remember(feed, address, (uintptr_t)counter + at);
    }
    return (uintptr_t)counter + at;
}

/* Of a page that several structures share: so much of it is the one's that an address is in. */
static inline unsigned part_of(const ompp_counter_t *counter, uint32_t entry, uintptr_t address)
{
    uint32_t table = entry & OMPP_MAP_FAR, code = OMPP_INLINE_FOR_GRAIN;
    const unsigned at = (address >> OMPP_MAP_GRAIN_BITS) & (OMPP_MAP_GRAINS - 1);

    /* such as all whose accesses are told of: they are SAMPLED, or the tag is NOBODY */
    if ((entry & ~OMPP_MAP_LOW) != counter->tag) return OMPP_INLINE_FOR_ACCESS;
    if (table == OMPP_MAP_FAR) return OMPP_INLINE_FOR_ADDRESS;
    const uint32_t *grain = ompp_map_edge[table], one = grain[at];
    if (one > OMPP_MAP_NEAR) return OMPP_INLINE_FOR_ADDRESS;
    for (unsigned n = 1; code < OMPP_INLINE_FOR; n *= 2, code++)
        for (unsigned i = 0, other = (at ^ n) & ~(n - 1); i < n; i++)
            if (grain[other + i] != one) return code;
    return code;
}

/*
 * The counts for all accesses to the page, with FOREIGN when those are to be added to the foreign ones, too; and with
 * what they are for.
 */
static inline uintptr_t turn_usual(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = ompp_counter_self;
    ompp_feed_t *feed = counter->feed;
    uint32_t entry = ompp_count_entry(counter, address), owner = entry & ~OMPP_MAP_LOW, low = entry & OMPP_MAP_LOW;
    uintptr_t found;

    if (feed && feed->by_line && !(low & OMPP_MAP_PAGE_LEADS)) {
        if (!owner || ompp_feed_is_full(feed)) return 0;
        ompp_feed_add(feed, address, 1, kind, structure_at(low));
    } else if (low & OMPP_MAP_PAGE_LEADS || (feed && ompp_feed_wants(feed, entry)))
        return (found = in_frame(counter, address, by)) || (found = at_usual(address, kind, by))
                   ? (found + COUNTS) | part_of(counter, entry, address)
                   : 0;
    if (!owner && counter->own) return 0;
    return (uintptr_t)ompp_count_at(counter, low)->scalars | (owner == counter->own ? 0 : FOREIGN) |
           OMPP_INLINE_FOR_PAGE;
}

/* What is most of it where caches are simulated: another line of a page that is one structure's. \return 0: look. */
static inline uintptr_t line(uintptr_t address, unsigned kind)
{
    ompp_counter_t *counter = ompp_counter_self;
    const uint32_t entry = ompp_count_entry(counter, address);

    if (!counter->feed->by_line || ompp_feed_is_full(counter->feed)) return 0;
    if (!(entry & ~OMPP_MAP_LOW) || entry & OMPP_MAP_PAGE_LEADS) return 0;
    ompp_feed_add(counter->feed, address, 1, kind, structure_at(entry & OMPP_MAP_LOW));
    const uintptr_t found = (uintptr_t)ompp_count_at(counter, entry & OMPP_MAP_LOW)->scalars | OMPP_INLINE_FOR_PAGE;
    return (entry ^ counter->own) <= OMPP_MAP_LOW ? found : found | FOREIGN;
}

KEEPS uintptr_t ompp_line_load(uintptr_t address);
KEEPS uintptr_t ompp_line_load(uintptr_t address) { return line(address, OMPP_LOAD); }
KEEPS uintptr_t ompp_line_store(uintptr_t address);
KEEPS uintptr_t ompp_line_store(uintptr_t address) { return line(address, OMPP_STORE); }

static inline uintptr_t turn(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = seen();
    uint32_t entry = ompp_count_entry(counter, address);
    uintptr_t found;

    if (counter->own && !(entry & ~OMPP_MAP_LOW)) ompp_found_touch(counter, address);
    found = turn_usual(address, kind, by);
    return found ? found : at(address, kind, by) + COUNTS;
}

/* Of code that accesses one local variable of its function: see ELSEWHERE in ompp_gcc.cc. */
static inline _Atomic uint32_t *cell_of(ompp_accessor_t by)
{
    int32_t distance;

    __builtin_memcpy(&distance, (const char *)by.code - sizeof distance, sizeof distance);
    return (_Atomic uint32_t *)(by.code + (uintptr_t)(intptr_t)distance);
}

static void *fill(void *data)
{
    const asked_t *asked = data;

    return ompp_whose_local(asked->counter, asked->address, asked->by, cell_of(asked->by)), NULL;
}

/* \return the counter, so many bytes further as the variable's count is from the first one; 0 = it is not known. */
static inline uintptr_t local_known(ompp_accessor_t by)
{
    ompp_counter_t *counter = ompp_counter_self;
    const uint32_t cell = atomic_load_explicit(cell_of(by), memory_order_relaxed) & counter->cells;

    return cell ? (uintptr_t)counter + cell : 0;
}

static inline bool fills_cells(const ompp_counter_t *counter)
{
    return counter->cells && !atomic_load_explicit(&ompp_counter_locals_full, memory_order_relaxed);
}

/* Whether a variable of a stack may be meant, as a page's entry says; of the thread's own. */
static inline bool is_any_stack(uint32_t entry, uintptr_t address)
{
    return (entry & OMPP_MAP_LOW) == OMPP_MAP_LOW && ompp_map_in_edge(entry, address) == OMPP_WHOSE_STACK;
}

static inline bool is_stack(const ompp_counter_t *counter, uint32_t entry, uintptr_t address)
{
    return ompp_whose_is_own(counter->whose, address) && is_any_stack(entry, address);
}

/*
 * Of a variable in the thread's own stack that is known: tells of an access that is to be told of, or of its line to
 * code that counts in registers. \return what the count is for then; OMPP_INLINE_FOR + 1: the page is nobody's, or the
 * buffer is full.
 */
static inline unsigned tell_local(ompp_counter_t *counter, uintptr_t address, unsigned kind, uintptr_t known)
{
    ompp_feed_t *feed = counter->feed;
    const uint32_t entry = ompp_count_entry(counter, address), owner = owner_usual(entry, address);
    const bool told = feed && ompp_feed_wants(feed, entry), foreign = owner != counter->own;

    if (!owner || (told && ompp_feed_is_full(feed))) return OMPP_INLINE_FOR + 1;
    if (told) ompp_feed_add(feed, address, 1, kind, structure_at(known - (uintptr_t)counter));
    if (foreign) ompp_count_at(counter, known - (uintptr_t)counter)->foreign[kind]++;
    return foreign || (told && !feed->by_line) ? OMPP_INLINE_FOR_ACCESS : OMPP_INLINE_FOR_PAGE;
}

/* A page that is nobody's gets its owner first, a full buffer is emptied. \return whether it is one of a stack. */
static bool makes_ready(ompp_counter_t *counter, uintptr_t address)
{
    const uint32_t entry = counter->cells ? ompp_found_touch(counter, address) : 0;
    const bool ready = counter->cells && is_any_stack(entry, address);

    if (ready && counter->feed && ompp_feed_is_full(counter->feed)) ompp_found_kept(ompp_found_drain, counter);
    return ready;
}

/* Of code that keeps what it finds of a stack: the variable's, as far as that can be told, for pages of this kind. It
 * is not to keep what is told of. */
static inline uintptr_t base_usual(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    ompp_counter_t *counter = ompp_counter_self;
    const uint32_t entry = ompp_count_entry(counter, address);
    const ompp_whose_seen_t *seen;
    uint32_t below;

    if (!counter->cells || !is_any_stack(entry, address)) return at_usual(address, kind, by);
    if (!(seen = ompp_whose_seen_again(counter, address, by)) || !(entry & ~OMPP_MAP_LOW)) return 0;
    const bool foreign = ompp_whose_keeps_foreign(counter, owner_usual(entry, address));
    const _Atomic uint64_t *word = ompp_whose_word(seen, address, foreign, &below);
    if (!word) return at_usual(address, kind, by);
    const uint32_t object = (uint32_t)atomic_load_explicit(word, memory_order_relaxed);
    if (!object) return 0;
    const uintptr_t known = (uintptr_t)counter + ((uint64_t)object << OMPP_INLINE_COUNT_BITS);
    const unsigned is_for = foreign ? OMPP_INLINE_FOR_PAGE : tell_local(counter, address, kind, known);
    if (is_for > OMPP_INLINE_FOR) return 0;
    ompp_used_mark(counter->used, object);
    return counter->feed || is_for != OMPP_INLINE_FOR_PAGE ? known : known | 1ull << OMPP_INLINE_BASE_STACK;
}

static void *keep(void *data)
{
    const asked_t *asked = data;

    return ompp_whose_keep(asked->counter, asked->address, asked->by), NULL;
}

static inline uintptr_t base(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    asked_t asked = {seen(), address, by, 0};
    uintptr_t found = 0;

    if (makes_ready(asked.counter, address)) {
        ompp_found_kept(keep, &asked);
        found = base_usual(address, kind, by);
    }
    return found ? found : at(address, kind, by);
}

/* What it is for is added to it; 0 = it is not known. */
static uintptr_t local_slow(uintptr_t address, unsigned kind, ompp_accessor_t by, unsigned *is_for)
{
    asked_t asked = {seen(), address, by, 0};

    if (!makes_ready(asked.counter, address) || !ompp_whose_is_own(asked.counter->whose, address)) return 0;
    uintptr_t known = local_known(by);
    if (!known && fills_cells(asked.counter)) {
        ompp_found_kept(fill, &asked);
        known = local_known(by);
    }
    *is_for = known ? tell_local(asked.counter, address, kind, known) : OMPP_INLINE_FOR_ACCESS;
    if (*is_for > OMPP_INLINE_FOR) *is_for = OMPP_INLINE_FOR_ACCESS; /* the simulation is at work: a signal handler */
    return known;
}

/* As tell_local() has it, also where nothing is known; OMPP_INLINE_FOR + 2: it is no variable of the stack. */
static inline unsigned local_for(uintptr_t address, unsigned kind, uintptr_t known)
{
    ompp_counter_t *counter = ompp_counter_self;
    const uint32_t entry = ompp_count_entry(counter, address);

    if (!(entry & ~OMPP_MAP_LOW)) return OMPP_INLINE_FOR + 1;
    if (!counter->cells || !is_stack(counter, entry, address)) return OMPP_INLINE_FOR + 2;
    if (known) return tell_local(counter, address, kind, known);
    return fills_cells(counter) ? OMPP_INLINE_FOR + 1 : OMPP_INLINE_FOR + 2;
}

static inline uintptr_t local_usual(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    const uintptr_t known = local_known(by);
    const unsigned is_for = local_for(address, kind, known);

    if (is_for <= OMPP_INLINE_FOR) return known;
    return is_for == OMPP_INLINE_FOR + 1 ? 0 : at_usual(address, kind, by);
}

static inline uintptr_t local(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    unsigned is_for;
    const uintptr_t found = local_slow(address, kind, by, &is_for);

    return found ? found : at(address, kind, by);
}

static inline uintptr_t turn_local_usual(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    const uintptr_t known = local_known(by);
    const unsigned is_for = local_for(address, kind, known);

    if (is_for <= OMPP_INLINE_FOR) return (known + COUNTS) | is_for;
    return is_for == OMPP_INLINE_FOR + 1 ? 0 : turn_usual(address, kind, by);
}

static inline uintptr_t turn_local(uintptr_t address, unsigned kind, ompp_accessor_t by)
{
    unsigned is_for;
    const uintptr_t found = local_slow(address, kind, by, &is_for);

    return found ? (found + COUNTS) | is_for : turn(address, kind, by);
}

#define FOUND(name, function, kind, usual)                                                        \
    __attribute__((used)) uintptr_t ompp_found_##name(uintptr_t address, const uintptr_t *saved); \
    uintptr_t ompp_found_##name(uintptr_t address, const uintptr_t *saved)                        \
    {                                                                                             \
        return function(address, kind, accessor(saved[0], saved + 1));                            \
    }                                                                                             \
    KEEPS uintptr_t ompp_usual_##name(uintptr_t address);                                         \
    KEEPS uintptr_t ompp_usual_##name(uintptr_t address) { return usual; }

FOUND(at_load, at, OMPP_LOAD, at_usual(address, OMPP_LOAD, ACCESSOR))
FOUND(at_store, at, OMPP_STORE, at_usual(address, OMPP_STORE, ACCESSOR))
FOUND(base_load, base, OMPP_LOAD, base_usual(address, OMPP_LOAD, ACCESSOR))
FOUND(base_store, base, OMPP_STORE, base_usual(address, OMPP_STORE, ACCESSOR))
FOUND(local_load, local, OMPP_LOAD, local_usual(address, OMPP_LOAD, ACCESSOR))
FOUND(local_store, local, OMPP_STORE, local_usual(address, OMPP_STORE, ACCESSOR))
FOUND(turn_local_load, turn_local, OMPP_LOAD, turn_local_usual(address, OMPP_LOAD, ACCESSOR))
FOUND(turn_local_store, turn_local, OMPP_STORE, turn_local_usual(address, OMPP_STORE, ACCESSOR))
FOUND(turn_load, turn, OMPP_LOAD, turn_usual(address, OMPP_LOAD, ACCESSOR))
FOUND(turn_store, turn, OMPP_STORE, turn_usual(address, OMPP_STORE, ACCESSOR))

/* ---- Sequences of accesses: ompp_clang.cc ------------------------------------------------------------------------ */

/* Of accesses from an address on, step bytes apart, how many are on its page, or in its line, of so many bytes;
 * per_byte is 2^20 / step, or somewhat more. */
static inline uint64_t on_page(uintptr_t address, int64_t step, uint64_t number, uint32_t per_byte, uint32_t page)
{
    const uint32_t offset = address & (page - 1), room = step < 0 ? offset : page - 1 - offset;
    const uint64_t most = ((room * (uint64_t)per_byte) >> 20) + 1;

    return most < number ? most : number;
}

/* Counts those that are in a frame that this code has been in, one after the other. \return how many. */
static inline uint64_t run_in_frame(ompp_counter_t *counter, uintptr_t address, int64_t step, uint64_t number,
                                    uint64_t slot, bool is_foreign, ompp_accessor_t by)
{
    const ompp_whose_seen_t *seen = ompp_whose_seen_again(counter, address, by);
    ompp_count_t *count = NULL;
    uint32_t last = 0;
    uint64_t n = 0;

    for (; seen && n < number && seen->high - address - 1 < seen->bytes; n++, address += (uint64_t)step) {
        const unsigned part = ompp_whose_part(seen->frame, seen->high - address);
        const uint32_t object = atomic_load_explicit(&seen->frame->object[part], memory_order_relaxed);
        if (object != last || !count) {
            if (!object || !ompp_count_note(counter, object)) break;
            count = ompp_count_at(counter, (uint64_t)object << OMPP_INLINE_COUNT_BITS);
            last = object;
        }
        *(uint64_t *)((char *)count->scalars + slot) += 1;
        count->foreign[slot >= OMPP_INLINE_KIND] += is_foreign;
    }
    return n;
}

/* Of accesses to a page that several structures share, how many from the first one on are to its structure, as far as
 * that is found in one step. */
static inline uint64_t on_structure(uint32_t entry, uintptr_t address, int64_t step, uint64_t number)
{
    const uint32_t object = ompp_map_grain(entry, address);
    uint64_t n = 1;

    while (n < number && object < OMPP_DATA_MAX && ompp_map_grain(entry, address + n * (uint64_t)step) == object) n++;
    return n;
}

/*
 * Counts them, slot bytes behind their structures' first counts. What is usual of it keeps all registers but rax.
 * \return how many are left, the last ones.
 */
static inline uint64_t run_usual(uintptr_t address, int64_t step, uint64_t number, uint64_t slot, ompp_accessor_t by)
{
    ompp_counter_t *counter = ompp_counter_self;
    const unsigned kind = slot >= OMPP_INLINE_KIND;
    const uint64_t bytes = step < 0 ? -(uint64_t)step : (uint64_t)step;
    const bool stays = bytes == 0, far = bytes >> OMPP_MAP_PAGE_BITS;
    const uint32_t per_byte = far || number < 2 || stays ? 0 : (1u << 20) / (uint32_t)bytes + 1;

    while (number) {
        uint32_t entry = ompp_count_entry(counter, address), owner = owner_usual(entry, address);
        const bool told = counter->feed && ompp_feed_wants(counter->feed, entry);
        const uint32_t page = told ? ompp_feed_line(counter->feed) : 1u << OMPP_MAP_PAGE_BITS;
        uint64_t here = stays ? number : on_page(address, step, number, per_byte, page), at;
        if ((!owner && counter->own) || (told && ompp_feed_is_full(counter->feed))) break;
        if (entry & OMPP_MAP_PAGE_LEADS) {
            if (!stays && !told && ompp_map_in_edge(entry, address) == OMPP_WHOSE_STACK) {
                here = run_in_frame(counter, address, step, here, slot, owner != counter->own, by);
                if (!here) break;
                address += here * (uint64_t)step;
                number -= here;
                continue;
            }
            uint32_t object = object_usual(counter, entry, address, by);
            if (object == UINT32_MAX) break;
            at = (uint64_t)object << OMPP_INLINE_COUNT_BITS;
            if (!stays) here = on_structure(entry, address, step, here);
        } else at = entry & OMPP_MAP_LOW;
        ompp_count_t *count = ompp_count_at(counter, at);
        *(uint64_t *)((char *)count->scalars + slot) += here;
        if (told) {
            ompp_feed_add(counter->feed, address, 1, kind, structure_at(at));
            counter->feed->last->again += here - 1;
        }
        if (owner != counter->own) count->foreign[kind] += here;
        address += here * (uint64_t)step;
        number -= here;
    }
    return number;
}

static inline void run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot, uint64_t left,
                       ompp_accessor_t by)
{
    while (left) {
        address += (number - left) * (uint64_t)step;
        *(uint64_t *)(at(address, slot >= OMPP_INLINE_KIND, by) + COUNTS + slot) += 1;
        address += (uint64_t)step;
        number = left - 1;
        left = run_usual(address, step, number, slot, by);
    }
}

__attribute__((used)) void ompp_found_run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot,
                                          uint64_t left, const uintptr_t *saved);
void ompp_found_run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot, uint64_t left,
                    const uintptr_t *saved)
{
    run(address, step, number, slot, left, accessor(saved[0], saved + 1));
}

KEEPS uint64_t ompp_usual_run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot);
KEEPS uint64_t ompp_usual_run(uintptr_t address, int64_t step, uint64_t number, uint64_t slot)
{
    return run_usual(address, step, number, slot, ACCESSOR);
}
#endif
