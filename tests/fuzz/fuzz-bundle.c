/* Any bytes as a checkpoint of TensorFlow: refused with a sentence, or read into tensors that lie
 * inside the data. The first byte says how many bytes at the end are the data; of the rest, after
 * an even second byte, is made an index. After an odd one they are the entries of a block, around
 * which stands a table with right checksums: no fuzzer would guess those. */
#include <stdlib.h>
#include <string.h>

#include "tensors/tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_u32(struct ran_buf *out, uint32_t x)
{
        for (int i = 0; i < 4; i++)
                ran_buf_char(out, (char)(x >> 8 * i));
}

static void put_varint(struct ran_buf *out, size_t x)
{
        for (; x >= 128; x >>= 7)
                ran_buf_char(out, (char)(x | 128));
        ran_buf_char(out, (char)x);
}

/* Bit by bit. */
static uint32_t checksum(const char *bytes, size_t n)
{
        uint32_t x = UINT32_MAX;

        for (size_t i = 0; i < n; i++) {
                x ^= (uint8_t)bytes[i];
                for (int bit = 0; bit < 8; bit++)
                        x = x >> 1 ^ (x & 1 ? 0x82f63b78u : 0);
        }
        x = ~x;
        return (x >> 15 | x << 17) + 0xa282ead8u;
}

/* A block of these entries; its place is appended to `place`. */
static void put_block(struct ran_buf *out, const void *entries, size_t n, struct ran_buf *place)
{
        const size_t from = out->len;

        ran_buf_add(out, entries, n);
        put_u32(out, 0);
        put_u32(out, 1);
        put_varint(place, from);
        put_varint(place, out->len - from);
        ran_buf_char(out, 0);
        put_u32(out, checksum(out->data + from, out->len - from));
}

static void put_table(struct ran_buf *out, const uint8_t *entries, size_t n)
{
        static const unsigned char magic[] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
        struct ran_buf block = {0}, index = {0}, footer = {0};

        put_block(out, entries, n, &block);
        put_block(out, "", 0, &footer);
        put_varint(&index, 0);
        put_varint(&index, 1);
        put_varint(&index, block.len);
        ran_buf_char(&index, 'z');
        ran_buf_add(&index, block.data, block.len);
        put_block(out, index.data, index.len, &footer);
        while (footer.len < 40)
                ran_buf_char(&footer, 0);
        ran_buf_add(out, footer.data, 40);
        ran_buf_add(out, magic, sizeof magic);
        ran_buf_release(&block);
        ran_buf_release(&index);
        ran_buf_release(&footer);
}

static void use(const struct ran_tensors *t, const struct ran_tensor *tensor)
{
        size_t elements = 1;

        if (tensor->end > t->size || tensor->begin > tensor->end ||
            strlen(tensor->name) != tensor->name_n || ran_tensors_find(t, tensor->name) != tensor)
                abort();
        for (size_t i = 0; i < tensor->rank; i++)
                elements *= tensor->shape[i];
        if (elements != tensor->elements)
                abort();
        float *x = ran_alloc_floats(elements, NULL);
        if (x != NULL)
                ran_tensor_floats(t, tensor, x, NULL);
        free(x);
}

static void check(const struct ran_bytes *index, const struct ran_bytes *data)
{
        struct ran_error err = {0};
        struct ran_tensors t;

        if (ran_bundle_read(&t, index, data, &err) != RAN_OK) {
                if (err.text[0] == '\0' || err.code == RAN_OK)
                        abort();
                return;
        }
        for (size_t i = 0; i < t.n; i++)
                use(&t, &t.tensor[i]);
        ran_tensors_release(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct ran_buf table = {0};

        if (size < 2)
                return 0;
        const size_t rest = size - 2, n = data[0] < rest ? data[0] : rest;
        const struct ran_bytes tail = {data + size - n, n, false};
        struct ran_bytes index = {data + 2, rest - n, false};
        if (data[1] % 2 > 0) {
                put_table(&table, data + 2, rest - n);
                index = (struct ran_bytes){(const unsigned char *)table.data, table.len, false};
        }
        check(&index, &tail);
        ran_buf_release(&table);
        return 0;
}
