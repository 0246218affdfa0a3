/* bundle.c - reading a checkpoint of TensorFlow: see tensors.h. */
#include "tensors/tensors.h"

#include <string.h>

/* ---- bytes ----------------------------------------------------------------------------------- */

/* What is left to read of a run of bytes; `ok` is false once it was too short. */
struct bytes {
        const unsigned char *at, *end;
        bool ok;
};

static struct bytes bytes_of(const unsigned char *at, size_t n)
{
        return (struct bytes){at, at + n, true};
}

static struct bytes take(struct bytes *b, uint64_t n)
{
        const unsigned char *at = b->at;

        if (!b->ok || n > (size_t)(b->end - b->at)) {
                b->ok = false;
                return (struct bytes){b->end, b->end, false};
        }
        b->at += n;
        return bytes_of(at, (size_t)n);
}

/* Seven bits a byte, the lowest first. */
static uint64_t take_varint(struct bytes *b)
{
        uint64_t x = 0;

        for (unsigned shift = 0; shift < 64 && b->at < b->end; shift += 7) {
                const unsigned char byte = *b->at++;

                if (shift == 63 && byte > 1)
                        break;
                x |= (uint64_t)(byte & 127) << shift;
                if (byte < 128)
                        return x;
        }
        b->ok = false;
        return 0;
}

