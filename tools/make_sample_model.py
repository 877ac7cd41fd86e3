#!/usr/bin/env python3
"""Makes examples/data/sample.gguf: a model of the usual shape, small enough to be kept in the repository.

It is laid out as a llama of two blocks, with a tokenizer, with every kind of metadata value, and with a tensor of
every plain, legacy and K type. The weights are noise: nothing was trained, and nobody else's work is in it.
The same script makes the same bytes everywhere: no clock, no system's random numbers, no mathematics library.

    make_sample_model.py           write the file, then read it back
    make_sample_model.py --check   compare the file in the repository with what the script makes

Needs `pip install gguf==0.19.0`.
"""

import hashlib
import sys
import tempfile
from collections import Counter
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFValueType as Kind

from make_model_checksums import decode

SAMPLE = Path(__file__).resolve().parent.parent / "examples" / "data" / "sample.gguf"

VOCABULARY = 260
WIDTH = 256
HIDDEN = 32
HEADS, KEY_VALUE_HEADS, HEAD_WIDTH = 2, 1, 16
BLOCKS = 2

TEXT = """
a model is a file of numbers and the file is larger than the memory of the machine that reads it
the reader takes the file in chunks and a chunk may end anywhere in the middle of a name or a number or a block
the decoder keeps the few bytes that a chunk has cut and gives back everything else as it came
a tensor is a row of blocks and a block is a scale and a handful of small numbers
when the scale and the numbers are multiplied the weights are there again or nearly so
the header comes first then the keys and the values then the names of the tensors then the weights
whoever needs one tensor can leave the others out and whoever needs one key can leave the rest
the smallest machines have no allocator and no file system but they can count and they can wait
"""

UNICODE = ["é", "ü", "ß", "ñ", "ø", "ł", "д", "ж", "я", "λ", "π", "א", "ش", "अ", "ก", "中", "文", "日", "本", "語", "한",
           "글", "→", "≤", "∑", "😀", "🚀", "👩‍💻", "e\u0301", "▁▁", "▁▁▁▁", "\n", "\t", "日本語", "привет", "naïve"]

SPECIAL = [("<unk>", gguf.TokenType.UNKNOWN), ("<s>", gguf.TokenType.CONTROL), ("</s>", gguf.TokenType.CONTROL),
           ("<|start|>", gguf.TokenType.USER_DEFINED), ("<|end|>", gguf.TokenType.USER_DEFINED)]

CHAT_TEMPLATE = """{{ bos_token }}
{%- for message in messages %}
    {%- if message.role == 'system' and not loop.first %}
        {{- raise_exception('The system message comes first.') }}
    {%- endif %}
    {{- '<|start|>' + message.role + '\\n' + message.content | trim + '<|end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start|>assistant\\n' }}
{%- endif %}
"""


# --- numbers -----------------------------------------------------------------------------------------------------


def gaussian(name, shape, mean=0.0, deviation=1.0):
    """Noise that depends on the name alone. SplitMix64 gives the bits; twelve uniform numbers add up to a bell."""
    seed = np.frombuffer(hashlib.sha256(name.encode()).digest()[:8], "<u8")
    count = 12 * int(np.prod(shape))
    bits = seed + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    uniform = ((bits ^ (bits >> np.uint64(31))) >> np.uint64(40)).astype(np.int64).reshape(-1, 12)
    bell = (uniform.sum(axis=1) - 6 * 2**24) / 2.0**24
    return (mean + deviation * bell).reshape(shape)


# --- quantizers that gguf-py lacks: the plainest way to valid blocks, not the best ----------------------------------


def ratio(numerator, denominator):
    """The quotient, and 0 where the denominator is 0."""
    safe = np.where(denominator == 0, np.float32(1), denominator)
    return np.where(denominator == 0, np.float32(0), numerator / safe)


def largest(values):
    """The value of the largest magnitude in each group, with its sign."""
    at = np.abs(values).argmax(axis=-1, keepdims=True)
    return np.take_along_axis(values, at, axis=-1)[..., 0]


def rounded(values, low, high):
    return np.clip(np.rint(values), low, high).astype(np.int32)


def half(values):
    """The value as an f16 holds it, and its bytes."""
    stored = values.astype("<f2")
    return stored.astype(np.float32), stored[:, None].view(np.uint8)


def packed(fields, bits):
    """Puts the fields along axis -2 into one byte each, the first one lowest."""
    shifts = (bits * np.arange(fields.shape[-2], dtype=np.int32))[:, None]
    return (fields << shifts).sum(axis=-2).astype(np.uint8)


def joined(count, *parts):
    return np.concatenate([part.reshape(count, -1).astype(np.uint8) for part in parts], axis=1)


