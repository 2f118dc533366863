// Fused attention: scores and their product with the values, 2 B H Nq Nk (d_qk + d_v), half of it under a causal mask.
// Backward forms the scores again: five products where forward has two (PyTorch's sdpa_backward_flop_count).
#include <algorithm>
#include <array>
#include <optional>

#include "core/analyze/inference/serving_step.h"
#include "core/analyze/work/families.h"

namespace gapscope::work {
namespace {

enum class Layout : std::uint8_t { bhnd, bnhd, nhd };  // batch, heads, places, features
struct Places {
  std::string_view op;
  std::size_t query;  // key and value follow it
  Layout layout;
  std::size_t causal;
};
constexpr auto kPlaces = std::to_array<Places>({
    {"aten::scaled_dot_product_attention", 0, Layout::bhnd, 5},
    {"aten::_scaled_dot_product_flash_attention", 0, Layout::bhnd, 4},
    {"aten::_scaled_dot_product_efficient_attention", 0, Layout::bhnd, 6},
    {"aten::_scaled_dot_product_cudnn_attention", 0, Layout::bhnd, 6},
    {"aten::_cudnn_attention_forward", 0, Layout::bhnd, 10},
    {"aten::_flash_attention_forward", 0, Layout::bnhd, 8},
    {"aten::_efficient_attention_forward", 0, Layout::bnhd, 9},
    {"FlashAttnFunc", 0, Layout::bnhd, 5},
    {"flash_attn::_flash_attn_forward", 0, Layout::bnhd, 5},
    {"flash_attn::_flash_attn_varlen_forward", 0, Layout::nhd, 9},
    {"flash_attn_3::fwd", 0, Layout::bnhd, 24},
    {"aiter::_flash_attn_forward", 0, Layout::bnhd, 5},
    {"aiter::mha_fwd", 0, Layout::bnhd, 5},
    {"aiter::fmha_v3_fwd", 0, Layout::bnhd, 5},
    {"aiter::wrapper_fmha_v3_fwd", 1, Layout::bnhd, 6},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, Layout::bhnd, 11},
    {"aten::_scaled_dot_product_efficient_attention_backward", 1, Layout::bhnd, 11},
    {"aten::_scaled_dot_product_cudnn_attention_backward", 1, Layout::bhnd, 14},
    {"aten::_cudnn_attention_backward", 1, Layout::bhnd, 14},
    {"aten::_flash_attention_backward", 1, Layout::bnhd, 11},
    {"aten::_efficient_attention_backward", 1, Layout::bnhd, 14},
    {"flash_attn::_flash_attn_backward", 1, Layout::bnhd, 10},
    {"flash_attn::_flash_attn_varlen_backward", 1, Layout::nhd, 15},
    {"aiter::_flash_attn_backward", 1, Layout::bnhd, 12},
    {"aiter::mha_bwd", 1, Layout::bnhd, 8},
    {"aiter::wrapper_fmha_v3_bwd", 1, Layout::bnhd, 9},
});

struct Heads {
  double batch = 1, heads = 0, places = 0, features = 0;
  double count() const { return batch * heads * places * features; }
};

std::optional<Heads> heads_of(const Sizes& s, Layout layout) {
  if (layout == Layout::nhd && s.size() == 3) return Heads{1, s[1], s[0], s[2]};
  if (s.size() == 3) return Heads{s[0], 1, s[1], s[2]};
  if (s.size() != 4) return {};
  return layout == Layout::bhnd ? Heads{s[0], s[1], s[2], s[3]} : Heads{s[0], s[2], s[1], s[3]};
}

// Pairs of a query and a key that see each other. With more keys than queries the last query sees all of them.
double pairs_seen(double queries, double keys, bool causal) {
  if (!causal) return queries * keys;
  if (queries == keys) return queries * keys / 2;  // as PyTorch and TraceLens round it
  return keys > queries ? queries * (keys - (queries - 1) / 2) : keys * keys / 2 + (queries - keys) * keys;
}

// Masks of memory-efficient attention are numbers: 0 none, 1 and 2 causal.
bool is_causal(const WorkCall& call, std::size_t at) {
  const std::string& value = call.at(at).value;
  return value == "True" || value == "true" || value == "1" || value == "2";
}

struct Sums {
  double scores = 0, values = 0;  // operations
  Heads query, key, value;
  double bytes = 2;  // of an element
};

std::optional<Sums> sums_of(const WorkCall& call) {
  const auto* at = std::find_if(kPlaces.begin(), kPlaces.end(), [&](const Places& p) { return p.op == call.op; });
  if (at == kPlaces.end()) return {};
  const auto q = heads_of(call.sizes(at->query), at->layout), k = heads_of(call.sizes(at->query + 1), at->layout),
             v = heads_of(call.sizes(at->query + 2), at->layout);
  if (!q || !k || !v || q->features != k->features || k->places != v->places) return {};
  Sums out{0, 0, *q, *k, *v, std::max(bytes_of_type(call.at(at->query).type), 1.0)};
  const double seen = q->batch * q->heads * pairs_seen(q->places, k->places, is_causal(call, at->causal));
  out.scores = 2 * seen * q->features;
  out.values = 2 * seen * v->features;
  return out;
}

// Where the operators of serving engines take query, key and value, of (tokens, heads, features) or, of caches in pages,
// (pages, tokens of a page, heads, features): as TraceLens reads them.
struct PagedPlaces {
  std::string_view op;
  std::size_t query;
};
constexpr auto kPagedPlaces = std::to_array<PagedPlaces>({
    {"sglang_profiler::attention_paged_attention_ragged", 2},  // with the layer's number behind it
    {"", 0},
});

// Sums over the requests of a pass.
struct Tokens {
  double queries = 0, keys = 0, pairs = 0;  // pairs that see each other: new tokens only those before them
};

// vLLM's short form states the tokens of prompts and the sum of their squares: of prompts that nothing is cached of.
std::optional<Tokens> tokens_of(std::string_view annotation) {
  const auto step = serving_step(annotation);
  if (!step || !step->knows_tokens || step->tokens() == 0) return {};
  const ServedPart &prefill = step->prefill, &decode = step->decode;
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const double queries = number(prefill.queries) + number(decode.queries), squares = number(prefill.squared_queries);
  if (step->knows_sums)
    return Tokens{queries, number(prefill.keys) + number(decode.keys),
                  number(prefill.queries_times_keys) - squares / 2 + number(decode.queries_times_keys)};
  if (decode.queries > 0 || squares == 0) return {};
  return Tokens{queries, queries, squares / 2};
}

}  // namespace

