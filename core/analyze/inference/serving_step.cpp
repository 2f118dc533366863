#include "core/analyze/inference/serving_step.h"

#include <charconv>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 56;  // so that sums of a few do not overflow

// Reads a name from its front. Once something is not as asked it is bad, and stays so.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  Reader& text(std::string_view expected) {
    good_ = good_ && rest_.starts_with(expected);
    if (good_) rest_.remove_prefix(expected.size());
    return *this;
  }
  Reader& number(std::int64_t& out) {
    const auto [end, trouble] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    good_ = good_ && trouble == std::errc() && out >= 0 && out < kMost;
    if (good_) rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return *this;
  }
  bool next_is(char c) const { return good_ && rest_.starts_with(c); }
  bool done() const { return good_ && rest_.empty(); }
  bool good() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

// "(888)", "(888_788544)" or "(sq32sk55086sqsq32sqsk55086)".
void read_vllm_part(Reader& in, ServedPart& part, bool& has_sums) {
  in.number(part.requests).text("(");
  if (in.next_is('s')) {
    in.text("sq").number(part.queries).text("sk").number(part.keys).text("sqsq").number(part.squared_queries);
    in.text("sqsk").number(part.queries_times_keys);
  } else {
    has_sums = false;
    in.number(part.queries);
    if (in.next_is('_')) in.text("_").number(part.squared_queries);
  }
  in.text(")");
}

std::optional<ServingStep> vllm_step(std::string_view name) {
  ServingStep step{"vLLM", {}, {}, true, true};
  Reader in(name);
  in.text("execute_");
  std::int64_t size = 0;
  if (!in.next_is('c')) in.number(size).text("_");
  in.text("context_");
  read_vllm_part(in, step.prefill, step.knows_sums);
  in.text("_generation_");
  read_vllm_part(in, step.decode, step.knows_sums);
  return in.done() ? std::optional(step) : std::nullopt;
}

// "bs=2 toks=14721": numbers by key; what is no number is left out, of "117/128" the first counts.
std::map<std::string_view, std::int64_t> numbers_by_key(std::string_view body) {
  std::map<std::string_view, std::int64_t> numbers;
  while (!body.empty()) {
    const std::string_view word = body.substr(0, body.find(' '));
    body.remove_prefix(std::min(body.size(), word.size() + 1));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    std::int64_t value = 0;
    Reader in(word.substr(equals + 1));
    if (in.number(value).good()) numbers.emplace(word.substr(0, equals), value);
  }
  return numbers;
}

using Numbers = std::map<std::string_view, std::int64_t>;
std::int64_t number_of(const Numbers& numbers, std::string_view key) {
  const auto at = numbers.find(key);
  return at == numbers.end() ? 0 : at->second;
}

ServedPart sums_of(const Numbers& numbers, std::string_view q, std::string_view k, std::string_view qq, std::string_view qk) {
  return {0, number_of(numbers, q), number_of(numbers, k), number_of(numbers, qq), number_of(numbers, qk)};
}

std::optional<ServingStep> sglang_step(std::string_view name) {
  if (!name.starts_with("step[") || !name.ends_with(']')) return std::nullopt;
  const std::string_view body = name.substr(5, name.size() - 6), mode = body.substr(0, body.find(' '));
  if (mode != "EXTEND" && mode != "DECODE" && mode != "MIXED") return std::nullopt;
  const Numbers numbers = numbers_by_key(body);
  if (!numbers.contains("bs")) return std::nullopt;
  const std::int64_t requests = number_of(numbers, "bs");
  ServingStep step{"SGLang", {}, {}, true, numbers.contains("c_sqsk") || numbers.contains("g_sqsk")};
  step.prefill = sums_of(numbers, "c_sq", "c_sk", "c_sqsq", "c_sqsk");
  step.decode = sums_of(numbers, "g_sq", "g_sk", "g_sqsq", "g_sqsk");
  if (mode == "DECODE") {
    step.decode.requests = requests;
    if (!step.knows_sums) step.decode.queries = requests;  // one new token a request
  } else if (mode == "EXTEND") {
    step.prefill.requests = requests;
    if (!step.knows_sums) step.prefill.queries = number_of(numbers, "toks");
    step.knows_tokens = step.knows_sums || numbers.contains("toks");
  } else {
    step.prefill.requests = numbers.contains("c") ? number_of(numbers, "c") : requests;
    step.decode.requests = number_of(numbers, "g");
    step.knows_tokens = step.knows_sums;
  }
  return step;
}

std::optional<ServingStep> atom_step(std::string_view name) {
  const bool prefill = name.starts_with("prefill[bs="), decode = name.starts_with("decode[bs=");
  if ((!prefill && !decode) || !name.ends_with(']')) return std::nullopt;
  const std::size_t open = name.find('[') + 1;
  const Numbers numbers = numbers_by_key(name.substr(open, name.size() - open - 1));
  if (!numbers.contains("bs") || !numbers.contains("tok")) return std::nullopt;
  ServingStep step{"ATOM", {}, {}, true, numbers.contains("sqsq") && numbers.contains("sqsk")};
  ServedPart& part = prefill ? step.prefill : step.decode;
  part = sums_of(numbers, "tok", "sk", "sqsq", "sqsk");
  part.requests = number_of(numbers, "bs");
  return step;
}

std::string part_words(std::string_view what, const ServedPart& part, bool knows_tokens) {
  std::string out = fmt::format("{} of {} {}", what, format_count(part.requests), part.requests == 1 ? "request" : "requests");
  if (knows_tokens) out += fmt::format(", {} {}", format_count(part.queries), part.queries == 1 ? "token" : "tokens");
  return out;
}

}  // namespace

std::string_view ServingStep::phase() const {
  if (prefill.requests > 0) return decode.requests > 0 ? "mixed" : "prefill";
  return decode.requests > 0 ? "decode" : "empty";
}

std::optional<ServingStep> serving_step(std::string_view name) {
  if (name.starts_with("execute_")) return vllm_step(name);
  if (name.starts_with("step[")) return sglang_step(name);
  return atom_step(name);
}

std::string serving_words(const ServingStep& step) {
  std::string out;
  if (step.prefill.requests > 0) out = part_words("prefill", step.prefill, step.knows_tokens);
  if (step.decode.requests > 0) out += (out.empty() ? "" : "; ") + part_words("decode", step.decode, step.knows_tokens);
  return out.empty() ? "no requests" : out;
}

std::int64_t captured_size(std::string_view name) {
  std::int64_t size = 0;
  Reader in(name);
  return in.text("capture_").number(size).next_is('_') ? size : 0;
}

}  // namespace gapscope