def scales_and_minimums(x, group, levels, most):
    """Each group as scale * number - minimum, with both scaled again by one f16 for the whole block."""
    count = len(x)
    groups = x.reshape(count, -1, group)
    minimums = np.maximum(-groups.min(axis=-1), 0)
    scales = (groups.max(axis=-1) + minimums) / levels
    d, d_bytes = half(scales.max(axis=1) / most)
    m, m_bytes = half(minimums.max(axis=1) / most)
    scale = rounded(ratio(scales, d[:, None]), 0, most)
    minimum = rounded(ratio(minimums, m[:, None]), 0, most)
    offset = (m[:, None] * minimum)[..., None]
    numbers = rounded(ratio(groups + offset, (d[:, None] * scale)[..., None]), 0, levels)
    return count, numbers, scale, minimum, d_bytes, m_bytes


def signed_scales(x, levels, most):
    """Each group of 16 as scale * number, numbers from -levels, scales from -most, both around zero."""
    count = len(x)
    groups = x.reshape(count, -1, 16)
    scales = largest(groups) / -levels
    d, d_bytes = half(largest(scales) / -most)
    scale = rounded(ratio(scales, d[:, None]), -most, most - 1)
    numbers = rounded(ratio(groups, (d[:, None] * scale)[..., None]), -levels, levels - 1)
    return count, numbers, scale, d_bytes


def q2_k(x):
    count, q, scale, minimum, d, m = scales_and_minimums(x, 16, 3, 15)
    return joined(count, scale | minimum << 4, packed(q.reshape(count, 2, 4, 32), 2), d, m)


def q3_k(x):
    count, q, scale, d = signed_scales(x, 4, 32)
    q, scale = q.reshape(count, 8, 32) + 4, scale + 32
    scales = joined(count, packed(scale.reshape(count, 2, 8) & 15, 4), packed(scale.reshape(count, 4, 4) >> 4, 2))
    return joined(count, packed(q >> 2, 1), packed((q & 3).reshape(count, 2, 4, 32), 2), scales, d)


def packed_pairs(scale, minimum):
    """Eight scales and eight minimums of 6 bits in 12 bytes, as Q4_K and Q5_K keep them."""
    low, high = scale[:, :4], scale[:, 4:]
    low_m, high_m = minimum[:, :4], minimum[:, 4:]
    last = (high & 15) | (high_m & 15) << 4
    return joined(len(scale), low | (high >> 4) << 6, low_m | (high_m >> 4) << 6, last)


def q4_k(x):
    count, q, scale, minimum, d, m = scales_and_minimums(x, 32, 15, 63)
    return joined(count, d, m, packed_pairs(scale, minimum), packed(q.reshape(count, 4, 2, 32), 4))


def q5_k(x):
    count, q, scale, minimum, d, m = scales_and_minimums(x, 32, 31, 63)
    low, high = (q & 15).reshape(count, 4, 2, 32), (q >> 4).reshape(count, 8, 32)
    return joined(count, d, m, packed_pairs(scale, minimum), packed(high, 1), packed(low, 4))


def q6_k(x):
    count, q, scale, d = signed_scales(x, 32, 128)
    q = q.reshape(count, 2, 4, 32) + 32
    low = packed((q & 15).reshape(count, 2, 2, 64), 4)
    return joined(count, low, packed(q >> 4, 2), scale.astype(np.int8).view(np.uint8), d)


def q8_1(x):
    count = len(x)
    d, d_bytes = half(np.abs(x).max(axis=1) / 127)
    q = rounded(ratio(x, d[:, None]), -127, 127)
    _, sum_bytes = half(d * q.sum(axis=1).astype(np.float32))
    return joined(count, d_bytes, sum_bytes, q.astype(np.int8).view(np.uint8))


def q8_k(x):
    count = len(x)
    d = (largest(x) / -127).astype("<f4")
    q = rounded(ratio(x, d[:, None]), -127, 127)
    sums = q.reshape(count, 16, 16).sum(axis=-1).astype("<i2")
    return joined(count, d[:, None].view(np.uint8), q.astype(np.int8).view(np.uint8), sums.view(np.uint8))


QUANTIZERS = {Type.Q2_K: q2_k, Type.Q3_K: q3_k, Type.Q4_K: q4_k, Type.Q5_K: q5_k, Type.Q6_K: q6_k, Type.Q8_1: q8_1,
              Type.Q8_K: q8_k}

PLAIN = {Type.F32: "<f4", Type.F16: "<f2", Type.F64: "<f8", Type.I8: "<i1", Type.I16: "<i2", Type.I32: "<i4",
         Type.I64: "<i8"}


