// Annotations of serving engines, as they write them.
#include <doctest/doctest.h>

#include "core/analyze/inference/serving_step.h"

using namespace gapscope;

TEST_CASE("vLLM's passes are read in each of their forms") {
  const auto plain = serving_step("execute_context_2(6144)_generation_3(3)");
  REQUIRE(plain);
  CHECK(plain->engine == "vLLM");
  CHECK(plain->phase() == "mixed");
  CHECK(plain->prefill.requests == 2);
  CHECK(plain->prefill.queries == 6144);
  CHECK(plain->decode.requests == 3);
  CHECK(plain->tokens() == 6147);
  CHECK(plain->knows_tokens);
  CHECK(!plain->knows_sums);

  const auto squares = serving_step("execute_context_1(888_788544)_generation_0(0)");
  REQUIRE(squares);
  CHECK(squares->phase() == "prefill");
  CHECK(squares->prefill.squared_queries == 788544);
  CHECK(serving_words(*squares) == "prefill of 1 request, 888 tokens");

  const auto sums = serving_step("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)");
  REQUIRE(sums);
  CHECK(sums->phase() == "decode");
  CHECK(sums->knows_sums);
  CHECK(sums->decode.keys == 55086);
  CHECK(sums->decode.queries_times_keys == 55086);
  CHECK(serving_words(*sums) == "decode of 32 requests, 32 tokens");
}

TEST_CASE("SGLang's and ATOM's passes are read, with what they state") {
  const auto decode = serving_step("step[DECODE bs=64]");
  REQUIRE(decode);
  CHECK(decode->engine == "SGLang");
  CHECK(decode->decode.queries == 64);
  CHECK(decode->phase() == "decode");
  const auto speculative = serving_step("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]");
  REQUIRE(speculative);
  CHECK(speculative->decode.requests == 64);
  CHECK(speculative->tokens() == 128);
  const auto extend = serving_step("step[EXTEND bs=2 toks=14721]");
  REQUIRE(extend);
  CHECK(extend->prefill.queries == 14721);
  const auto mixed = serving_step("step[MIXED bs=2]");
  REQUIRE(mixed);
  CHECK(!mixed->knows_tokens);
  CHECK(serving_words(*mixed) == "prefill of 2 requests");
  const auto split =
      serving_step("step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]");
  REQUIRE(split);
  CHECK(split->phase() == "mixed");
  CHECK(split->prefill.queries_times_keys == 40);
  const auto atom = serving_step("decode[bs=117/128 tok=117 d=117]");
  REQUIRE(atom);
  CHECK(atom->decode.requests == 117);
  CHECK(atom->tokens() == 117);
  CHECK(serving_step("prefill[bs=2 tok=14721 ctx=[7803, 6918]]")->prefill.requests == 2);
}

TEST_CASE("other names are no passes") {
  for (const char* name : {"", "execute", "execute_", "execute_context_", "execute_context_1(", "execute_context_1(5)",
                           "execute_context_1(5)_generation_0(0)x", "execute_context_-1(5)_generation_0(0)",
                           "execute_context_99999999999999999999(5)_generation_0(0)", "step[", "step[]", "step[DECODE]",
                           "step[OTHER bs=1]", "prefill", "prefill[bs=", "decode[bs=1]", "ProfilerStep#3"}) {
    CAPTURE(name);
    CHECK(!serving_step(name));
  }
  CHECK(captured_size("capture_32_FULL") == 32);
  CHECK(captured_size("capture_32") == 0);
  CHECK(captured_size("recapture_32_FULL") == 0);
}