static uint32_t u32_at(const unsigned char *p)
{
        return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- checksums ------------------------------------------------------------------------------- */

/* CRC-32C: the effect of each byte. */
static void crc_init(uint32_t table[256])
{
        for (uint32_t i = 0; i < 256; i++) {
                uint32_t x = i;

                for (int bit = 0; bit < 8; bit++)
                        x = x >> 1 ^ (x & 1 ? 0x82f63b78u : 0);
                table[i] = x;
        }
}

/* As files have it: turned by 15 bits, plus a constant, so that no checksum is one of bytes that
 * hold it. */
static uint32_t crc_masked(const uint32_t table[256], const unsigned char *p, size_t n)
{
        uint32_t x = UINT32_MAX;

        for (; n > 0; p++, n--)
                x = x >> 8 ^ table[(x ^ *p) & 255];
        x = ~x;
        return (x >> 15 | x << 17) + 0xa282ead8u;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { FOOTER = 48, TRAILER = 5, LONGEST_KEY = 4096 };

struct reader {
        uint32_t crc[256];
        const struct ran_bytes *index, *data;
        struct ran_buf key, before; /* of the entry at hand, of the one before it */
        size_t entries;
        size_t next, bytes; /* where the next block may begin; bytes of all tensors so far */
        bool header;        /* there was one */
        struct ran_tensors *t;
        size_t cap;
};

struct place {
        uint64_t offset, size;
};

static struct place take_place(struct bytes *b)
{
        const uint64_t offset = take_varint(b), size = take_varint(b);

        return (struct place){offset, size};
}

static int damaged(const char *what, struct ran_error *err)
{
        return ran_fail(err, RAN_EFORMAT, "the index is damaged: %s", what);
}

/* The entries of a block, without its restarts: keys are read in their order. */
static int open_block(const struct reader *r, struct place at, struct bytes *entries,
                      struct ran_error *err)
{
        const size_t room = r->index->size - FOOTER;

        if (at.offset > room || at.size > room - at.offset ||
            room - at.offset - at.size < TRAILER || at.size < 4)
                return damaged("a block lies outside of it", err);
        const unsigned char *p = r->index->data + at.offset;
        const size_t n = (size_t)at.size;
        if (crc_masked(r->crc, p, n + 1) != u32_at(p + n + 1))
                return damaged("the checksum of a block is not that of its bytes", err);
        if (p[n] != 0)
                return ran_fail(err, RAN_EFORMAT,
                                "the index is compressed, which TensorFlow itself does not do: "
                                "save the checkpoint again");
        const uint32_t restarts = u32_at(p + n - 4);
        if (restarts > (n - 4) / 4)
                return damaged("a block is too short for its restarts", err);
        *entries = bytes_of(p, n - 4 - (size_t)restarts * 4);
        return RAN_OK;
}

/* The next key, of which the one before is there, and its value. */
static int take_entry(struct ran_buf *key, struct bytes *b, struct bytes *value,
                      struct ran_error *err)
{
        const uint64_t shared = take_varint(b), rest = take_varint(b), length = take_varint(b);
        const struct bytes end = take(b, rest);

        *value = take(b, length);
        if (!b->ok || shared > key->len || shared + rest > LONGEST_KEY)
                return damaged("an entry is longer than its block", err);
        key->len = (size_t)shared;
        ran_buf_add(key, (const char *)end.at, (size_t)rest);
        return RAN_OK;
}

/* ---- protocol buffers ------------------------------------------------------------------------ */

/* A field: its number, and its value as a number or as bytes. */
struct member {
        uint64_t number, value;
        struct bytes bytes;
};

static bool take_member(struct bytes *b, struct member *m)
{
        enum { VARINT, EIGHT, LENGTH, FOUR = 5 };

        if (!b->ok || b->at == b->end)
                return false;
        const uint64_t tag = take_varint(b);

        *m = (struct member){.number = tag >> 3, .bytes = {b->at, b->at, true}};
        switch (tag & 7) {
        case VARINT:
                m->value = take_varint(b);
                break;
        case EIGHT:
                m->bytes = take(b, 8);
                break;
        case LENGTH:
                m->bytes = take(b, take_varint(b));
                break;
        case FOUR:
                m->bytes = take(b, 4);
                m->value = b->ok ? u32_at(m->bytes.at) : 0;
                break;
        default:
                b->ok = false;
        }
        return b->ok;
}

static int read_header(struct reader *r, struct bytes b, struct ran_error *err)
{
        enum { SHARDS = 1, ENDIANNESS };
        struct member m;
        uint64_t shards = 0, big = 0;

        while (take_member(&b, &m)) {
                shards = m.number == SHARDS ? m.value : shards;
                big = m.number == ENDIANNESS ? m.value : big;
        }
        if (!b.ok)
                return damaged("its header is cut", err);
        if (big != 0)
                return ran_fail(err, RAN_EFORMAT,
                                "the checkpoint was written by a big-endian machine: save it on "
                                "another");
        if (shards != 1)
                return ran_fail(err, RAN_EFORMAT,
                                "the checkpoint has %ju data files: save it as one",
                                (uintmax_t)shards);
        r->header = true;
        return RAN_OK;
}

/* An entry of the table. */
struct entry {
        uint64_t type, shard, offset, size;
        uint32_t checksum;
        bool sliced, unknown_rank;
        size_t rank, shape[RAN_TENSOR_MAX_RANK];
};

static int read_shape(struct bytes b, struct entry *e, struct ran_error *err)
{
        enum { DIMENSION = 2, UNKNOWN };
        enum { SIZE = 1 };
        struct member m, d;

        while (take_member(&b, &m)) {
                uint64_t size = 0;

                e->unknown_rank |= m.number == UNKNOWN && m.value != 0;
                if (m.number != DIMENSION)
                        continue;
                while (take_member(&m.bytes, &d))
                        size = d.number == SIZE ? d.value : size;
                if (!m.bytes.ok || size > SIZE_MAX || e->rank == RAN_TENSOR_MAX_RANK)
                        return damaged("a shape makes no sense", err);
                e->shape[e->rank++] = (size_t)size;
        }
        return b.ok ? RAN_OK : damaged("a shape is cut", err);
}

static int read_entry(struct bytes b, struct entry *e, struct ran_error *err)
{
        enum { TYPE = 1, SHAPE, SHARD, OFFSET, SIZE, CHECKSUM, SLICES };
        struct member m;

        *e = (struct entry){0};
        while (take_member(&b, &m)) {
                e->type = m.number == TYPE ? m.value : e->type;
                e->shard = m.number == SHARD ? m.value : e->shard;
                e->offset = m.number == OFFSET ? m.value : e->offset;
                e->size = m.number == SIZE ? m.value : e->size;
                e->checksum = m.number == CHECKSUM ? (uint32_t)m.value : e->checksum;
                e->sliced |= m.number == SLICES;
                if (m.number == SHAPE)
                        RAN_TRY(read_shape(m.bytes, e, err));
        }
        return b.ok ? RAN_OK : damaged("an entry is cut", err);
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* TensorFlow's numbers of types that are numbers here, too; 0: none. */
static const enum ran_dtype types[] = {
        [1] = RAN_DTYPE_F32, [2] = RAN_DTYPE_F64, [3] = RAN_DTYPE_I32,   [4] = RAN_DTYPE_U8,
        [6] = RAN_DTYPE_I8,  [9] = RAN_DTYPE_I64, [14] = RAN_DTYPE_BF16, [19] = RAN_DTYPE_F16};

static const char *key_text(struct reader *r)
{
        ran_buf_char(&r->key, '\0');
        return r->key.data;
}

static int check_place(struct reader *r, const struct entry *e, size_t bytes, struct ran_error *err)
{
        if (e->size != bytes)
                return ran_fail(err, RAN_EFORMAT,
                                "the index is damaged: %s takes %ju bytes, and its shape %zu",
                                key_text(r), (uintmax_t)e->size, bytes);
        if (e->shard != 0 || e->offset > r->data->size || e->size > r->data->size - e->offset)
                return ran_fail(err, RAN_EFORMAT,
                                "the data file has %zu bytes, and %s lies beyond them: it is cut, "
                                "or that of another checkpoint",
                                r->data->size, key_text(r));
        r->bytes += bytes;
        if (r->bytes > r->data->size) /* and the work of checksums would know no bounds */
                return damaged("tensors overlap", err);
        if (crc_masked(r->crc, r->data->data + e->offset, bytes) != e->checksum)
                return ran_fail(err, RAN_EFORMAT,
                                "the data file is damaged, or that of another checkpoint: the "
                                "checksum of %s is not that of its bytes",
                                key_text(r));
        return RAN_OK;
}

/* The name is in r->key. Pointers to names are set in the end, when all are there. */
static int add_tensor(struct reader *r, struct bytes value, struct ran_error *err)
{
        struct ran_tensor t = {.name_n = r->key.len};
        struct entry e;
        size_t bytes;

        if (memchr(r->key.data, '\0', r->key.len) != NULL)
                return damaged("a name has a NUL", err);
        RAN_TRY(read_entry(value, &e, err));
        if (e.type >= sizeof types / sizeof *types || types[e.type] == 0)
                return RAN_OK;
        t.dtype = types[e.type];
        if (e.sliced || e.unknown_rank)
                return ran_fail(err, RAN_EFORMAT,
                                "%s lies in slices, as partitioned variables do: save it whole",
                                key_text(r));
        t.rank = e.rank;
        memcpy(t.shape, e.shape, sizeof t.shape);
        RAN_TRY(ran_dtype_size(t.dtype, t.shape, t.rank, &t.elements, &bytes, err));
        RAN_TRY(check_place(r, &e, bytes, err));
        t.begin = (size_t)e.offset;
        t.end = t.begin + bytes;
        RAN_ROOM(r->t->tensor, r->cap, r->t->n + 1);
        r->t->tensor[r->t->n++] = t;
        ran_buf_add(&r->t->strings, r->key.data, r->key.len);
        ran_buf_char(&r->t->strings, '\0');
        return RAN_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int read_block(struct reader *r, struct place at, struct ran_error *err)
{
        struct bytes b = {0}, value = {0};

        RAN_TRY(open_block(r, at, &b, err));
        if (at.offset < r->next || b.at == b.end)
                return damaged("a block is empty, or stands before another", err);
        r->next = (size_t)(at.offset + at.size);
        r->key.len = 0;
        while (b.at < b.end) {
                RAN_TRY(take_entry(&r->key, &b, &value, err));
                if (r->entries++ > 0 &&
                    ran_order(r->before.data, r->before.len, r->key.data, r->key.len) >= 0)
                        return damaged("its keys do not ascend", err);
                r->before.len = 0;
                ran_buf_add(&r->before, r->key.data, r->key.len);
                RAN_TRY(r->key.len == 0 ? read_header(r, value, err) : add_tensor(r, value, err));
        }
        return RAN_OK;
}

/* The blocks that the index block names, in its order. */
static int read_blocks(struct reader *r, struct place at, struct ran_error *err)
{
        struct bytes b = {0}, value = {0};
        struct ran_buf key = {0};
        int rc = open_block(r, at, &b, err);

        while (rc == RAN_OK && b.at < b.end) {
                rc = take_entry(&key, &b, &value, err);
                const struct place block = take_place(&value);
                if (rc == RAN_OK)
                        rc = value.ok ? read_block(r, block, err)
                                      : damaged("the place of a block is cut", err);
        }
        ran_buf_release(&key);
        return rc;
}

static int read_all(struct reader *r, struct ran_error *err)
{
        static const unsigned char magic[] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
        const size_t n = r->index->size;

        if (n < FOOTER || memcmp(r->index->data + n - sizeof magic, magic, sizeof magic) != 0)
                return ran_fail(err, RAN_EFORMAT,
                                "the index is cut, or it is no index of a TensorFlow checkpoint: "
                                "its last bytes are not those of a table");
        struct bytes b = bytes_of(r->index->data + n - FOOTER, FOOTER - sizeof magic);
        const struct place meta = take_place(&b), at = take_place(&b);
        struct bytes unused;
        if (!b.ok)
                return damaged("its footer is cut", err);
        RAN_TRY(open_block(r, meta, &unused, err));
        RAN_TRY(read_blocks(r, at, err));
        return r->header ? RAN_OK : damaged("it has no header", err);
}

int ran_bundle_read(struct ran_tensors *t, const struct ran_bytes *index,
                    const struct ran_bytes *data, struct ran_error *err)
{
        struct reader r = {.index = index, .data = data, .t = t};

        *t = (struct ran_tensors){.data = data->data, .size = data->size};
        crc_init(r.crc);
        const int rc = read_all(&r, err);
        const char *name = t->strings.data;
        for (size_t i = 0; i < t->n; name += t->tensor[i++].name_n + 1)
                t->tensor[i].name = name;
        if (rc != RAN_OK)
                ran_tensors_release(t);
        ran_buf_release(&r.key);
        ran_buf_release(&r.before);
        return rc;
}