def encode(kind, values):
    if kind in PLAIN:
        return values.astype(PLAIN[kind])
    values = values.astype(np.float32)
    if kind not in QUANTIZERS:
        return gguf.quants.quantize(values, kind)
    elements, _ = gguf.GGML_QUANT_SIZES[kind]
    return QUANTIZERS[kind](values.reshape(-1, elements)).reshape(len(values), -1)


# --- the tokenizer ---------------------------------------------------------------------------------------------


def train(words, merges):
    """Byte-pair encoding: joins the most frequent neighbours, the first in order among equals, again and again."""
    pieces = Counter(tuple("▁" + word) for word in words)
    joins = []
    for _ in range(merges):
        pairs = Counter()
        for word, times in pieces.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += times
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        joins.append(best)
        pieces = Counter({join(word, best): times for word, times in pieces.items()})
    return joins


def join(word, pair):
    out = []
    for piece in word:
        if out and (out[-1], piece) == pair:
            out[-1] += piece
        else:
            out.append(piece)
    return tuple(out)


def tokenizer():
    """Tokens, scores, types and merges."""
    words = TEXT.split()
    letters = sorted(set("▁abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()[]{}<>|-+*/=_#$%&@\\"))
    tokens = [token for token, _ in SPECIAL] + letters + UNICODE
    types = [kind for _, kind in SPECIAL] + [gguf.TokenType.NORMAL] * (len(letters) + len(UNICODE))
    merges = train(words, VOCABULARY - len(tokens))
    scores = [0.0] * len(tokens) + [-float(rank) for rank in range(len(merges))]
    tokens += ["".join(pair) for pair in merges]
    types += [gguf.TokenType.NORMAL] * len(merges)
    assert len(set(tokens)) == len(tokens) == VOCABULARY, Counter(tokens).most_common(3)
    return tokens, scores, [int(kind) for kind in types], [" ".join(pair) for pair in merges]


# --- the file --------------------------------------------------------------------------------------------------


def tensors(tokens):
    """Name, type and values of each tensor, rows first."""
    attention, key_value = HEADS * HEAD_WIDTH, KEY_VALUE_HEADS * HEAD_WIDTH
    lengths = np.array([len(token.encode()) for token in tokens])
    norm = {"mean": 1.0, "deviation": 0.1}
    weights = {"deviation": 0.02}
    shapes = [
        ("token_embd.weight", Type.Q2_K, (VOCABULARY, WIDTH), weights),
        ("output_norm.weight", Type.F32, (WIDTH,), norm),
        ("blk.0.attn_norm.weight", Type.F16, (WIDTH,), norm),
        ("blk.0.attn_q.weight", Type.Q4_K, (attention, WIDTH), weights),
        ("blk.0.attn_k.weight", Type.Q8_0, (key_value, WIDTH), weights),
        ("blk.0.attn_v.weight", Type.Q6_K, (key_value, WIDTH), weights),
        ("blk.0.attn_output.weight", Type.Q4_0, (WIDTH, attention), weights),
        ("blk.0.ffn_norm.weight", Type.F32, (WIDTH,), norm),
        ("blk.0.ffn_gate.weight", Type.Q3_K, (HIDDEN, WIDTH), weights),
        ("blk.0.ffn_up.weight", Type.Q5_K, (HIDDEN, WIDTH), weights),
        ("blk.0.ffn_down.weight", Type.Q5_0, (WIDTH, HIDDEN), weights),
        ("blk.1.attn_norm.weight", Type.BF16, (WIDTH,), norm),
        ("blk.1.attn_q.weight", Type.Q2_K, (attention, WIDTH), weights),
        ("blk.1.attn_q.bias", Type.F64, (attention,), weights),
        ("blk.1.attn_k.weight", Type.Q8_1, (key_value, WIDTH), weights),
        ("blk.1.attn_v.weight", Type.Q8_K, (key_value, WIDTH), weights),
        ("blk.1.attn_output.weight", Type.Q4_1, (WIDTH, attention), weights),
        ("blk.1.ffn_norm.weight", Type.F16, (WIDTH,), norm),
        ("blk.1.ffn_gate.weight", Type.Q2_K, (HIDDEN, WIDTH), weights),
        ("blk.1.ffn_up.weight", Type.Q2_K, (HIDDEN, WIDTH), weights),
        ("blk.1.ffn_down.weight", Type.Q5_1, (WIDTH, HIDDEN), weights),
    ]
    yield from ((name, kind, gaussian(name, shape, **bell)) for name, kind, shape, bell in shapes)
    yield "token_shift", Type.I8, np.rint(gaussian("token_shift", (VOCABULARY,), deviation=30))
    yield "token_bytes", Type.I16, lengths
    yield "token_order", Type.I32, np.argsort(lengths, kind="stable")
    yield "token_bytes.count", Type.I64, np.bincount(lengths) * 1_000_000_007


