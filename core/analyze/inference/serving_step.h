#pragma once
// What serving engines write around each pass of the model: how many requests and tokens it held, apart by prefill (context,
// extend: the tokens of prompts) and decode (generation: new tokens).
//
//   vLLM    execute_context_1(888)_generation_3(3)                     requests (tokens); 0.14 and later
//           execute_context_1(888_788544)_generation_0(0)              with the sum of the squares of the prompts' lengths
//           execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(...)  with all sums (TraceLens' patch)
//   SGLang  step[EXTEND bs=2 toks=14721], step[DECODE bs=64], step[MIXED bs=2 c=1 g=1 c_sq=5 ... g_sqsk=12]
//   ATOM    prefill[bs=2 tok=14721 ...], decode[bs=117/128 tok=117 ...]
// The sums are those of TraceLens' docs/Inference_analysis.md, over the requests of a pass.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gapscope {

struct ServedPart {
  std::int64_t requests = 0;
  std::int64_t queries = 0;             // tokens computed: the sum of N_Q
  std::int64_t keys = 0;                // tokens attended to: the sum of N_KV
  std::int64_t squared_queries = 0;     // of N_Q squared
  std::int64_t queries_times_keys = 0;  // of N_Q times N_KV
};

struct ServingStep {
  std::string_view engine;  // "vLLM", "SGLang", "ATOM"
  ServedPart prefill, decode;
  bool knows_tokens = false;  // queries are known of both
  bool knows_sums = false;    // the other three, too

  std::int64_t requests() const { return prefill.requests + decode.requests; }
  std::int64_t tokens() const { return prefill.queries + decode.queries; }
  // "prefill", "decode", "mixed", or "empty".
  std::string_view phase() const;
};

// Of an annotation's name; none for any other name.
std::optional<ServingStep> serving_step(std::string_view name);
// "decode of 32 requests, 32 tokens".
std::string serving_words(const ServingStep& step);

// The size that a name like vLLM's "capture_32_FULL" states: tokens of the captured pass. 0 for any other name.
std::int64_t captured_size(std::string_view name);

}  // namespace gapscope
