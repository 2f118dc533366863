// simdjson has no kernel of WebAssembly's own and would take its plain one; that for SSE 4.2 is one, by emscripten's headers
// for it, but for two instructions.
#include <smmintrin.h>

#include <cstdint>

#define SIMDJSON_WESTMERE_INTRINSICS_H  // in place of <x86intrin.h>

static inline long long _popcnt64(std::uint64_t bits) { return __builtin_popcountll(bits); }

// The lower half of the product without carries of the lower halves, for a factor of ones, as simdjson has it: each bit is
// whether there is an odd number of bits up to it.
static inline __m128i _mm_clmulepi64_si128(__m128i factor, __m128i, int) {
  std::uint64_t bits = static_cast<std::uint64_t>(_mm_cvtsi128_si64(factor));
  for (int step = 1; step < 64; step *= 2) bits ^= bits << step;
  return _mm_cvtsi64_si128(static_cast<long long>(bits));
}

#define SIMDJSON_IMPLEMENTATION_WESTMERE 1
#define SIMDJSON_IMPLEMENTATION_FALLBACK 0
#define SIMDJSON_BUILTIN_IMPLEMENTATION westmere
#include "simdjson.cpp"

namespace {

// Nothing asks the processor what it can.
[[maybe_unused]] const auto* const chosen =
    (simdjson::get_active_implementation() = simdjson::builtin_implementation(), simdjson::builtin_implementation());

}  // namespace
