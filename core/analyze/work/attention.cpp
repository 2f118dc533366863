// Fused attention: scores and their product with the values, 2 B H Nq Nk (d_qk + d_v), half of it under a causal mask.
// Backward forms the scores again: five products where forward has two (PyTorch's sdpa_backward_flop_count).
#include <algorithm>
#include <array>
#include <charconv>

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

// "generation_32(sq32sk55086sqsq32sqsk55086)": sums over the requests of a step. vLLM's shorter form states the tokens and
// their squares: "context_1(888_788544)".
struct Tokens {
  double queries = 0, keys = 0, squares = 0, pairs = 0;
};

double number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return 0;
  const char* begin = text.data() + at + word.size();
  double out = 0;
  std::from_chars(begin, text.data() + text.size(), out);
  return out;
}

std::optional<Tokens> tokens_of(std::string_view annotation, std::string_view part) {
  const std::size_t at = annotation.find(part);
  if (at == std::string_view::npos) return {};
  const std::size_t open = annotation.find('(', at), close = annotation.find(')', at);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  const std::string_view inside = annotation.substr(open + 1, close - open - 1);
  if (inside.starts_with("sq"))
    return Tokens{number_after(inside, "sq"), number_after(inside, "sk"), number_after(inside, "sqsq"),
                  number_after(inside, "sqsk")};
  const double queries = number_after(inside, ""), squares = number_after(inside, "_");
  return Tokens{queries, queries, squares, squares};
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
      "How many keys it looks at is not recorded: the serving engine's annotations of steps say it (execute_context_...).";
  const auto context = tokens_of(call.annotation, "context_"), generation = tokens_of(call.annotation, "generation_");
  const Sizes &query = call.sizes(0), &key = call.sizes(1);
  if (!context || !generation) return uncounted(kNoStep);
  if (query.size() != 3 || key.size() < 3) return uncounted(kOddShapes);
  const double heads = query[1], features = query[2], kv_heads = key[key.size() - 2], v_features = key.back();
  const bool keys_known = generation->queries == 0 || generation->pairs > 0;
  if (!keys_known || context->queries + generation->queries == 0) return uncounted(kNoStep);
  // Within the new tokens attention is causal.
  const double pairs = context->pairs - context->squares / 2 + generation->pairs;
  const double tokens = context->queries + generation->queries;
  const double cached = context->keys + generation->keys - tokens;
  const double each = features + v_features;
  const double own = bytes_of_type(call.at(0).type), cache = bytes_of_type(call.at(1).type);
  return counted(2 * heads * pairs * each, tokens * (heads + kv_heads) * each * own + cached * kv_heads * each * cache);
}

}  // namespace gapscope::work