def add_model(writer):
    writer.add_type("model")
    writer.add_name("Weightstream Sample")
    writer.add_description("Noise in the shape of a small llama, to try a decoder on.\nNot trained.")
    writer.add_license("MIT OR Apache-2.0")
    writer.add_size_label("166K")
    writer.add_tags(["sample", "test data"])
    writer.add_languages(["en"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q2_K)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_vocab_size(VOCABULARY)
    writer.add_context_length(512)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(BLOCKS)
    writer.add_feed_forward_length([HIDDEN] * BLOCKS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_VALUE_HEADS)
    writer.add_key_length(HEAD_WIDTH)
    writer.add_value_length(HEAD_WIDTH)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HEAD_WIDTH)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)
    writer.add_sliding_window(128)
    writer.add_sliding_window_pattern([True, False])


def add_tokenizer(writer, tokens, scores, types, merges):
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(True)
    writer.add_chat_template(CHAT_TEMPLATE)


def add_every_kind(writer):
    """A value and an array of each kind, at the ends of its range where it has ends."""
    integers = {Kind.UINT8: 8, Kind.UINT16: 16, Kind.UINT32: 32, Kind.UINT64: 64}
    signed = {Kind.INT8: 8, Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64}
    values = {kind: [0, 1, 2**bits - 1] for kind, bits in integers.items()}
    values |= {kind: [-(2 ** (bits - 1)), -1, 2 ** (bits - 1) - 1] for kind, bits in signed.items()}
    values |= {
        Kind.FLOAT32: [-0.0, 0.1, 3.4028234663852886e38],
        Kind.FLOAT64: [5e-324, 0.1, 1.7976931348623157e308],
        Kind.BOOL: [True, False, True],
        Kind.STRING: ["", "two\nlines", "wide: 中文 😀"],
    }
    for kind in sorted(values):
        writer.add_key_value(f"sample.{kind.name.lower()}", values[kind][-1], kind)
        writer.add_key_value(f"sample.{kind.name.lower()}s", values[kind], Kind.ARRAY, sub_type=kind)


def write(path):
    tokens, scores, types, merges = tokenizer()
    writer = gguf.GGUFWriter(path, "llama")
    add_model(writer)
    add_tokenizer(writer, tokens, scores, types, merges)
    add_every_kind(writer)
    for name, kind, values in tensors(tokens):
        writer.add_tensor(name, encode(kind, values), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


# --- reading it back -------------------------------------------------------------------------------------------

# How far the decoded values may be from the noise they came from, as a share of its size.
CLOSENESS = {Type.Q2_K: 0.4, Type.Q3_K: 0.25, Type.Q4_0: 0.12, Type.Q4_1: 0.12, Type.Q4_K: 0.12, Type.Q5_0: 0.06,
             Type.Q5_1: 0.06, Type.Q5_K: 0.06, Type.Q6_K: 0.03, Type.Q8_0: 0.01, Type.Q8_1: 0.01, Type.Q8_K: 0.01,
             Type.BF16: 0.01, Type.F16: 0.001}


def verify(path):
    reader = gguf.GGUFReader(path)
    expected = 0
    made = list(tensors(tokenizer()[0]))
    assert [tensor.name for tensor in reader.tensors] == [name for name, _, _ in made]
    assert {tensor.tensor_type for tensor in reader.tensors} == set(PLAIN) | set(CLOSENESS)
    for tensor, (name, kind, values) in zip(reader.tensors, made):
        assert tensor.tensor_type == kind, name
        assert tensor.data_offset == reader.data_offset + expected, f"{name} is not where ggml wants it"
        expected += -(-tensor.n_bytes // 32) * 32
        values = values.astype(np.float64)
        decoded = decode(kind, tensor.data).astype(np.float64).reshape(values.shape)
        error = np.sqrt(((decoded - values) ** 2).sum() / (values**2).sum())
        assert np.isfinite(decoded).all() and error < CLOSENESS.get(kind, 1e-7), f"{name}: off by {error}"
    assert path.stat().st_size == reader.data_offset + expected, "the file ends with the padded data"
    return f"{path.stat().st_size} bytes, {len(reader.fields) - 3} keys, {len(made)} tensors"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / SAMPLE.name
        write(made)
        summary = verify(made)
        content = made.read_bytes()
    if "--check" in sys.argv:
        if not SAMPLE.exists() or SAMPLE.read_bytes() != content:
            sys.exit(f"{SAMPLE.name} is not what this script makes")
    else:
        SAMPLE.write_bytes(content)
    print(f"{hashlib.sha256(content).hexdigest()}  {SAMPLE.name}: {summary}")


if __name__ == "__main__":
    main()
