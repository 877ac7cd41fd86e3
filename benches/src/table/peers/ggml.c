// What is called of ggml, with its own headers as the truth about its structures.

#include "ggml.h"
#include "gguf.h"

bool bench_ggml_dequantizes(uint32_t type) {
    return type < GGML_TYPE_COUNT && ggml_get_type_traits((enum ggml_type) type)->to_float != NULL;
}

void bench_ggml_dequantize(uint32_t type, const void * blocks, float * out, int64_t elements) {
    ggml_get_type_traits((enum ggml_type) type)->to_float(blocks, out, elements);
}

// The number of keys, after all of the header was read; -1 if it cannot be.
int64_t bench_ggml_read_header(const char * path) {
    struct gguf_init_params params = { .no_alloc = true, .ctx = NULL };
    struct gguf_context * gguf = gguf_init_from_file(path, params);
    if (gguf == NULL) {
        return -1;
    }
    int64_t keys = gguf_get_n_kv(gguf);
    gguf_free(gguf);
    return keys;
}
