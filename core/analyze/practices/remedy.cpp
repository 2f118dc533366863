// Advice out of a rule's words.
#include "core/analyze/practices/remedy.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/base/text.h"

namespace gapscope {
namespace {

// How a remedy is named in advice, and its usual words.
struct Words {
  std::string_view key, words;
};
constexpr std::array<Words, static_cast<std::size_t>(Remedy::count_)> kWords = {{
    {"compile", "torch.compile"},
    {"compile_rest", "compile the rest of the step"},
    {"eager", "leave it eager"},
    {"cuda_graph", "mode=\"reduce-overhead\""},
    {"larger_graphs", "more of the step in each CUDA graph"},
    {"cpp_wrapper", "torch._inductor.config.cpp_wrapper=True"},
    {"pinned_memory", "pinned memory (pin_memory=True, tensor.pin_memory())"},
    {"non_blocking", "non_blocking=True"},
    {"own_stream", "a stream of its own (torch.cuda.Stream)"},
    {"workers", "num_workers above 0 in the DataLoader"},
    {"more_workers", "more workers (num_workers)"},
    {"autocast", "bfloat16 (torch.autocast)"},
    {"other_precision", "the lower precision of the other products"},
    {"tf32", "torch.set_float32_matmul_precision(\"high\"), which allows TF32"},
    {"fused_optimizer", "fused=True in the optimizer"},
    {"whole_sequence", "torch.nn.LSTM or GRU over the whole sequence instead of one cell per element"},
    {"fused_attention", "torch.nn.functional.scaled_dot_product_attention"},
    {"shared_attention", "the fused attention that other calls use"},
    {"bucket_views", "gradient_as_bucket_view=True"},
    {"any_gathers", "limit_all_gathers=False"},
    {"channels_last", "model.to(memory_format=torch.channels_last)"},
    {"larger_batch", "a larger batch"},
    {"smaller_batch", "a smaller batch"},
    {"record_frames", "with_stack=True"},
    {"record_shapes", "record_shapes=True"},
    {"warm_up", "schedule(wait=1, warmup=1)"},
}};

std::optional<Remedy> remedy_of_key(std::string_view key) {
  for (std::size_t i = 0; i < kWords.size(); ++i)
    if (kWords[i].key == key) return static_cast<Remedy>(i);
  return std::nullopt;
}

// What is in a pair of braces: "key", "key|words", "|words" or "key!".
struct Marked {
  std::string_view key;
  std::optional<Remedy> remedy;
  std::string_view words;
  bool of_sentence = false;
};
Marked marked(std::string_view inside) {
  Marked out;
  if (inside.ends_with('!'))
    return {inside.substr(0, inside.size() - 1), remedy_of_key(inside.substr(0, inside.size() - 1)), "", true};
  const std::size_t bar = inside.find('|');
  out.key = inside.substr(0, bar);
  out.remedy = remedy_of_key(out.key);
  out.words = bar != inside.npos ? inside.substr(bar + 1)
              : out.remedy       ? kWords[static_cast<std::size_t>(*out.remedy)].words
                                 : inside;
  return out;
}

// The end of the first sentence: behind a full stop that a capital letter, a number, or nothing, follows.
std::size_t end_of_sentence(std::string_view text) {
  for (std::size_t at = text.find(". "); at != text.npos; at = text.find(". ", at + 1))
    if (at + 2 < text.size() && ((text[at + 2] >= 'A' && text[at + 2] <= 'Z') || text[at + 2] == '`' || is_digit(text[at + 2])))
      return at + 1;
  return text.size();
}

Advice::Sentence sentence_of(std::string_view text) {
  Advice::Sentence out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size()), close = text.find('}', open);
    std::string& around = out.choices.empty() ? out.before : out.after;
    around += text.substr(0, open);
    if (close == text.npos) {
      around += text.substr(open);
      break;
    }
    const Marked m = marked(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
    if (m.of_sentence) {
      if (m.remedy) out.names.add(*m.remedy);
      continue;
    }
    out.after.clear();  // ", " between two choices
    out.choices.push_back({m.remedy, std::string(m.words)});
  }
  return out;
}

}  // namespace

std::string_view remedy_key(Remedy remedy) { return kWords[static_cast<std::size_t>(remedy)].key; }

Advice& Advice::operator+=(Advice more) {
  sentences.insert(sentences.end(), std::make_move_iterator(more.sentences.begin()),
                   std::make_move_iterator(more.sentences.end()));
  return *this;
}
Advice operator+(Advice a, Advice b) {
  a += std::move(b);
  return a;
}

Advice advice_of(std::string_view words) {
  Advice out;
  while (!words.empty()) {
    const std::size_t end = end_of_sentence(words);
    out.sentences.push_back(sentence_of(words.substr(0, end)));
    words.remove_prefix(std::min(words.find_first_not_of(' ', end), words.size()));
  }
  return out;
}

bool is_sound_advice(std::string_view words) {
  for (std::size_t open = words.find('{'); open != words.npos; open = words.find('{', open + 1)) {
    const std::size_t close = words.find_first_of("{}", open + 1);
    if (close == words.npos || words[close] != '}') return false;
    const Marked m = marked(words.substr(open + 1, close - open - 1));
    if (!m.remedy && !(m.key.empty() && !m.words.empty())) return false;
  }
  return true;
}

Advice plain_advice(std::string text) {
  Advice out;
  if (!text.empty()) out.sentences.push_back({std::move(text), "", {}, {}});
  return out;
}

}  // namespace gapscope