Work attention(const WorkCall& call) {
  const auto s = sums_of(call);
  if (!s) return uncounted(kOddShapes);
  const double result = s->query.batch * s->query.heads * s->query.places * s->value.features;
  return counted(s->scores + s->values, (s->query.count() + s->key.count() + s->value.count() + result) * s->bytes);
}

Work attention_backward(const WorkCall& call) {
  const auto s = sums_of(call);
  if (!s) return uncounted(kOddShapes);
  const double result = s->query.batch * s->query.heads * s->query.places * s->value.features;
  const double inputs = s->query.count() + s->key.count() + s->value.count();
  // Read: both inputs and gradient of the result, and the result itself; written: a gradient of each input.
  return counted(3 * s->scores + 2 * s->values, (2 * inputs + 2 * result) * s->bytes);
}

// Of a serving engine: keys lie in a cache, and how many are looked at is said by the annotation around the step alone.
Work paged_attention(const WorkCall& call) {
  constexpr std::string_view kNoStep =
      "How many keys it looks at is not recorded: the annotation of a step says it where vLLM, SGLang or ATOM run with "
      "TraceLens' patches (sq, sk, sqsq, sqsk).";
  const auto tokens = tokens_of(call.annotation);
  if (!tokens) return uncounted(kNoStep);
  const auto* at =
      std::find_if(kPagedPlaces.begin(), kPagedPlaces.end(), [&](const PagedPlaces& p) { return call.op.starts_with(p.op); });
  const Sizes &query = call.sizes(at->query), &key = call.sizes(at->query + 1), &value = call.sizes(at->query + 2);
  if (query.size() != 3 || (key.size() != 3 && key.size() != 4) || value.size() != key.size()) return uncounted(kOddShapes);
  const double heads = query[1], kv_heads = key[key.size() - 2], each = query[2] + value.back();
  const double own = bytes_of_type(call.at(at->query).type), cache = bytes_of_type(call.at(at->query + 1).type);
  return counted(2 * heads * tokens->pairs * each, tokens->queries * (heads + kv_heads) * each * own +
                                                       (tokens->keys - tokens->queries) * kv_heads * each * cache);
}

}  // namespace gapscope::work
