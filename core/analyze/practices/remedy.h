#pragma once
// What one can do about a finding, as data. Advice names remedies; whether one is done already, cannot be done here or was
// named before is read from this, and its words are made last. What a remedy changes in the replay is its rule's (Rule::gives).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

enum class Remedy : std::uint8_t {
  compile,           // torch.compile
  compile_rest,      // of a step that is compiled in part
  eager,             // no torch.compile
  cuda_graph,        // the launches of a step replayed at once
  larger_graphs,     // more of the step in each
  cpp_wrapper,       // Inductor's code around its kernels in C++
  pinned_memory,     // copies from and to pages that stay
  non_blocking,      // copies that the host does not wait for
  own_stream,        // copies concurrent with kernels
  workers,           // of a DataLoader that has none
  more_workers,      // of one that has some
  autocast,          // products in 16 bits
  other_precision,   // of most products, for the rest
  tf32,              // tensor cores for floats
  fused_optimizer,   // fused=True
  whole_sequence,    // a recurrent layer in one call
  fused_attention,   // scaled_dot_product_attention
  shared_attention,  // which other calls of the program use
  bucket_views,      // DDP's gradient_as_bucket_view
  any_gathers,       // FSDP's limit_all_gathers=False
  channels_last,     // NHWC
  larger_batch,      //
  smaller_batch,     //
  record_frames,     // with_stack or record_function
  record_shapes,     //
  warm_up,           // wait and warmup of the profiler's schedule
  count_
};

// A set of them.
class Remedies {
 public:
  void add(Remedy r) { bits_ |= bit(r); }
  void add(Remedies others) { bits_ |= others.bits_; }
  bool has(Remedy r) const { return (bits_ & bit(r)) != 0; }
  bool empty() const { return bits_ == 0; }

 private:
  static std::uint64_t bit(Remedy r) { return std::uint64_t{1} << static_cast<unsigned>(r); }
  std::uint64_t bits_ = 0;
};

// As in advice: "larger_graphs".
std::string_view remedy_key(Remedy remedy);

// Sentences, each with what it names and with its choices.
struct Advice {
  struct Choice {
    std::optional<Remedy> remedy;  // none: words alone, which are always left to say
    std::string words;
  };
  struct Sentence {
    std::string before, after;  // its choices
    std::vector<Choice> choices;
    Remedies names;  // the sentence as a whole; it is said where none of them is refused
  };
  std::vector<Sentence> sentences;

  bool empty() const { return sentences.empty(); }
  Advice& operator+=(Advice more);
};
Advice operator+(Advice a, Advice b);

// Of a rule's words, where remedies stand in braces: "Fuse them: {compile}, {compile_rest|fuse the rest}, {|a fused operator}."
// is a sentence of three choices, the first in the usual words of its remedy; "Use fused=True{fused_optimizer!}." is a sentence
// that names one. What is no key is read as words (is_sound_advice()).
Advice advice_of(std::string_view words);
// Whether all keys in them are known and all braces closed.
bool is_sound_advice(std::string_view words);
// One that is said as it is: names out of a file may be in it.
Advice plain_advice(std::string text);

}  // namespace gapscope
